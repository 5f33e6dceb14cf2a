"""Strength of a convolution by offset."""

import numpy as np

from generator.contracts import (
    Analysis,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Result,
    Spot,
    Subject,
)
from generator.contracts.wording import Wording
from generator.encodings import Convolution
from generator.errors import NotApplicableError
from generator.figures.charts import Curves
from generator.figures.scene import StraightLine
from generator.numerics.arrays import Array, Floats, finite

WORDING = Wording("analyses/reach_of_the_convolution.md.jinja")
NEAR, FAR = 1, 8  # positions


def compute(subject: Subject[Convolution]) -> Result:
    """Norm of the weights at each offset, and the share of energy near the position.

    arrays: offsets (width,), in positions; strength (width,), norm over all channels
    errors: NotApplicableError when the weights are not finite, or are zero
    """
    form = subject.encoding.form
    finite(form.weights, "the convolution")
    strength = form.strength  # (width,)
    if not strength.any():
        raise NotApplicableError("all its weights are zero")
    half = half_width(strength, form.offsets)
    near, far = (energy_within(strength, form.offsets, distance) for distance in (NEAR, FAR))
    edges = np.flatnonzero(np.abs(form.offsets) == half)
    spots = tuple(
        Spot("strength", float(form.offsets[edge]), float(strength[edge] / strength.max()))
        for edge in edges
    )
    text = WORDING("span", width=strength.size, half=half, far=FAR, share=far)
    return Result(
        metrics=(
            Metric("width", "Width", strength.size, "positions"),
            Metric("near", f"Energy within ±{NEAR} position", 100.0 * near, "%"),
            Metric("far", f"Energy within ±{FAR} positions", 100.0 * far, "%"),
            Metric("half", "Half-width", half, "positions"),
            Metric(
                "peak",
                "Offset of the strongest weights",
                float(form.offsets[strength.argmax()]),
                "positions",
            ),
        ),
        arrays={"offsets": form.offsets, "strength": strength},
        findings=(Finding(text, ("width", "half", "far"), 0.4, spots=spots),),
    )


def energy_within(strength: Floats, offsets: Floats, distance: int) -> float:
    """Share of the squared strength at offsets up to ``distance`` on either side, within [0, 1].

    strength, offsets: (width,)
    """
    energy = (strength / strength.max()) ** 2
    return float(energy[np.abs(offsets) <= distance].sum() / energy.sum())


def half_width(strength: Floats, offsets: Floats) -> int:
    """Smallest distance, in positions, within which at least half of the squared strength lies.

    strength, offsets: (width,)
    """
    distances = range(int(np.abs(offsets).max()) + 1)
    return next(
        distance for distance in distances if energy_within(strength, offsets, distance) >= 0.5
    )


def _strength(result: Result) -> tuple[Array, Array]:
    strength = result.arrays["strength"]
    return result.arrays["offsets"], strength / strength.max()


ANALYSIS = Analysis(
    key="reach_of_the_convolution",
    stage="see",
    after="decay_with_distance",
    answer=Headline("half", WORDING),
    forms=(Convolution,),
    compute=compute,
    figures=(
        FigureSpec(
            "strength",
            WORDING.figure("strength"),
            Curves(
                _strength,
                x="offset (positions)",
                y="norm of the weights ÷ largest",
                ylim=(0.0, 1.05),
                rules=(StraightLine("x", 0.0),),
            ),
            python=(
                'plt.plot(arrays["reach_of_the_convolution.offsets"], '
                'arrays["reach_of_the_convolution.strength"])'
            ),
            overlays=True,
        ),
    ),
)
