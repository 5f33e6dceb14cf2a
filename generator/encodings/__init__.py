"""The forms of position encodings, and the kernel of each: its value for every pair of positions.

A form is a type, and an analysis declares the forms that it handles. The scheme, how a checkpoint obtains its form, is data elsewhere.
"""

from generator.encodings.form import Form
from generator.encodings.none import NoEncoding
from generator.encodings.offsets import Convolution, OffsetBias, RelativeTable
from generator.encodings.rotations import Rotation
from generator.encodings.sinusoids import BASE, SinusoidLayout, grid_sinusoid, sinusoid, whole_turn_sinusoid
from generator.encodings.tables import LEADING, PositionTable, reference
from generator.encodings.windows import WindowBias

__all__ = [
    "BASE",
    "LEADING",
    "Convolution",
    "Form",
    "NoEncoding",
    "OffsetBias",
    "PositionTable",
    "RelativeTable",
    "Rotation",
    "SinusoidLayout",
    "WindowBias",
    "grid_sinusoid",
    "reference",
    "sinusoid",
    "whole_turn_sinusoid",
]
