"""The layer map of the atlas against what every layer was observed to do
(`benchmarks/layers_oracle.py`), on the same small configs.

`python -m benchmarks.layers_coverage` takes every model type of transformers that reads tokens,
sound or images, and every published config of `generator/encyclopedia/models`; names of types or
of files select some. `benchmarks.made` ships the outcome of each published config, for the table of
models.
"""

import argparse
import gc
import json
import logging
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any, Literal

import numpy as np

from benchmarks import made, models
from benchmarks.coverage import MetaFiles
from benchmarks.layers_oracle import (
    SECONDS,
    Observation,
    ObservedLayer,
    default_settings,
    observe,
    spans,
)
from benchmarks.shrink import text_path
from generator import PACKAGE
from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.layer_map import layer_map
from generator.contracts import Encoding, Layer
from generator.encodings import Form, OffsetBias, PositionTable, Rotation, Sinks, Temperature
from generator.encyclopedia.known_models import known_models
from generator.encyclopedia.table import digest
from generator.errors import RowError
from generator.reading.find import find, look

CONFIGS = PACKAGE / "encyclopedia/models"
TOLERANCE = 1e-5  # Relative, of frequencies and of the factor.
# What the atlas says of a family that it has not read.
NOT_READ = {
    "mistral_large4_text": "temperature",
    "inkling2_text": "sink",
    "inkling2_loop_text": "sink",
}
ROUNDED = 1e-2  # Relative, of slopes, which some models round to bfloat16.
# What is behind known differences of published configs (`benchmarks/coverage.md`).
REASONS = {
    "tiiuae/falcon-rw-1b": "transformers adds ALiBi twice",
    "adept/fuyu-8b": "transformers takes the base 10,000 in place of rope_theta",
    "openbmb/cpm-ant-10b": "a given text is seen from both sides, what is written from one",
}
Map = tuple[Sequence[Encoding[Form]], Sequence[Layer]]
# Every layer did what the row says; some layer did not; transformers lacks the family; its small
# model could not be run or compared.
Verdict = Literal["agrees", "differs", "no code", "not run"]


@dataclass(frozen=True)
class Facts:
    """What a layer does with position, in words that oracle and atlas share.

    mixers: "full", "sliding", "chunked", "recurrent", "convolution", "other"; none for a layer that
        mixes no positions
    before, after: largest distance of a visible position; None without a limit within the sequence
        observed
    frequencies: radians per position, fastest first, empty without a rotation; factor: of its sine
        and cosine; bias: whether logits have one
    slopes: of a bias that is linear in the distance, sorted; sink, temperature: whether attention
        has a column that is no key, or a factor by position
    """

    mixers: frozenset[str]
    before: int | None
    after: int | None
    frequencies: tuple[float, ...] = ()
    factor: float = 1.0
    bias: bool | None = False
    slopes: tuple[float, ...] = ()
    sink: bool = False
    temperature: bool | None = False

    def differences(self, other: "Facts", not_read: str = "") -> Iterator[str]:
        """What differs, with the values of both; not_read: what is left out."""
        if self.mixers != other.mixers:
            mine, theirs = ("+".join(sorted(one.mixers)) or "none" for one in (self, other))
            yield f"mixers {mine} ≠ {theirs}"
        elif self.mixers and (self.before, self.after) != (other.before, other.after):
            yield f"reach {self.before}, {self.after} ≠ {other.before}, {other.after}"
        if len(self.frequencies) != len(other.frequencies):
            yield f"{len(self.frequencies)} ≠ {len(other.frequencies)} pairs"
        elif not np.allclose(self.frequencies, other.frequencies, rtol=TOLERANCE, atol=0.0):
            pair = int(np.argmax(np.abs(np.log(self.frequencies) - np.log(other.frequencies))))
            found = f"{self.frequencies[pair]:.6g} ≠ {other.frequencies[pair]:.6g}"
            yield f"frequencies, pair {pair}: {found}"
        elif self.frequencies and abs(self.factor - other.factor) > TOLERANCE * other.factor:
            yield f"factor {self.factor:.6g} ≠ {other.factor:.6g}"
        for name in ("bias", "sink", "temperature"):
            # Some models rescale the output of attention instead.
            left_out = name == not_read or (name == "sink" and not other.sink)
            mine, theirs = getattr(self, name), getattr(other, name)
            if not left_out and theirs not in (None, mine):
                yield f"{name} {mine} ≠ {theirs}"
        if other.bias is None:
            return
        if len(self.slopes) != len(other.slopes) or not np.allclose(
            self.slopes, other.slopes, rtol=ROUNDED
        ):
            yield f"slopes {self.slopes} ≠ {other.slopes}"


