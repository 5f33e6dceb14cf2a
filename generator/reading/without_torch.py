"""Imported, after ``preload``, by the process from which those are forked that only say what they
find: it rescales rotations without torch.
"""

from generator.libraries import rescale_without_torch

rescale_without_torch()
