"""Versions of disentangled attention by model family."""

EXACT = frozenset({"deberta"})  # The first version: one vector for each offset, no LayerNorm.
