"""The layer map on a page."""

from dataclasses import replace
from typing import get_args

import pytest

from generator.contracts import EncodingRecord, Layer, Provenance
from generator.contracts.layer_map import Mixer
from generator.reading.find import all_schemes
from generator.site.pictures.layer_strips import COLOURS, KINDS, layer_strips

SLIDING = Layer(
    "decoder", "decoder", 0, "sliding attention", ("sliding",), 511, 0, ("decoder-rotary",)
)
FULL = Layer("decoder", "decoder", 0, "full attention", ("full",), None, 0, ())
RECURRENT = Layer("decoder", "decoder", 0, "linear attention", ("recurrent",), None, 0, ())
ROTARY = EncodingRecord(
    "decoder", "rotary", "Rotation", Provenance(""), parameters={"base": 1e4, "rotary_dim": 32,
    "head_dim": 64, "scaling": None, "attention_factor": 1.0}
)  # fmt: skip


def stack(*layers: Layer) -> list[Layer]:
    return [replace(layer, index=index) for index, layer in enumerate(layers)]


def test_layers_that_are_alike_share_a_colour() -> None:
    (strip,) = layer_strips(stack(SLIDING, FULL, SLIDING, FULL), [ROTARY], all_schemes())
    assert [group.kind for group in strip.cells] == ["window", "full"] * 2
    assert [(group.layers, group.count, group.before) for group in strip.groups] == [
        ("0, 2", 2, "511"),
        ("1, 3", 2, "all"),
    ]


def test_a_kind_of_layer_has_one_colour_whatever_comes_first() -> None:
    stacks = (stack(SLIDING, FULL), stack(FULL, SLIDING))
    kinds = [layer_strips(layers, [], [])[0].cells for layers in stacks]
    assert [[group.kind for group in cells] for cells in kinds] == [
        ["window", "full"],
        ["full", "window"],
    ]


def test_every_way_of_mixing_has_a_kind_and_every_kind_a_colour_of_its_own() -> None:
    assert set(KINDS) == set(get_args(Mixer))
    assert set(KINDS.values()) == set(COLOURS)
    assert len(set(COLOURS.values())) == len(COLOURS)


def test_all_ranges_of_layers_are_written_out() -> None:
    layers = stack(*(FULL if index % 3 == 2 or index == 0 else SLIDING for index in range(24)))
    (strip,) = layer_strips(layers, [], [])
    assert strip.groups[1].layers == "1, 3–4, 6–7, 9–10, 12–13, 15–16, 18–19, 21–22"


def test_layers_with_attention_and_no_encoding_are_striped() -> None:
    (strip,) = layer_strips(stack(SLIDING, FULL, RECURRENT), [ROTARY], all_schemes())
    assert [group.is_bare for group in strip.cells] == [False, True, False]
    assert strip.cells[1].does == "sees all positions, without rotation or bias"


def test_a_line_of_a_list_has_the_runs_of_each_kind() -> None:
    (strip,) = layer_strips(stack(SLIDING, SLIDING, FULL, SLIDING), [ROTARY], all_schemes())
    assert [line for _, line in strip.strokes] == ["M0 .5h2M3 .5h1", "M2 .5h1"]


def test_a_rotation_is_described_by_base_and_components_and_those_that_read_alike_counted() -> None:
    """LayoutLMv3 has one for the text, one across the page and one down it."""
    both = replace(SLIDING, encodings=("decoder-rotary", "other-rotary"))
    found = [ROTARY, replace(ROTARY, part="other")]
    strips = (layer_strips(stack(layer), found, all_schemes())[0] for layer in (SLIDING, both))
    said = "Rotary: base 10,000, 32 of 64 components"
    assert [strip.groups[0].encodings for strip in strips] == [(said,), (f"2 × {said}",)]


TURNING = replace(FULL, encodings=("decoder-rotary",))
BARE = "; 1 has attention without rotation or bias."
# In a chunk of 200 positions, the first and the last are 199 apart, to one side or both.
CHUNK = replace(SLIDING, mixers=("chunked", "convolution"), before=199)
CHUNKS = "All 2 layers see chunks of 200 positions."
FINDINGS = [
    ((SLIDING, SLIDING, SLIDING, FULL),
     f"Of 4 layers, 3 see a window of 512 positions and 1 sees all positions{BARE}"),
    ((TURNING, FULL), f"All 2 layers see all positions{BARE}"),
    ((CHUNK, CHUNK), CHUNKS), ((replace(CHUNK, after=199),) * 2, CHUNKS),
    ((RECURRENT, RECURRENT), "All 2 layers keep a recurrent state."),
    ((TURNING, TURNING), ""),
]  # fmt: skip


@pytest.mark.parametrize(("layers", "finding"), FINDINGS)
def test_the_finding_of_a_stack(layers: tuple[Layer, ...], finding: str) -> None:
    (strip,) = layer_strips(stack(*layers), [ROTARY], all_schemes())
    assert strip.finding == finding


def test_every_stack_has_a_strip() -> None:
    encoder = Layer("encoder", "encoder", 0, "full attention", ("full",), None, None, None)
    strips = layer_strips([encoder, FULL], [], [])
    assert [(strip.part, strip.groups[0].encodings) for strip in strips] == [
        ("encoder", None),
        ("decoder", ("none here",)),
    ]


def test_attention_to_chosen_positions_is_named() -> None:
    layer = replace(FULL, type="indexed attention", mixers=("sparse",), chosen=2048)
    (strip,) = layer_strips([layer], [], [])
    assert strip.groups[0].mixing == ("chosen keys (indexed attention, up to 2,048 keys)")
    assert strip.finding == "Its 1 layer selects up to 2,048 keys."


def test_a_window_without_a_width_is_unknown() -> None:
    unknown = replace(SLIDING, before=None, after=None)
    (strip,) = layer_strips(stack(unknown), [ROTARY], all_schemes())
    assert (strip.groups[0].before, strip.groups[0].after) == ("unknown", "unknown")
    assert "unknown" in strip.finding


def test_layers_of_a_model_with_a_table_were_told_at_the_input() -> None:
    layer = replace(FULL, at_input=("decoder-learned",))
    (strip,) = layer_strips(stack(layer), [], all_schemes())
    assert strip.groups[0].encodings == (
        "no encoding here, because position is added at the input",
    )
