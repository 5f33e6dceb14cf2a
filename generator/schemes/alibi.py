"""ALiBi: a penalty that grows linearly with distance, with a fixed slope for each head."""

import math

import numpy as np

from generator.contracts import Encoding, Files, Provenance, Scheme
from generator.encodings import Form, OffsetBias
from generator.errors import RowError
from generator.model_config import family, needed
from generator.numerics import Floats, frozen

MOST_HEADS = 4096
SHOWN = 128  # The line goes on beyond; this many offsets show its slope.


def slopes(n_heads: int) -> Floats:
    """Slope of each head (Press et al. 2022, arXiv 2108.12409, section 3, and the authors' code for other head counts).

    2^(−8h/n) for h = 1 … n where n is a power of two; otherwise those of the next lower power of two, then every other
    one of the next higher.
    returns: (n_heads,), logit per position
    """
    power = 2 ** math.floor(math.log2(n_heads))
    lower = 2.0 ** (-8.0 * np.arange(1, power + 1) / power)
    higher = 2.0 ** (-4.0 * np.arange(1, 2 * (n_heads - power), 2) / power)
    return np.concatenate([lower, higher])


def find(files: Files) -> list[Encoding[Form]]:
    config = files.config
    attention = config.get("attn_config")
    asked = config.get("alibi") is True or (isinstance(attention, dict) and attention.get("alibi") is True)
    if not asked and family(config) != "bloom":
        return []
    n_heads = needed(config, "n_heads", files.where)
    if n_heads > MOST_HEADS:
        raise RowError(f"{files.where}: {n_heads:,} heads; expected at most {MOST_HEADS:,}")
    offsets = np.arange(-SHOWN, 1)
    form = OffsetBias(frozen(slopes(n_heads)[:, None] * offsets), frozen(offsets), causal=True, beyond="linear")
    note = "No tensor holds it; the slopes follow from the number of heads."
    return [Encoding("decoder", SCHEME.key, form, Provenance("config.json", shape=(n_heads,)), (note,))]


SCHEME = Scheme(
    key="alibi",
    title="ALiBi",
    summary="A penalty on the attention logit that grows linearly with distance, each head with its own fixed slope.",
    looked_for="a config that asks for ALiBi",
    order=50,
    find=find,
)
