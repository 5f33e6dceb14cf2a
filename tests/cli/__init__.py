"""Tests of generator/cli."""
