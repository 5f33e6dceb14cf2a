"""The page with two to four published models side by side, chosen in its address."""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.contracts import Atlas, Page, PageContext, PageKind
from generator.encyclopedia.compared_models import (
    MOST,
    address,
    compared,
    relatives,
    suggested,
    titles,
)
from generator.encyclopedia.model_rows import UNKNOWN, page_of
from generator.encyclopedia.start_commands import ID, START

FIRST = "mistralai/Mistral-7B-v0.1"  # Of the relatives with which the page begins, if it is there.


@dataclass(frozen=True)
class CompareModelsContext(PageContext, template="compare_models.md.jinja"):
    """heads: names and pages of the models with which it begins; rows: a title, the texts of these
    models, and whether they differ; unknown: the text of what a model has not, start: with which a
    command begins; groups: names and address of each that is suggested
    """

    heads: Sequence[tuple[str, str]]
    rows: Sequence[tuple[str, Sequence[str], bool]]
    unknown: str
    start: str
    groups: Sequence[tuple[Sequence[str], str]]
    ids: Sequence[str]
    most: int


def pages(atlas: Atlas) -> list[Page]:
    """The page; none without models."""
    groups, values = suggested(atlas), compared(atlas)
    if not values:
        return []
    given = groups or [list(values)[:MOST]]
    first = relatives(atlas).get(FIRST, given[0])
    columns = [values[one] for one in first]
    context = CompareModelsContext(
        heads=[(_name(one), page_of(one, ".html")) for one in first],
        rows=[
            (title, _named(texts, first), len(set(texts)) > 1)
            for title, *texts in zip(titles(), *columns, strict=True)
        ],
        unknown=UNKNOWN,
        start=START,
        groups=[([_name(one) for one in ids], address(ids)) for ids in groups],
        ids=first,
        most=MOST,
    )
    return [Page("models/compare.md", context)]


def _named(texts: Sequence[str], ids: Sequence[str]) -> list[str]:
    """Texts of models with their ids in them."""
    return [text.replace(ID, one) for text, one in zip(texts, ids, strict=True)]


def _name(hub_id: str) -> str:
    return hub_id.rpartition("/")[2]


PAGE = PageKind("compare_models", pages, ("models/compare.md",))
