"""Model families whose code has no position encoding."""

from collections.abc import Mapping

RECURRENT = frozenset({"mamba", "mamba2", "falcon_mamba", "rwkv", "xlstm"})
MIXED = frozenset({"jamba", "zamba", "nemotron_h", "kimi_linear"})  # Attention layers between recurrent ones.
# Also mixed, unless a setting has this value.
UNLESS: Mapping[str, tuple[str, object]] = {"zamba2": ("use_mem_rope", True), "granitemoehybrid": ("position_embedding_type", "rope")}
