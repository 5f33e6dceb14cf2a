"""How positions are encoded: one module or package a scheme, each with one ``Scheme``."""
