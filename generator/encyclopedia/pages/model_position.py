"""The page on one position of any published model with rotations, which the browser computes."""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.contracts import Atlas, Page, PageContext, PageKind
from generator.encyclopedia.model_rows import page_of, records
from generator.encyclopedia.turning import positions
from generator.site.at_position import PositionOfModel


@dataclass(frozen=True)
class PositionContext(PageContext, template="model_position.md.jinja"):
    """panel: of the model with which it begins; name, page: of that one
    names: of all that can be chosen; models: how many these are of ``total``
    """

    panel: PositionOfModel
    name: str
    page: str
    names: Sequence[str]
    models: int
    total: int


def pages(atlas: Atlas) -> list[Page]:
    """The page. It begins with the newest model with a scaling, if any."""
    found = positions(atlas)
    months = {model["id"]: model["month"] or "" for model in records(atlas)}
    first = max(
        found.keys() & months.keys(),
        key=lambda name: (_is_scaled(found[name]), months[name], name),
        default="",
    )
    if not first:
        return []
    context = PositionContext(
        panel=found[first],
        name=first,
        page=page_of(first, ".html"),
        names=list(found),
        models=len(found.keys() & months.keys()),
        total=len(months),
    )
    return [Page("models/position.md", context)]


def _is_scaled(position: PositionOfModel) -> bool:
    return any(rotation["slower"] != [1.0] for rotation in position["rotations"])


PAGE = PageKind("model_position", pages, ("models/position.md",))
