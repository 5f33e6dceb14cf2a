"""How positions are told: one module or package a scheme, each with one ``Scheme``."""
