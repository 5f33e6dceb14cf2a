"""The command line: commands, progress, terminal."""
