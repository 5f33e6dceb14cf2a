"""The front page: what this is, and the gallery of all checkpoints."""

from itertools import groupby

from generator.contracts import Atlas, Outcome, Page, PageKind


def pages(atlas: Atlas) -> list[Page]:
    by_group = sorted(atlas.outcomes, key=lambda outcome: outcome.checkpoint.group)
    groups = [(group, list(members)) for group, members in groupby(by_group, key=lambda outcome: outcome.checkpoint.group)]
    built = [outcome for outcome in atlas.outcomes if outcome.status == "ok"]
    context = {
        "groups": sorted(groups, key=lambda group: (all(outcome.status != "ok" for outcome in group[1]), group[0])),
        "schemes": {scheme.key: scheme for scheme in atlas.schemes},
        "counts": {
            "checkpoints": len(built),
            "encodings": sum(len(outcome.readings) for outcome in built),
            "schemes": len({reading.encoding.scheme for outcome in built for reading in outcome.readings}),
            "figures": sum(len(reading.drawings) for outcome in built for reading in outcome.readings),
        },
        "failed": _with_status(atlas, "failed"),
        "not_reached": _with_status(atlas, "not reached"),
        "versions": atlas.versions,
        "date": atlas.date,
    }
    return [Page("index.md", "index.md.jinja", context)]


def _with_status(atlas: Atlas, status: str) -> list[Outcome]:
    return [outcome for outcome in atlas.outcomes if outcome.status == status]


PAGE = PageKind("front", pages)
