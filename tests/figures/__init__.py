"""Tests of generator/figures."""
