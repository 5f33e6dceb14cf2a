"""Writes the shipped tables, which hold what no list changes: `python -m benchmarks.precompute`, in
minutes, after a change of the program that changes them or of a version in constraints.txt.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from generator.cache import precomputed
from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.code_files import NoOutlineError, code_files
from generator.contracts import Encoding, EncodingRecord, Files, Origin
from generator.encodings import Form, Temperature
from generator.encyclopedia import details
from generator.encyclopedia.guest import GUEST
from generator.encyclopedia.known_models import KnownModel, known_models
from generator.errors import RowError
from generator.libraries import config_classes
from generator.pipeline import evaluate
from generator.reading import find, lint
from generator.reading.evidence import evidence, look_closely
from generator.site.pages import checked

# The libraries on which each depends, by its name as an artifact.
LIBRARIES = {
    precomputed.UNTRAINED: ("transformers",),
    precomputed.PUBLISHED: ("numpy", "scikit-learn", "scipy", "torch", "transformers"),
    GUEST.key: ("torch", "transformers"),
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


def details_of(model: KnownModel) -> dict[str, Any]:
    """The details of a model, with the digest of its config."""
    of = details.digest(model)
    try:
        found = look_closely(model.files)
    except RowError:
        return {"of": of, **details.NOTHING}
    records = [encoding.record for encoding in found.all]
    config = model.files.config
    keys, told = evidence(config).keys.get("", {}), lint.findings(model.files, found)
    return {
        "of": of,
        "origins": {one.key: _origins(one) for one in records if one.origins},
        "temperature": _of_temperature(model.files, found.all),
        "layers": list(keys.get("layers", ())),
        "lint": [[one.rule, one.text] for one in told if one.level != "fact"],
        "taken": list(lint.sentences(config)) if any(one.readers for one in told) else [],
    }


def _origins(record: EncodingRecord) -> dict[str, Any]:
    return {name: asdict(origin) for name, origin in record.origins.items()}


def _of_temperature(files: Files, encodings: Iterable[Encoding[Form]]) -> dict[str, Any] | None:
    for one in encodings:
        if isinstance(one.form, Temperature):
            own = evidence(files.config).keys.get(one.key, {})
            keys = dict.fromkeys((*own.get("strength", ()), *own.get("start", ())))
            default_of = None if keys else files.resolved.default_of(one.stack or "") or None
            return asdict(Origin(tuple(keys), default_of))
    return None


def write_details() -> None:
    """Ship those of all published configs, one a line."""
    found = {model.id: details_of(model) for model in known_models()}
    rows = (
        f"{json.dumps(name)}:{json.dumps(row, ensure_ascii=False)}" for name, row in found.items()
    )
    details.FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def main() -> int:
    """Write all."""
    write_details()  # Which rows of models have, and which are read once.
    write(GUEST.shipped, {GUEST.key: GUEST.table()})
    given = checked.given_cases(evaluate.all_analyses(), find.all_schemes())
    of_list = {
        precomputed.UNTRAINED: untrained(),
        precomputed.PUBLISHED: checked.values(given),
    }
    write(precomputed.FOLDER, of_list)
    return 0


if __name__ == "__main__":
    sys.exit(main())
