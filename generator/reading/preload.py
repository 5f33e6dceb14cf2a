"""Imported by the process from which those are forked that read single checkpoints; its objects are
frozen, so that no garbage collection of theirs copies their memory.
"""

import gc

from generator.libraries import config_classes
from generator.reading import comparison, find, lint, plan  # noqa: F401  # All are shared.

gc.disable()  # What follows leaves little garbage.
for load in (config_classes, plan.all_sources, lint.all_rules, find.all_schemes):
    load()
gc.freeze()
gc.enable()
