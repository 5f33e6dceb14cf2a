"""Imported last by the process from which others are forked: what it holds stays shared, as no collection of theirs will touch it."""

import gc

from generator import study

for found in (study.all_sources, study.all_schemes, study.all_analyses):
    found()
gc.collect()
gc.freeze()
