"""What other readers of config.json take where the file is silent: the arguments of the config
classes of transformers 4, and the fields of the arguments of mlx-lm's models.

`python -m benchmarks.readers PYTHON FOLDER` writes them beside the package of the readers: PYTHON
of an environment with transformers 4.57, which needs no torch, and FOLDER of an unpacked wheel of
mlx-lm.
"""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generator import PACKAGE

DEFAULTS = PACKAGE / "reading/reader_defaults.json"
SECONDS = 300
# Arguments that concern the position of words.
NAMES = frozenset(
    {"rope_theta", "rope_scaling", "rope_parameters", "rope_traditional", "rope_local_base_freq",
     "global_rope_theta", "local_rope_theta", "rotary_emb_base", "rotary_pct", "rope_interleave",
     "partial_rotary_factor", "max_position_embeddings", "sliding_window", "head_dim"}
)  # fmt: skip
BASE = "rope_theta"
REQUIRED = "required"  # In place of a default.
# Runs with transformers 4, whose configs need nothing of this program.
OF_CLASSES = """
import inspect, json, logging, sys
logging.disable(logging.CRITICAL)
from transformers import CONFIG_MAPPING
names, found = set(sys.argv[1:]), {}
for family in CONFIG_MAPPING:
    of_class = CONFIG_MAPPING[family]
    arguments = inspect.signature(of_class.__init__).parameters
    own = {name: arguments[name].default for name in sorted(names & arguments.keys())}
    every = of_class.sub_configs if isinstance(of_class.sub_configs, dict) else {}
    parts = {
        name: part.model_type
        for name, part in sorted(every.items())
        if name.endswith("_config") and getattr(part, "model_type", "")
    }
    found[family] = {"arguments": own, "parts": parts}
print(json.dumps(found))
"""
LONGROPE = "SuScaledRoPE"  # Its class for that.
SCALINGS = ("rope_scaling", "rope_parameters", "scaling_config")
OF_KIND = ("rope_scaling['type']", "rope_scaling['rope_type']")
# What runs in some cases alone.
MAYBE = (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.comprehension, ast.GeneratorExp, ast.DictComp)
# Modules of mlx-lm that are no model.
SHARED = frozenset(
    {"base", "cache", "activations", "switch_layers", "pipeline", "mla", "ssm", "rope_utils"}
)
TEXT_ARGUMENTS = ("TextArgs", "TextConfig", "TextModelArgs", "ModelArgs")


def of_transformers(python: str) -> dict[str, Any]:
    """Defaults of the config classes, by model type."""
    command = [python, "-W", "ignore", "-c", OF_CLASSES, *sorted(NAMES)]
    printed = subprocess.run(command, capture_output=True, check=True, timeout=SECONDS).stdout
    found: dict[str, Any] = json.loads(printed)
    return found


def of_mlx(folder: Path) -> dict[str, Any]:
    """Names of families whose code is that of another, and defaults by the name of the module."""
    package = folder / "mlx_lm"
    tree = ast.parse((package / "utils.py").read_text(encoding="utf-8"))
    [others] = [
        ast.literal_eval(one.value)
        for one in tree.body
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "MODEL_REMAPPING"
    ]
    models: dict[str, Any] = {}
    scaling: dict[str, str] = {}
    windows: dict[str, str] = {}
    needs: dict[str, Any] = {}
    for path in sorted((package / "models").glob("*.py")):
        code = ast.parse(path.read_text(encoding="utf-8"))
        classes = {one.name: one for one in code.body if isinstance(one, ast.ClassDef)}
        named = [classes[name] for name in TEXT_ARGUMENTS if name in classes]
        if "Model" in classes and named:
            models[path.stem] = dict(_fields(named[0]))
            # Of smollm3.
            for base in named[0].bases:
                models[path.stem] |= models.get(ast.unparse(base).removesuffix(".ModelArgs"), {})
            if _is_unnamed(BASE, code):
                models[path.stem].pop(BASE, None)
            scaling[path.stem] = _of_scaling(code)
            windows[path.stem] = _of_windows(code)
            needs[path.stem] = _needs(code)
    needs = {name: found for name, found in needs.items() if any(found.values())}
    return {
        "others": others, "models": models, "scaling": scaling, "windows": windows, "needs": needs
    }  # fmt: skip


