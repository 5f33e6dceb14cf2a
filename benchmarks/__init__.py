"""Measurements of the atlas itself; not part of the program."""
