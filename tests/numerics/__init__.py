"""Tests of generator/numerics."""