def _is_unnamed(field: str, code: ast.Module) -> bool:
    """Whether no code of a module on its own takes a field."""
    every = list(ast.walk(code))
    named = {one.attr for one in every if isinstance(one, ast.Attribute)}
    named |= {str(one.value) for one in every if isinstance(one, ast.Constant)}
    return field not in named and not _is_of_others(code)


def _is_of_others(code: ast.Module) -> bool:
    """Whether a module has parts of other models."""
    return any(
        isinstance(one, ast.ImportFrom) and one.level == 1 and one.module not in SHARED
        for one in ast.walk(code)
    )


def _needs(code: ast.Module) -> dict[str, Any]:
    """Settings of a block that code takes without a default: in all files, and, with the kinds that
    it knows, where the file has a scaling.
    """
    always: dict[str, list[str]] = {}
    for block, name in _subscripts(code):
        always.setdefault(block, []).append(name)
    scaled, kinds = list[str](), list[str]()
    for one in ast.walk(code):
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "required_keys":
            scaled = sorted(ast.literal_eval(one.value))
        if isinstance(one, ast.If) and isinstance(one.body[0], ast.Raise):
            [*values] = _refused_kinds(one.test)
            kinds += values
    return {"always": {name: sorted(set(found)) for name, found in always.items()},
            "scaled": scaled, "kinds": kinds}  # fmt: skip


def _refused_kinds(test: ast.expr) -> Iterator[str]:
    """The kinds of scaling but for which a test refuses a file."""
    if isinstance(test, ast.Compare) and ast.unparse(test.left).endswith(OF_KIND):
        others = ast.literal_eval(test.comparators[0])
        if isinstance(test.ops[0], ast.NotIn):
            yield from others
        elif isinstance(test.ops[0], ast.NotEq):
            yield others


def _subscripts(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Blocks with a setting that code takes of them, whatever else it finds."""
    if isinstance(node, MAYBE):
        return
    match node:
        case ast.Subscript(ast.Attribute(attr=block), ast.Constant(value=name)):
            if block in SCALINGS:
                yield block, str(name)
    for child in ast.iter_child_nodes(node):
        yield from _subscripts(child)


def _of_windows(code: ast.Module) -> str:
    """Whether the layers of a module have no window, have them where the file lists the kinds of
    layers alone, have a way of their own, or are those of the family of the text model.
    """
    every = list(ast.walk(code))
    classes = [one.name for one in every if isinstance(one, ast.ClassDef)]
    is_around = not any("Attention" in name for name in classes)
    named = {one.attr for one in every if isinstance(one, ast.Attribute)}
    named |= {ast.unparse(one.target) for one in every if isinstance(one, ast.AnnAssign)}
    if _is_of_others(code):
        return "text" if is_around else "own"
    if not any("window" in name or "chunk" in name for name in named):
        return "none"
    by_default = (ast.unparse(one.left) for one in every if isinstance(one, ast.BinOp))
    return "listed" if "['full_attention']" in by_default else "own"


def _of_scaling(code: ast.Module) -> str:
    """Whether the rotations of a module take a scaling, lose it, have LongRoPE alone, or have a way
    of their own.
    """
    every = list(ast.walk(code))
    if any(isinstance(one, ast.alias) and one.name == LONGROPE for one in every):
        return "longrope"
    calls = [
        ast.unparse(one)
        for one in every
        if isinstance(one, ast.Call) and ast.unparse(one.func) == "initialize_rope"
    ]
    if any(name in call for call in calls for name in SCALINGS):
        return "taken"
    attributes = {one.attr for one in every if isinstance(one, ast.Attribute)}
    return "own" if _is_of_others(code) or not attributes.isdisjoint(SCALINGS) else "lost"


def _fields(of_class: ast.ClassDef) -> Iterator[tuple[str, Any]]:
    """Fields with their defaults, those alone that concern position."""
    for one in of_class.body:
        if isinstance(one, ast.AnnAssign) and ast.unparse(one.target) in NAMES:
            value = getattr(one.value, "value", None)  # Of a constant; others are made as it runs.
            made = (each for each in ast.walk(one) if isinstance(each, ast.Lambda))
            if (maker := next(made, None)) is not None:
                value = ast.literal_eval(maker.body)
            yield ast.unparse(one.target), REQUIRED if one.value is None else value


def main() -> None:
    """Write all."""
    python, folder = sys.argv[1:]
    found = {"transformers4": of_transformers(python), "mlx-lm": of_mlx(Path(folder))}
    DEFAULTS.write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
