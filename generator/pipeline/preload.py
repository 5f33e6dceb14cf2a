"""Imported by the process from which others are forked: what it holds stays shared, as no collection of theirs will touch it."""

import gc
import logging
from importlib import import_module

from generator.figures import output
from generator.pipeline import evaluate

SHARED = ("matplotlib.figure", output.BACKEND, "sklearn.model_selection", "huggingface_hub.file_download", "tokenizers")

logging.getLogger("matplotlib").setLevel(logging.ERROR)  # A user without a home gets a cache for the time of the build: nothing to warn of.
gc.disable()  # Importing leaves little behind, and looking for it takes a quarter of the time.
for name in SHARED:
    import_module(name)
for found in (evaluate.all_sources, evaluate.all_schemes, evaluate.all_analyses):
    found()
gc.freeze()
gc.enable()
