"""The page on one position of any published model with rotations, which the browser computes."""

from generator.contracts import Atlas, Page, PageKind
from generator.site.data.models import records
from generator.site.data.positions import panels


def pages(atlas: Atlas) -> list[Page]:
    """The page. Without scripts it has the newest model with a scaling, if any, at its last
    position.
    """
    found = panels(atlas)
    months = {model["id"]: model["month"] or "" for model in records(atlas)}
    first = max(found, key=lambda name: (found[name].is_scaled, months[name], name), default="")
    context = {
        "panel": found.get(first),
        "name": first,
        "names": list(found),
        "total": len(months),
    }
    return [Page("models/position.md", "model_position.md.jinja", context)]


PAGE = PageKind("model_position", pages)
