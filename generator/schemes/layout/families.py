"""Model families by how they combine the vectors of a box."""

JOINED = frozenset({"layoutlmv2", "layoutxlm", "layoutlmv3", "lilt"})  # Concatenate the vectors; others add them up.
