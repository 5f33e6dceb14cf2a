"""Attention sinks: a learned logit per head that takes weight from all keys alike."""

import re

import numpy as np

from generator.checkpoints.model.stacks import stacks
from generator.checkpoints.model.tensor_names import in_order, misshapen
from generator.contracts import Encoding, Files, Numbers, Picture, Provenance, Scheme
from generator.contracts.words import Words
from generator.encodings import Form, Sinks
from generator.encodings.attention import sink_share
from generator.figures.canvas import Figure
from generator.figures.panels import logarithmic, panels
from generator.figures.scene import Line, add
from generator.figures.style import SERIES
from generator.numerics.arrays import frozen
from generator.text import rounded

WORDS = Words("schemes/sink.md.jinja")
# Model types with a learned sink in each head.
SINKS = frozenset(
    {"gpt_oss", "openai_privacy_filter", "deepseek_v4", "flint", "granite_swa", "granitemoe_swa",
     "hy_v4", "mimo_v2_flash"}
)  # fmt: skip

# Under the names in published files, too; the last in those of llama.cpp.
NAME = re.compile(
    r"^(?P<stack>(?:.*?\.)?)(?P<layer>\d+)\.(?:.*\.)?"
    r"(?:sinks|learnable_sink_param|attn_sink|attention_sink_bias|softmax_offset"
    r"|attn_sinks\.weight)$"
)
MOST_HEADS, MOST_LAYERS = 4096, 4096


def find(files: Files) -> list[Encoding[Form]]:
    """The sinks of all layers of a stack, one encoding for each number of heads; none in families
    that are not known to have them.

    errors: RowError when a tensor has an unexpected shape
    """
    stack = next(
        (stack for stack in stacks(files.config)[::-1] if stack.config.family in SINKS), None
    )
    if stack is None:
        return []
    kinds: dict[tuple[str, int], dict[int, str]] = {}
    for name in in_order(files.tensors):
        if match := NAME.match(name):
            shape, layer = files.tensors[name].shape, int(match["layer"])
            if len(shape) != 1 or not 0 < shape[0] <= MOST_HEADS or layer >= MOST_LAYERS:
                expected = f"a number for each head, and a layer below {MOST_LAYERS:,}"
                raise misshapen(files, name, expected)
            kinds.setdefault((match["stack"], shape[0]), {})[layer] = name
    title = "layers of attention"
    title = title if stack.part == "decoder" else f"{stack.part} {title}"
    place, notes = (stack.modality, stack.kind), (WORDS("outside"), WORDS("of_first_layer"))
    encodings: list[Encoding[Form]] = []
    for (start, n_heads), names in kinds.items():
        logits = np.stack([files.tensor(name) for name in names.values()])
        form = Sinks(frozen(logits), tuple(names))
        origin = Provenance.of(files, next(iter(names.values())))
        part = title if len(kinds) == 1 else f"{title} {start} {n_heads} heads"
        encodings.append(Encoding(part, SCHEME.key, form, origin, notes, *place))
    return encodings


LOGITS_SHOWN, MOST_KEYS = (-2.0, 0.0, 2.0, 4.0, 6.0), 4  # Made up for the picture; a power of ten.


def _numbers() -> Numbers:
    """The share of made-up sinks by the number of keys: (n_sinks, n)."""
    keys = np.logspace(0.0, MOST_KEYS, 81)
    return {
        "logits": np.array(LOGITS_SHOWN),
        "keys": keys,
        "shares": sink_share(np.array(LOGITS_SHOWN)[:, None], keys),
    }


def _draw(numbers: Numbers) -> Figure:
    figure, (axes,) = panels(1, height=3.2)
    for index, line in enumerate(numbers["shares"]):
        name = f"sink {rounded(numbers['logits'][index], 0)}"
        add(axes, Line(numbers["keys"], line, colour=SERIES[index], name=name))
    logarithmic(axes, "x")
    axes.set(
        xlabel="keys",
        ylabel="weight assigned to no key",
        ylim=(0.0, 1.02),
        xlim=(1.0, 10.0**MOST_KEYS),
    )
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


PICTURE = Picture.of(
    WORDS,
    numbers=_numbers,
    draw=_draw,
    card=lambda numbers: numbers["shares"],
)


SCHEME = Scheme(
    key="sink",
    paper="2309.17453",
    also=("learned sinks", "softmax with an extra logit"),
    acts_in="logits",
    order=95,
    find=find,
    picture=PICTURE,
    tells_position=False,
)
