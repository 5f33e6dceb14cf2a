"""Tests of generator/encyclopedia."""
