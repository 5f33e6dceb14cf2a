"""Position Atlas: how transformer checkpoints tell position, measured and published as a site."""

from pathlib import Path

PROGRAM = "position-atlas"
__version__ = "0.1.0"
# Files beside the code: in a checkout they lie beside the package, in a wheel within it.
PACKAGE = Path(__file__).parent
BUNDLED = PACKAGE / "project"  # pyproject.toml names what a wheel has there.
ROOT = BUNDLED if BUNDLED.is_dir() else PACKAGE.parent
