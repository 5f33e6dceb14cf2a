"""The format in which figures are written: another one is a module like ``svg``, imported here in its place."""

from generator.figures.svg import BACKEND, EXTENSION, encode, recoloured, size

__all__ = ["BACKEND", "EXTENSION", "encode", "file_of", "recoloured", "size"]


def file_of(path: str) -> str:
    """The file in which the figure at ``path``, which has no extension, is written."""
    return path + EXTENSION
