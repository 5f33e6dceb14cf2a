"""The forms of position encodings, and the kernel of each: its value for every pair of positions.

A form is a type, and an analysis declares the forms that it handles. The scheme, how a checkpoint
obtains its form, is data elsewhere.
"""

from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules

from generator.encodings.attention import Sinks, Temperature
from generator.encodings.decays import Decay
from generator.encodings.form import ActsIn, Form
from generator.encodings.none import NoEncoding
from generator.encodings.offsets import Convolution, OffsetBias, RelativeTable
from generator.encodings.rotations import Rotation
from generator.encodings.sinusoids import (
    BASE,
    Arrangement,
    SinusoidFormula,
    grid_formula,
    grid_sinusoid,
    sinusoid,
    sinusoid_formula,
    whole_turn_formula,
)
from generator.encodings.tables import LEADING, PositionTable, sinusoid_table
from generator.encodings.windows import WindowBias

__all__ = [
    "BASE",
    "LEADING",
    "ActsIn",
    "Arrangement",
    "Convolution",
    "Decay",
    "Form",
    "NoEncoding",
    "OffsetBias",
    "PositionTable",
    "RelativeTable",
    "Rotation",
    "Sinks",
    "SinusoidFormula",
    "Temperature",
    "WindowBias",
    "all_forms",
    "grid_formula",
    "grid_sinusoid",
    "sinusoid",
    "sinusoid_formula",
    "sinusoid_table",
    "whole_turn_formula",
]


def all_forms() -> tuple[type[Form], ...]:
    """Every form, found by listing the modules of this package, in alphabetical order."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    values = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Form) and not isabstract(value)
    }
    return tuple(sorted(values, key=lambda form: form.__name__))
