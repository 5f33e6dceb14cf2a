"""Tests of pages in a browser."""
