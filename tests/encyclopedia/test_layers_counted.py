"""Sentences on published models that count layers: each counts those of one stack."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from generator.encyclopedia import made
from generator.encyclopedia.known_models import known_models

COUNTED = re.compile(r"(\d+) of (\d+) layers(?: a window of ([\d,]+))?")


def sentences(found: Any) -> Iterator[str]:
    """All texts in what is shipped on a model."""
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict | list):
        for one in found.values() if isinstance(found, dict) else found:
            yield from sentences(one)


@pytest.mark.parametrize("key", ["programs", "details", "row"])
def test_layers_are_counted_among_those_of_one_stack(key: str) -> None:
    wrong, total = [], 0
    for model in known_models():
        found = made.made(model.id)
        row = found["row"]
        sizes = {len(stack["layers"]) for stack in row["stacks"]}
        windows = {(one["layers"], one["keys"]) for one in row["limits"]}
        for way in found["programs"].get("differ", ()):  # Programs may give it other windows.
            if "n_layers" in way:
                windows |= {(one["count"], one["size"]) for one in way["theirs"]}
        for text in sentences(found[key]):
            for match in COUNTED.finditer(text):
                count, of, width = (int((one or "0").replace(",", "")) for one in match.groups())
                total += 1
                if of not in sizes or (width and (count, width) not in windows):
                    wrong.append((model.id, match[0]))
    assert wrong == []
    assert total > (50 if key == "programs" else 0)
