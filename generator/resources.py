"""Files beside the code: in a checkout they lie beside the package, in a wheel within it."""

from pathlib import Path

PACKAGE = Path(__file__).parent
BUNDLED = PACKAGE / "project"  # pyproject.toml names what a wheel has there.
ROOT = BUNDLED if BUNDLED.is_dir() else PACKAGE.parent
