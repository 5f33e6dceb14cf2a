"""Model families with a learned sink in each head of attention."""

SINKS = frozenset(
    {"gpt_oss", "openai_privacy_filter", "deepseek_v4", "flint", "granite_swa", "granitemoe_swa",
     "hy_v4", "mimo_v2_flash"}
)  # fmt: skip
