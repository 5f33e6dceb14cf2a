"""The page on the five notebooks that the atlas grew out of, with what it has for each cell."""

from collections.abc import Mapping
from dataclasses import dataclass

from generator.contracts import Atlas, Figure, Outcome, Page, PageContext, PageKind, Reading, Result
from generator.encodings import Form, OffsetBias, PositionTable
from generator.site.outline import Outline, figures_of


@dataclass(frozen=True)
class NotebookModel:
    """The model of a notebook. id: on the Hub, "" for a formula; form: of its encoding"""

    id: str
    form: type[Form]


@dataclass(frozen=True)
class Shown:
    """An encoding that cells show.

    is_own: whether it is of the notebook's own model
    results: the applicable ones, with the first figure of each and the address of its section, by
        analysis
    """

    outcome: Outcome
    reading: Reading
    is_own: bool
    results: Mapping[str, Result]
    figures: Mapping[str, Figure]
    addresses: Mapping[str, str]


MODELS = {
    "gpt_2": NotebookModel("openai-community/gpt2", PositionTable),
    "bert_base": NotebookModel("google-bert/bert-base-uncased", PositionTable),
    "t5_small": NotebookModel("google-t5/t5-small", OffsetBias),
    "sinusoid": NotebookModel("", PositionTable),
}


@dataclass(frozen=True)
class NotebooksContext(PageContext, template="notebooks.md.jinja"):
    """The encoding that stands for each model; None where no other can."""

    gpt_2: Shown | None
    bert_base: Shown | None
    t5_small: Shown | None
    sinusoid: Shown | None


def pages(atlas: Atlas) -> list[Page]:
    """The page."""
    shown = {name: _shown(atlas, model) for name, model in MODELS.items()}
    return [Page("learn/notebooks.md", NotebooksContext(**shown))]


def _shown(atlas: Atlas, model: NotebookModel) -> Shown | None:
    """The encoding of the model itself, else one of its family, else one alone in its model, else
    the one with most results.
    """
    by_formula = {scheme.key for scheme in atlas.schemes if scheme.by_formula}
    best, most = None, (False, False, False, 0)
    for outcome, reading in atlas.encodings:
        encoding, results = reading.encoding, _applicable(reading)
        is_formula = encoding.scheme in by_formula, encoding.provenance.tensor is None
        is_like = bool(outcome.family) and model.id.partition("/")[2].startswith(outcome.family)
        is_alone = len(outcome.readings) == 1
        nearness = outcome.checkpoint.id == model.id, is_like, is_alone, len(results)
        if (
            (encoding.form, encoding.modality) == (model.form.__name__, "text")
            and is_formula == (not model.id, not model.id)
            and reading.alts
            and nearness > most
        ):
            best, most = (outcome, reading), nearness
    return _with_sections(atlas, *best, not model.id or most[0]) if best else None


def _with_sections(atlas: Atlas, outcome: Outcome, reading: Reading, is_own: bool) -> Shown:
    results, outline = _applicable(reading), Outline.of(outcome)
    analyses = [analysis for analysis in atlas.analyses if analysis.key in results]
    figures = {one.key: list(figures_of(outcome, reading, one))[:1] for one in analyses}
    return Shown(
        outcome,
        reading,
        is_own,
        results,
        {key: figure for key, found in figures.items() for figure in found},
        {one.key: outline.address(reading, one) for one in analyses},
    )


def _applicable(reading: Reading) -> dict[str, Result]:
    return {key: result for key, result in reading.results.items() if result.reason is None}


PAGE = PageKind("notebooks", pages, ("learn/notebooks.md",))
