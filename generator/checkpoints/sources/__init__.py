"""Where files come from: one module a source, each with one ``Source``."""
