"""Model families with recurrent layers, by the rule of their decay."""

from collections.abc import Mapping

from generator.contracts import ModelConfig

# The rate is exp(A_log) times a step, which is softplus(bias) where the content adds nothing. The
# last is not in transformers.
STEPS = frozenset(
    {"mamba", "falcon_mamba", "jamba", "zamba", "mamba2", "bamba", "falcon_h1", "granitemoehybrid",
     "nemotron_h", "zamba2",
     "qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text", "qwen4_exp",
     "qwen4_exp_text", "olmo_hybrid",
     "kimi_linear", "lara_mini", "solar_open2", "glm5_next", "glm5_next_text", "bailing_hybrid",
     "gated_deltanet"}
)  # fmt: skip
WITHOUT_TYPE = "ssm_cfg"  # Setting of Mamba's first checkpoints, whose config names no family.
# Steps stay within time_step_limit.
LIMITED = frozenset({"mamba2", "bamba", "falcon_h1", "granitemoehybrid"})
LEAST = frozenset({"zamba2", "nemotron_h"})  # Steps are at least time_step_min.
LEAST_STEP = 0.001
# The rate is exp(time_decay); whether the content adds to time_decay.
EXPONENTIALS: Mapping[str, bool] = {"rwkv": False, "rwkv5": False, "rwkv6": True}
RECURRENT_GATES = frozenset({"recurrent_gemma"})
FORGET_GATES = frozenset({"xlstm"})
FROM_WEIGHTS = STEPS | frozenset(EXPONENTIALS) | RECURRENT_GATES | FORGET_GATES
LIGHTNING = frozenset({"minimax", "minimax_text_01", "minimax_m1", "MiniMaxM1"})
# Every second layer is of lightning attention, unless the config lists the layers.
ALTERNATING = frozenset({"minimax"})
RETENTION = frozenset({"retnet"})
BOUND = -5.0


def lower_bound(config: ModelConfig) -> float | None:
    """Logarithm of the smallest share of the state that one position leaves; None where there is no
    such bound.
    """
    if config.family == "bailing_hybrid":
        return (
            _number(config.value("kda_lower_bound", BOUND))
            if config.value("kda_safe_gate", True)
            else None
        )
    if config.family not in {"glm5_next", "glm5_next_text"}:
        return None
    bound, inner = config.value("linear_lower_bound", BOUND), config.section("linear_attn_config")
    if inner is not None:
        bound = inner.value("gate_lower_bound", bound)
        bound = BOUND if bound is None and inner.value("safe_gate", True) else bound
    return _number(bound)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
