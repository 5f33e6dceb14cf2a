"""Libraries that are not always there: those of the extra ``site``, and torch, without which the
config classes of transformers load in a quarter of the time.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec, module_from_spec
from typing import Any

from generator import PROGRAM
from generator.errors import RefusedError, message

# Without torch, transformers says that it has no models.
SILENT = "TRANSFORMERS_NO_ADVISORY_WARNINGS"
# Those of the extra that are imported by name.
OF_SITE = ("torch", "matplotlib", "scipy", "sklearn", "mkdocs")
IN_NUMPY = "generator.numerics.torch_in_numpy"
FIELD = re.compile(r"\b[Ff]ield '(\w+)'")  # As huggingface_hub.dataclasses names a setting.
SET = re.compile(r"\{([^{}:]*)\}")  # Printed in another order by each process.
_without_torch = False
_only_compared = ContextVar("only_compared", default=False)


def need_site(what: str, *libraries: str) -> None:
    """Check that ``libraries`` are installed, or all of the extra.

    what: needs them
    errors: RefusedError where one is not
    """
    for name in libraries or OF_SITE:
        if find_spec(name) is None:
            raise RefusedError(
                f"{what}: {name} is not installed; expected what"
                f" pip install '{PROGRAM}[site]' brings"
            )


def refusal(error: BaseException, most: int) -> str:
    """Why code of a library refuses settings, in its words without those of Python: the name of a
    class, or what an operation of the language says of types.

    most: characters
    """
    from generator.text import short  # Help needs none.

    field = FIELD.search(str(error))
    while error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, TypeError | AttributeError):
        return f"{field[1] if field else 'a value'} has another type than it takes"
    said = message(" ".join(map(str, error.args)))
    if isinstance(error, LookupError) and " " not in said:  # A key alone.
        return f"it finds no “{short(said)}”"
    said = SET.sub(lambda match: ", ".join(sorted(match[1].split(", "))), said)
    return short(said, most) or "it gives no reason"


def rescale_without_torch() -> None:
    """Have this process, and those forked from it, rescale rotations in numpy: where one file is
    looked at and nothing published, torch's import takes longer than all else.
    """
    global _without_torch  # noqa: PLW0603 (of the process)
    _without_torch = True


@contextmanager
def only_compared() -> Iterator[None]:
    """As ``rescale_without_torch`` within this block: its rotations are compared with one another,
    and no number of theirs is shown.
    """
    before = _only_compared.set(True)
    try:
        yield
    finally:
        _only_compared.reset(before)


def spares_torch() -> bool:
    """Whether rotations are rescaled in numpy although torch may be installed."""
    return _without_torch or _only_compared.get()


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
            for package in ("transformers", "transformers.models"):
                _import_bare(package)
            # It remembers the answer.
            import_module("transformers.utils.import_utils").is_torch_available()
    return import_module(f"transformers.{module}")


def _import_bare(name: str) -> None:
    """A package of transformers, whose own code, which looks through every module of the library,
    waits until something is asked of it that is none of these.
    """
    spec = find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(name=name)
    package, load = module_from_spec(spec), spec.loader.exec_module

    def loaded(attribute: str) -> Any:
        vars(package).pop("__getattr__", None)
        with _silent():
            load(package)
        whole = sys.modules[name]
        if whole is not package:  # Which some may hold already.
            vars(package)["__getattr__"] = partial(getattr, whole)
        return getattr(whole, attribute)

    vars(package).update(__version__=version("transformers"), __getattr__=loaded)
    sys.modules[name] = package


def rotary_initialisers() -> Any:
    """The module of transformers that rescales rotations.

    It needs torch, but none of the models, whose import takes longer than torch's; where torch is
    not installed, or is to be spared, ``numerics.torch_in_numpy``.
    """
    is_there = find_spec("torch") is not None and not spares_torch()
    return _in_torch() if is_there else _in_numpy()


def _in_torch() -> Any:
    module = light_transformers("modeling_rope_utils")
    # Which it has not found where config classes alone were needed before.
    module.torch = import_module("torch")
    return module


@cache
def _in_numpy() -> Any:
    """The module once more, since models may use the other at the same time."""
    spec = light_transformers("modeling_rope_utils").__spec__
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module)["torch"] = import_module(IN_NUMPY)
    return module


def import_transformers() -> Any:
    """transformers with its models, which need torch, so that nothing spares it any more.

    One that has found no torch is forgotten, and imported again.
    """
    global _without_torch  # noqa: PLW0603 (of the process)
    _without_torch = False
    import_utils = sys.modules.get("transformers.utils.import_utils")
    if import_utils is not None and not import_utils.is_torch_available():
        for name in [name for name in sys.modules if name.partition(".")[0] == "transformers"]:
            del sys.modules[name]
    transformers = import_module("transformers")
    if find_spec("torch") is not None:
        _in_torch()
    return transformers


def keep_torch() -> None:
    """Import torch where it is installed, so that ``light_transformers`` does not hide it: in the
    process of another program, whose transformers would have no models.
    """
    with suppress(ImportError):
        import_module("torch")


@contextmanager
def hide_torch() -> Iterator[None]:
    """Have Python find no torch in the block, whether it is installed or not."""
    sys.modules["torch"] = None  # type: ignore[assignment]  # Python then finds no such module.
    try:
        with _silent():
            yield
    finally:
        del sys.modules["torch"]


@contextmanager
def _silent() -> Iterator[None]:
    """Have transformers not say in the block that it has no models."""
    before = os.environ.get(SILENT)
    os.environ[SILENT] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SILENT]
        else:
            os.environ[SILENT] = before
