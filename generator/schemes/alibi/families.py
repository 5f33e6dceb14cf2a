"""Model families with ALiBi, as far as config.json does not say so or the code does more."""

ALWAYS = frozenset({"bloom"})  # Have it without a setting.
ROUNDED = frozenset({"falcon"})  # Make the bias in bfloat16, and add it before they divide by √d.
