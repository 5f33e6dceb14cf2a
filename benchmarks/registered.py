"""For which architectures programs have code of their own, by the names in a config.json.

`python -m benchmarks.registered LLAMA_CPP VERSION VLLM VERSION SGLANG VERSION` writes them beside
the readers: of each program the folder of its unpacked code, and its version.
"""

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generator import PACKAGE

REGISTERED = PACKAGE / "reading/registered.json"
REGISTRY = "vllm/model_executor/models/registry.py"
# Architectures that it renames before it looks for them.
RENAMED = ("Gemma3TextModel", "Qwen3_5Model", "Qwen3_5TextModel")
# Not models that serve a config.json: parts for speculation, and what runs transformers' code.
OTHERS = ("_SPECULATIVE_DECODING_MODELS", "_TRANSFORMERS_BACKEND_MODELS")
WRITING = (
    "_TEXT_GENERATION_MODELS", "_MULTIMODAL_MODELS", "_TRANSFORMERS_SUPPORTED_MODELS",
)  # fmt: skip
Json = dict[str, Any]
NOT_LOADED = ("_PREVIOUSLY_SUPPORTED_MODELS", "_OOT_SUPPORTED_MODELS")


def _assigned(path: Path) -> Iterator[tuple[str, ast.expr]]:
    """What the code of a module gives names at its top."""
    for one in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(one, ast.Assign | ast.AnnAssign) and one.value is not None:
            target = one.targets[0] if isinstance(one, ast.Assign) else one.target
            yield ast.unparse(target), one.value


def of_llama_cpp(folder: Path) -> Json:
    """Those whose text model its converter writes."""
    found = dict(_assigned(folder / "conversion/__init__.py"))["TEXT_MODEL_MAP"]
    return {"source": "conversion/__init__.py, TEXT_MODEL_MAP", "names": ast.literal_eval(found)}


def of_vllm(folder: Path) -> Json:
    """Those of its registry, and ends of names that it takes for one another."""
    tables = {
        name: {ast.literal_eval(key) for key in value.keys if key is not None}
        for name, value in _assigned(folder / REGISTRY)
        if name.endswith("_MODELS") and isinstance(value, ast.Dict)
    }
    skipped = {*OTHERS, *NOT_LOADED, "_VLLM_MODELS"}
    names = set[str]().union(*(found for name, found in tables.items() if name not in skipped))
    writing = set[str]().union(*(tables[name] for name in WRITING))
    ends = dict(_assigned(folder / "vllm/config/model.py"))["_SUFFIX_TO_DEFAULTS"]
    return {
        "source": f"{REGISTRY}; vllm/config/model.py, _SUFFIX_TO_DEFAULTS",
        "names": names,
        "pooling": sorted(names - writing),
        "ends": [end for end, _ in ast.literal_eval(ends)],
    }


def of_sglang(folder: Path) -> Json:
    """Those of which a module is the entry."""
    names = set[str]()
    for path in sorted((folder / "sglang/srt/models").glob("*.py")):
        entry = dict(_assigned(path)).get("EntryClass")
        if entry is not None and path.stem != "transformers":
            every = entry.elts if isinstance(entry, ast.List | ast.Tuple) else [entry]
            names.update(map(ast.unparse, every))
    source = (
        "python/sglang/srt/models, EntryClass; model_loader/utils.py and configs/model_config.py"
    )
    return {"source": source, "names": names.union(RENAMED)}


PROGRAMS = {"llama-cpp": of_llama_cpp, "vllm": of_vllm, "sglang": of_sglang}


def main() -> None:
    """Write all."""
    given = iter(sys.argv[1:])
    written = {}
    for (key, read), folder, version in zip(PROGRAMS.items(), given, given, strict=False):
        found = read(Path(folder))
        written[key] = {"version": version, **found, "names": sorted(found["names"])}
    REGISTERED.write_text(json.dumps(written, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
