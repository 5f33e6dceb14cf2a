"""Writes the shipped tables, which hold what no list changes: `python -m benchmarks.precompute`, in
minutes, after a change of the program that changes them or of a version in constraints.txt.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.made import write_rows
from generator.cache import precomputed
from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.code_files import NoOutlineError, code_files
from generator.contracts import Oracle
from generator.encyclopedia.known_models import known_models
from generator.errors import RowError
from generator.libraries import config_classes
from generator.pipeline import evaluate
from generator.reading import find
from generator.site.pages import checked

# The libraries on which each depends, by its name as an artifact.
LIBRARIES = {
    precomputed.UNTRAINED: ("transformers",),
    precomputed.PUBLISHED: ("numpy", "scikit-learn", "scipy", "torch", "transformers"),
}


def write(folder: Path, artifacts: Mapping[str, bytes]) -> None:
    """Ship all artifacts of a folder, by name, for the installed versions."""
    made_with = {
        name: {library: precomputed.version_of(library) for library in LIBRARIES[name]}
        for name in artifacts
    }
    versions = json.dumps(made_with, indent=1, sort_keys=True).encode() + b"\n"
    for name, data in {**artifacts, precomputed.VERSIONS: versions}.items():
        (folder / f"{name}.json").write_bytes(data)


def values_of(cases: Mapping[str, Oracle]) -> bytes:
    """What the page *Validation* computes, by the names of the cases, as JSON."""
    values = json.loads(checked.values([*cases.values()]))
    return json.dumps(dict(zip(cases, values, strict=True)), indent=1).encode() + b"\n"


def untrained() -> bytes:
    """Names of the types whose code, by the defaults of their config classes, makes no trained
    tensor that holds an encoding, as JSON.
    """
    names = [name for name in sorted(config_classes()) if has_untrained_code(name)]
    return json.dumps(names, indent=1).encode() + b"\n"


def has_untrained_code(model_type: str) -> bool:
    """Whether the code of a type, by its defaults, makes no trained tensor with an encoding."""
    try:
        code = code_files(ConfigAlone({"model_type": model_type}, model_type).resolved)
        return (
            code is not None
            and not code.missing
            and all(encoding.provenance.tensor is None for encoding in find.find(code))
        )
    except (NoOutlineError, RowError):  # As where a size that a scheme needs is missing.
        return False


def main() -> int:
    """Write all."""
    write_rows(known_models())
    given = checked.given_cases(evaluate.all_analyses(), find.all_schemes())
    of_list = {
        precomputed.UNTRAINED: untrained(),
        precomputed.PUBLISHED: values_of(given),
    }
    write(precomputed.FOLDER, of_list)
    return 0


if __name__ == "__main__":
    sys.exit(main())
