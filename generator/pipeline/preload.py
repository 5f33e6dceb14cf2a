"""Imported by the process from which workers are forked.

Its objects are frozen, so that no garbage collection of a worker copies their memory.
"""

import gc
import logging
from collections.abc import Iterable
from importlib import import_module

from generator.figures import svg
from generator.pipeline import evaluate, plan
from generator.pipeline.find import all_schemes

DRAWING = ("matplotlib.figure", svg.BACKEND)


def share(modules: Iterable[str]) -> None:
    """Import ``modules``, which workers then share."""
    # Imports leave little garbage, and collecting it takes up to a quarter of the time.
    gc.disable()
    for name in modules:
        import_module(name)
    gc.freeze()
    gc.enable()


# Without a home it warns of its temporary cache.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
for load in (plan.all_sources, all_schemes, evaluate.all_analyses):
    load()
share(DRAWING)
