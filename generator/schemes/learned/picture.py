"""The picture that explains learned tables."""

import numpy as np

from generator.contracts import Numbers, Picture
from generator.figures.canvas import Figure
from generator.figures.panels import image_panels
from generator.figures.scene import Panel
from generator.figures.style import DIVERGING

TOKENS = ("the", "cat", "and", "the", "dog")


def _numbers() -> Numbers:
    """Random vectors of words and of positions, and their sum: (n_tokens, 16) each."""
    draws = np.random.default_rng(0)
    words, positions = draws.normal(size=(len(TOKENS), 16)), draws.normal(size=(len(TOKENS), 16))
    # The same vector for every occurrence of a word.
    words = words[[TOKENS.index(token) for token in TOKENS]]
    return {"words": words, "positions": positions, "sum": words + positions}


def _draw(numbers: Numbers) -> Figure:
    titles = {"words": "word vectors", "positions": "position vectors", "sum": "sum"}
    shown = [Panel(title, numbers[name]) for name, title in titles.items()]
    figure = image_panels(
        shown, (-3.0, 3.0), DIVERGING, ("dimension", "position", "value"), square=False
    )
    for axes in figure.axes[:3]:
        axes.set_yticks(
            range(len(TOKENS)), [f"{position} {token}" for position, token in enumerate(TOKENS)]
        )
    return figure


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["positions"],
)
