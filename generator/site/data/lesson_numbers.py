"""Numbers of the lesson: a few checkpoints of the atlas, chosen by what they have, as a script of
the site.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from generator.contracts import Atlas, Outcome, Reading, Result
from generator.encodings import Form, OffsetBias, PositionTable, Rotation
from generator.numerics.arrays import Floats
from generator.site.outline import chapter

PATH = "data/lesson.js"
# Arrays of any analysis.
TOKENS, WORDS, POSITIONS, ORDER = (
    "lexicon_tokens",
    "lexicon_words",
    "lexicon_positions",
    "lexicon_order",
)
HANDS = 6  # pairs of a rotation that are shown
MOST_WORDS = 12  # of a sentence
MOST_HEADS = 16
MOST_TABLES = 6
DIGITS = 4
SENTENCES = ("the dog chased the cat", "the man saw the bird", "the child read a book")
FormT = TypeVar("FormT", bound=Form)


@dataclass(frozen=True)
class LessonSource:
    """An encoding whose numbers the lesson uses."""

    outcome: Outcome
    reading: Reading

    @property
    def title(self) -> str:
        """Name of the encoding."""
        return self.reading.label.title

    @property
    def address(self) -> str:
        """Address of its chapter."""
        return chapter(self.outcome, self.reading)

    @property
    def thumbnail(self) -> str:
        """Path of its picture, without extension."""
        return f"figures/{self.outcome.path_of(self.reading)}/thumbnail"


@dataclass(frozen=True)
class Lesson:
    """What each step uses; empty where no checkpoint fits.

    words: of the table in ``vocabulary``; rotations: one as trained and one that is rescaled;
        biases: one learned and one by formula
    tables: learned ones, and by formula, each with its strongest finding, "" without one, and
        whether it is learned
    """

    vocabulary: LessonSource | None
    words: tuple[str, ...]
    n_rows: int
    rotations: tuple[LessonSource, ...]
    biases: tuple[LessonSource, ...]
    tables: tuple[tuple[LessonSource, str, bool], ...]

    @property
    def start(self) -> str:
        """The sentence that a step begins with: the first of ``SENTENCES`` whose words are known,
        else the first words that are.
        """
        known = set(self.words)
        fitting = (
            sentence for sentence in SENTENCES if not known or known.issuperset(sentence.split())
        )
        return next(fitting, " ".join(self.words[:5]))


def of(atlas: Atlas) -> Lesson:
    """The lesson of an atlas."""
    sources = [LessonSource(*pair) for pair in atlas.encodings]
    with_words = [source for source in sources if _lexicon(source) is not None]
    vocabulary = max(with_words, key=lambda source: len(_array(source, TOKENS)), default=None)
    return Lesson(
        vocabulary,
        tuple(map(str, _array(vocabulary, TOKENS))) if vocabulary else (),
        vocabulary.reading.encoding.provenance.shape[0] if vocabulary else 0,
        _first_of(
            sources, Rotation, lambda source: bool(source.reading.encoding.parameters["scaling"])
        ),
        _first_of(
            sources, OffsetBias, lambda source: source.reading.encoding.provenance.tensor is None
        ),
        tuple(_tables(atlas, sources)),
    )


def script(atlas: Atlas) -> bytes:
    """JavaScript that hands the numbers to the page. JSON in ASCII is valid JavaScript."""
    packed = json.dumps(numbers(of(atlas)), separators=(",", ":"), allow_nan=False)
    return f"(window.atlas = window.atlas || {{}}).lesson = {packed};\n".encode()


def numbers(lesson: Lesson) -> dict[str, Any]:
    """Numbers of all steps.

    vocabulary: inner products: words (n_words, n_words), positions (n_words, n), order (n, n)
    rotations: frequencies (n_hands,) of the chosen pairs in radians per position, and of all pairs
    biases: values (n_heads, n_offsets)
        in logits, by offset
    """
    source = lesson.vocabulary
    return {
        "words": lesson.words,
        "vocabulary": (
            source
            and {
                "words": _rows(_array(source, WORDS)),
                "positions": _rows(_array(source, POSITIONS)),
                "order": _rows(_array(source, ORDER)),
            }
        ),
        "rotations": [_rotation(each) for each in lesson.rotations],
        "biases": [_bias(each) for each in lesson.biases],
    }


def _lexicon(source: LessonSource) -> Result | None:
    """The result that has the inner products of words."""
    return next(
        (result for result in source.reading.results.values() if TOKENS in result.arrays), None
    )


def _array(source: LessonSource, name: str) -> Any:
    result = _lexicon(source)
    return result.arrays[name] if result else np.zeros(0)


def _first_of(
    sources: list[LessonSource], form: type[Form], kind: Callable[[LessonSource], bool]
) -> tuple[LessonSource, ...]:
    """The first source with this form that is not of ``kind``, and the first that is."""
    fitting = [
        source
        for source in sources
        if source.reading.encoding.form == form.__name__ and _is_finite(source)
    ]
    found = (
        next((source for source in fitting if kind(source) is wanted), None)
        for wanted in (False, True)
    )
    return tuple(source for source in found if source)


def _is_finite(source: LessonSource) -> bool:
    """Whether a rotation, or a bias by offset, can be drawn."""
    form = source.reading.form.load()
    return not isinstance(form, OffsetBias) or bool(np.isfinite(form.values).all())


def _tables(atlas: Atlas, sources: list[LessonSource]) -> Iterator[tuple[LessonSource, str, bool]]:
    """Tables of positions in a line with their strongest finding, and whether they are learned; of
    a checkpoint at most one of either kind.
    """
    computed = {scheme.key for scheme in atlas.schemes if scheme.by_formula}
    tables = [
        source
        for source in sources
        if source.reading.encoding.form == PositionTable.__name__
        and source.reading.encoding.modality == "text"
    ]
    learned = _one_of_each(
        [source for source in tables if source.reading.encoding.scheme not in computed]
    )
    others = _one_of_each(
        [source for source in tables if source.reading.encoding.scheme in computed]
    )
    chosen = [*learned[: MOST_TABLES - min(len(others), 2)], *others[:2]]
    for source in sorted(chosen, key=lambda source: source.outcome.path_of(source.reading)):
        findings = (
            finding for result in source.reading.results.values() for finding in result.findings
        )
        strongest = max(findings, key=lambda finding: finding.weight, default=None)
        yield source, strongest.text if strongest else "", source in learned


def _one_of_each(sources: list[LessonSource]) -> list[LessonSource]:
    """The first source of each checkpoint."""
    firsts: dict[str, LessonSource] = {}
    for source in sources:
        firsts.setdefault(source.outcome.checkpoint.slug, source)
    return list(firsts.values())


def _rotation(source: LessonSource) -> dict[str, Any]:
    frequencies = np.array(source.reading.encoding.parameters["inverse_frequencies"])
    chosen = np.unique(np.linspace(0, frequencies.size - 1, HANDS).round().astype(int))
    return {
        "title": source.title,
        "frequencies": frequencies[chosen].tolist(),
        "pairs": chosen.tolist(),
        "all": _row(frequencies),
    }


def _bias(source: LessonSource) -> dict[str, Any]:
    form = source.reading.form.load()
    if not isinstance(form, OffsetBias):
        raise TypeError(f"{source.title}: found {form!r}; expected a bias by offset")
    near = np.abs(form.offsets) < MOST_WORDS
    offsets, values = form.offsets[near], form.values[:MOST_HEADS, near]
    return {
        "title": source.title,
        "causal": form.causal,
        "first": int(offsets[0]),
        "values": _rows(values),
    }


def _rows(matrix: Floats) -> list[list[float]]:
    return [_row(row) for row in matrix]


def _row(values: Floats) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values.tolist()]
