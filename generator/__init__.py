"""Position Atlas: how transformer checkpoints tell position, measured and published as a site."""

PROGRAM = "position-atlas"
__version__ = "0.1.0"
