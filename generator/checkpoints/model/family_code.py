"""What the code of a family in transformers does, by its source, which is read without being
imported.
"""

import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

from generator.checkpoints.model.resolved import arguments, is_known
from generator.contracts import ModelConfig
from generator.libraries import config_classes, light_transformers

SHARE, SIZE = "partial_rotary_factor", "rotary_dim"
# The frequencies without a scaling; those with one are the same function for all families, which
# reads the share (modeling_rope_utils.py of transformers).
UNSCALED = re.compile(
    r"(?ms)^    def compute_default_rope_parameters\(.*?(?=^    (?:def|@)|^\S|\Z)"
)
BESIDE_PATCHES = re.compile(r"num_patches \+ (\d+)")
LEFT_OUT = re.compile(rf'\.get\("{SHARE}", ([\d.]+)\)')  # The share where none is given.


def unscaled_share(config: ModelConfig, rope: ModelConfig) -> Any:
    """The share of a head that turns, as the family's rule without a scaling reads it; None where
    that rule is not known.
    """
    is_read, left_out = _unscaled(_code(config))
    return rope.first(SHARE, default=left_out) if is_read else left_out


@cache
def _unscaled(code: str) -> tuple[bool, float | None]:
    """Whether the rule without a scaling reads a share, and which it takes where none is given;
    None without a rule.
    """
    rules = UNSCALED.findall(code)
    if not any(SHARE in rule for rule in rules):
        return False, 1.0 if rules else None
    left_out = (default for rule in rules for default in LEFT_OUT.findall(rule))
    return True, float(next(left_out, 1.0))


def takes_size(config: ModelConfig) -> bool:
    """Whether the number of components that turn is read."""
    code = _code(config)
    return not code or f"config.{SIZE}" in code or SIZE in arguments(config.family)


def _code(config: ModelConfig) -> str:
    return "" if config.program else _source(config.family)


@cache
def rows_beside_patches(family: str) -> int | None:
    """Rows that it adds to the number of patches in its tables; None where it has no such sum, or
    several.
    """
    found = {int(count) for count in BESIDE_PATCHES.findall(_source(family))}
    return found.pop() if len(found) == 1 else None


def is_in_code(name: str, family: str) -> bool:
    """Whether it has a name; True where it is not known."""
    source = _source(family)
    return not source or name in source


@cache
def _source(family: str) -> str:
    """The source of its models, which may be those of another family; "" without any."""
    if not is_known(family):
        return ""
    names = light_transformers("models.auto.modeling_auto").MODEL_MAPPING_NAMES
    own = names.get(family)
    alike = [family, *(other for other, name in names.items() if own is not None and name == own)]
    for one in filter(is_known, alike):
        file = Path(inspect.getfile(config_classes()[one]))
        models = file.with_name(file.name.replace("configuration_", "modeling_"))
        if models != file and models.is_file():
            return models.read_text(encoding="utf-8")
    return ""
