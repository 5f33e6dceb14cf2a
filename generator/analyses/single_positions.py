"""Vectors of single positions, with a word vector for comparison."""

from typing import TYPE_CHECKING

import numpy as np

from generator.contracts import (
    Analysis,
    Arrays,
    FigureSpec,
    Finding,
    Metric,
    Result,
    Results,
    Subject,
)
from generator.encodings import PositionTable
from generator.figures.lines import legend_below
from generator.figures.panels import panels, ridges, wrapped
from generator.figures.style import INK
from generator.numerics.arrays import Floats, finite, root_mean_square, row_norms
from generator.text import significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POSITIONS = (0, 1, 2, 10, 100, 200, 300, 400, 500)  # Those of the BERT and T5 notebooks.
RATIO = "RMS of the table ÷ RMS of the sentence's word vectors"
LONGEST_TOKEN = 14  # characters
REACH = 3.5  # in units of the table's root mean square; larger values are clipped


def compute(subject: Subject[PositionTable]) -> Result:
    """The vectors of ``POSITIONS``, and their size relative to the word vectors of the sentence.

    arrays: positions (n_shown,); rms (), root mean square of the table; word (d_model,) and token
        (), of the first word of the sentence, where there is one; derived: vectors (n_shown,
        d_model)
    errors: NotApplicableError when the table is not finite
    """
    form = subject.encoding.form
    vectors = finite(form.vectors, "the table")
    positions = np.array([position for position in POSITIONS if position < len(vectors)])
    rms = root_mean_square(vectors)
    arrays = {"positions": positions, "rms": np.array(rms)}
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
    words = sentence.words * subject.input.word_scale
    ratio = rms / root_mean_square(words)
    finding = Finding(
        f"A typical position vector is {_times(ratio)} a typical word vector of the sentence.",
        ("word_ratio",),
        0.3,
    )
    return Result(
        metrics=(Metric("word_ratio", RATIO, ratio),),
        arrays={**arrays, "word": words[index], "token": np.array(sentence.tokens[index])},
        findings=(finding,),
        derived=derived,
    )


def shown(form: PositionTable, arrays: Arrays) -> Floats:
    """The rows ``arrays["positions"]`` (n_shown,) of the table: (n_shown, d_model)."""
    return np.asarray(form.vectors[arrays["positions"]])


def _times(ratio: float) -> str:
    return (
        "about as large as"
        if significant(ratio, 2) == "1"
        else f"{significant(ratio, 2)} times as large as"
    )


def _reason_without_words(subject: Subject[PositionTable], d_model: int) -> str | None:
    if subject.input is None:
        return subject.no_input
    words = subject.input.sentence.words
    if words.shape[1] != d_model:
        return f"word vectors have {words.shape[1]} dimensions, position vectors {d_model}"
    if not np.all(np.isfinite(words)):
        return "word vectors of the sentence have values that are NaN or infinite"
    return None if np.any(words) else "all word vectors of the sentence are zero"


def draw(results: Results) -> "Figure":
    """Position vectors as ridge lines over the dimensions, one panel per table, with a word vector
    over the lowest.
    """
    figure, axes = panels(len(results), height=5.2 if len(results) < 3 else 4.2)
    named: set[str] = set()
    for ax, (label, result) in zip(axes, results.items(), strict=True):
        rms = float(result.arrays["rms"]) or 1.0
        lines = np.clip(result.derived["vectors"] / rms, -REACH, REACH)
        ridges(
            ax,
            lines,
            [f"{position}" for position in result.arrays["positions"]],
            label.colour,
            2 * REACH,
        )
        if "word" in result.arrays:
            word = np.clip(result.arrays["word"] / rms, -REACH, REACH)
            name = f"word “{result.arrays['token']:.{LONGEST_TOKEN}}” over position 0"
            ax.plot(
                word,
                color=INK,
                linewidth=0.7,
                alpha=0.85,
                zorder=1,
                label=f"_{name}" if name in named else name,
            )
            named.add(name)
        ax.set_title(wrapped(label.title))
        ax.set(xlabel="dimension", ylabel="position")
    if named:
        legend_below(figure)
    return figure


def alt(results: Results) -> str:
    """Alternative text: positions and range of norms of each table."""
    summaries = []
    for label, result in results.items():
        positions = ", ".join(str(position) for position in result.arrays["positions"])
        norms = row_norms(result.derived["vectors"])
        summaries.append(
            f"{label.title}: positions {positions}, with norms from {significant(norms.min(), 3)}"
            f" to {significant(norms.max(), 3)}"
        )
    return "Position vectors as lines over the dimensions. " + "; ".join(summaries) + "."


ANALYSIS = Analysis(
    key="single_positions",
    title="Single positions",
    about="values",
    question="What does the vector of one position look like?",
    source="The BERT and T5 notebooks, which draw positions 0, 1, 2, 10, 100 … 500.",
    stage="see",
    order=30,
    forms=(PositionTable,),
    beside_reference=False,
    compute=compute,
    derived={"vectors": shown},
    figures=(
        FigureSpec(
            key="lines",
            caption="Vectors of single positions over the dimensions, one line each.",
            how_to_read=(
                "If lines 0, 1 and 2 share a shape and far ones do not, near positions are similar."
                " A word vector, where drawn, shows how large words are relative to positions."
                " Values are in units of the table's RMS, cut at ±3.5."
            ),
            alt=alt,
            python='plt.plot(vectors[arrays["single_positions.positions"]].T)',
            draw=draw,
        ),
    ),
    per_figure=2,
)
