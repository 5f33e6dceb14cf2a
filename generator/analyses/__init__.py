"""One question each: what is computed, drawn and said. Every module holds one ``Analysis``."""
