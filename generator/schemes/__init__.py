"""Schemes of position encoding: every module or package defines one ``Scheme``."""
