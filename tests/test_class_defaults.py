"""What the default config of a model type says, against the modules of its class; of all types in
a thorough test.
"""

import string

import pytest

from benchmarks import models
from benchmarks.class_defaults import EXPLAINED, NOT_BUILT, Facts, compare


@pytest.mark.parametrize("name", ["bert", "gemma3_text", "gpt2", "mistral", "siglip_vision_model"])
def test_a_config_without_settings_says_what_the_modules_have(name: str) -> None:
    assert compare(name) == []


def test_each_kind_of_fact_can_differ() -> None:
    one = Facts(frozenset({"table"}), frozenset({0.5}), frozenset({512}), frozenset({(128, 4)}))
    other = Facts(frozenset({"bias"}), frozenset({0.25}), frozenset({514}), frozenset({(128, 5)}))
    assert [line.partition(" ")[0] for line in one.differences(other)] == [
        "kinds", "rows", "windows", "frequencies",
    ]  # fmt: skip
    assert list(one.differences(one)) == []


@pytest.mark.thorough
@pytest.mark.parametrize("first", string.ascii_lowercase)
def test_every_difference_has_a_reason(first: str) -> None:
    found = {name: compare(name) for name in models.types() if name.startswith(first)}
    built = {
        name: lines for name, lines in found.items() if lines and not lines[0].startswith(NOT_BUILT)
    }
    assert {name: lines for name, lines in built.items() if name not in EXPLAINED} == {}
    assert {name for name in EXPLAINED if name.startswith(first)} <= built.keys()
