"""Tests of generator/cache."""
