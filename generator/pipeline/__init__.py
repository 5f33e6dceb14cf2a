"""One build in order: which checkpoints are new, who evaluates them, where results are kept."""
