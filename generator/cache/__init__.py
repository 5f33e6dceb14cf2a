"""Caches of bytes on disk, by digest."""
