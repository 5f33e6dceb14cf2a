"""Bytes on disk, found again by digest."""
