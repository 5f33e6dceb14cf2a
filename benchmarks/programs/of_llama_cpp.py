"""What llama.cpp takes of what its converter stores: `of_llama_cpp.py FOLDER`, that of its code.
No weights are converted.
"""

import json
import logging
import math
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROPE = "rope"
BASE = 10_000.0  # src/llama-model.cpp: of a file without one
NOT_APPLIED = frozenset({"phi3", "phimoe"})  # src/models: the window


def stored(settings: dict[str, Any], folder: Path) -> tuple[dict[str, Any], list[float]]:
    """Keys that the converter writes, without the architecture, and the numbers by which it divides
    frequencies, those for short texts where there are two lists.
    """
    conversion, gguf = import_module("conversion"), import_module("gguf")
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    given = conversion.ModelBase.load_hparams(folder, is_mistral_format=False)
    of_text = conversion.ModelType.TEXT
    of_class = conversion.get_model_class(conversion.get_model_architecture(given, of_text))
    kind, target = gguf.LlamaFileType.MOSTLY_F16, folder / "model.gguf"
    model = of_class(folder, kind, target, hparams=given, dry_run=True)
    model.set_gguf_parameters()
    made = [values for name, values in model.generate_extra_tensors() if ROPE in name]
    writer = model.gguf_writer
    made += [one.tensor for part in writer.tensors for name, one in part.items() if ROPE in name]
    architecture = f"{gguf.MODEL_ARCH_NAMES[model.model_arch]}."
    written = {
        name.removeprefix(architecture): one.value
        for part in writer.kv_data
        for name, one in part.items()
    }
    # Of two lists, that for long texts comes first.
    return written, [float(value) for value in made[-1].flatten()] if made else []


def turned(written: dict[str, Any], base: float, n: int, divisors: list[float]) -> list[float]:
    """The number of pairs, sum and last of their frequencies, and the factor, as
    src/llama-context.cpp and ggml/src/ggml-cpu/ops.cpp make them.
    """
    kind = written.get("rope.scaling.type", "none")
    factor = written.get("rope.scaling.factor") or 1.0
    plain = [base ** (-i / n) for i in range(0, n, 2)]
    angles = [one / by for one, by in zip(plain, divisors or [1.0] * len(plain), strict=True)]
    times = written.get("rope.scaling.attn_factor", 1.0)
    if kind == "linear":
        angles = [one / factor for one in angles]
    if kind == "yarn":
        length = written["rope.scaling.original_context_length"]
        # src/llama-hparams.h: src/models reads others of Grok and Ministral 3 alone.
        ends = [n * math.log(length / (each * 2 * math.pi)) / (2 * math.log(base))
                for each in (32.0, 1.0)]  # fmt: skip
        low, high = max(0, math.floor(ends[0])), min(n - 1, math.ceil(ends[1]))
        kept = [1 - min(max((i - low) / max(0.001, high - low), 0), 1) for i in range(n // 2)]
        angles = [one / factor * (1 - part) + one * part
                  for one, part in zip(angles, kept, strict=True)]  # fmt: skip
        times = 1.0 if "rope.scaling.yarn_log_multiplier" in written else 1 + 0.1 * math.log(factor)
    return [len(angles), sum(angles), angles[-1], times]


def taken(settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Its rotations, its window below the length, and the length."""
    written, divisors = stored(settings, folder)
    heads = written["attention.head_count"]
    heads = max(heads) if isinstance(heads, list) else heads
    head = written.get("attention.key_length") or written["embedding_length"] // heads
    n = written.get("rope.dimension_count") or head
    forms = [turned(written, written.get("rope.freq_base", BASE), n, divisors)]
    if "rope.freq_base_swa" in written:
        n = written.get("rope.dimension_count_swa", written.get("attention.key_length_swa", n))
        form = turned({}, written["rope.freq_base_swa"], n, [])
        forms += [] if form in forms else [form]
    window, length = written.get("attention.sliding_window"), written.get("context_length")
    is_seen = window and not (length and window >= length)
    is_seen = is_seen and settings.get("model_type") not in NOT_APPLIED
    return {"forms": sorted(forms), "window": window if is_seen else None, "limit": length}


def main() -> None:
    """Print what is taken of each config."""
    logging.disable(logging.CRITICAL)
    sys.path[:0] = [sys.argv[1], f"{sys.argv[1]}/gguf-py"]
    found: list[Any] = []
    for settings in json.load(sys.stdin):
        with TemporaryDirectory() as folder:
            try:
                found.append(taken(settings, Path(folder)))
            except Exception:  # noqa: BLE001
                found.append(None)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
