"""Imports of transformers: its config classes need no torch, without which they load in a quarter of the time."""

import sys
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


def config_classes() -> Mapping[str, Any]:
    """The config class of every model type. Where neither library has been imported yet, transformers is, and finds no torch."""
    if "transformers" not in sys.modules and "torch" not in sys.modules:
        sys.modules["torch"] = None  # type: ignore[assignment]  # An import of None finds no module, by the rules of Python.
        try:
            import_module("transformers.utils.import_utils").is_torch_available()
        finally:
            del sys.modules["torch"]
    classes: Mapping[str, Any] = import_module("transformers").CONFIG_MAPPING
    return classes


def transformers() -> ModuleType:
    """transformers with its models. One that was imported without torch is forgotten, and imported again."""
    import_utils = sys.modules.get("transformers.utils.import_utils")
    if import_utils is not None and not import_utils.is_torch_available():
        for name in [name for name in sys.modules if name.partition(".")[0] == "transformers"]:
            del sys.modules[name]
    return import_module("transformers")
