"""What figures share: style, panels, lines, and their bytes in a file."""
