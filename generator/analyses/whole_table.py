"""The table as a heat map."""

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
    Metric,
    Result,
    Results,
    Subject,
)
from generator.contracts.wording import Wording
from generator.encodings import PositionTable, SinusoidFormula
from generator.figures.canvas import Figure
from generator.figures.panels import (
    colour_bar,
    image,
    image_panels,
    panels,
    ridges,
    wrapped,
)
from generator.figures.scene import PickedPanel, StraightLine, add
from generator.figures.style import DIVERGING, SERIES
from generator.numerics.arrays import Array, Floats, finite, root_mean_square
from generator.numerics.structure import Structure

WORDING = Wording("analyses/whole_table.md.jinja")
LIMIT = 3.0  # in units of the table's own root mean square; the same on every page
N_WAVES = 4
MARK = SERIES[2]  # Neither red nor blue, as the map is.


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
    dimension = int(np.abs(table[position]).argmax())
    peak, size = float(table[position, dimension]), float(sizes[position])
    n_beyond = np.count_nonzero(table > LIMIT * rms) + np.count_nonzero(table < -LIMIT * rms)
    return Result(
        metrics=(
            Metric("rms", "RMS of all values", rms),
            Metric("largest", "Largest absolute value", size),
            Metric(
                "peak",
                "Largest absolute value ÷ RMS",
                size / rms if rms else None,
                reason="every value is zero",
            ),
            Metric("beyond", "Values beyond ±3 RMS", 100.0 * n_beyond / table.size, "%"),
            Metric(
                "tail",
                "First position of a constant or random tail",
                found.tail.start if found.tail else None,
                reason="the table has no such tail",
            ),
        ),
        arrays={"rms": np.array(rms), **_given(subject.encoding.form)},
        findings=(
            *_of_value(rms, peak, position, dimension),
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


def _of_value(rms: float, peak: float, position: int, dimension: int) -> Iterator[Finding]:
    if rms == 0.0:
        yield Finding(WORDING("zero"), ("rms",), 1.0)
    elif (times := abs(peak) / rms) >= 10.0:
        text = WORDING("stands_out", peak=peak, position=position, dimension=dimension, times=times)
        yield Finding(text, ("largest", "rms", "peak"), 0.7, rows=(position,))


def _of_structure(structure: Structure, n_positions: int) -> Iterator[Finding]:
    """What the table lacks, the most telling first."""
    if structure.kind == "constant":
        yield Finding(WORDING("constant", n_positions=n_positions), ("rms",), 1.0)
        return
    end = structure.tail
    if end:
        text = WORDING("tail", first=end.start, last=n_positions - 1, kind=end.kind)
        yield Finding(text, ("tail",), 1.0)
    if structure.kind == "random":
        text = WORDING("untrained", last=end.start - 1 if end else None)
        yield Finding(text, ("rms",), 1.0)
    elif structure.kind == "unordered":
        yield Finding(WORDING("unordered"), ("rms",), 1.0)
    yield from _of_rows(structure, n_positions)


def _of_rows(structure: Structure, n_positions: int) -> Iterator[Finding]:
    """Zeros and copies."""
    if structure.zeros:
        text = WORDING("zeros", positions=np.array(structure.zeros))
        yield Finding(text, ("rms",), 0.9)
    if structure.copy is not None:
        copy, first = structure.copy
        text = WORDING(
            "copies", n_copies=structure.n_copies, n_positions=n_positions, copy=copy, first=first
        )
        yield Finding(text, ("rms",), 0.9)


def draw(results: Results) -> Figure:
    """Heat maps side by side, positions by dimensions, in units of the root mean square of each
    table; of a large one, picked positions and dimensions. One by formula alone is in its own
    values, with some of its waves beside it.
    """
    images = [
        PickedPanel(
            label.title,
            result.derived["vectors"],
            float(result.arrays["rms"]) or 1.0,
            together=pairs(result.derived["vectors"].shape[1], formula := _formula(result.arrays)),
            table=place,
            formula=formula,
        )
        for place, (label, result) in enumerate(results.items())
    ]
    if len(images) == 1 and images[0].formula is not None:
        return _with_waves(replace(images[0], unit=1.0), images[0].formula)
    labels = ("dimension", "position", "value ÷ RMS of the table")
    return image_panels(images, (-LIMIT, LIMIT), DIVERGING, labels, square=False)


def pairs(n_dimensions: int, formula: SinusoidFormula | None) -> Array | None:
    """Dimensions that a thinned table shows together, (n_pairs, 2), int: the sine and the cosine of
    a frequency, or two adjacent ones of a table without a formula; None where they are odd.
    """
    if formula is not None:
        sines, cosines = (np.flatnonzero(formula.is_cosine == which) for which in (False, True))
        of_sines, of_cosines = formula.frequencies[:, sines], formula.frequencies[:, cosines]
        if of_sines.shape == of_cosines.shape and np.allclose(of_sines, of_cosines, rtol=1e-9):
            return np.stack([sines, cosines], axis=1)
    return np.arange(n_dimensions).reshape(-1, 2) if n_dimensions % 2 == 0 else None


def _with_waves(panel: PickedPanel, formula: SinusoidFormula) -> Figure:
    """The heat map of a sinusoid between its lowest and highest value, and waves that it marks."""
    figure, (left, right) = panels(2, height=4.4)
    dimensions = waves(formula)
    picture = image(left, panel, (-formula.scale, formula.scale), DIVERGING)
    left.set_title(wrapped(panel.title))
    left.set(xlabel="dimension", ylabel="position")
    right.set_title("waves marked")
    lines = panel.matrix[:, dimensions].T
    ridges(right, lines, [f"{dimension}" for dimension in dimensions], MARK, 2.4 * formula.scale)
    right.set(xlabel="position", ylabel="dimension")
    for dimension in dimensions:
        add(left, StraightLine("x", dimension, colour=MARK, width=2.4))
    colour_bar(figure, picture, [left], "value")
    return figure


def waves(formula: SinusoidFormula) -> Array:
    """``N_WAVES`` sines from the faster half of a formula, (≤ N_WAVES,), int."""
    sines = np.flatnonzero(~formula.is_cosine)
    return np.unique(sines[np.arange(1, N_WAVES + 1) * sines.size // (2 * N_WAVES)])


def _summary(result: Result) -> dict[str, Any]:
    rows, columns = result.derived["vectors"].shape
    return {"rows": rows, "columns": columns, "rms": float(result.arrays["rms"])}


ANALYSIS = Analysis(
    key="whole_table",
    about="structure",
    stage="see",
    after="anatomy_of_the_input",
    forms=(PositionTable,),
    compute=compute,
    answer=Headline("peak", WORDING),
    figures=(
        FigureSpec(
            "heatmap",
            WORDING.figure("heatmap", _summary),
            draw,
            python=('plt.imshow(vectors, aspect="auto", cmap="RdBu_r")'),
            maps_rows=True,
        ),
    ),
    per_figure=9,
    derived={"vectors": vectors},
    exact=frozenset({"places", "frequencies", "scale"}),
)
