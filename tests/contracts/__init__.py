"""Tests of generator/contracts."""
