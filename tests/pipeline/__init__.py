"""Tests of generator/pipeline."""
