"""Kinds of pages of published models."""
