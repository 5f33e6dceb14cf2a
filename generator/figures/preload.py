"""Imported by the process from which those are forked that draw."""

import logging
from importlib import import_module

from generator.figures import svg

# Without a home it warns of its temporary cache.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
for name in ("matplotlib.figure", svg.BACKEND):
    import_module(name)
