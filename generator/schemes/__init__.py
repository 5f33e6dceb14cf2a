"""How positions are told: one module a scheme, each with one ``Scheme``."""
