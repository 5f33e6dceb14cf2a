"""Imported, after ``preload``, where what is found is only said: rotations are rescaled without
torch.
"""

from generator.libraries import rescale_without_torch

rescale_without_torch()
