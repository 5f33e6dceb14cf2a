"""What the panel of a model with rotations computes from."""

from dataclasses import replace

import pytest

from generator.contracts import Encoding, Fact, Label, Layer, Outcome, Provenance, Reading
from generator.encodings import Rotation
from generator.site.at_position import PositionOfModel, at_position
from tests.support import checkpoint

ROTATION = Rotation(4096.0, 8, 8, 128)
FULL = Layer("decoder", "decoder", 0, "full attention", ("full",), None, 0, ("decoder-rotary",))
WINDOW = replace(FULL, mixers=("sliding",), before=99)
OTHER = replace(FULL, part="encoder")


def numbered(*layers: Layer) -> tuple[Layer, ...]:
    return tuple(replace(layer, index=index) for index, layer in enumerate(layers))


def outcome(
    *forms: Rotation, layers: tuple[Layer, ...] = (FULL,), context: int | None = 128
) -> Outcome:
    parts = ["decoder", *(f"decoder {number}" for number in range(2, len(forms) + 1))]
    readings = (
        Reading.of(
            Encoding(part, "rotary", form, Provenance("config.json")),
            Label(part, "#000000"),
            {},
            {},
            {},
        )
        for part, form in zip(parts, forms, strict=False)
    )
    facts = (Fact("Configured context", context),) if context else ()
    return Outcome(checkpoint(), "ok", facts=facts, layers=layers, readings=tuple(readings))


def panel(*forms: Rotation, layers: tuple[Layer, ...] = (FULL,)) -> PositionOfModel:
    made = at_position(outcome(*forms, layers=layers))
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("layers", "seeing"),
    [
        (numbered(FULL, WINDOW, WINDOW), [(None, 1, "layer 0"), (99, 3, "")]),
        (numbered(WINDOW, replace(WINDOW, before=127)), [(127, 1, "layer 1"), (99, 2, "")]),
        (
            (*numbered(FULL, WINDOW, FULL), *numbered(OTHER, replace(OTHER, before=9))),
            [
                (None, 3, "layers 0, 2 of decoder, layer 0 of encoder"),
                (99, 4, "layers 0–2 of decoder, layer 0 of encoder"),
                (9, 5, ""),
            ],
        ),
        (numbered(FULL, replace(OTHER, encodings=())), [(None, 1, "")]),
    ],
)
def test_layers_see_as_far_as_they_reach(
    layers: tuple[Layer, ...], seeing: list[tuple[int | None, int, str]]
) -> None:
    found = panel(ROTATION, layers=layers)["seeing"]
    assert [tuple(each.values()) for each in found] == seeing


def test_layers_that_may_see_or_see_in_part_are_named_apart() -> None:
    layers = numbered(
        FULL,
        replace(FULL, mixers=("sparse",)),
        replace(FULL, mixers=("compressed",)),
        replace(WINDOW, before=None),
        replace(FULL, mixers=("recurrent",), encodings=()),
    )
    made = panel(ROTATION, layers=layers)
    assert (made["layers"], [each["count"] for each in made["seeing"]]) == (5, [1])
    assert made["beside"] == (
        "; 1 may attend to it: layer 1; in 1 it is in a compressed key: layer 2; the window of 1 is"
        " unknown: layer 3; in 1 a recurrent state carries earlier positions: layer 4"
    )


def test_frequencies_follow_from_the_base_and_the_scaling() -> None:
    scaled = replace(
        ROTATION,
        scaling={"rope_type": "linear", "factor": 8.0},
        rescaled=(ROTATION.frequencies / 8.0, 1.0),
    )
    first, second = panel(scaled, ROTATION)["rotations"]
    assert first == {
        "label": "decoder", "step": 1.0, "base": 4096.0, "components": 8, "pairs": 4,
        "slower": [8.0], "slower_beyond": [],
    }  # fmt: skip
    assert second == {**first, "label": "decoder 2", "slower": [1.0]}


def test_a_rotation_of_short_texts_ends_with_them() -> None:
    short = replace(
        ROTATION,
        scaling={"rope_type": "longrope", "original_max_position_embeddings": 64},
        rescaled=(ROTATION.frequencies, 1.0),
    )
    made = panel(short)
    assert (made["last"], made["longer"]) == (63, 64)
    lists = {"short_factor": [1.0] * 4, "long_factor": [2.0, 2.0, 4.0, 4.0]}
    made = panel(replace(short, scaling={**short.scaling, **lists}))
    assert made["last"] > 63
    assert made["rotations"][0]["slower_beyond"] == [2.0, 2.0, 4.0, 4.0]


@pytest.mark.parametrize(("options", "grows"), [({}, True), ({"alpha": 1000.0}, False)])
def test_dynamic_scaling_grows_with_the_text_unless_its_factor_is_fixed(
    options: dict[str, float], grows: bool
) -> None:
    scaling = {"rope_type": "dynamic", "factor": 1.0, **options}
    dynamic = replace(ROTATION, scaling=scaling, rescaled=(ROTATION.frequencies, 1.0))
    assert panel(dynamic)["grows"] is grows


def test_there_is_no_panel_without_a_rotation_or_a_configured_context() -> None:
    assert at_position(outcome()) is None
    assert at_position(outcome(ROTATION, context=None)) is None
    assert at_position(outcome(ROTATION, context=2)) is None
    assert at_position(outcome(*[ROTATION] * 5)) is None
