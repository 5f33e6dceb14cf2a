"""Tests of generator/site."""
