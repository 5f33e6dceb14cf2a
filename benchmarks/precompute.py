"""Writes the shipped tables, which hold what no list changes: `python -m benchmarks.precompute`, in
minutes, after a change of the program that changes them or of a version in constraints.txt; with
names, such as `drawings`, in seconds those alone.
"""

import json
import sys
from base64 import b64encode
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from benchmarks.made import write_rows
from generator.cache import precomputed
from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model import known_code
from generator.checkpoints.model.code_files import NoOutlineError, code_files
from generator.checkpoints.model.resolved import defaults
from generator.checkpoints.model.stacks import resolved as resolve
from generator.contracts import EncodingRecord, Figure, Files, ModelConfig, Oracle, Resolved
from generator.encodings import Rotation
from generator.encyclopedia.known_models import known_models
from generator.errors import RowError
from generator.libraries import config_classes
from generator.pipeline import evaluate, worker
from generator.pipeline.artifacts import name_of
from generator.reading import find
from generator.site import render
from generator.site.pages import checked
from generator.site.pictures import scheme_pictures

# The libraries on which each depends, by its name as an artifact.
LIBRARIES = {
    precomputed.UNTRAINED: ("transformers",),
    precomputed.CODE: ("transformers",),
    precomputed.DRAWINGS: ("matplotlib", "numpy", "pillow"),
    precomputed.RESCALED: ("torch", "transformers"),
    precomputed.PUBLISHED: ("numpy", "scikit-learn", "scipy", "torch", "transformers"),
}


# Of modules around a tensor; the last has all.
LEVELS = (0, 1, 2, 3, 99)


def write(folder: Path, artifacts: Mapping[str, bytes]) -> None:
    """Ship artifacts in a folder, by name, for the installed versions."""
    path = folder / f"{precomputed.VERSIONS}.json"
    made_with = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    made_with |= {
        name: {library: precomputed.version_of(library) for library in LIBRARIES[name]}
        for name in artifacts
    }
    versions = json.dumps(made_with, indent=1, sort_keys=True).encode() + b"\n"
    for name, data in {**artifacts, precomputed.VERSIONS: versions}.items():
        (folder / f"{name}.json").write_bytes(data)


def drawings(figures: Iterable[Figure]) -> bytes:
    """The drawings of these figures, by the names of their artifacts, as JSON."""
    made = {name_of(one): worker.make(render.maker(one)).decode() for one in figures}
    return json.dumps(made, indent=0).encode() + b"\n"


def of_schemes() -> Iterable[Figure]:
    """The pictures that explain schemes."""
    for scheme in find.all_schemes():
        yield scheme_pictures.figure(scheme)
        yield from scheme_pictures.further(scheme).values()


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


def code(configs: Iterable[Resolved]) -> bytes:
    """The tensors with an encoding that the code of families makes for configs, by the digests of
    what decides them, as JSON: of each the most general that is right for all of them.
    """
    kinds: dict[str, list[known_code.Tensors]] = {}
    found: dict[str, known_code.Tensors] = {}
    for one in configs:
        if find.is_untrained(one):
            continue
        try:
            tensors = tensors_of(one)
        except (NoOutlineError, RowError, NotWholeError):
            continue
        kind, parts, whole = known_code.digests(one)
        kinds.setdefault(kind, []).append(tensors)
        has_parts = parts != whole and tensors and is_without_parts(one, tensors)
        found[parts if has_parts else whole] = tensors
    for kind, every in kinds.items():
        if not any(every) and all(one == every[0] for one in every):
            found[kind] = every[0]
    return _lines(found)


def _lines(found: Mapping[str, object]) -> bytes:
    """JSON with a line for each digest."""
    lines = (f'"{one}":{json.dumps(found[one], separators=(",", ":"))}' for one in sorted(found))
    return "{{\n{}\n}}\n".format(",\n".join(lines)).encode()


def rescaled(every: Iterable[Files]) -> bytes:
    """What transformers makes of the rotations in these files that it rescales, by the digests of
    what decides them, as JSON.
    """
    found = {}
    for files in every:
        for form in (one.form for one in find.find(files)):
            if isinstance(form, Rotation) and form.is_rescaled and not form.has_fixed_alpha:
                with suppress(Exception):  # As for settings that the rule does not have.
                    frequencies, factor = form.initialised()
                    single = frequencies.astype("<f4")
                    if (single == frequencies).all():
                        packed = b64encode(single.tobytes()).decode()
                        found[form.initialised_by] = (packed, factor)
    return _lines(found)


class NotWholeError(Exception):
    """That not all of the code could be looked through, or that few of its tensors say less."""


def tensors_of(resolved: Resolved) -> known_code.Tensors:
    """Those with an encoding and, where it needs these, those of the modules around them, which
    without the others have the same.

    errors: NoOutlineError, RowError, NotWholeError
    """
    whole = code_files(resolved)
    if whole is None:
        return None
    encodings = with_tensor(whole)
    taken = {one.provenance.tensor or "" for one in encodings}
    for levels in LEVELS:
        around = {_module(name, levels) for name in taken}
        tensors = {
            name: tuple(info.shape)
            for name, info in whole.tensors.items()
            if name in taken or (levels and _module(name, levels) in around)
        }
        packed = known_code.packed(tensors)
        with suppress(RowError):  # As without a tensor beside it.
            alone = known_code.with_tensors(resolved, packed)
            if not whole.missing and with_tensor(alone) == encodings:
                return packed
    raise NotWholeError


def _module(name: str, levels: int) -> str:
    """Of the name of a tensor, without so many words at its end."""
    return ".".join(name.split(".")[: -levels or None])


def with_tensor(files: Files) -> list[EncodingRecord]:
    """The encodings in trained tensors."""
    return [one.record for one in find.find(files) if one.provenance.tensor is not None]


def is_without_parts(resolved: Resolved, tensors: known_code.Tensors) -> bool:
    """Whether the tensors stay where nested configs of families without trained encodings are those
    of their defaults.
    """
    settings = dict(resolved.given.settings)
    for name, value in resolved.config.settings.items():
        if isinstance(value, Mapping) and name in settings and known_code.is_part_without(value):
            settings[name] = {**defaults(value["model_type"]), "model_type": value["model_type"]}
    try:
        return tensors_of(resolve(ModelConfig(settings, resolved.given.where))) == tensors
    except (NoOutlineError, RowError, NotWholeError):
        return False


def published() -> bytes:
    """What the page *Validation* computes of cases that a rule gives, as JSON."""
    return values_of(checked.given_cases(evaluate.all_analyses(), find.all_schemes()))


MAKERS = {
    precomputed.DRAWINGS: lambda: drawings(of_schemes()),
    precomputed.RESCALED: lambda: rescaled(one.files for one in known_models()),
    precomputed.UNTRAINED: untrained,
    precomputed.CODE: lambda: code(one.files.resolved for one in known_models()),
    precomputed.PUBLISHED: published,
}


def main(*names: str) -> int:
    """Write those of these names, or all."""
    if not names:
        write_rows(known_models())
    write(precomputed.FOLDER, {name: MAKERS[name]() for name in names or MAKERS})
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
