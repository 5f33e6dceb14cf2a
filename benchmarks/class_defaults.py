"""What a config.json says that gives nothing but the defaults of a class of transformers, against
the modules that this class makes of it, on torch's meta device.

`python -m benchmarks.class_defaults` takes every model type, or those that it is given, and prints
a line for each difference, with its reason where that is known.
"""

import json
import logging
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import models, oracle
from benchmarks.coverage import BESIDE, KINDS
from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.code_files import FROZEN
from generator.checkpoints.model.layer_map import layer_map
from generator.contracts import Encoding
from generator.encodings import Form, PositionTable, Rotation
from generator.errors import RowError
from generator.reading.find import look
from generator.reading.questions import unresolved

SECONDS = 60
DIGITS = 4  # of a frequency, and more than bfloat16 has
MOST_SHOWN = 3  # of what differs
FREQUENCIES = ("inv_freq", "freqs")
NOT_BUILT = "not built: "
# Why the modules of a type show something else than what acts.
OF_IMAGES = "its module has frequencies of coordinates in another unit than patches"
OF_ENCODER = "its encoder has a mask of its own, by which a position sees another number of them"
OF_POINTS = "a matrix that turns coordinates of points into features has the name of a table"
ODD_SHARE = "its module rounds half of an odd number of rotated components otherwise"
EXPLAINED = {
    "bamba": "no layer of the default config has attention, and so none uses the rotation",
    "chmv2": OF_IMAGES,
    "csm": "its codec keeps a window in the cache, and the atlas names the codec alone",
    "dinov3_vit": OF_IMAGES,
    "eomt_dinov3": OF_IMAGES,
    "glm4_moe": ODD_SHARE,
    "glm4v_moe": ODD_SHARE,
    "glm4v_moe_text": ODD_SHARE,
    "esmfold2": "offsets between residues enter its representation of pairs, not attention",
    "llama4": OF_IMAGES,
    "mllama": "a table has a row for each arrangement of tiles, with all positions in it",
    "speecht5": "the class without its first layers is built, which have the sinusoids",
    **dict.fromkeys(("qwen3_omni_moe_text", "qwen3_omni_moe_thinker"), ODD_SHARE),
    **dict.fromkeys(("sam", "sam_hq"), OF_POINTS),
    **dict.fromkeys(
        ("sam3", "sam3_lite_text", "sam3_tracker", "sam3_tracker_video", "sam3_video",
         "sam3_vision_model", "sam3_vit_model", "sapiens2"),
        OF_IMAGES,
    ),
    **dict.fromkeys(("t5gemma", "t5gemma2"), OF_ENCODER),
}  # fmt: skip


@dataclass(frozen=True)
class Facts:
    """What both sides say.

    kinds: of encoding; frequencies: radians per position, rounded, of all rotations
    rows: of tables that are trained; windows: size, in positions with the query, and number of
        layers
    is_complete: whether what is not among them is not there; has_layers: whether layers are known
    """

    kinds: frozenset[str]
    frequencies: frozenset[float]
    rows: frozenset[int]
    windows: frozenset[tuple[int, int]]
    is_complete: bool = True
    has_layers: bool = True

    def differences(self, other: "Facts") -> Iterator[str]:
        """What differs, with this side's before the other's."""
        for name in ("kinds", "rows", "windows", "frequencies"):
            mine, theirs = (getattr(one, name) for one in (self, other))
            if name in ("frequencies", "windows") and not theirs:
                continue  # Some models compute them as they run.
            if name == "windows" and not self.has_layers:
                continue
            if wrong := mine ^ theirs if self.is_complete else mine - theirs:
                shown = (sorted(wrong & one)[-MOST_SHOWN:] for one in (mine, theirs))
                yield f"{name} {' ≠ '.join(map(str, shown))}"


def of_modules(model: Any) -> Facts:
    """What its modules show."""
    windows = Counter(size for module in model.modules() if (size := _window(module)))
    rows = {
        _length(parameter.shape)
        for path, module in model.named_modules()
        for name, parameter in module.named_parameters(prefix=path, recurse=_is_of_table(module))
        if parameter.requires_grad and parameter.ndim > 1
        if _is_table(name) or _is_of_table(module)
    }
    frequencies = frozenset(_rounded(_frequencies(model)))
    return Facts(oracle.kinds(model), frequencies, frozenset(rows), frozenset(windows.items()))


