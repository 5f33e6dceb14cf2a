"""What is typed, printed and returned: commands, progress, the terminal."""
