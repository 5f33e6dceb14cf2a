"""Imported by the process that reads single checkpoints, or by that from which it is forked; its
objects are frozen, so that no garbage collection copies their memory.
"""

import gc

from generator.libraries import config_classes
from generator.reading import comparison, find, lint, plan  # noqa: F401  # All are shared.

gc.disable()  # What follows leaves little garbage.
for load in (config_classes, plan.all_sources, lint.all_rules, find.all_schemes):
    load()
gc.freeze()
gc.enable()