@dataclass(frozen=True)
class Row:
    """The result of one config; ``problem`` where it could not be compared, else ``differences``,
    the atlas's value before the observed one. has_code: whether transformers has its family
    """

    name: str
    n_layers: int = 0
    differences: tuple[str, ...] = ()
    problem: str = ""
    has_code: bool = True

    @property
    def outcome(self) -> Verdict:
        """In a word."""
        if not self.has_code:
            return "no code"
        if self.problem:
            return "not run"
        return "differs" if self.differences else "agrees"


def observed_facts(layer: ObservedLayer) -> Facts:
    """The facts of an observed layer."""
    windowed = layer.before is not None or layer.after not in (0, None)
    attention = "chunked" if layer.chunk else "sliding" if windowed else "full"
    mixers = frozenset(
        attention if mixer == "attention" else mixer for mixer in layer.mixers if mixer != "shift"
    )
    turned, slopes = (layer.frequencies, layer.attention_factor), tuple(sorted(layer.slopes))
    sink, heated = layer.sink, layer.temperature
    return Facts(mixers, layer.before, layer.after, *turned, layer.bias, slopes, sink, heated)


def atlas_facts(layer: Layer, encodings: Mapping[str, Encoding[Form]], n_positions: int) -> Facts:
    """The facts of a layer in the atlas, as far as ``n_positions`` would show them; encodings: by
    key.
    """
    forms = [encodings[key].form for key in layer.encodings or ()]
    rotations = [form for form in forms if isinstance(form, Rotation)]
    before, after = (
        None if reach is None or reach >= n_positions - 1 else reach
        for reach in (layer.before, layer.after)
    )
    seen = {
        "full" if mixer == "sliding" and before is None and after in (0, None) else mixer
        for mixer in layer.mixers
    } - {"none"}
    # So few positions as are observed are all chosen.
    names = {"fourier": "other", "sparse": "full", "compressed": "full"}
    words = frozenset(names.get(mixer, str(mixer)) for mixer in seen)
    linear = [form for form in forms if isinstance(form, OffsetBias) and form.beyond == "linear"]
    part = "layers of attention" if layer.part == "decoder" else f"{layer.part} layers of attention"
    others = [one.form for one in encodings.values() if one.part.startswith(part)]
    beside = others if layer.attends else []
    slopes = [float(slope) for form in linear for slope in form.values[:, 0] - form.values[:, 1]]
    heated = [form for form in beside if isinstance(form, Temperature)]
    frequencies = [float(value) for form in rotations for value in form.frequencies]
    return Facts(
        words,
        before,
        after,
        tuple(sorted(frequencies, reverse=True)),
        rotations[0].attention_factor if rotations else 1.0,
        any(form.acts_in == "logits" and form.tells_position for form in forms),
        tuple(sorted(slopes)),
        any(isinstance(form, Sinks) and layer.index in form.layers for form in beside),
        any(not form.layers or layer.index in form.layers for form in heated),
    )


def with_tensors(observation: Observation) -> Map:
    """Encodings and layers by the small config and the model's tensors, of random values."""
    files = MetaFiles(observation.config, observation.shapes)
    encodings = find(files)
    return encodings, layer_map(files, encodings)


def by_config_alone(observation: Observation) -> Map:
    """Encodings and layers by the small config, as the table of models has them."""
    files = ConfigAlone(observation.config, "config")
    found = look(files)
    return found.all, layer_map(files, found.all, is_complete=found.is_complete)


def compare(name: str, settings: Mapping[str, Any], *reads: Callable[[Observation], Map]) -> Row:
    """Atlas and oracle on one config; errors become its problem. reads: how the atlas reads it, by
    itself with tensors
    """
    from transformers import CONFIG_MAPPING

    if "auto_map" in settings:
        problem = "not observed: it has code of its own, under the name of a family of transformers"
        return Row(name, problem=problem, has_code=False)
    try:
        with models.limit(SECONDS):
            observation = observe(settings)
    # Some of the 800 types need other inputs, other libraries or a special config.
    except Exception as error:  # noqa: BLE001
        has_code = settings.get("model_type") in CONFIG_MAPPING
        return Row(name, problem=f"not observed: {_brief(error)}", has_code=has_code)
    rows = [_against(name, observation, read) for read in reads or (with_tensors,)]
    row = next((row for row in rows if row.problem or row.differences), rows[0])
    return row if row.outcome != "agrees" else replace(row, differences=tuple(_of_bases(settings)))


