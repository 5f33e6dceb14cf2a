"""No position encoding, for families whose code has none."""

import numpy as np

from generator.checkpoints.model.families import RECURRENT, attends_without_encoding
from generator.contracts import Encoding, Files, ModelConfig, Numbers, Picture, Provenance, Scheme
from generator.contracts.words import Words
from generator.encodings import Form, NoEncoding
from generator.figures.canvas import Figure
from generator.figures.panels import image_panels
from generator.figures.scene import Panel
from generator.figures.style import SEQUENTIAL

WORDS = Words("schemes/none.md.jinja")
MASK_ALONE = "mask_alone"


def find(files: Files) -> list[Encoding[Form]]:
    """One empty encoding for a family without position encoding, unless the weights say how its
    recurrent layers forget; otherwise none.
    """
    reason = _reason(files.config)
    if reason is None or (files.tensors and reason != MASK_ALONE):
        return []
    why, origin = WORDS(reason), Provenance("config.json")
    note = WORDS("no_encoding", family=files.config.family, why=why)
    notes = (note,) if reason == MASK_ALONE else (note, WORDS("weights_unread"))
    return [Encoding("decoder", SCHEME.key, NoEncoding(why), origin, notes, stack="decoder")]


def _reason(config: ModelConfig) -> str | None:
    """Name of the reason why a family needs no position encoding; None for other families."""
    if config.family in RECURRENT:
        return "keeps_state"
    if not attends_without_encoding(config):
        return None
    attends = ["attention" in kind and "linear" not in kind for kind in config.layer_types]
    return MASK_ALONE if attends and all(attends) else "recurrent_between"


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


PICTURE = Picture.of(
    WORDS,
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["attention"],
)


SCHEME = Scheme(
    key="none",
    paper="2203.16634",
    also=("NoPE (attention layers without position)",),
    acts_in="",
    order=90,
    find=find,
    picture=PICTURE,
    by_formula=True,
)
