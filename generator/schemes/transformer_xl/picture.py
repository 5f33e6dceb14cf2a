"""The picture that explains Transformer-XL's relative positions."""

import numpy as np

from generator.contracts import Numbers, Picture
from generator.encodings.sinusoids import sinusoid_at
from generator.figures.canvas import Figure
from generator.figures.panels import image_panels
from generator.figures.scene import Panel
from generator.figures.style import DIVERGING

N_SHOWN, HEAD_DIM = 16, 8


def _numbers() -> Numbers:
    """The four terms of a logit, from random vectors: (n_positions, n_positions) each, query by
    key.
    """
    draws = np.random.default_rng(0)
    queries, keys = draws.normal(size=(2, N_SHOWN, HEAD_DIM))
    towards_content, towards_offset = draws.normal(size=(2, HEAD_DIM))
    offsets = np.arange(1 - N_SHOWN, N_SHOWN)
    # (n_offsets, head_dim)
    waves = sinusoid_at(-offsets, HEAD_DIM, "halves")
    mapped = waves @ draws.normal(size=(HEAD_DIM, HEAD_DIM))
    index = np.arange(N_SHOWN)
    # (n_positions, n_positions, head_dim)
    of_pair = mapped[index[None, :] - index[:, None] + N_SHOWN - 1]
    products = {
        "content": queries @ keys.T,
        "offset": np.einsum("id,ijd->ij", queries, of_pair),
        "content_bias": np.broadcast_to(keys @ towards_content, (N_SHOWN, N_SHOWN)),
        "offset_bias": of_pair @ towards_offset,
    }
    return {name: product / np.sqrt(HEAD_DIM) for name, product in products.items()}


def _draw(numbers: Numbers) -> Figure:
    titles = ("query · key", "query · offset", "u · key", "v · offset")
    shown = [Panel(title, term) for title, term in zip(titles, numbers.values(), strict=True)]
    labels = ("key position", "query position", "part of the logit")
    return image_panels(shown, (-4.0, 4.0), DIVERGING, labels, square=True)


PICTURE = Picture(
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: np.sum(list(numbers.values()), axis=0),
)
