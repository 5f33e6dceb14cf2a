"""Writes what follows from published configs, a file a model in `generator/encyclopedia/made`:
`python -m benchmarks.made` for all, in many minutes; ids after it select some, in seconds each.

`--mlx PYTHON` names the interpreter of an environment with mlx and mlx-lm, whose models the frozen
values are compared with too. `--rows` writes only what the pages of models say, in minutes,
after a change of the program that changes it or of a version in constraints.txt.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks import differing
from generator.checkpoints.model.pair_order import gguf_order, stated_orders
from generator.contracts import Encoding, EncodingRecord, Files, LintFinding, Origin
from generator.encodings import Form, Temperature
from generator.encyclopedia import details, known_models, made, table
from generator.encyclopedia.known_models import KnownModel
from generator.errors import RefusedError, RowError
from generator.reading import lint
from generator.reading.evidence import evidence, look_closely
from generator.reading.find import Found

ORDER = ("details", "check", "programs", "expected", "made_for", "row")


def write(hub_id: str, **parts: Any) -> None:
    """Write some of what follows from a model, each on one line, beside the others."""
    found = {**made.made(hub_id), **parts}
    lines = (f"{json.dumps(name)}:{_compact(found[name])}" for name in ORDER if name in found)
    path = made.FOLDER / known_models.file_of(hub_id).name
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    made.made.cache_clear()


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def write_rows(models: Iterable[KnownModel]) -> None:
    """Write details and rows."""
    for model in models:
        write(model.id, **read(model))
        row = table.row(model)  # Has the details.
        write(model.id, row=row, made_for=made.made_for(model, made.made(model.id)))


def read(model: KnownModel) -> dict[str, Any]:
    """The details of a model, and what programs take from its config, with the digest of that."""
    of = {"of": details.digest(model)}
    try:
        found = look_closely(model.files)
    except RowError:
        return {"details": {**of, **details.NOTHING}, "programs": of}
    told = lint.findings(model.files, found)
    return {
        "details": {**of, **_details(model, found, told)},
        "programs": {**of, **differing.found(model, told)},
    }


def _details(model: KnownModel, found: Found, told: Sequence[LintFinding]) -> dict[str, Any]:
    records = [encoding.record for encoding in found.all]
    config = model.files.config
    keys = evidence(config).keys.get("", {})
    return {
        "origins": {one.key: _origins(one) for one in records if one.origins},
        "temperature": _of_temperature(model.files, found.all),
        "layers": list(keys.get("layers", ())),
        "lint": [[one.rule, one.text] for one in told if one.level != "fact"],
        "without_windows": list(_without_windows(told)),
        "pairs": [
            next((order for *_, order in stated_orders(config)), None),
            gguf_order(config.text_model.family),
        ],
    }


def _without_windows(told: Iterable[LintFinding]) -> Iterator[str]:
    """Programs, without their version, that give no layer a window where transformers 5 does."""
    for one in told:
        if one.rule == lint.READERS and "n_layers" in one.values and not one.values["theirs"]:
            yield from differing.names(one.values["readers"])


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


def clear(models: Iterable[KnownModel]) -> None:
    """Delete what followed from models that are no longer published configs."""
    names = {known_models.file_of(model.id).name for model in models}
    for path in made.FOLDER.glob("*.json"):
        if path.name not in names:
            path.unlink()


def main() -> int:
    """Write all, or that of some models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*", help="ids of published configs; all without any")
    parser.add_argument("--mlx", metavar="PYTHON", help="interpreter with mlx and mlx-lm")
    parser.add_argument("--rows", action="store_true", help="only what pages of models say")
    arguments = parser.parse_args()
    every = {model.id: model for model in known_models.known_models()}
    clear(every.values())
    if unknown := [name for name in arguments.ids if name not in every]:
        raise RefusedError(f"{', '.join(unknown)}: no published config has this id")
    models = [every[name] for name in arguments.ids or every]
    if not arguments.rows:
        _look_at_code(models, arguments.mlx)
    write_rows(models)
    for model in models:
        sys.stdout.write(f"{model.id}: {_line(made.made(model.id))}\n")
    return 0


def _look_at_code(models: Sequence[KnownModel], mlx: str | None) -> None:
    """Write what the code of other programs does: the check of each layer, and frozen values."""
    from benchmarks import expected_values, layers_coverage

    ids = [model.id for model in models]
    layers_coverage.write(list(layers_coverage.compared(ids)))
    for name, frozen in expected_values.made(ids, mlx):
        write(name, expected=frozen)


def _line(found: Mapping[str, Any]) -> str:
    check = found.get("check") or {"outcome": "not checked", "why": None}
    parts = [check["outcome"], check["why"]]
    parts += [f"lint, {rule}: {text}" for rule, text in found["details"]["lint"]]
    return "; ".join(filter(None, parts))


if __name__ == "__main__":
    sys.exit(main())
