"""Attention sinks: a learned logit per head that takes weight from all keys alike."""

import re

import numpy as np

from generator.checkpoints.model.tensor_names import in_order, misshapen
from generator.contracts import Encoding, Files, Provenance, Scheme
from generator.contracts.wording import Wording
from generator.encodings import Form, Sinks
from generator.numerics.arrays import frozen

WORDING = Wording("schemes/sink.md.jinja")
# Model types with a learned sink in each head.
SINKS = frozenset(
    {"gpt_oss", "openai_privacy_filter", "deepseek_v4", "flint", "granite_swa", "granitemoe_swa",
     "hy_v4", "hy_v4_vl_text", "mimo_v2_flash"}
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
        (stack for stack in files.resolved.stacks[::-1] if stack.config.family in SINKS), None
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
    place, notes = (stack.modality, stack.kind), (WORDING("outside"), WORDING("of_first_layer"))
    encodings: list[Encoding[Form]] = []
    for (start, n_heads), names in kinds.items():
        logits = np.stack([files.tensor(name) for name in names.values()])
        form = Sinks(frozen(logits), tuple(names))
        origin = Provenance.of(files, next(iter(names.values())))
        part = title if len(kinds) == 1 else f"{title} {start} {n_heads} heads"
        encodings.append(Encoding(part, SCHEME.key, form, origin, notes, *place))
    return encodings


SCHEME = Scheme(
    key="sink",
    paper="2309.17453",
    also=("learned sinks", "softmax with an extra logit"),
    acts_in="logits",
    after="none",
    find=find,
    tells_position=False,
)
