"""Benchmarks of the atlas; not part of the program."""
