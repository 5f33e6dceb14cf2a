"""Values that an engine has to compute for published models: which there are, what made them, and
which implementations agree.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from generator.contracts import Atlas, Json, Page, PageContext, PageKind
from generator.encyclopedia import expected


@dataclass(frozen=True)
class Agreement:
    """What one kind of code says of all rotations. made, agreeing, differing: rotations; deviation:
    the largest of the agreeing ones, None without any
    """

    code: str
    made: int
    agreeing: int
    differing: int
    deviation: float | None


@dataclass(frozen=True)
class ExpectedContext(PageContext, template="expected.md.jinja"):
    """rows: models with the paths of their files; rotations: of all; alone: those that no
    other code confirms or contradicts; by_formula: those that the tests compute anew
    edition: version of all values; checker: the code that compares an engine's
    """

    rows: Sequence[tuple[str, Json]]
    rotations: int
    alone: int
    by_formula: int
    edition: str
    checker: str
    agreements: Sequence[Agreement]


def pages(atlas: Atlas) -> list[Page]:
    """The page, with all models that have some."""
    models = expected.models_of(atlas)
    if not models:
        return []
    rotations = [rotation for model in models for rotation in model["rotations"]]
    context = ExpectedContext(
        rows=[(expected.path(model), model) for model in models],
        rotations=len(rotations),
        alone=sum(not one["agrees"] and not one["differs"] for one in rotations),
        by_formula=sum(one["formula"] is not None for one in rotations),
        edition=expected.version(models),
        checker=expected.CHECK.read_text(encoding="utf-8").strip(),
        agreements=agreements(rotations),
    )
    return [Page("data/expected.md", context)]


def agreements(rotations: Sequence[Json]) -> tuple[Agreement, ...]:
    """Each kind of code, with how many rotations it made, and how many it confirms."""
    made = Counter(rotation["made_by"]["code"] for rotation in rotations)
    agreeing = [one for rotation in rotations for one in rotation["agrees"]]
    differing = Counter(one["code"] for rotation in rotations for one in rotation["differs"])
    found = []
    for code in ("module", "atlas", "layers", "mlx"):
        deviations = [one["deviation"] for one in agreeing if one["code"] == code]
        largest = max(deviations, default=None)
        found.append(Agreement(code, made[code], len(deviations), differing[code], largest))
    return tuple(found)


PAGE = PageKind("expected", pages, ("data/expected.md",))
