"""Kinds of pages: every module defines one ``PageKind``."""
