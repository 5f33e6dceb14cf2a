"""Model families whose logits of attention grow with the position of the query."""

from collections.abc import Mapping

# log(1 + ⌊(p + 1) / floor_scale⌋), in layers without a rotation.
BY_FLOOR = frozenset({"llama4_text"})
# log(1 + ⌊p / original_max_position_embeddings⌋), in all layers.
BY_BETA = frozenset({"ministral3", "mistral4"})
# (1 + (p + 1) / 2048)^0.1, in layers without a rotation.
BY_POWER: Mapping[str, tuple[float, float]] = {"beam": (0.1, 2048.0)}
# log(max((p + 1) / log_scaling_n_floor, 1)), in layers that see all of the text; with the default
# of that setting.
BY_LOGARITHM = {"inkling_text": None, "inkling2_text": 128_000}
# Defaults of floor_scale, and of attn_scale and log_scaling_alpha.
FLOOR_SCALE, STRENGTH = 8192, 0.1
