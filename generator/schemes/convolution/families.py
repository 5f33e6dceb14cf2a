"""Model families that store a convolution for position, as far as their tensors do not show what it
is for.
"""

UNUSED = frozenset({"wav2vec2-conformer"})  # Their code builds the module and never calls it.