def _of_bases(settings: Mapping[str, Any]) -> Iterator[str]:
    """What differs in the bases with all settings where they were published: in the small config,
    those of the text model are in its section.
    """
    from transformers import CONFIG_MAPPING

    config = CONFIG_MAPPING[settings["model_type"]].from_dict(dict(settings))
    for name in text_path(config):
        config = getattr(config, name)
    rope = getattr(config, "rope_parameters", None) or {}
    theirs = {one.get("rope_theta") for one in (rope, *rope.values()) if isinstance(one, dict)}
    records = [encoding.record for encoding in look(ConfigAlone(settings, "config")).all]
    ours = {one.parameters["base"] for one in records if "base" in one.parameters}
    if ours and theirs - {None} and ours.isdisjoint(theirs):
        yield f"bases {sorted(ours)} ≠ {sorted(theirs - {None}, key=str)}"


def _against(name: str, observation: Observation, read: Callable[[Observation], Map]) -> Row:
    try:
        with models.limit(SECONDS):
            encodings, layers = read(observation)
    except (RowError, MemoryError, models.TooLongError) as error:
        return Row(name, problem=f"the atlas says: {_brief(error)}")
    if not observation.stacks:
        return Row(name, problem="not observed: no layer takes hidden states position by position")
    if not layers:
        return Row(name, problem="without a layer map: the atlas gives none for this family")
    parts: dict[str, list[Layer]] = defaultdict(list)
    for layer in layers:
        parts[layer.part].append(layer)
    named = [part_of(path, observation, parts) for path in observation.stacks]
    shown = tuple(part for part in named if part is not None)
    differences = _of_layers(observation, parts, encodings)
    of_tables = _of_tables(observation, encodings, shown)
    n_layers = sum(map(len, observation.stacks.values()))
    return Row(name, n_layers, (*differences, *of_tables))


def _of_layers(
    observation: Observation,
    parts: Mapping[str, Sequence[Layer]],
    encodings: Sequence[Encoding[Form]],
) -> Iterator[str]:
    """Differences of the layers, equal ones of a stack together."""
    by_key = {encoding.key: encoding for encoding in encodings}
    for path, observed in observation.stacks.items():
        part = part_of(path, observation, parts)
        if part is None:
            yield f"{path}: {len(observed)} layers that the atlas does not show"
            continue
        shown = parts[part]
        if len(observed) == 1:  # One layer called again and again (ALBERT).
            observed = observed * len(shown)  # noqa: PLW2901
        if len(shown) != len(observed):
            yield f"{path}: {len(shown)} ≠ {len(observed)} layers"
            continue
        found: dict[str, list[int]] = defaultdict(list)
        for index, (ours, theirs) in enumerate(zip(shown, observed, strict=True)):
            facts, seen = atlas_facts(ours, by_key, theirs.n_positions), observed_facts(theirs)
            # Keys for many positions together need longer sequences than those observed.
            if "compressed" in ours.type:
                seen = replace(seen, mixers=facts.mixers, before=facts.before, after=facts.after)
            is_turned = seen.frequencies or any(
                note.startswith(f"{path}.{index}: the angles") for note in observation.notes
            )
            # Patches in rows and columns are not one after the other.
            of_images = any(by_key[key].modality == "image" for key in ours.encodings or ())
            if facts.frequencies and is_turned and of_images:
                seen = replace(seen, frequencies=facts.frequencies, factor=facts.factor)
            for difference in facts.differences(seen, NOT_READ.get(_family(observation), "")):
                found[difference].append(index)
        yield from (
            f"{path} {spans(indices)}: {difference}" for difference, indices in found.items()
        )


def _family(observation: Observation) -> str:
    settings = observation.config
    for name in observation.section:
        settings = settings[name]
    return str(settings.get("model_type", ""))


