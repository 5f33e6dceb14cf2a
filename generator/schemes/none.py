"""No position encoding, for families whose code has none."""

import numpy as np

from generator.checkpoints.model.families import RECURRENT, attends_without_encoding
from generator.contracts import Encoding, Files, ModelConfig, Numbers, Picture, Provenance, Scheme
from generator.encodings import Form, NoEncoding
from generator.figures.canvas import Figure
from generator.figures.panels import Panel, image_panels
from generator.figures.style import SEQUENTIAL

BY_TURNS = "each layer reads tokens in order and keeps a state"
ALONE = "its attention layers get position only from the causal mask"
BETWEEN = "between attention layers, recurrent ones read the tokens in order"
UNREAD = (
    "How fast the recurrent state decays is stored in the weights. They were not read: this row has"
    " none."
)


def find(files: Files) -> list[Encoding[Form]]:
    """One empty encoding for a family without position encoding, unless the weights say how its
    recurrent layers forget; otherwise none.
    """
    why = _reason(files.config)
    if why is None or (files.tensors and why != ALONE):
        return []
    note = f"The code of this family ({files.config.family}) has no position encoding: {why}."
    notes, origin = (note,) if why == ALONE else (note, UNREAD), Provenance("config.json")
    return [Encoding("decoder", SCHEME.key, NoEncoding(why), origin, notes, stack="decoder")]


def _reason(config: ModelConfig) -> str | None:
    """The reason why a family needs no position encoding; None for other families."""
    if config.family in RECURRENT:
        return BY_TURNS
    if not attends_without_encoding(config):
        return None
    attends = ["attention" in kind and "linear" not in kind for kind in config.layer_types]
    return ALONE if attends and all(attends) else BETWEEN


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
    caption=(
        "How much each token counts at each step if all contents are equal. First: attention under"
        f" a causal mask. Second: a recurrent layer whose state keeps {RETAINED:g} of itself at"
        " each step (a value chosen for the picture)."
    ),
    how_to_read=(
        "Row: step; column: token. First: every row has one colour, so order makes no difference;"
        " only the number of tokens so far does. Second: tokens fade with distance, so the same"
        " tokens in another order leave another state."
    ),
    numbers=_numbers,
    alt=(
        "Two lower triangles of 16 by 16. First: each row has one colour, 0.062 in the last."
        " Second: stripes fade from 1 on the diagonal to 0.035."
    ),
    draw=_draw,
    card=lambda numbers: numbers["attention"],
)


SCHEME = Scheme(
    key="none",
    title="No encoding",
    paper="2203.16634",
    also=("NoPE (attention layers without position)",),
    summary=(
        "The model's code has no position encoding; order can come from recurrence or from the"
        " causal mask."
    ),
    acts_in="",
    looked_for="a family whose code has no position encoding (Mamba, RWKV, Jamba …)",
    order=90,
    find=find,
    picture=PICTURE,
    by_formula=True,
)
