"""How tables of images are resized: what is read from the source against what the code does."""

import inspect
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from typing import Any

import pytest
import torch

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.resizing import RESIZERS, Resizing, resizing_of
from generator.checkpoints.model.resolved import quietly
from generator.contracts import ModelConfig
from generator.libraries import config_classes
from generator.reading.find import look

SIDE = 3  # patches, other than in any default
# Of modules that take others, or are of another kind than the config.
OTHER_ARGUMENTS = (TypeError, AttributeError, ValueError, RuntimeError, KeyError)


def read_of(family: str) -> Resizing | None:
    return resizing_of(ModelConfig({"model_type": family}, "own"))


class CalledError(Exception):
    """The arguments of an interpolation."""


def run(family: str) -> dict[str, Any] | None:
    """What the code of a family gives to torch for another size, on modules without memory; None
    where none of its modules can be made, or called, as is usual.
    """
    kind = config_classes()[family]
    module = import_module(kind.__module__.replace("configuration_", "modeling_"))
    own: Any
    for own in filter(inspect.isclass, vars(module).values()):
        for name in RESIZERS & vars(own).keys():
            try:
                with suppress(*OTHER_ARGUMENTS), quietly(), torch.device("meta"):
                    sizes = {"height": SIDE * 16, "width": SIDE * 16}
                    vectors = torch.zeros(1, SIDE * SIDE + 1, kind().hidden_size)
                    getattr(own(kind()), name)(vectors, **sizes)
            except CalledError as error:
                return dict(error.args[0])
    return None


@pytest.fixture(autouse=True)
def _told(monkeypatch: pytest.MonkeyPatch) -> None:
    def interpolate(*_: Any, **given: Any) -> None:
        raise CalledError(given)

    monkeypatch.setattr(torch.nn.functional, "interpolate", interpolate)


def differing(families: Iterable[str]) -> tuple[int, list[str]]:
    """How many families were run, and those whose code gives torch other than what is read."""
    read = {family: way for family in families if (way := read_of(family))}
    called = {family: given for family in read if (given := run(family))}
    return len(called), [
        family
        for family, given in called.items()
        if (given["mode"], bool(given.get("align_corners")), given.get("antialias", False))
        != (read[family].mode, read[family].align_corners, read[family].antialias)
    ]


def test_what_is_read_is_what_the_code_of_some_gives_to_torch() -> None:
    assert differing(("vit", "dinov2_with_registers", "clip_vision_model")) == (3, [])


def test_a_family_that_weighs_rows_itself_does_as_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers.models.siglip2.modeling_siglip2 import Siglip2VisionEmbeddings

    monkeypatch.undo()
    table = torch.randn(7, 7, 4, generator=torch.manual_seed(0))
    found = Siglip2VisionEmbeddings.resize_positional_embeddings(
        table, torch.tensor([[3, 10], [12, 2]]), 30
    )
    way = read_of("siglip2_vision_model")
    assert way is not None
    for one, size in zip(found, [(3, 10), (12, 2)], strict=True):
        resized = torch.nn.functional.interpolate(
            table.permute(2, 0, 1)[None],
            size=size,
            mode=way.mode,
            align_corners=way.align_corners,
            antialias=way.antialias,
        )
        expected = resized[0].permute(1, 2, 0).flatten(0, 1)
        assert torch.allclose(one[: len(expected)], expected, atol=1e-6)


@pytest.mark.thorough
def test_what_is_read_is_what_the_code_of_all_gives_to_torch() -> None:
    count, wrong = differing(config_classes())
    assert count > 30
    assert wrong == []


@pytest.mark.parametrize(("family", "way"), [
    ("vit", Resizing("bicubic", False, False, True, True, 1)),
    ("dinov2_with_registers", Resizing("bicubic", False, True, True, False, None)),
    ("siglip", Resizing("bicubic", False, False, False, True, 0)),
    ("siglip2", Resizing("bilinear", False, True, False, False, 0)),
    # Its mode is a setting, and the table of another is resized by hand.
    ("hunyuan_vl", None), ("qwen3_vl", None), ("bert", None),
])  # fmt: skip
def test_a_family_resizes_as_its_code_says(family: str, way: Resizing | None) -> None:
    assert read_of(family) == way


@pytest.mark.parametrize(("family", "is_read"), [
    ("gemma3", False), ("llava", True), ("paligemma", True), ("aya_vision", True),
])  # fmt: skip
def test_a_model_reads_images_of_another_size_as_its_code_does(
    monkeypatch: pytest.MonkeyPatch, family: str, *, is_read: bool
) -> None:
    import transformers

    monkeypatch.undo()
    size = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1,
            "num_attention_heads": 2}  # fmt: skip
    text: dict[str, Any] = {"num_key_value_heads": 1, "head_dim": 8, "vocab_size": 50, **size}
    tower: dict[str, Any] = {"image_size": 56, "patch_size": 14, **size}
    kinds = {"llava": ("llama", "clip_vision_model"), "paligemma": ("gemma", "siglip_vision_model"),
             "aya_vision": ("cohere2", "siglip_vision_model")}  # fmt: skip
    if family in kinds:
        text["model_type"], tower["model_type"] = kinds[family]
    kind: Any = config_classes()[family]
    with quietly():
        config = kind(text_config=text, vision_config=tower, image_token_index=49,
                      mm_tokens_per_image=4, projection_dim=16)  # fmt: skip
        model = getattr(transformers, kind.__name__.replace("Config", "Model"))(config)

    def vectors(side: int) -> int:
        pixels = torch.zeros(1, 3, side, side)
        found = model.get_image_features(pixel_values=pixels, interpolate_pos_encoding=True)
        return sum(one.numel() for one in found.pooler_output)

    one_grid = vectors(56)
    if is_read:
        assert vectors(112) == 4 * one_grid
    else:
        with pytest.raises(RuntimeError, match="is invalid for input of size"):
            vectors(112)
    settings = {"model_type": family, "vision_config": {"model_type": tower.get("model_type")
                or "siglip_vision_model"}}  # fmt: skip
    way = resizing_of(ModelConfig(settings, "own"))
    assert way is not None
    assert way.is_read is is_read


@pytest.mark.parametrize(("settings", "said"), [
    ({"model_type": "vit", "image_size": 28, "patch_size": 14}, "where it is called with"
     " interpolate_pos_encoding: by bicubic interpolation with align_corners=False, without"
     " antialiasing. 1 row of other tokens is left unchanged."),
    ({"model_type": "timesformer", "image_size": 28, "patch_size": 14}, "is not known"),
])  # fmt: skip
def test_a_table_of_images_says_how_it_is_resized(settings: dict[str, Any], said: str) -> None:
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1,
             "intermediate_size": 16}  # fmt: skip
    found = look(ConfigAlone({**settings, **sizes}, "own"))
    notes = [note for one in found.all if one.scheme == "learned" for note in one.notes]
    assert any("another size" in note and said in note for note in notes), notes
