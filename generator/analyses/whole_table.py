"""The table as a heat map."""

from collections.abc import Iterator

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
from generator.contracts.wording import Wording
from generator.encodings import PositionTable, SinusoidFormula
from generator.figures.canvas import Figure
from generator.figures.panels import PickedPanel, image_panels
from generator.figures.style import DIVERGING
from generator.numerics.arrays import Array, Floats, finite, root_mean_square
from generator.numerics.structure import Structure
from generator.text import ranges, rounded, significant

WORDS = Wording("whole_table")
LIMIT = 3.0  # in units of the table's own root mean square; the same on every page


def compute(subject: Subject[PositionTable]) -> Result:
    """The table and the scale of its values.

    arrays: rms (), root mean square; vectors (n_positions, d_model), or the formula from which they
        follow: places (n_positions, n_axes), frequencies (n_axes, d_model), in radians, is_cosine
        (d_model,), bool, and scale (); derived: vectors
    errors: NotApplicableError when the table is not finite
    """
    table = finite(subject.encoding.form.vectors, "the table")
    found = subject.encoding.form.structure
    rms = root_mean_square(table)
    sizes = np.maximum(table.max(axis=1), -table.min(axis=1))  # (n_positions,)
    position = int(sizes.argmax())
    size, dimension = float(sizes[position]), int(np.abs(table[position]).argmax())
    n_beyond = np.count_nonzero(table > LIMIT * rms) + np.count_nonzero(table < -LIMIT * rms)
    return Result(
        metrics=(
            Metric("rms", "RMS of all values", rms),
            Metric("largest", "Largest absolute value", size),
            Metric("beyond", "Values beyond the colour limits", 100.0 * n_beyond / table.size, "%"),
            Metric(
                "tail",
                "First position of an empty tail",
                found.tail.start if found.tail else None,
                reason="there is none",
            ),
        ),
        arrays={"rms": np.array(rms), **_given(subject.encoding.form)},
        findings=(
            *_of_value(rms, size, position, dimension),
            *(_of_structure(found, len(table)) if rms else ()),
        ),
        derived={"vectors": table},
    )


def vectors(form: PositionTable, _: Arrays) -> Floats:
    """The table: (n_positions, d_model)."""
    return form.vectors


def _given(form: PositionTable) -> dict[str, Array]:
    """The vectors, or what they follow from."""
    formula = form.formula
    if formula is None:
        return {"vectors": form.vectors}
    scale = np.array(formula.scale)
    return {
        "places": formula.places,
        "frequencies": formula.frequencies,
        "is_cosine": formula.is_cosine,
        "scale": scale,
    }


def _formula(arrays: Arrays) -> SinusoidFormula | None:
    """What ``_given`` has of a formula."""
    if "places" not in arrays:
        return None
    return SinusoidFormula(
        arrays["places"], arrays["frequencies"], arrays["is_cosine"], float(arrays["scale"])
    )


def _of_value(rms: float, size: float, position: int, dimension: int) -> Iterator[Finding]:
    if rms == 0.0:
        text = "Every value is zero: the table tells no position from another."
        yield Finding(text, ("rms",), 1.0)
    elif size >= 10.0 * rms:
        text = (
            f"One value stands out: {significant(size, 3)} at position {position}, dimension"
            f" {dimension}, {rounded(size / rms, 0)} times the typical size (RMS)."
        )
        yield Finding(text, ("largest", "rms"), 0.7)


def _of_structure(structure: Structure, n_positions: int) -> Iterator[Finding]:
    """What the table lacks, the most telling first."""
    if structure.kind == "constant":
        same = f"All {n_positions:,} vectors are the same"
        yield Finding(f"{same}: the table tells no position from another.", ("rms",), 1.0)
        return
    end, lacks, what = structure.tail, "Nothing tells {} from random numbers: {} untrained.", ""
    if end:
        place = f"{end.start:,}–{n_positions - 1:,}"
        text = f"Positions {place} are exact copies of one vector."
        if end.kind == "zero":
            text = f"Positions {place} are all zero."
        if end.kind == "random":
            text = lacks.format(f"positions {place}", "they look")
        yield Finding(text, ("tail",), 1.0)
    if structure.kind == "random":
        what = lacks.format("this table", "it looks")
        if end:
            what = lacks.format(f"positions 0–{end.start - 1:,}", "they look")
    elif structure.kind == "unordered":
        what = (
            "Its rows show no order: neighbours are no more alike than the same vectors in random"
            " orders."
        )
    if what:
        yield Finding(what, ("rms",), 1.0)
    yield from _of_rows(structure, n_positions)


def _of_rows(structure: Structure, n_positions: int) -> Iterator[Finding]:
    """Zeros and copies."""
    if structure.zeros:
        noun, verb = "vectors of positions", "are"
        if len(structure.zeros) == 1:
            noun, verb = "vector of position", "is"
        where = ranges(np.array(structure.zeros))
        yield Finding(f"The {noun} {where} {verb} zero.", ("rms",), 0.9)
    if structure.copy is not None:
        copy, first = structure.copy
        verb, end = ("equals", "") if structure.n_copies == 1 else ("equal", ", for example")
        text = (
            f"{structure.n_copies:,} of {n_positions:,} vectors exactly {verb} an earlier one: that"
            f" of position {copy:,} that of position {first:,}{end}."
        )
        yield Finding(text, ("rms",), 0.9)


def draw(results: Results) -> Figure:
    """Heat maps side by side, positions by dimensions, in units of the root mean square of each
    table; of a large one, picked positions and dimensions.
    """
    images = [
        PickedPanel(
            label.title,
            result.derived["vectors"],
            float(result.arrays["rms"]) or 1.0,
            table=place,
            formula=_formula(result.arrays),
        )
        for place, (label, result) in enumerate(results.items())
    ]
    labels = ("dimension", "position", "value ÷ RMS of the table")
    return image_panels(images, (-LIMIT, LIMIT), DIVERGING, labels, square=False)


def _summary(result: Result) -> str:
    rows, columns = result.derived["vectors"].shape
    rms = significant(float(result.arrays["rms"]), 3)
    return f"{rows} positions by {columns} dimensions, RMS {rms}"


ANALYSIS = Analysis(
    key="whole_table",
    title=WORDS("title"),
    about="structure",
    question=WORDS("question"),
    source=WORDS("source"),
    stage="see",
    order=20,
    forms=(PositionTable,),
    compute=compute,
    figures=(
        FigureSpec(
            "heatmap",
            *WORDS.figure("heatmap", _summary),
            draw,
            python=('plt.imshow(vectors, aspect="auto", cmap="RdBu_r")'),
        ),
    ),
    per_figure=9,
    derived={"vectors": vectors},
    exact=frozenset({"places", "frequencies", "scale"}),
)
