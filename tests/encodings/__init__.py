"""Tests of generator/encodings."""
