"""Model families with disentangled attention, as far as their tensors do not show which version it is."""

EXACT = frozenset({"deberta"})  # The first version has a vector for each offset, and no LayerNorm on them.
