"""Bias over the window: what each head adds to the attention logit between two patches, by their
offset.
"""

from collections.abc import Iterator
from math import sqrt

import numpy as np

from generator.contracts import (
    Analysis,
    Chance,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Result,
    Results,
    Subject,
)
from generator.contracts.wording import Wording
from generator.encodings import WindowBias
from generator.figures.canvas import Figure
from generator.figures.panels import image_panels
from generator.figures.scene import Panel
from generator.figures.style import DIVERGING
from generator.numerics.arrays import FLAT, Floats, finite
from generator.numerics.certainty import groups_of, is_beyond_chance, share_of_groups

WORDING = Wording("analyses/bias_by_patch_offset.md.jinja")
LIMIT = 5.0  # logit; e^5 is a factor of 148 in the attention weight. The same on every page.
MOST_HEADS = 16


def compute(subject: Subject[WindowBias]) -> Result:
    """Range of the bias of each head, the offset that it favours, and its symmetry.

    arrays: values, centred (n_heads, 2·rows − 1, 2·columns − 1), logits, centred without the head's
        mean; peaks (n_heads, 2), int, offset (down, across) of the largest bias, in patches
    errors: NotApplicableError when the bias is not finite
    """
    values = finite(subject.encoding.form.values, "the bias")
    n_heads = len(values)
    # (n_heads, 2·rows − 1, 2·columns − 1)
    centred = values - values.mean(axis=(1, 2), keepdims=True)
    spreads = np.ptp(values, axis=(1, 2))
    highest = peaks(values)
    n_near = sum(max(abs(down), abs(across)) <= 1 for down, across in highest)
    alike = "every head has the same bias at all offsets"
    varying = centred[spreads > FLAT * np.max(np.abs(values), axis=(1, 2))]
    symmetries = [mirror_symmetry(varying, axis) if len(varying) else None for axis in (2, 1)]
    middle = np.array(values.shape[1:])[:, None, None] // 2
    near = (np.abs(np.indices(values.shape[1:]) - middle) <= 1).all(axis=0)
    chance = share_of_groups(groups_of(values.reshape(n_heads, -1)), near.reshape(-1))
    return Result(
        metrics=(
            Metric(
                "spread",
                "Largest minus smallest bias, mean over heads",
                spreads.mean(),
                "logit",
            ),
            Metric("widest", "Largest minus smallest bias, widest head", spreads.max(), "logit"),
            Metric(
                "near_heads",
                "Heads with their largest bias within one patch",
                n_near / n_heads * 100.0,
                "%",
            ),
            Metric(
                "near_chance",
                "Heads with their largest bias within one patch, of random numbers",
                100.0 * chance,
                "%",
            ),
            Metric("heads", "Heads", n_heads),
            Metric(
                "near_error",
                "Standard error of that share by chance",
                100.0 * sqrt(chance * (1.0 - chance) / n_heads),
                "%",
            ),
            Metric("left_right", "Symmetry of left and right", symmetries[0], reason=alike),
            Metric("up_down", "Symmetry of above and below", symmetries[1], reason=alike),
            Metric(
                "beyond",
                "Values beyond the colour limits",
                float(np.mean(np.abs(centred) > LIMIT)) * 100.0,
                "%",
            ),
        ),
        arrays={"values": values, "centred": centred, "peaks": np.array(highest)},
        findings=tuple(_findings(n_near, n_heads, chance, varies=len(varying) > 0)),
    )


def _findings(n_near: int, n_heads: int, chance: float, *, varies: bool) -> Iterator[Finding]:
    """A finding on heads that peak nearby, where these are more or fewer than of random numbers."""
    if not varies:
        yield Finding(WORDING("same"), ("spread",), 0.9)
    elif is_beyond_chance(n_near, n_heads, chance):
        text = WORDING("near", n_near=n_near, n_heads=n_heads, chance=100.0 * chance)
        yield Finding(text, ("near_heads", "near_chance"), 0.4)


def peaks(values: Floats) -> list[tuple[int, int]]:
    """Offset (down, across) of the largest bias of each head, in patches; the nearest of several,
    then the topmost.

    values: (n_heads, 2·rows − 1, 2·columns − 1), logits, with the offset (0, 0) in the middle
    """
    middle = np.array(values.shape[1:]) // 2
    candidates = [np.argwhere(head == head.max()) - middle for head in values]
    nearest = [offsets[np.argmin(np.abs(offsets).max(axis=1))] for offsets in candidates]
    return [(int(down), int(across)) for down, across in nearest]


def mirror_symmetry(values: Floats, axis: int) -> float:
    """1 − ‖b − mirrored b‖ / (2 ‖b‖), mean over heads, within [0, 1]: 1 for a symmetric head, 0 for
    an antisymmetric one.

    values: (n_heads, 2·rows − 1, 2·columns − 1), no head all zeros; axis: to mirror, 1 or 2
    """
    scaled = values / np.max(np.abs(values), axis=(1, 2), keepdims=True)
    difference = np.sqrt(np.sum((scaled - np.flip(scaled, axis)) ** 2, axis=(1, 2)))
    return float(np.mean(1.0 - difference / (2.0 * np.sqrt(np.sum(scaled**2, axis=(1, 2))))))


def draw(results: Results) -> Figure:
    """Bias by offset as images: the heads of a single checkpoint, or the mean over heads of
    several.
    """
    single = len(results) == 1
    images = [
        Panel(f"head {head}" if single else label.title, matrix)
        for label, result in results.items()
        for head, matrix in enumerate(
            result.arrays["centred"][:MOST_HEADS]
            if single
            else [result.arrays["centred"].mean(axis=0)]
        )
    ]
    labels = ("column offset (patches)", "row offset (patches)", "bias − head mean (logit)")
    figure = image_panels(images, (-LIMIT, LIMIT), DIVERGING, labels, square=True)
    # The last axes are the colour bar's.
    for axes, panel in zip(figure.axes, images, strict=False):
        rows, columns = panel.matrix.shape
        axes.set_xticks(*_ticks(columns))
        axes.set_yticks(*_ticks(rows))
        axes.set_box_aspect(rows / columns)
    return figure


def _ticks(count: int) -> tuple[list[int], list[str]]:
    """Index and label of the first offset, of 0 and of the last."""
    indices = sorted({0, count // 2, count - 1})
    return indices, [f"{index - count // 2}".replace("-", "−") for index in indices]


ANALYSIS = Analysis(
    key="bias_by_patch_offset",
    stage="see",
    after="bias_by_offset",
    answer=Headline("near_heads", WORDING, chance=Chance("near_chance", 100.0, total="heads")),
    forms=(WindowBias,),
    compute=compute,
    figures=(
        FigureSpec(
            "heads",
            WORDING.figure("heads"),
            draw,
            python=(
                'plt.imshow(arrays["bias_by_patch_offset.centred"].mean(axis=0), cmap="RdBu_r")'
            ),
        ),
    ),
)
