"""Tests of generator.site.history."""
