"""Imported by the process from which those are forked that read single checkpoints; its objects are
frozen, so that no garbage collection of theirs copies their memory.
"""

import gc

gc.disable()  # Imports leave little garbage.

from generator.libraries import config_classes  # noqa: E402
from generator.reading import comparison, find, lint, plan  # noqa: E402, F401

for load in (config_classes, plan.all_sources, lint.all_rules, find.all_schemes):
    load()
gc.freeze()
gc.enable()
