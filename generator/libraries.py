"""Imports of transformers, whose config classes need no torch, without which they load in a quarter
of the time.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from generator.errors import RefusedError

# Without torch, transformers says that it has no models.
SILENT = "TRANSFORMERS_NO_ADVISORY_WARNINGS"


def config_classes() -> Mapping[str, Any]:
    """The config class of every model type."""
    classes: Mapping[str, Any] = light_transformers("models.auto").CONFIG_MAPPING
    return classes


def light_transformers(module: str) -> Any:
    """A module of transformers, which finds no torch unless one of the two has been imported
    before.
    """
    if "transformers" not in sys.modules and "torch" not in sys.modules:
        with hide_torch():
            # It remembers the answer.
            import_module("transformers.utils.import_utils").is_torch_available()
    return import_module(f"transformers.{module}")


def rotary_initialisers() -> Any:
    """The module of transformers that rescales rotations.

    It needs torch, but none of the models, whose import takes longer than torch's.
    """
    module = light_transformers("modeling_rope_utils")
    # Which it has not found where config classes alone were needed before.
    module.torch = import_module("torch")
    return module


def import_transformers() -> Any:
    """transformers with its models.

    One that has found no torch is forgotten, and imported again.
    """
    import_utils = sys.modules.get("transformers.utils.import_utils")
    if import_utils is not None and not import_utils.is_torch_available():
        for name in [name for name in sys.modules if name.partition(".")[0] == "transformers"]:
            del sys.modules[name]
    return import_module("transformers")


def keep_torch() -> None:
    """Import torch where it is installed, so that ``light_transformers`` does not hide it: in the
    process of another program, whose transformers would have no models.
    """
    with suppress(ImportError):
        import_module("torch")


@contextmanager
def hide_torch() -> Iterator[None]:
    """Have Python find no torch in the block, whether it is installed or not."""
    before = os.environ.get(SILENT)
    os.environ[SILENT] = "1"
    sys.modules["torch"] = None  # type: ignore[assignment]  # Python then finds no such module.
    try:
        yield
    finally:
        del sys.modules["torch"]
        if before is None:
            del os.environ[SILENT]
        else:
            os.environ[SILENT] = before


@contextmanager
def of_site(what: str) -> Iterator[None]:
    """errors: RefusedError with what to install, where the block lacks a library of the extra"""
    try:
        yield
    except ModuleNotFoundError as error:
        raise RefusedError(
            f"{what} needs {error.name}, which is not installed; expected pip install"
            ' "position-atlas[site]"'
        ) from error
