"""Figures: style, panels, lines, and the format in which they are written."""
