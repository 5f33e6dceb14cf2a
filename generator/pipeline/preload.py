"""Imported by the process from which workers are forked: they share what it has imported, which
costs once what it would cost each of them.

Where torch has been imported before, so are models of transformers. Objects are frozen, so that no
garbage collection of a worker copies their memory.
"""

import gc
import sys
from importlib import import_module

from generator.libraries import config_classes
from generator.pipeline import evaluate
from generator.reading import plan
from generator.reading.find import all_schemes

DRAWING = "generator.figures.preload"
MODELS = (
    "transformers.models.auto.modeling_auto",
    "transformers.modeling_utils",
    "sklearn.model_selection",
    "huggingface_hub.file_download",
    "tokenizers",
)

# Imports leave little garbage, and collecting it takes up to a quarter of the time.
gc.disable()
for load in (config_classes, plan.all_sources):
    load()
for scheme in all_schemes():
    scheme.wording("title")  # Has its template read, as below.
for analysis in evaluate.all_analyses():
    analysis.wording("title")
for name in (DRAWING, *(MODELS if "torch" in sys.modules else ())):
    import_module(name)
gc.freeze()
gc.enable()
