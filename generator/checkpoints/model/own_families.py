"""families.yml beside a list: what the code of families does that their configs do not say, in the
settings of transformers.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from generator.checkpoints.files.named_paths import beginning
from generator.contracts import Json, ModelConfig, own
from generator.contracts.model_config import SIZES
from generator.errors import RefusedError, message, of_system
from generator.text import short

MOST_BYTES = 2**16  # Which take the parser 2 seconds; an atlas has some ten families.
SOURCE, SETTINGS = "source", "settings"
# Parameters of an encoding, with the settings that give them.
GIVING: Mapping[str, tuple[str, ...]] = {
    "base": ("rope_theta", "rope_parameters", "layer_rope_theta"),
    "rotary_dim": ("partial_rotary_factor", "rotary_dim", "rope_parameters", "head_dim"),
    "head_dim": ("head_dim",),
    "window": ("sliding_window", "attention_chunk_size", "layer_types"),
    "layers": ("no_rope_layers", "layer_types", "layer_rope_theta"),
    "n_positions": ("max_position_embeddings",),
    "scaling": ("rope_parameters",),
}
# One value for each layer: repeated to the last one.
BY_LAYER = ("layer_types", "no_rope_layers", "layer_rope_theta")
LAYER_TYPES = ("full_attention", "sliding_attention", "chunked_attention", "linear_attention",
               "conv")  # fmt: skip


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**31


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e300


def _each(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and bool(value) and all(map(holds, value))


WHOLE, FLAG = (
    ("a whole number above 0", _is_whole),
    (
        "true or false",
        lambda value: isinstance(value, bool),
    ),
)
KNOWN: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "rope_theta": ("a number above 0", _is_positive),
    "partial_rotary_factor": (
        "a share above 0, and 1 at most", lambda value: _is_positive(value) and value <= 1
    ),
    "rotary_dim": WHOLE,
    "rope_interleave": FLAG,
    "rope_parameters": ("settings of a rotation", lambda value: isinstance(value, dict)),
    "layer_types": (f"a list of {', '.join(LAYER_TYPES)}", _each(lambda one: one in LAYER_TYPES)),
    "no_rope_layers": (
        "a list of 1 for a layer with rotation, or 0", _each(lambda one: one in {0, 1})
    ),
    "layer_rope_theta": ("a list of bases", _each(_is_positive)),
    "sliding_window": WHOLE,
    "attention_chunk_size": WHOLE,
    "head_dim": WHOLE,
    "max_position_embeddings": WHOLE,
    "is_causal": FLAG,
}  # fmt: skip


@dataclass(frozen=True)
class OwnFamily:
    """source: where its code says so; settings: what it does, where a config does not say it"""

    source: str
    settings: Json = field(default_factory=dict)

    def completed(self, config: ModelConfig) -> Json:
        """The settings that ``config`` lacks, with a value for each of its layers."""
        n_layers = next((size for name in SIZES["n_layers"] if (size := config.count(name))), None)
        missing = {name: value for name, value in self.settings.items() if name not in config}
        return {
            name: [value[index % len(value)] for index in range(min(n_layers or 0, 10_000))]
            if name in BY_LAYER and n_layers
            else value
            for name, value in missing.items()
        }

    def gives(self, parameter: str, config: ModelConfig) -> bool:
        """Whether a parameter of an encoding follows from one of these settings."""
        names = GIVING.get(parameter, ())
        return any(name in self.settings and name not in config for name in names)


def own_families() -> Mapping[str, OwnFamily]:
    """The families of the file beside the list, by model type.

    errors: RefusedError with every problem
    """
    path = own.families()
    return {} if path is None else _families(path, own.digest())


@cache
def _families(path: Path, digest: str) -> Mapping[str, OwnFamily]:  # noqa: ARG001 (of the cache)
    found, problems = dict[str, OwnFamily](), list[str]()
    every = _read(path)
    for name in every:
        faults = list(_faults(str(name), every[name], _line(every, name)))
        problems += [f"{path}:{fault}" for fault in faults]
        if not faults:
            settings = _plain(every[name].get(SETTINGS) or {})
            found[str(name)] = OwnFamily(every[name][SOURCE].strip(), settings)
    if problems:
        raise RefusedError(*problems)
    return found


def _read(path: Path) -> Any:
    """errors: RefusedError"""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    from generator.checkpoints.plain_yaml import PlainComposer, UnsupportedYamlError

    expected = "families by model type"
    try:
        text = beginning(path, MOST_BYTES)
        if len(text) > MOST_BYTES:
            raise RefusedError(f"{path}: found more than {MOST_BYTES:,} bytes; expected {expected}")
        yaml = YAML(pure=True)
        yaml.Composer = PlainComposer
        every = yaml.load(text.decode("utf-8"))
    except OSError as error:
        raise RefusedError(f"{of_system(error)}; expected {expected}") from None
    except UnsupportedYamlError as error:
        raise RefusedError(f"{path}:{error.problem_mark.line + 1}: found {error}") from None
    except (YAMLError, ValueError, RecursionError) as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        line = mark.line + 1 if mark is not None else 1
        said = short(message(getattr(error, "problem", None) or error), 160)
        found = said.removeprefix("found ")
        raise RefusedError(f"{path}:{line}: found {found}; expected {expected}") from None
    if not isinstance(every, dict | None):
        raise RefusedError(f"{path}:1: found no mapping; expected {expected}")
    return every or {}


def _faults(name: str, entry: Any, line: int) -> Iterator[str]:
    """What is wrong with a family, each with its line."""
    if not isinstance(entry, dict):
        yield f"{line}: {short(name)}: found no mapping; expected source and settings"
        return
    source, settings = entry.get(SOURCE), entry.get(SETTINGS) or {}
    if not (isinstance(source, str) and source.strip()):
        yield f"{line}: {short(name)}: found no source; expected where its code says so"
    for key in entry:
        if key not in (SOURCE, SETTINGS):
            place = f"{_line(entry, key)}: {short(name)}"
            yield f"{place}: found {short(str(key))!r}; expected source or settings"
    if not isinstance(settings, dict):
        yield f"{line}: {short(name)}: settings: found no mapping; expected settings by name"
        return
    for key, value in settings.items():
        at = f"{_line(settings, key)}: {short(name)}: {short(str(key))}"
        if key not in KNOWN:
            close = get_close_matches(str(key), KNOWN, n=1)
            hint = f"{close[0]} perhaps" if close else f"one of {', '.join(KNOWN)}"
            yield f"{at}: found an unknown setting; expected {hint}"
        elif not _holds(KNOWN[key][1], _plain(value)):
            yield f"{at}: found {short(str(_plain(value)))}; expected {KNOWN[key][0]}"


def _line(mapping: Any, key: Any) -> int:
    """The line of a key in a mapping of ruamel; that of the mapping for a key merged into it."""
    places = mapping.lc.data or {}
    return int(places[key][0] if key in places else mapping.lc.line) + 1


def _holds(is_right: Callable[[Any], bool], value: Any) -> bool:
    with suppress(TypeError):  # Of a list in a list.
        return is_right(value)
    return False


def _plain(value: Any) -> Any:
    """A value of ruamel as one of Python."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    for of_type in (bool, int, float, str):
        if isinstance(value, of_type):
            return of_type(value)
    return value if value is None else str(value)  # As a date.


def block(config: ModelConfig) -> tuple[str, ...]:
    """The lines of a family for this file to begin with: what a config does not say, with usual
    values.
    """
    usual = {
        "rope_theta": "10000.0",
        "partial_rotary_factor": "1.0",
        "rope_interleave": "false # true where neighbours turn together",
        "layer_types": "[full_attention] # repeated to the last layer",
        "no_rope_layers": "[1] # 1 for a layer with rotation, repeated likewise",
        "is_causal": "true",
    }
    missing = [f"    {name}: {value}" for name, value in usual.items() if name not in config]
    return (
        f"{json.dumps(config.family)}:",
        '  source: "" # where its code says what follows',
        "  settings: # of its code, which config.json does not say; delete what is not so",
        *missing,
    )
