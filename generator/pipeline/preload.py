"""Imported by the process from which workers are forked. Its objects are frozen, so that no garbage collection of a worker copies their memory."""

import gc
import logging
from importlib import import_module

from generator.figures import output
from generator.pipeline import evaluate

SHARED = ("matplotlib.figure", output.BACKEND, "sklearn.model_selection", "huggingface_hub.file_download", "tokenizers")

logging.getLogger("matplotlib").setLevel(logging.ERROR)  # Without a home it warns of its temporary cache.
gc.disable()  # Imports leave little garbage, and collecting it takes a quarter of the time.
for name in SHARED:
    import_module(name)
for load in (evaluate.all_sources, evaluate.all_schemes, evaluate.all_analyses):
    load()
gc.freeze()
gc.enable()
