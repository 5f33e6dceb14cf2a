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
    for path in sorted((package / "models").glob("*.py")):
        code = ast.parse(path.read_text(encoding="utf-8"))
        classes = {one.name: one for one in code.body if isinstance(one, ast.ClassDef)}
        named = [classes[name] for name in TEXT_ARGUMENTS if name in classes]
        if "Model" in classes and named:
            models[path.stem] = dict(_fields(named[0]))
            # Of smollm3.
            for base in named[0].bases:
                models[path.stem] |= models.get(ast.unparse(base).removesuffix(".ModelArgs"), {})
            scaling[path.stem] = _of_scaling(code)
            windows[path.stem] = _of_windows(code)
    return {"others": others, "models": models, "scaling": scaling, "windows": windows}


def _of_windows(code: ast.Module) -> str:
    """Whether the layers of a module have no window, have them where the file lists the kinds of
    layers alone, or have a way of their own.
    """
    every = list(ast.walk(code))
    named = {one.attr for one in every if isinstance(one, ast.Attribute)}
    named |= {ast.unparse(one.target) for one in every if isinstance(one, ast.AnnAssign)}
    if any(
        isinstance(one, ast.ImportFrom) and one.level == 1 and one.module not in SHARED
        for one in every
    ):
        return "own"
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
    is_of_others = any(
        isinstance(one, ast.ImportFrom) and one.level == 1 and one.module not in SHARED
        for one in every
    )
    return "own" if is_of_others or not attributes.isdisjoint(SCALINGS) else "lost"


def _fields(of_class: ast.ClassDef) -> Iterator[tuple[str, Any]]:
    """Fields with their defaults, those alone that concern position."""
    for one in of_class.body:
        if isinstance(one, ast.AnnAssign) and ast.unparse(one.target) in NAMES:
            value = getattr(one.value, "value", None)  # Of a constant; others are made as it runs.
            yield ast.unparse(one.target), REQUIRED if one.value is None else value


def main() -> None:
    """Write all."""
    python, folder = sys.argv[1:]
    found = {"transformers4": of_transformers(python), "mlx-lm": of_mlx(Path(folder))}
    DEFAULTS.write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
