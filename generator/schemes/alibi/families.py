"""Model families with ALiBi that config.json does not describe in full."""

ALWAYS = frozenset({"bloom"})  # ALiBi without a setting.
# A bias in bfloat16, and logits that are divided by √d after it is added.
ROUNDED = frozenset({"falcon"})
