"""Tests of generator/checkpoints."""
