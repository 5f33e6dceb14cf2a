"""The format of figures. Another one is a module like ``svg``, imported here in its place."""

from generator.figures.svg import BACKEND, EXTENSION, encode, parts, raster, size

__all__ = ["BACKEND", "EXTENSION", "encode", "file_of", "parts", "raster", "size"]


def file_of(path: str) -> str:
    """Path of the file of a figure, from ``path`` without extension."""
    return path + EXTENSION
