"""Model families by how they combine the vectors of a box."""

# Concatenate the vectors; others add them up.
JOINED = frozenset({"layoutlmv2", "layoutxlm", "layoutlmv3", "lilt"})
