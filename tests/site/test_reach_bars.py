"""How far a model sees, as bars on a logarithmic axis."""

from dataclasses import replace

import pytest

from generator.contracts import EncodingRecord, Fact, Layer, Outcome, Provenance
from generator.site.pictures.reach_bars import along, reach_bars
from tests.support import checkpoint

WINDOW = Layer("decoder", "decoder", 0, "sliding attention", ("sliding",), 127, 0, ("decoder-x",))
FULL = replace(WINDOW, mixers=("full",), before=None)
YARN = {"scaling": {"rope_type": "yarn", "original_max_position_embeddings": 4096}}
SCALED = EncodingRecord("decoder", "rotary", "Rotation", Provenance(""), parameters=YARN)


def outcome(*layers: Layer, context: object = 8192, **fields: object) -> Outcome:
    facts = (Fact("Configured context", context),) if context else ()  # type: ignore[arg-type]
    return Outcome(checkpoint(), "ok", facts=facts, layers=layers, **fields)  # type: ignore[arg-type]


def bars(*layers: Layer, **fields: object) -> list[tuple[str, int]]:
    return [(bar.title, bar.positions) for bar in reach_bars(outcome(*layers, **fields))]


def test_the_axis_goes_from_1_to_10_million() -> None:
    shares = [100 * power / 7 for power in range(8)]
    assert [along(10**power) for power in range(8)] == pytest.approx(shares, abs=0.05)


def test_context_length_before_scaling_and_windows_have_bars() -> None:
    assert bars(WINDOW, FULL, WINDOW, unmeasured=(SCALED,)) == [
        ("Configured context", 8192),
        ("Declared original length", 4096),
        ("Window, in 2 of 3 layers", 128),
    ]


def test_a_window_to_both_sides_is_as_wide_as_both_and_a_chunk_as_one() -> None:
    both = replace(WINDOW, after=127)
    chunk = replace(both, mixers=("chunked",))
    assert [positions for _, positions in bars(both, chunk)] == [8192, 255, 128]


def test_windows_over_patches_are_no_positions_of_a_text() -> None:
    patches = replace(SCALED, modality="image", part="vision")
    layers = (replace(WINDOW, part="vision", encodings=(patches.key,)), FULL)
    assert bars(*layers, unmeasured=(patches,)) == [("Configured context", 8192)]


def test_nothing_is_drawn_without_a_configured_context() -> None:
    assert bars(WINDOW, context=None) == []
    assert bars(WINDOW, context="8 by stage") == []
