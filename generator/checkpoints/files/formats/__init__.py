"""File formats of weights: every module defines one ``FileFormat``."""

PIPELINE = "model_index.json"  # Of diffusers: it names the parts.
