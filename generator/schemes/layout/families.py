"""Model families that look up the place of a word on its page, by what their code makes of the vectors."""

JOINED = frozenset({"layoutlmv2", "layoutxlm", "layoutlmv3", "lilt"})  # These join the vectors; the others add them up.
