"""No position encoding at all: a finding of its own for families whose code is known to have none."""

from generator.contracts import Encoding, Files, Provenance, Scheme
from generator.encodings import Form, NoEncoding
from generator.model_config import family

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


SCHEME = Scheme(
    key="none",
    title="No encoding",
    summary="Nothing in the model tells position; order comes from reading the tokens one after the other.",
    looked_for="a family whose code has no position encoding (Mamba, RWKV, Jamba …)",
    order=90,
    find=find,
)
