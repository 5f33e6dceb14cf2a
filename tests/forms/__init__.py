"""Examples of every form of encoding: the ``EXAMPLES`` of each module here. Every analysis that
understands a form is computed for them.
"""

from importlib import import_module
from pkgutil import iter_modules

from generator.encodings import Form

MODULES = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
FORMS: dict[str, Form] = {
    name: form for module in MODULES for name, form in module.EXAMPLES.items()
}
