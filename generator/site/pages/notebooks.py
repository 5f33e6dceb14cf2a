"""The page on the five notebooks that the atlas grew out of, with what it has for each cell."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from generator.contracts import Atlas, Figure, Outcome, Page, PageContext, PageKind, Reading, Result
from generator.contracts.checkpoints import SENTENCE
from generator.encodings import Form, OffsetBias, PositionTable
from generator.numerics.arrays import Array, row_norms
from generator.site.outline import Outline, figures_of


@dataclass(frozen=True)
class NotebookModel:
    """The model of a notebook. id: on the Hub, "" for a formula; form: of its encoding; table: the
    parameter that has it, where lines of Python read it
    """

    id: str
    form: type[Form]
    table: str = ""


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


@dataclass(frozen=True)
class Loaded:
    """What lines of Python load.

    name: that transformers takes; table: the parameter; sentence: that its tokenizer splits
    """

    name: str
    table: str
    sentence: str = SENTENCE


@dataclass(frozen=True)
class Spoken:
    """The sentence of an encoding, step by step.

    ids: of its tokens; words, positions, both: (n_tokens, d_model), ``both`` is the sum of the two
    types, inputs: the same where the model has them; apart: by how much ``both`` differs from
        ``inputs``, as a percentage of their norms, mean over tokens
    second: places in the sentence of the tokens of ``SECOND``; empty where it lacks one
    """

    shown: Shown
    loaded: Loaded
    ids: Sequence[int]
    words: Array
    positions: Array
    both: Array
    types: Array | None
    inputs: Array | None
    apart: float | None
    second: Sequence[int]


GPT_2 = NotebookModel("openai-community/gpt2", PositionTable, "wpe.weight")
BERT = NotebookModel(
    "google-bert/bert-base-uncased", PositionTable, "embeddings.position_embeddings.weight"
)
MODELS = {
    "gpt_2": GPT_2,
    "bert_base": BERT,
    "t5_small": NotebookModel("google-t5/t5-small", OffsetBias),
    "sinusoid": NotebookModel("", PositionTable),
}
# Parameters with the position table in the classes that AutoModel makes.
TABLES = (GPT_2.table, BERT.table)
SECOND = ("[CLS]", "it", "sat", "on", "the", "mat", "[SEP]")
# What a line of Python may name.
NAME, PLAIN_SENTENCE = re.compile(r"[\w-][\w./-]*"), re.compile(r"[\w ,.;:!?'-]+")
ANATOMY = "anatomy_of_the_input"
# Models of the notebooks' own configs as Python prints them, which a test compares.
TREES: Mapping[str, str] = json.loads(
    Path(__file__).with_name("module_trees.json").read_text(encoding="utf-8")
)


@dataclass(frozen=True)
class NotebooksContext(PageContext, template="notebooks.md.jinja"):
    """The encoding that stands for each model; None where no other can.

    of_gpt_2, of_bert: whose sentence the cells of either show; None without one
    table, sentences: what lines of Python load for the table of GPT-2 and for the sentences
    trees: modules of GPT-2, of the embedding layer of BERT, and of T5
    """

    gpt_2: Shown | None
    bert_base: Shown | None
    t5_small: Shown | None
    sinusoid: Shown | None
    of_gpt_2: Spoken | None
    of_bert: Spoken | None
    table: Loaded
    sentences: Mapping[str, Loaded]
    trees: Mapping[str, str]


def pages(atlas: Atlas) -> list[Page]:
    """The page."""
    shown = {name: _shown(atlas, model) for name, model in MODELS.items()}
    spoken = {
        name: _spoken(atlas, shown[name], name == "bert_base") for name in ("gpt_2", "bert_base")
    }
    sentences = {
        name: one.loaded if one else Loaded(MODELS[name].id, MODELS[name].table)
        for name, one in spoken.items()
    }
    context = NotebooksContext(
        **shown,
        of_gpt_2=spoken["gpt_2"],
        of_bert=spoken["bert_base"],
        table=_loaded(shown["gpt_2"]) or Loaded(GPT_2.id, GPT_2.table),
        sentences=sentences,
        trees=TREES,
    )
    return [Page("learn/notebooks.md", context)]


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


def _loaded(shown: Shown | None) -> Loaded | None:
    """What loads the encoding; None for one that transformers loads in another way."""
    if shown is None:
        return None
    row = shown.outcome.checkpoint
    name = row.original or row.id
    origin, whole = shown.reading.encoding.provenance, shown.results.get("whole_table")
    tables = [table for table in TABLES if f".{origin.tensor}".endswith(f".{table}")]
    # Of some families, the first rows are of no position.
    is_whole = whole is not None and whole.derived["vectors"].shape == tuple(origin.shape)
    return Loaded(name, tables[0]) if tables and is_whole and NAME.fullmatch(name) else None


def _spoken(atlas: Atlas, preferred: Shown | None, has_types: bool) -> Spoken | None:
    """The sentence of an encoding, else of the first other that has one; where the layer ``has
    types``, of those that add them.
    """
    found = map(_sentence, _with_tables(atlas, preferred))
    return next((one for one in found if one and not (has_types and one.types is None)), None)


def _with_tables(atlas: Atlas, preferred: Shown | None) -> Iterator[Shown]:
    if preferred is not None:
        yield preferred
    for outcome, reading in atlas.encodings:
        is_table = reading.encoding.form == PositionTable.__name__
        if is_table and reading.alts and ANATOMY in _applicable(reading):
            yield _with_sections(atlas, outcome, reading, is_own=False)


def _sentence(shown: Shown) -> Spoken | None:
    """Its steps; None without positions, or without a tokenizer that splits a sentence."""
    loaded, result = _loaded(shown), shown.results.get(ANATOMY)
    text = shown.outcome.checkpoint.sentence
    if loaded is None or result is None or not isinstance(text, str):
        return None
    positions, arrays = result.derived["positions"], result.arrays
    if not PLAIN_SENTENCE.fullmatch(text) or not len(positions):
        return None
    both, inputs = arrays["words"] + positions, arrays.get("normed")
    apart = None if inputs is None else row_norms(inputs - both) / row_norms(inputs)
    tokens = arrays["tokens"].tolist()
    return Spoken(
        shown,
        Loaded(loaded.name, loaded.table, text),
        arrays["ids"].tolist(),
        arrays["words"],
        positions,
        both,
        arrays.get("types"),
        inputs,
        None if apart is None else 100.0 * float(np.mean(apart)),
        [tokens.index(each) for each in SECOND] if {*SECOND} <= {*tokens} else [],
    )


PAGE = PageKind("notebooks", pages, ("learn/notebooks.md",))
