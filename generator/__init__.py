"""Position Atlas: how transformer checkpoints tell position, measured and published as a site."""

__version__ = "0.1.0"
