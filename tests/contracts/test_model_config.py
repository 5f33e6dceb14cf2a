"""The record of config.json: which setting it gives under which name, and what it refuses."""

from typing import Any

import pytest

from generator.contracts import ModelConfig
from generator.contracts.model_config import DEEPEST
from generator.errors import RowError

# A setting, how it is read, and what that gives.
LENIENT: list[tuple[object, str, object]] = [
    ("rope", "text", "rope"), (1, "text", None),
    (False, "flag", False), ("false", "flag", None), (0, "flag", None),
    (-1, "integer", -1), (True, "integer", None), (2.0, "integer", None),
    (8, "count", 8), (0, "count", None), (True, "count", None),
    ([1, "x"], "listed", [1, "x"]), ("x", "listed", ()), (None, "listed", ()),
    ([], "section", None), ("x", "section", None),
]  # fmt: skip
# What is refused, by how it is read.
BROKEN = [
    ("whole", 0), ("whole", 2.5), ("whole", True), ("whole", "8"), ("whole", None),
    ("positive", 0), ("positive", "x"), ("positive", None),
]  # fmt: skip


def of(**settings: Any) -> ModelConfig:
    return ModelConfig(settings, "x")


@pytest.mark.parametrize(("value", "method", "read"), LENIENT)
def test_a_setting_of_another_type_is_absent(value: object, method: str, read: object) -> None:
    assert getattr(of(name=value), method)("name") == read


@pytest.mark.parametrize(("method", "value"), BROKEN)
def test_a_broken_number_is_a_row_error_that_names_the_setting(method: str, value: object) -> None:
    with pytest.raises(RowError, match=r"^x: name is .*; expected a (whole|positive)"):
        getattr(of(name=value), method)("name", 1)


def test_a_number_that_is_not_read_fails_nothing() -> None:
    assert of(hidden_size="broken", num_hidden_layers=2).size("n_layers") == 2


def test_null_is_a_value_for_one_setting_and_none_among_several() -> None:
    config = of(first=None, second=2)
    assert (
        config.value("first", 1), config.first("first", "second", default=3), "first" in config,
    ) == (None, 2, True)  # fmt: skip


def test_a_size_that_is_needed_and_absent_is_a_row_error_with_all_its_names() -> None:
    with pytest.raises(RowError, match="none of vocab_size"):
        of().needed("vocab_size")


def test_a_size_that_the_top_lacks_is_taken_from_the_text_model() -> None:
    config = of(text_config={"hidden_size": 8, "num_hidden_layers": 3}, num_hidden_layers=2)
    assert (config.size("d_model"), config.size("n_layers"), config.size("n_heads")) == (8, 2, None)


def test_a_head_is_as_wide_as_its_config_says_or_shares_the_width() -> None:
    shared = {"hidden_size": 64, "num_attention_heads": 4}
    other: dict[str, Any] = {"head_dim": None, "kv_channels": 8}
    for own, head_dim in (({}, 16), ({"head_dim": 32}, 32), (other, 8)):
        assert of(**shared, **own).head_dim == head_dim


def test_the_text_models_config_is_found_however_deep_it_stands() -> None:
    deep = of(thinker_config={"text_config": {"hidden_size": 8}})
    assert deep.text_model.settings == {"hidden_size": 8}


def test_a_setting_may_stand_in_any_nested_config() -> None:
    for key in ("text_config", "audio_config", "whatever"):
        assert of(**{key: {"num_buckets": 5}, "other": 3}).anywhere.value("num_buckets") == 5


def test_of_a_setting_in_several_places_the_outermost_counts_and_then_the_text_models() -> None:
    config = of(
        audio_config={"a": 1, "b": 1, "c": 1}, text_config={"a": 2, "b": 2}, a=3, b=None
    ).anywhere
    assert (config.value("a"), config.value("b"), config.value("c")) == (3, 2, 1)


def test_nested_configs_come_after_what_holds_them_down_to_the_deepest_level() -> None:
    settings: dict[str, Any] = {}
    for level in reversed(range(DEEPEST + 1)):
        settings = {"level": level, "inner": settings}
    levels = [config.value("level") for config in ModelConfig(settings, "x").nested()]
    assert levels == list(range(DEEPEST))


def test_the_rotation_is_that_of_the_newer_setting() -> None:
    older, newer = {"rope_scaling": {"factor": 2.0}}, {"rope_parameters": {"factor": 4.0}}
    configs = (of(**older, **newer), of(**older), of(rope_parameters=None))
    assert [config.rope.value("factor") for config in configs] == [4.0, 2.0, None]
