"""Position tables among tensors whose names say nothing, by the shape that the code of the family
gives its table.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from generator.checkpoints.model.code_files import NoOutlineError, outline
from generator.checkpoints.model.resolved import is_known
from generator.contracts import Claimed, Files, ModelConfig, Resolved
from generator.contracts.model_config import SIZES
from generator.contracts.wording import Wording
from generator.libraries import config_classes
from generator.text import times

Shape = tuple[int, ...]
ATTRIBUTE = re.compile(r"^ +self\.(\w+)(?:: [^=\n]+)? = ", re.MULTILINE)
# Settings that may name a scheme, or say that there is no table.
OF_POSITIONS = re.compile(r"(^|_)pos(_|ition)", re.IGNORECASE)
WITH_TABLE = ("absolute", "learned")
NOTES = Wording("wording/notes.jinja")
QUESTIONS = Wording("wording/questions.jinja")


@dataclass(frozen=True)
class TableTensor:
    """A tensor that is a position table. tensor: its name

    name, shape: those of this table in the code of the family, where they differ from those of the
        tensor; is_transposed: whether the tensor holds its transpose
    notes: how sure it is
    """

    tensor: str
    name: str
    shape: Shape
    is_transposed: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Search:
    """Tables that were found by their shape.

    open: a sentence for each that could not be told from other tensors; missing: one for each of
        the family that no tensor can be
    """

    found: tuple[TableTensor, ...] = ()
    open: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def search(
    files: Files,
    is_name: Callable[[str], bool],
    is_shape: Callable[[str, Shape], bool],
    is_claimed: Claimed,
) -> Search:
    """The position tables of files with no tensor named as one. is_name, is_shape: what a position
    table is called, and looks like

    A family that transformers has: the tables of its code. Another: the sizes in config.json alone,
    where no scheme claims a tensor or a setting.
    """
    config = files.config
    if not files.tensors or "model_type" not in config or not is_known(config.family):
        return _of_sizes(files, is_claimed)
    if not any(_assigns(section.family, is_name) for section in config.nested()):
        return Search()
    parameters = parameters_of(files.resolved)
    tables = {
        name: shape for name, shape in parameters.items() if is_name(name) and is_shape(name, shape)
    }
    return _of_code(files, parameters, tables, is_claimed)


def parameters_of(resolved: Resolved) -> Mapping[str, Shape]:
    """The shapes of all stored parameters and buffers of the family's model, by name, made without
    memory; empty where its code cannot make one.
    """
    try:
        model = outline(resolved)
    except NoOutlineError:
        return {}
    return (
        {}
        if model is None
        else {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    )


@cache
def _code(family: str) -> str:
    """The code of a family's models in transformers, read as text: importing it would take
    seconds.
    """
    folder = Path(str(sys.modules[config_classes()[family].__module__].__file__)).parent
    return "".join(
        path.read_text(encoding="utf-8") for path in sorted(folder.glob("modeling_*.py"))
    )


def _assigns(family: str, is_name: Callable[[str], bool]) -> bool:
    """Whether the code of a family has an attribute with the name of a position table."""
    return is_known(family) and any(is_name(name) for name in ATTRIBUTE.findall(_code(family)))


def _of_code(
    files: Files, parameters: Mapping[str, Shape], tables: Mapping[str, Shape], is_claimed: Claimed
) -> Search:
    own = {name: _suffix(name, parameters) for name in files.tensors}
    known = set(own.values())  # Parameters that are in the file under their own names.
    free = [tensor for tensor in files.tensors if not own[tensor] and not is_claimed(tensor)]
    found, unclear, missing = [], [], []
    for name, shape in tables.items():
        names = [tensor for tensor in free if _fits(files.tensors[tensor].shape, shape)]
        n_parameters = sum(
            _fits(other, shape) for parameter, other in parameters.items() if parameter not in known
        )
        if len(names) == n_parameters == 1:
            found.append(_taken(files, names[0], name, shape))
        elif names:
            unclear.append(_unclear(names, n_parameters, shape))
        else:
            missing.append(QUESTIONS("missing", shape=times(shape), name=name))
    return Search(tuple(found), tuple(dict.fromkeys(unclear)), tuple(missing))


def _suffix(tensor: str, parameters: Mapping[str, Shape]) -> str:
    """The parameter of this name, whatever model is around it; "" without one."""
    words = tensor.split(".")
    endings = (".".join(words[start:]) for start in range(len(words)))
    return next((ending for ending in endings if ending in parameters), "")


def _fits(stored: Shape, shape: Shape) -> bool:
    """Whether a tensor has this shape, or a matrix that of its transpose, whatever axes of length 1
    either has.
    """
    plain = _plain(shape)
    return _plain(stored) == plain or (len(plain) == 2 and _plain(stored) == plain[::-1])


def _plain(shape: Shape) -> Shape:
    return tuple(size for size in shape if size != 1)


def _taken(files: Files, tensor: str, name: str, shape: Shape) -> TableTensor:
    is_transposed = _plain(files.tensors[tensor].shape) != _plain(shape)
    note = NOTES(
        "by_code", shape=times(shape), name=name, tensor=tensor, is_transposed=is_transposed
    )
    return TableTensor(tensor, name, shape, is_transposed, (note,))


def _unclear(names: list[str], n_parameters: int, shape: Shape) -> str:
    return QUESTIONS("unclear", shape=times(shape), n_tensors=len(names), n_parameters=n_parameters)


def _of_sizes(files: Files, is_claimed: Claimed) -> Search:
    """The one tensor of positions × width, where nothing else in the config has the number of
    positions, and nothing tells of another scheme.
    """
    config = files.config
    positions, width = (
        {count for name in SIZES[size] if (count := config.count(name))}
        for size in ("n_positions", "d_model")
    )
    if len(positions) != 1 or len(width) != 1 or _is_elsewhere(files, is_claimed):
        return Search()
    shape = (*positions, *width)
    others = {
        value
        for name, value in _settings(config)
        if name not in SIZES["n_positions"] and isinstance(value, int)
    }
    names = [tensor for tensor, header in files.tensors.items() if _fits(header.shape, shape)]
    if len(names) != 1 or shape[0] in others or _plain(files.tensors[names[0]].shape) != shape:
        return Search()
    note = NOTES("by_sizes", tensor=names[0], shape=times(shape))
    return Search((TableTensor(names[0], names[0], files.tensors[names[0]].shape, notes=(note,)),))


def _is_elsewhere(files: Files, is_claimed: Claimed) -> bool:
    """Whether a setting or the name of a tensor tells of another scheme."""
    settings = list(_settings(files.config))
    named = [
        value
        for name, value in settings
        if OF_POSITIONS.search(name) and (value is False or isinstance(value, str))
    ]
    return any(value not in WITH_TABLE for value in named) or any(
        map(is_claimed, (*files.tensors, *dict(settings)))
    )


def _settings(config: ModelConfig) -> Iterator[tuple[str, Any]]:
    return (item for section in config.nested() for item in section.settings.items())
