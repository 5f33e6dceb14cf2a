"""The picture that explains models without an encoding."""

import numpy as np

from generator.contracts import Numbers, Picture
from generator.figures.canvas import Figure
from generator.figures.panels import image_panels
from generator.figures.scene import Panel
from generator.figures.style import SEQUENTIAL
from generator.schemes.none import trained

N_SHOWN, RETAINED = 16, 0.8


def _numbers() -> Numbers:
    """Weight of each token at each step for equal contents, query by key: (n_positions,
    n_positions) each.

    attention: softmax under a causal mask; recurrence: RETAINED to the power of the distance
    """
    index = np.arange(N_SHOWN)
    distance = (index[:, None] - index[None, :]).astype(np.float64)
    attention = np.where(distance >= 0, 1.0 / (index[:, None] + 1.0), np.nan)
    return {
        "attention": attention,
        "recurrence": np.where(distance >= 0, RETAINED ** np.maximum(distance, 0.0), np.nan),
    }


def _draw(numbers: Numbers) -> Figure:
    titles = {"attention": "attention without encoding", "recurrence": "recurrent layer"}
    shown = [Panel(title, numbers[name]) for name, title in titles.items()]
    return image_panels(shown, (0.0, 1.0), SEQUENTIAL, ("token", "step", "weight"), square=True)


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["attention"],
    further={"trained": trained.PICTURE},
)
