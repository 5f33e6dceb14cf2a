"""Vectors of single positions, with a word vector for comparison."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from generator.contracts import (
    Analysis,
    Arrays,
    FigureSpec,
    Finding,
    Headline,
    Label,
    Metric,
    Result,
    Results,
    Subject,
)
from generator.contracts.wording import Wording
from generator.encodings import PositionTable
from generator.figures.canvas import Figure
from generator.figures.lines import hidden, legend_below
from generator.figures.panels import panels
from generator.figures.scene import Line, add
from generator.figures.style import INK, SERIES
from generator.numerics.arrays import Floats, finite, root_mean_square, row_norms

WORDING = Wording("analyses/single_positions.md.jinja")
POSITIONS = (0, 1, 2, 10, 100, 200, 300, 400, 500)  # Those of the BERT and T5 notebooks.
RATIO = "RMS of the table ÷ RMS of the sentence's word vectors"
LONGEST_TOKEN = 14  # characters
COLUMNS, HEIGHT, TITLE = 3, 1.6, 9.0  # of panels; inches of one; size of the font of its title
TICKS = 3  # at most, of a vertical axis, less one
# Percentiles of all values drawn, at which the panels end, and the share of their range beyond.
SHOWN, ROOM = (1.0, 99.0), 0.06


def compute(subject: Subject[PositionTable]) -> Result:
    """The vectors of ``POSITIONS``, and their size relative to the word vectors of the sentence.

    arrays: positions (n_shown,); rms (), root mean square of the table; is_cosine (d_model,), bool,
        of a table by formula; word (d_model,) and token (), of the first word of the sentence,
        where there is one; derived: vectors (n_shown, d_model)
    errors: NotApplicableError when the table is not finite
    """
    form = subject.encoding.form
    vectors = finite(form.vectors, "the table")
    positions = np.array([position for position in POSITIONS if position < len(vectors)])
    rms = root_mean_square(vectors)
    arrays = {"positions": positions, "rms": np.array(rms)}
    if form.formula is not None:
        arrays["is_cosine"] = form.formula.is_cosine
    derived = {"vectors": shown(form, arrays)}
    reason = _reason_without_words(subject, vectors.shape[1])
    if reason is not None or subject.input is None:
        return Result(
            metrics=(Metric("word_ratio", RATIO, None, reason=reason),),
            arrays=arrays,
            derived=derived,
        )
    sentence = subject.input.sentence
    index = sentence.reserved.index(False) if False in sentence.reserved else 0
    word_vectors = sentence.word_vectors * subject.input.word_scale
    ratio = rms / root_mean_square(word_vectors)
    return Result(
        metrics=(Metric("word_ratio", RATIO, ratio),),
        arrays={**arrays, "word": word_vectors[index], "token": np.array(sentence.tokens[index])},
        findings=(Finding(WORDING("size", ratio=ratio), ("word_ratio",), 0.3),),
        derived=derived,
    )


def shown(form: PositionTable, arrays: Arrays) -> Floats:
    """The rows ``arrays["positions"]`` (n_shown,) of the table: (n_shown, d_model)."""
    return np.asarray(form.vectors[arrays["positions"]])


def _reason_without_words(subject: Subject[PositionTable], d_model: int) -> str | None:
    if subject.input is None:
        return subject.no_input
    word_vectors = subject.input.sentence.word_vectors
    if word_vectors.shape[1] != d_model:
        return f"word vectors have {word_vectors.shape[1]} dimensions, position vectors {d_model}"
    if not np.all(np.isfinite(word_vectors)):
        return "word vectors of the sentence have values that are NaN or infinite"
    return None if np.any(word_vectors) else "all word vectors of the sentence are zero"


def draw(results: Results) -> Figure:
    """A panel for each position of each table: its vector over the dimensions, of a formula its
    sines and its cosines, and below it the word vector, all on one scale.
    """
    drawn = [
        (label, result, place)
        for label, result in results.items()
        for place in range(len(result.arrays["positions"]))
    ]
    figure, axes = panels(len(drawn), columns=COLUMNS, height=HEIGHT)
    named: set[str] = set()
    values: list[Floats] = []
    for index, (ax, (label, result, place)) in enumerate(zip(axes, drawn, strict=True)):
        for line in _lines(label, result, place, label.title if len(results) > 1 else ""):
            shown = hidden(line.name) if line.name in named else line.name  # Once in the legend.
            add(ax, replace(line, name=shown))
            values.append(np.asarray(line.y))
            named.add(line.name)
        ax.set_title(f"position {result.arrays['positions'][place]}", fontsize=TITLE)
        ax.margins(x=0.01)
        ax.locator_params(axis="y", nbins=TICKS)  # Whatever the height, which the labels decide.
        ax.set(
            xlabel="dimension" if index + COLUMNS >= len(drawn) else None,
            ylabel="value" if index % COLUMNS == 0 else None,
        )
    low, high = np.percentile(np.concatenate(values), SHOWN)
    edge = ROOM * (high - low) or 1.0
    for ax in axes:
        ax.set_ylim(low - edge, high + edge)
    legend_below(figure)
    return figure


def _lines(label: Label, result: Result, place: int, title: str) -> Iterator[Line]:
    """The lines of a panel, from the lowest. title: of the encoding, "" where there is one alone"""
    arrays, vector = result.arrays, result.derived["vectors"][place]
    if "word" in arrays:
        word = f"word “{arrays['token']:.{LONGEST_TOKEN}}”"
        yield Line(np.arange(vector.size), arrays["word"], colour=INK, width=0.7, name=word)
    if "is_cosine" not in arrays:
        name = title or "position vector"
        yield Line(np.arange(vector.size), vector, colour=label.colour, width=0.9, name=name)
        return
    other = next(colour for colour in SERIES[1::-1] if colour != label.colour)
    for wave, colour in (("sines", label.colour), ("cosines", other)):
        of = np.flatnonzero(arrays["is_cosine"] == (wave == "cosines"))
        yield Line(of, vector[of], colour=colour, width=0.9, name=f"{title} {wave}".strip())


def _summary(result: Result) -> dict[str, Any]:
    norms = row_norms(result.derived["vectors"])
    return {
        "positions": result.arrays["positions"],
        "shortest": norms.min(),
        "longest": norms.max(),
    }


ANALYSIS = Analysis(
    key="single_positions",
    about="values",
    stage="see",
    after="whole_table",
    answer=Headline("word_ratio", WORDING),
    forms=(PositionTable,),
    beside_reference=False,
    compute=compute,
    derived={"vectors": shown},
    figures=(
        FigureSpec(
            "lines",
            WORDING.figure("lines", _summary),
            draw,
            python=('plt.plot(vectors[arrays["single_positions.positions"]].T)'),
        ),
    ),
    per_figure=2,
)