def _window(module: Any) -> int:
    """That of a module of attention, 0 without one; some classes look for it in the config."""
    is_one = type(module).__name__.endswith("Attention") and getattr(module, "is_sliding", True)
    if not is_one or "full" in str(getattr(module, "layer_type", "")):
        return 0
    asks = "self.config.sliding_window" in (source := oracle._source(type(module)))
    asks = asks or 'getattr(self.config, "sliding_window"' in source
    of_config = getattr(module.config, "sliding_window", None) if asks else None
    return getattr(module, "sliding_window", None) or of_config or 0


def _length(shape: Sequence[int]) -> int:
    """Positions of a table, which some have between axes of one or behind that of layers."""
    return next((size for size in shape[-2::-1] if size > 1), 1)


def _is_table(name: str) -> bool:
    kind = next((kind for kind, pattern in oracle.PARAMETERS if pattern.search(name)), None)
    return kind == "table" and not oracle.NOT_POSITIONS.search(name)


def _is_of_table(module: Any) -> bool:
    name = type(module).__name__
    return any(kind == "table" and pattern.search(name) for kind, pattern in oracle.CLASSES)


def _frequencies(model: Any) -> Iterator[float]:
    """Those in the buffers of rotations, which a model computes as it does after loading."""
    import torch
    from transformers import PreTrainedModel

    owners = {path: one for path, one in model.named_modules() if isinstance(one, PreTrainedModel)}
    _, rotation = oracle.CLASSES[0]
    for path, module in model.named_modules():
        if not rotation.search(type(module).__name__):
            continue  # That of relative positions has a sinusoid by such frequencies.
        for name, buffer in list(module.named_buffers(recurse=False)):
            if not name.endswith(FREQUENCIES) or "original" in name or buffer is None:
                continue
            near = max((one for one in owners if path.startswith(one)), key=len)
            setattr(module, name, torch.zeros(buffer.shape))
            owners[near]._init_weights(module)
            yield from np.abs(getattr(module, name).double().numpy()).ravel().tolist()


def _rounded(values: Iterator[float]) -> Iterator[float]:
    for value in values:
        if value:
            yield float(f"{value:.{DIGITS}g}")


def of_config(settings: Mapping[str, Any]) -> Facts:
    """What the atlas reads in a config.json alone.

    errors: RowError
    """
    files = ConfigAlone(dict(settings), "config")
    found = look(files)
    forms = [encoding.form for encoding in found.all]
    turned = (value for form in forms if isinstance(form, Rotation) for value in form.frequencies)
    layers = layer_map(files, found.all, is_complete=found.is_complete)
    windows = Counter(
        layer.before + 1
        for layer in layers
        if "sliding" in layer.mixers and layer.before is not None
    )
    rows = {rows for encoding in found.all if (rows := _rows(encoding))}
    kinds = frozenset(KINDS.get(one.scheme, one.scheme) for one in found.all) - BESIDE
    frequencies = frozenset(_rounded(map(float, turned)))
    sizes = frozenset(windows.items())
    is_complete = found.is_complete and not unresolved(files, found)
    return Facts(kinds, frequencies, frozenset(rows), sizes, is_complete, bool(layers))


def _rows(encoding: Encoding[Form]) -> int:
    is_trained = isinstance(encoding.form, PositionTable) and encoding.provenance.tensor
    return _length(encoding.provenance.shape) if is_trained else 0


def compare(type_: str) -> list[str]:
    """What differs, or why it could not be compared."""
    from transformers import CONFIG_MAPPING

    try:
        with models.limit(SECONDS):
            config = CONFIG_MAPPING[type_](**models.NEEDED.get(type_, {}))
            settings = json.loads(json.dumps(config.to_dict(), default=str))
            trained = dict.fromkeys(FROZEN.intersection(settings), False)
            theirs = of_modules(models.build(models.Case(type_, trained), is_whole=True))
    # Some of the 800 types need other libraries, or a special config.
    except Exception as error:  # noqa: BLE001
        return [f"{NOT_BUILT}{type(error).__name__}: {' '.join(str(error).split())[:90]}"]
    try:
        with models.limit(SECONDS):
            return list(of_config(settings).differences(theirs))
    except (RowError, MemoryError, models.TooLongError) as error:
        return [f"the atlas says: {' '.join(str(error).split())[:110]}"]


def main() -> int:
    """Compare all types, or those named."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    logging.disable(logging.ERROR)
    n_same = 0
    names = sys.argv[1:] or models.types()
    for name in names:
        found = compare(name)
        n_same += not found
        reason = f" ({EXPLAINED[name]})" if name in EXPLAINED else ""
        sys.stdout.writelines(f"{name}: {difference}{reason}\n" for difference in found)
        sys.stdout.flush()
    sys.stdout.write(f"{n_same} of {len(names)} types agree\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
