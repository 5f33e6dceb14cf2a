"""Tests of generator/analyses."""
