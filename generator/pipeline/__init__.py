"""One build, in order: which checkpoints are new, their evaluation, the store of their outcomes."""
