"""One kind of page each. Every module holds one ``PageKind``."""
