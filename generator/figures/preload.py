"""Imported by the process from which those are forked that draw; its objects are frozen, so that no
garbage collection of theirs copies their memory.
"""

import gc
import logging
from importlib import import_module

from generator.figures import svg

gc.disable()  # Imports leave little garbage.
# Without a home it warns of its temporary cache.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
for name in ("matplotlib.figure", svg.BACKEND):
    import_module(name)
gc.freeze()
gc.enable()
