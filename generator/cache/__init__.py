"""Caches of bytes on disk, digests, and values that are loaded on access."""
