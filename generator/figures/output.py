"""The format of figures. Another one is a module like ``svg``, imported here in its place."""

from generator.figures.svg import BACKEND, EXTENSION, encode, recoloured, size

__all__ = ["BACKEND", "EXTENSION", "encode", "file_of", "recoloured", "size"]


def file_of(path: str) -> str:
    """The file of a figure. path: without extension"""
    return path + EXTENSION
