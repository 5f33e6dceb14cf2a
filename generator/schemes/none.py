"""No position encoding at all: a finding of its own for families whose code is known to have none."""

from typing import TYPE_CHECKING

import numpy as np

from generator.checkpoints.model.config_json import family
from generator.contracts import Encoding, Files, Numbers, Picture, Provenance, Scheme
from generator.encodings import Form, NoEncoding
from generator.figures.panels import Panel, image_panels
from generator.figures.style import INK, SEQUENTIAL
from generator.text import rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RECURRENT = frozenset({"mamba", "mamba2", "falcon_mamba", "rwkv", "xlstm"})
# Layers of attention that are told nothing, between recurrent ones.
MIXED = frozenset({"jamba", "zamba", "nemotron_h", "kimi_linear"})
# Mixed ones that are told nothing unless a key of the config says so.
UNLESS = {"zamba2": ("use_mem_rope", True), "granitemoehybrid": ("position_embedding_type", "rope")}
BY_TURNS = "each layer reads the tokens one after the other and keeps a state, so that order is there without being told"
ALONE = "its layers of attention are told nothing of position but what the causal mask gives away"
BETWEEN = "its layers of attention are told nothing of position; the recurrent layers between them read the tokens one after the other"


def find(files: Files) -> list[Encoding[Form]]:
    kind = family(files.config)
    if kind in RECURRENT:
        why = BY_TURNS
    elif kind in MIXED or (kind in UNLESS and files.config.get(UNLESS[kind][0]) != UNLESS[kind][1]):
        types = files.config.get("layer_types")
        why = ALONE if isinstance(types, list) and types and all("attention" in str(each) for each in types) else BETWEEN
    else:
        return []
    note = f"The code of this family ({kind}) has no position encoding: {why}."
    return [Encoding("decoder", SCHEME.key, NoEncoding(why), Provenance("config.json"), (note,))]


N_SHOWN, KEPT = 16, 0.8


def _numbers() -> Numbers:
    """What each token counts for at each step where all contents are alike, query by key: (n_positions, n_positions) each.

    attention: softmax over the keys that a causal mask leaves; recurrence: KEPT to the power of the distance
    """
    index = np.arange(N_SHOWN)
    distance = (index[:, None] - index[None, :]).astype(np.float64)
    attention = np.where(distance >= 0, 1.0 / (index[:, None] + 1.0), np.nan)
    return {"attention": attention, "recurrence": np.where(distance >= 0, KEPT ** np.maximum(distance, 0.0), np.nan)}


def _draw(numbers: Numbers) -> "Figure":
    titles = {"attention": "attention, told nothing", "recurrence": "a recurrent layer"}
    shown = [Panel(title, INK, numbers[name]) for name, title in titles.items()]
    return image_panels(shown, (0.0, 1.0), SEQUENTIAL, ("token read", "step", "weight"), square=True)


def _alt(numbers: Numbers) -> str:
    even, faded = (numbers[name][-1, 0] for name in ("attention", "recurrence"))
    return f"Two lower triangles of {N_SHOWN} by {N_SHOWN}: rows of one colour each, the last {rounded(even, 3)}; and stripes that fade from 1 on the diagonal to {rounded(faded, 3)}."


PICTURE = Picture(
    caption=f"What each token counts for at each step, all contents being alike: left in attention under a causal mask, right in a recurrent layer whose state keeps {KEPT:g} of itself from step to step (a number chosen for the picture).",
    how_to_read=(
        "Row: the step; column: the token. On the left, every row is of one colour: order makes no difference, only the number of tokens so far does. "
        "On the right, tokens fade with their distance, so that the same tokens in another order leave another state."
    ),
    numbers=_numbers,
    alt=_alt,
    draw=_draw,
)


SCHEME = Scheme(
    key="none",
    title="No encoding",
    also=("NoPE, where layers of attention are told nothing",),
    summary="Nothing in the model tells position; order comes from reading the tokens one after the other.",
    looked_for="a family whose code has no position encoding (Mamba, RWKV, Jamba …)",
    order=90,
    find=find,
    picture=PICTURE,
)
