"""Figures: style, panels, lines, and rendering as SVG."""
