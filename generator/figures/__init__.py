"""What figures share: style, panels, lines, and their bytes as SVG."""
