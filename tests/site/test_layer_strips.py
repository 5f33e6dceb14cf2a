"""The layer map on a page."""

from dataclasses import replace
from typing import get_args

from generator.contracts import EncodingRecord, Layer, Provenance
from generator.contracts.layer_map import Mixer
from generator.pipeline.find import all_schemes
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


def test_a_rotation_is_described_by_its_base_and_components() -> None:
    (strip,) = layer_strips(stack(SLIDING), [ROTARY], all_schemes())
    assert strip.groups[0].encodings == ("Rotary: base 10,000, 32 of 64 components",)


def test_encodings_of_a_layer_that_read_alike_are_counted() -> None:
    """LayoutLMv3 has one for the text, one across the page and one down it."""
    both = replace(SLIDING, encodings=("decoder-rotary", "other-rotary"))
    (strip,) = layer_strips(stack(both), [ROTARY, replace(ROTARY, part="other")], all_schemes())
    assert strip.groups[0].encodings == ("2 × Rotary: base 10,000, 32 of 64 components",)


def test_windows_and_layers_without_encoding_are_a_finding() -> None:
    (strip,) = layer_strips(stack(SLIDING, SLIDING, SLIDING, FULL), [ROTARY], all_schemes())
    assert (
        strip.finding
        == "Of 4 layers, 3 see a window of 512 positions and 1 sees all positions; 1 has attention"
        " without rotation or bias."
    )


def test_layers_that_see_alike_and_differ_in_encodings_are_all_of_them() -> None:
    (strip,) = layer_strips(
        stack(replace(FULL, encodings=("decoder-rotary",)), FULL), [ROTARY], all_schemes()
    )
    assert (
        strip.finding == "All 2 layers see all positions; 1 has attention without rotation or bias."
    )


def test_a_chunk_is_as_long_to_both_sides_as_to_one() -> None:
    """In a chunk of 200 positions, the first and the last are 199 apart."""
    layers = [
        replace(SLIDING, mixers=("chunked", "convolution"), before=199, after=after)
        for after in (199, 0)
    ]
    findings = [layer_strips(stack(layer, layer), [], [])[0].finding for layer in layers]
    assert findings == ["All 2 layers see chunks of 200 positions."] * 2


def test_recurrent_layers_are_not_called_attention() -> None:
    (strip,) = layer_strips(stack(RECURRENT, RECURRENT), [], [])
    assert strip.finding == "All 2 layers keep a recurrent state."


def test_layers_that_all_see_everything_alike_are_no_finding() -> None:
    (strip,) = layer_strips(stack(FULL, FULL), [], [])
    assert strip.finding == ""


def test_every_stack_has_a_strip() -> None:
    encoder = Layer("encoder", "encoder", 0, "full attention", ("full",), None, None, None)
    strips = layer_strips([encoder, FULL], [], [])
    assert [(strip.part, strip.groups[0].encodings) for strip in strips] == [
        ("encoder", None),
        ("decoder", ("none here",)),
    ]


def test_attention_to_chosen_positions_is_named() -> None:
    layer = Layer(
        "decoder", "decoder", 0, "indexed attention", ("sparse",), None, 0, (), chosen=2048
    )
    (strip,) = layer_strips([layer], [], [])
    assert strip.groups[0].mixing == (
        "attention to chosen positions (indexed attention, up to 2,048 keys)"
    )
    assert strip.finding == "Its 1 layer chooses up to 2,048 keys."


def test_a_window_without_a_width_is_unknown() -> None:
    (strip,) = layer_strips(
        stack(replace(SLIDING, before=None, after=None)), [ROTARY], all_schemes()
    )
    assert (strip.groups[0].before, strip.groups[0].after) == ("unknown", "unknown")
    assert "unknown" in strip.finding


def test_layers_of_a_model_with_a_table_were_told_at_the_input() -> None:
    layer = replace(FULL, at_input=("decoder-learned",))
    (strip,) = layer_strips(stack(layer), [], all_schemes())
    assert strip.groups[0].encodings == ("none: it was added at the input",)
