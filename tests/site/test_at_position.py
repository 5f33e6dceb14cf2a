"""What a model with rotations has at one position, in numbers."""

import json
from dataclasses import replace
from math import pi

import numpy as np
import pytest

from generator.contracts import Encoding, Fact, Label, Layer, Outcome, Provenance, Reading
from generator.encodings import Rotation
from generator.site.at_position import AtPosition, angle, at_position, panel_of
from tests.support import checkpoint

# Frequencies 1, 1/8, 1/64 and 1/512: at position 127, 20.2, 2.5, 0.3 and 0.04 turns.
ROTATION = Rotation(4096.0, 8, 8, 128)
FULL = Layer("decoder", "decoder", 0, "full attention", ("full",), None, 0, ("decoder-rotary",))
WINDOW = replace(FULL, mixers=("sliding",), before=99)


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
    facts = (Fact("Configured positions", context),) if context else ()
    return Outcome(checkpoint(), "ok", facts=facts, layers=layers, readings=tuple(readings))


def panel(*forms: Rotation, layers: tuple[Layer, ...] = (FULL,)) -> AtPosition:
    made = at_position(outcome(*forms, layers=layers))
    assert made is not None
    return made


def test_turns_are_position_times_frequency_over_a_circle() -> None:
    (turning,) = panel(ROTATION).turnings
    np.testing.assert_allclose(
        turning.turns, [127 / 2 / pi / 8**pair for pair in range(4)], rtol=1e-12
    )
    assert turning.n_turned == 2
    assert turning.bars == "M0 1V0h2V0.68h1V0.96h1V1z"


def test_the_sentence_is_of_the_last_position() -> None:
    layers = numbered(FULL, WINDOW, replace(WINDOW, mixers=("chunked",), before=127))
    assert panel(ROTATION, layers=layers).sentence == (
        "At position 127: 2 of 4 pairs have turned at least once; 2 of 3 layers still see"
        " position 0: layers 0, 2."
    )


def test_a_window_sees_as_far_as_its_largest_distance() -> None:
    sight = panel(ROTATION, layers=numbered(FULL, WINDOW, WINDOW)).sight
    seeing = [sight.from_position(position) for position in (1, 99, 100, 127)]
    assert [(each.count, each.which) for each in seeing] == [
        (3, ""),
        (3, ""),
        (1, "layer 0"),
        (1, "layer 0"),
    ]


def test_where_no_layer_sees_the_first_position_none_is_named() -> None:
    sentence = panel(ROTATION, layers=numbered(WINDOW, WINDOW)).sentence
    assert sentence.endswith("; 0 of 2 layers still see position 0.")


def test_layers_of_several_stacks_are_named_with_them() -> None:
    other = replace(WINDOW, part="encoder", stack="encoder")
    layers = (*numbered(FULL, WINDOW, FULL), *numbered(replace(FULL, part="encoder"), other))
    assert panel(ROTATION, layers=layers).sentence.endswith(
        "; 3 of 5 layers still see position 0: layers 0, 2 of decoder, layer 0 of encoder."
    )


def test_layers_that_may_see_or_see_in_part_are_named_apart() -> None:
    layers = numbered(
        FULL,
        replace(FULL, mixers=("sparse",)),
        replace(FULL, mixers=("compressed",)),
        replace(WINDOW, before=None),
        replace(FULL, mixers=("recurrent",), encodings=()),
    )
    assert panel(ROTATION, layers=layers).sentence.endswith(
        "; 1 of 5 layers still sees position 0: layer 0; 1 may choose it: layer 1; in 1 it is in a"
        " compressed key: layer 2; the window of 1 is unknown: layer 3."
    )


def test_scaling_is_told_by_the_pairs_that_it_keeps_from_a_turn() -> None:
    """Divided by 8, the second pair has 0.3 turns at position 127."""
    scaled = replace(ROTATION, scaling={"rope_type": "linear", "factor": 8.0})
    made = panel(replace(scaled, rescaled=(ROTATION.frequencies / 8.0, 1.0)))
    assert "1 of 4 pairs has turned at least once (2 without scaling)" in made.sentence
    assert made.turnings[0].data["slower"] == [8.0]


def test_several_rotations_are_named_by_their_parts() -> None:
    slow = replace(ROTATION, base=1.0e9)
    sentence = panel(ROTATION, slow).sentence
    assert sentence.startswith("At position 127: 1 of 1 layers still sees position 0. Decoder: 2")
    assert "Decoder 2: 1 of 4 pairs has turned at least once." in sentence


def test_a_rotation_of_short_texts_ends_with_them() -> None:
    short = replace(
        ROTATION,
        scaling={"rope_type": "longrope", "original_max_position_embeddings": 64},
        rescaled=(ROTATION.frequencies, 1.0),
    )
    made = panel(short)
    assert (made.last, made.longer) == (63, 64)


def test_a_panel_is_read_again_from_its_data() -> None:
    scaled = replace(ROTATION, scaling={"rope_type": "linear", "factor": 8.0})
    layers = numbered(FULL, WINDOW, replace(FULL, mixers=("sparse",)))
    made = panel(
        replace(scaled, rescaled=(ROTATION.frequencies / 8.0, 1.0)), ROTATION, layers=layers
    )
    read = panel_of(json.loads(json.dumps(made.data)))
    assert (read.sentence, read.data) == (made.sentence, made.data)
    assert [turning.rows for turning in read.turnings] == [
        turning.rows for turning in made.turnings
    ]


def test_there_is_no_panel_without_a_rotation_or_a_configured_context() -> None:
    assert at_position(outcome()) is None
    assert at_position(outcome(ROTATION, context=None)) is None
    assert at_position(outcome(ROTATION, context=2)) is None


@pytest.mark.parametrize(
    ("turns", "text"),
    [(0.25, "90°"), (1.0, "1 turn"), (2.5, "2.500 turns"), (1 / 7.2e8, "5.000 × 10⁻⁷°")],
)
def test_an_angle_below_a_turn_is_in_degrees(turns: float, text: str) -> None:
    assert angle(turns) == text
