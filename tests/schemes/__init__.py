"""Tests of generator/schemes."""
