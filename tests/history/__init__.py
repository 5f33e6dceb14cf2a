"""Tests of generator.history."""
