"""Keys of position that change nothing in the atlas, against what they change in the code of the
family (`benchmarks/layers_oracle.py`).

`python -m benchmarks.keys_coverage` takes the default config of every model type, small, and every
key of position in it; names of types select some. A key is missed where another value changes what
layers do and neither what the atlas says, nor is the key named as not understood.
"""

import argparse
import gc
import logging
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from benchmarks import models
from benchmarks.layers_coverage import observed_facts, with_tensors
from benchmarks.layers_oracle import SECONDS, Observation, default_settings, observe
from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model import keys
from generator.reading import evidence

MOST = 3  # Differences that a line names.


def outcomes(type_: str) -> Iterator[tuple[str, str]]:
    """Each key of position of a model type, with what was found of it."""
    settings = default_settings(type_)
    tried = [
        (path, value)
        for path, value in keys.leaves(settings)
        if keys.concerns_position(path) and value is not None
    ]
    config = ConfigAlone(settings, type_).config
    unread = {name for name, _ in evidence.evidence(config).unread}
    usual = evidence.effects(config)
    before = None
    for path, value in tried:
        name = keys.dotted(path)
        changed = (keys.with_value(settings, path, other) for other in keys.others(value))
        if name in unread:
            yield name, "named"
        elif any(evidence.effects(config.updated(each)) != usual for each in changed):
            yield name, "read"
        else:
            before = before or _observed(settings)
            yield name, _outcome(before, path)


def _outcome(before: Observation, path: keys.Path) -> str:
    """What another value of a key does in the small model."""
    value, found = keys.at(before.config, path), "changes nothing"
    for other in keys.others(value):
        try:
            after = _observed(keys.with_value(before.config, path, other))
            theirs = list(_differences(before, after))
        except Exception:  # noqa: BLE001 (config classes and models validate in many ways)
            found = "another value is refused"
            continue
        if theirs and _said(before) == _said(after):
            return f"MISSED: {value!r} → {other!r}: {'; '.join(theirs[:MOST])}"
        if theirs:
            return "read from tensors"
    return found


def _observed(settings: Any) -> Observation:
    with models.limit(SECONDS):
        return observe(settings)


def _differences(before: Observation, after: Observation) -> Iterator[str]:
    for path, layers in before.stacks.items():
        pairs = zip_longest(layers, after.stacks.get(path, ()))
        for index, (one, other) in enumerate(pairs):
            if one is None or other is None:
                yield f"{path}: another number of layers"
                break
            for difference in observed_facts(one).differences(observed_facts(other)):
                yield f"{path}.{index}: {difference}"
    if before.tables != after.tables:
        yield f"tables {before.tables} ≠ {after.tables}"


def _said(observation: Observation) -> Any:
    encodings, layers = with_tensors(observation)
    return {one.key: evidence.of_encoding(one) for one in encodings}, layers


def main(names: Sequence[str]) -> int:
    """Try the keys of the types that were named, or of all."""
    import torch

    os.environ["HF_HUB_OFFLINE"] = "1"
    logging.disable(logging.ERROR)
    torch.set_num_threads(1)
    counts: Counter[str] = Counter()
    for type_ in names or models.types():
        try:
            found = list(outcomes(type_))
        # Some of the 800 types need other inputs, other libraries or a special config.
        except Exception as error:  # noqa: BLE001
            found = [("", f"not observed: {type(error).__name__}")]
        for name, outcome in found:
            counts[outcome.split(":")[0]] += 1
            if outcome.startswith(("MISSED", "not observed")):
                sys.stdout.write(f"{type_} {name}: {outcome}\n")
                sys.stdout.flush()
        gc.collect()  # A model and its hooks refer to each other.
    sys.stdout.write(", ".join(f"{n:,} {what}" for what, n in counts.most_common()) + "\n")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="model types")
    sys.exit(main(parser.parse_args().names))
