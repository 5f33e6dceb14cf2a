"""How transformers' code of a family resizes the position table of images of another size, read
from its source, since importing that takes longer than all else.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from generator.checkpoints.model.resolved import is_known
from generator.contracts import ModelConfig
from generator.libraries import config_classes

# Functions that resize a table, as modeling_*.py of transformers names them.
RESIZERS = frozenset(
    {"interpolate_pos_encoding", "resize_positional_embeddings", "get_absolute_positions",
     "_resize_pos_embed", "_interpolate_position_embedding"}
)  # fmt: skip
ASKED_FOR = "interpolate_pos_encoding"  # An argument of ``forward``, false by default.
KEEPS = "cat("  # Puts rows that were set apart before the resized ones.
# A side of the grid, from the config of the encoder, and methods that arrange vectors by it.
OF_TOWER, RESHAPES = "vision_config.image_size", (".reshape", ".view")


@dataclass(frozen=True)
class Resizing:
    """mode: as in torch; keeps_special: rows of special tokens are left as they are; is_asked_for:
    only where an argument of the call says so; special: number of those rows, None where the code
    names none; is_read: whether what follows the encoder takes what becomes of such an image
    """

    mode: str
    align_corners: bool
    antialias: bool
    keeps_special: bool
    is_asked_for: bool
    special: int | None
    is_read: bool = True


# Functions that weigh the rows themselves: for which modes of torch, since transformers 5.24.
WEIGHS: Mapping[tuple[str, str], Resizing] = {
    ("modeling_siglip2", "resize_positional_embeddings"): Resizing(
        "bilinear",
        align_corners=False,
        antialias=True,
        keeps_special=False,
        is_asked_for=False,
        special=0,
    )
}


def resizing_of(config: ModelConfig) -> Resizing | None:
    """How the table of a model of images, or of the one nested in a config, is resized; None where
    its code does not say it, or says several ways.
    """
    families = {section.text("model_type") for section in config.nested()}
    known = [family for family in families if family and is_known(family)]
    ways = {way for family in known for way in _ways(family)}
    way = ways.pop() if len(ways) == 1 else None
    return way and replace(way, is_read=not any(map(_has_one_grid, known)))


@cache
def _has_one_grid(family: str) -> bool:
    """Whether code behind an encoder of images reshapes its vectors to the grid of its config."""
    text, _ = _code_of(family)
    if OF_TOWER not in text:  # Saves the parsing of most.
        return False
    for one in ast.parse(text).body:
        sides = {
            ast.unparse(node.targets[0])
            for node in ast.walk(one)
            if isinstance(node, ast.Assign) and OF_TOWER in ast.unparse(node.value)
        }
        calls = [node for node in ast.walk(one) if isinstance(node, ast.Call)] if sides else []
        for call in calls:
            given = [ast.unparse(value) for value in call.args]
            is_reshaped = ast.unparse(call.func).endswith(RESHAPES)
            if is_reshaped and any(given.count(side) > 1 for side in sides):
                return True
    return False


def _code_of(family: str) -> tuple[str, str]:
    """What defines a family's model, "" where no such file exists, and the module's name."""
    name: str = config_classes()[family].__module__.replace("configuration_", "modeling_")
    package, _, module = name.rpartition(".")
    spec = find_spec(package)
    folder = Path(spec.origin).parent if spec and spec.origin else Path()
    path = folder / f"{module}.py"
    return path.read_text(encoding="utf-8") if path.is_file() else "", module


@cache
def _ways(family: str) -> frozenset[Resizing | None]:
    """Those of a family; None for one whose arguments are no constants."""
    text, module = _code_of(family)
    tree = ast.parse(text)
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    weighed = {way for (of, function), way in WEIGHS.items() if of == module and function in names}
    return frozenset(_in_code(tree)) or frozenset(weighed)


def _in_code(tree: ast.Module) -> Iterator[Resizing | None]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    is_asked_for = any(
        arg.arg == ASKED_FOR
        for node in functions
        if node.name == "forward"
        for arg in (*node.args.args, *node.args.kwonlyargs)
    )
    for function in (node for node in functions if node.name in RESIZERS):
        keeps = KEEPS in ast.unparse(function)
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(".interpolate"):
                special = _first_rows(function) if keeps else 0
                yield _way(call, keeps=keeps, is_asked_for=is_asked_for, special=special)


def _first_rows(function: ast.FunctionDef) -> int | None:
    """The rows that a function sets apart, as in ``table[:, :1]``; None for none or several."""
    found = {
        node.upper.value
        for node in ast.walk(function)
        if isinstance(node, ast.Slice)
        and node.lower is None
        and isinstance(node.upper, ast.Constant)
        and isinstance(node.upper.value, int)
    }
    return found.pop() if len(found) == 1 else None


def _way(
    call: ast.Call, *, keeps: bool, is_asked_for: bool, special: int | None
) -> Resizing | None:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    # What torch.nn.functional.interpolate does by default.
    mode, corners, antialias = (
        value.value if isinstance(value := given.get(name, default), ast.Constant) else None
        for name, default in (
            ("mode", ast.Constant("nearest")),
            ("align_corners", ast.Constant(value=False)),
            ("antialias", ast.Constant(value=False)),
        )
    )
    if not isinstance(mode, str) or antialias is None:
        return None
    return Resizing(mode, bool(corners), bool(antialias), keeps, is_asked_for, special)
