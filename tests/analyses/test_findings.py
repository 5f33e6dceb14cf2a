"""The findings of analyses, on either side of each threshold."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from generator.analyses import anatomy_of_the_input, single_positions
from generator.contracts import Encoding, InputLayer, OwnLayer, Provenance, Sentence, Subject
from generator.encodings import (
    Convolution,
    Form,
    OffsetBias,
    PositionTable,
    RelativeTable,
    Rotation,
    WindowBias,
    grid_sinusoid,
    sinusoid,
)
from generator.numerics.arrays import Floats, frozen
from generator.pipeline.evaluate import all_analyses
from tests.analyses.on import texts_of
from tests.support import subject

NOISE = np.random.default_rng(0).normal(size=(64, 64))
WAVES = PositionTable(sinusoid(64, 64))
TURNING = Rotation(1e4, 128, 128, 4096)
LONGROPE: Any = {"rope_type": "longrope", "short_factor": [1.0] * 16, "long_factor": [2.0] * 16}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 8192}  # fmt: skip


def rows(values: Any) -> PositionTable:
    return PositionTable(frozen(values))


def heads(peaks: list[int]) -> OffsetBias:
    """A bias with one head per peak, largest at that one of 41 offsets, which all differ."""
    values = np.tile(np.arange(41.0) / 100.0, (len(peaks), 1))
    values[range(len(peaks)), np.array(peaks) + 20] = 1.0
    return OffsetBias(frozen(values), frozen(np.arange(-20, 21)), causal=False, beyond="constant")


def two_heads(values: dict[int, float]) -> OffsetBias:
    """Two heads of zeros, the second with these values at some offsets from −4 to 4."""
    both = np.zeros((2, 9))
    for offset, value in values.items():
        both[1, offset + 4] = value
    return OffsetBias(frozen(both), frozen(np.arange(-4, 5)), causal=False, beyond="constant")


def of_window(peaks: list[int]) -> WindowBias:
    """A window bias with one head per peak, largest that many columns to the right; all of its
    biases differ.
    """
    values = np.tile(np.arange(49.0).reshape(7, 7) / 100.0, (len(peaks), 1, 1))
    values[range(len(peaks)), 3, np.array(peaks) + 3] = 1.0
    return WindowBias(frozen(values))


def stretched(along: int) -> PositionTable:
    """Patches that are equal along one axis, up to noise."""
    vectors = np.repeat(np.eye(6), 6, axis=0) if along else np.tile(np.eye(6), (6, 1))
    return PositionTable(frozen(vectors + 0.01 * NOISE[:36, :6]), grid=(6, 6))


AT = np.arange(-4, 5)
OFFSET_HEADS = OffsetBias(frozen(np.full((2, 9), 30.0)), frozen(AT), False, "constant")


def turning(n_components: int, n_positions: int = 4096, **scaling: Any) -> Rotation:
    return Rotation(1e4, n_components, n_components, n_positions, scaling)


def stored(*factors: float) -> Rotation:
    return turning(8, rope_type="stored", factors=list(factors))


# Of each form, what is found; “…” stands for any words.
CASES: dict[str, list[tuple[Form, *tuple[str, ...]]]] = {
    "bias_by_offset": [
    # By chance 3/41: 3 of 4 in 1 case of 670, 1 of 3 in 1 of 5.
    (heads([0, 1, -1]), "All 3 heads have their largest bias at the query's own position or an"
     " adjacent one; with random numbers, 7.3% of heads would."),
    (heads([0, 1, -1, 5]), "3 of 4 heads have their largest bias"),
    (heads([3, 1, -4]),),
    (two_heads({-4: 25.2}), "Head 1 strongly favours keys 4 or more positions"
     " back, where its bias is 25.2 logits above its median, a factor of"),
    (two_heads({0: -25.0, 4: -11.0}), "Head 1 strongly avoids the query's own"
     " position, where its bias is 25 logits below its median,"),
    (two_heads({1: 9.9, 3: -9.9}),),
    (two_heads({-1: 12.0}), "… favours the key 1 position back, … 12"),
    (two_heads({2: -12.0, 3: -12.0}), "… avoids keys 2 to 3 positions ahead"),
    (two_heads({0: 12.0, 1: 12.0}), "… favours keys at offsets 0 to 1"),
    (two_heads({4: 12.0}), "Head 1 … favours keys 4 or more positions ahead,"),
    (replace(two_heads({-4: 25.2}), beyond="linear"),),
    (OFFSET_HEADS, "Every head has the same bias"),
    ],
    "similarity_of_positions": [
    (WAVES, "Adjacent positions are far more similar than positions in general: their mean"),
    (rows(np.tile(np.eye(2), (32, 1))), "Adjacent positions are less similar than positions"),
    (rows(np.repeat(np.eye(16), 4, axis=0) + 0.1 * NOISE[:, :16]), "… are far more similar than"),
    (rows(np.repeat(NOISE[:32], 2, axis=0)), "Adjacent positions are more similar than positions"),
    (rows(NOISE[[0] * 64] + 0.05 * NOISE),),
    (rows(NOISE),),
    (rows(np.ones((2049, 2))), "Only the first 2,048 of 2,049 positions"),
    ],
    "similarity_of_dimensions": [
    (rows(np.hstack([NOISE[:, :8]] * 2)), "6.7% of all pairs … are nearly parallel or opposite"),
    (rows(NOISE),),
    ],
    "single_dimensions": [
    (rows(np.repeat(NOISE, 50, axis=0)), "The table is smooth"),
    (rows(NOISE),),
    ],
    "reach_of_the_convolution": [
    (Convolution(frozen(np.ones((1, 1, 9))), frozen(AT)),
     "The convolution spans 9 positions, and at least half … is within ±2."),
    (Convolution(frozen(np.eye(1, 9, 4)[None]), frozen(AT)), "… at least half … is at offset 0."),
    ],
    "vectors_by_offset": [
    (RelativeTable(sinusoid(65, 32), frozen(np.arange(-32, 33))),
     "The vectors of adjacent offsets are more similar than"),
    (RelativeTable(frozen(NOISE[:33]), frozen(np.arange(-16, 17))),),
    (RelativeTable(frozen(np.ones((5, 3))), frozen(np.arange(-2, 3))),
     "The table hardly distinguishes"),
    ],
    "rotation_by_offset": [
    (TURNING, "46 of its 64 … (72%) … within the 4,096-token context; the angles of the others"),
    (replace(TURNING, window=63),
     "17 of its 64 … within the 63 positions that attention reaches to one side;"),
    (replace(TURNING, window=5000), "46 of its 64 … within the 4,096-token context;"),
    # Of pair j the wavelength is 2π · 10^(j/4), which is at most 64 up to j = 4.
    (turning(32, **LONGROPE, original_max_position_embeddings=64),
     "5 of its 16 … in texts of up to 64 tokens (longer ones use other frequencies);"),
    (replace(TURNING, window=6),
     "None of its 64 … within the 6 positions that attention reaches to one side, so"),
    (replace(TURNING, n_positions=47_118), "63 of its 64 … the 47,118-token context; the angle of"),
    (replace(TURNING, n_positions=60_000), "All 64 rotation pairs complete a turn"),
    ],
    "effect_of_scaling": [
    (Rotation(5e5, 128, 128, 131_072, LLAMA3), "The “llama3” scaling leaves the 29 fastest of 64"
     " rotation pairs unchanged, slows the 29 slowest by a factor of 8 and the other 6 by less."),
    (turning(128, rope_type="linear", factor=4.0), "… slows all 64 … by a factor of 4, as if"),
    (turning(128, rope_type="dynamic", factor=2.0), "… leaves all 64 … unchanged up to"),
    # Unchanged, stretched most, stretched less, unchanged, in an order of their own.
    (stored(1.0, 4.0, 2.0, 1.0), "The “stored” scaling leaves 2 of 4 rotation pairs unchanged,"
     " slows 1 by a factor of 4 and the other 1 by less."),
    (stored(2.0, 2.0, 2.0, 4.0), "… slows the slowest of 4 rotation pairs by a factor of 4"
     " and the other 3 by less."),
    (stored(0.5, 1.0, 0.5, 0.5), "… leaves 1 of 4 … unchanged and changes the other 3."),
    ],
    "whole_table": [
    (rows(np.zeros((4, 4))), "Every value is zero"),
    (rows(np.ones((4, 4))), "All 4 vectors are identical"),
    (rows(np.pad([[-3.0]], ((4, 15), (7, 12)))), "… −3 at position 4 and dimension 7",
     "The vectors of positions 0–3, 5–19 are zero."),
    ],
    "similarity_of_patches": [
    (PositionTable(grid_sinusoid((8, 8), 64), grid=(8, 8)),),
    (stretched(1), "… patches in a row are more similar than patches in a column"),
    (stretched(0), "… patches in a column are more similar than patches in a row"),
    ],
    "bias_by_patch_offset": [
    (of_window([0, 1, -1, 0]), "All 4 heads have their largest bias at the query's own patch or"
     " one of the eight around it; with random numbers, 18% of heads would."),
    (of_window([0, 3, 3]),),
    (WindowBias(frozen(np.zeros((2, 3, 3)))), "Every head has the same bias at all offsets"),
    ],
}  # fmt: skip
ANALYSES = {analysis.key: analysis for analysis in all_analyses()}


@pytest.mark.parametrize(
    ("key", "case"), [(key, case) for key, cases in CASES.items() for case in cases]
)
def test_an_analysis_has_exactly_these_findings(key: str, case: Any) -> None:
    form, *words = case
    texts = texts_of(ANALYSES[key].compute(subject(form)))
    patterns = [re.escape(each).replace("…", ".*") for each in words]
    assert [bool(re.match(*pair)) for pair in zip(patterns, texts, strict=True)] == [True] * len(
        texts
    )


def layer(words: Floats, **more: Any) -> InputLayer:
    """The input for a sentence of two tokens with the vectors ``words`` (2, d_model)."""
    sentence = Sentence(("one", "two"), (0, 1), (False, False), frozen(words))
    return InputLayer(sentence, sentence, "wte.weight", **more)


def with_input(form: Form, given: InputLayer) -> Subject[Any]:
    return Subject(Encoding("encoder", "made", form, Provenance("")), given)


def anatomy_of(form: Form, given: InputLayer) -> list[str]:
    return texts_of(anatomy_of_the_input.compute(with_input(form, given)))


@pytest.mark.parametrize(
    ("size", "times"),
    [(1.0, "about as large as"), (0.25, "4 times as large as"), (1.1, "about as large as")],
)
def test_norms_of_positions_and_words_are_compared(size: float, times: str) -> None:
    [text] = texts_of(
        single_positions.compute(with_input(rows(np.ones((4, 8))), layer(size * np.ones((2, 8)))))
    )
    assert text.startswith(f"Values of position vectors are {times} those of the vectors")


@pytest.mark.parametrize(("form", "is_inside"), [(TURNING, True), (rows(NOISE[2:6, :8]), False)])
def test_an_encoding_inside_attention_leaves_the_input(form: Form, is_inside: bool) -> None:
    text = anatomy_of(form, layer(NOISE[:2, :8]))[0]
    assert text.startswith("This encoding adds nothing to the input") == is_inside


def test_one_token_at_two_places_is_reported_with_its_distance() -> None:
    """By hand: a word (3, 4) at positions (0, 0) and (0, 2), so that the first input is 5 long and
    the second one 2 away.
    """
    words, positions = np.array([[3.0, 4.0], [3.0, 4.0]]), np.array([[0.0, 0.0], [0.0, 2.0]])
    sentence = Sentence(("one", "one"), (0, 0), (False, False), frozen(words))
    twice = InputLayer(sentence, sentence, "wte.weight")
    same = "In the sentence, “one” has the same word vector at positions 0 and 1"
    for form, more in (
        (
            rows(positions),
            ", but the difference between its two inputs has a norm of 2, against 5 for the",
        ),
        (TURNING, ", and the same input too, because no position vector is added."),
    ):
        assert any(text.startswith(f"{same}{more}") for text in anatomy_of(form, twice))


def test_a_sentence_without_a_repeated_token_is_said_to_be_put_after_itself() -> None:
    same = "If the sentence is repeated, “one” has the same word vector at positions 0 and 2"
    assert same in " ".join(anatomy_of(TURNING, layer(NOISE[:2, :8])))


SUM = NOISE[:2, :8] + NOISE[2:4, :8]


@pytest.mark.parametrize(("own", "expected"), [
    (OwnLayer(), "was not checked against the code of this model family"),
    (OwnLayer(frozen(SUM), "Embeddings"), "matches that of transformers' Embeddings exactly"),
    (OwnLayer(frozen(SUM + 0.1), "Embeddings"), "differs from that of transformers' Embeddings"),
])  # fmt: skip
def test_the_input_is_that_of_transformers_where_it_is(own: OwnLayer, expected: str) -> None:
    texts = anatomy_of(rows(NOISE[2:6, :8]), layer(NOISE[:2, :8], own=own))
    assert [expected in text for text in texts if "shown here" in text] == [True]