def part_of(
    path: str, observation: Observation, parts: Mapping[str, Sequence[Layer]]
) -> str | None:
    """The part of the atlas that shows the layers at ``path``, by name where there are several
    stacks, else by the number of layers.
    """
    roles = sorted((role for role in ("encoder", "decoder") if role in path), key=path.index)
    if len(observation.stacks) > 1 and roles:
        return next((part for part in parts if part == roles[0]), None)
    length = len(observation.stacks[path])
    fitting = [part for part, layers in parts.items() if len(layers) == length]
    named = [part for name in ("decoder", "encoder") for part in [*fitting, *parts] if part == name]
    best = [part for part in named if part in fitting]
    return next(iter([*best, *fitting, *named, *parts]), None)


def _of_tables(
    observation: Observation, encodings: Sequence[Encoding[Form]], observed: tuple[str, ...]
) -> Iterator[str]:
    """Differences of what is added at the input; boxes on a page, images, and sound whose stack was
    not observed, were not part of it.
    """
    added = [one for one in encodings if one.form.acts_in in ("input", "") and one.scheme != "none"]
    tables = [
        one.form
        for one in added
        if one.modality == "text" or (one.modality == "audio" and one.part.startswith(observed))
    ]
    ours = sorted({form.first_row for form in tables if isinstance(form, PositionTable)})
    if observation.tables is None:
        return
    theirs = sorted({rows.first for rows in observation.tables if rows.first is not None})
    if bool(tables) != bool(observation.tables):
        yield f"added at the input: {bool(tables)} ≠ {bool(observation.tables)}"
    elif theirs and ours and ours != theirs:
        yield f"first rows {ours} ≠ {theirs}"


def _brief(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:110]}"


def lines(row: Row) -> list[str]:
    """A result as text."""
    if row.problem or not row.differences:
        return [f"{row.name}: {row.problem or f'agree, {row.n_layers} layers'}"]
    return [f"{row.name}: DIFFER", *(f"    {difference}" for difference in row.differences)]


def total(rows: Sequence[Row]) -> str:
    """Numbers of configs that agree and differ, and the problems of the others."""
    compared = [row for row in rows if not row.problem]
    agree = [row for row in compared if not row.differences]
    problems = Counter(row.problem.split(": ")[1] for row in rows if row.problem)
    listed = "".join(f"; {count} {problem}" for problem, count in problems.most_common())
    return (
        f"{len(rows)} configs; {len(compared)} compared, of which {len(agree)} agree, in"
        f" {sum(row.n_layers for row in agree):,} layers{listed}"
    )


def cases(names: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Name and settings of the published configs, then of the default config of each type; of those
    named alone, if any are.
    """
    for path in sorted(CONFIGS.glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        if not names or path.stem in names or record["id"] in names or "configs" in names:
            yield record["id"], record["config"]
    for type_ in models.types():
        if not names or type_ in names or "types" in names:
            try:
                yield type_, default_settings(type_)
            except Exception as error:  # noqa: BLE001  # A few types have no default config.
                yield type_, {"problem": _brief(error)}


def write(rows: Sequence[Row]) -> None:
    """Ship the outcomes of published configs, for the installed version of transformers, each with
    the digest that it holds for.
    """
    used, models = version("transformers"), {model.id: model for model in known_models()}
    for row in rows:
        of = digest(models[row.name])
        check = {"outcome": row.outcome, "transformers": used, "why": _why(row), "of": of}
        made.write(row.name, check=check)


def _why(row: Row) -> str | None:
    return (REASONS.get(row.name) or "; ".join(row.differences)) if row.differences else None


def compared(names: Sequence[str]) -> Iterator[Row]:
    """The result of each case, which is printed as soon as it is there."""
    import torch

    os.environ["HF_HUB_OFFLINE"] = "1"
    logging.disable(logging.ERROR)
    torch.set_num_threads(1)
    for name, settings in cases(names):
        reads = (with_tensors, by_config_alone) if "/" in name else (with_tensors,)
        row = compare(name, settings, *reads)
        gc.collect()  # A model and its hooks refer to each other.
        sys.stdout.write("\n".join(lines(row)) + "\n")
        sys.stdout.flush()
        yield row


def main() -> int:
    """Compare what was named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    named = 'types, ids of published configs, "types" or "configs"'
    parser.add_argument("names", nargs="*", help=named)
    arguments = parser.parse_args()
    rows = list(compared(arguments.names))
    sys.stdout.write(total(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
