"""One tensor, one owner: what a scheme claims is guessed by no other, and what two take is an
error.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from generator.contracts import Encoding, Files, Provenance
from generator.encodings import Form, PositionTable
from generator.errors import RowError
from generator.pipeline.find import all_schemes, find
from tests.support import DictFiles

BANK = "foo.pos_bank"
UNKNOWN = {"model_type": "mine", "hidden_size": 16, "max_position_embeddings": 32, "vocab_size": 40}


def files() -> DictFiles:
    """A family that nobody knows, with one tensor of positions by width."""
    return DictFiles(
        UNKNOWN, {BANK: np.random.default_rng(0).normal(size=(32, 16)), "words": np.ones((40, 16))}
    )


def in_tensor(name: str) -> Callable[[Files], list[Encoding[Form]]]:
    return lambda files: [
        Encoding(
            "encoder",
            "bank",
            PositionTable(files.tensor(name), 0, None),
            Provenance.of(files, name),
        )
    ]


@pytest.fixture
def with_bank(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Add a scheme of a bank of positions to the program's own."""
    own = all_schemes()

    def add(**members: Any) -> None:
        bank = {"key": "bank", "order": 1000, "find_last": None, "find": lambda _: [], **members}
        scheme = replace(own[0], **bank)
        monkeypatch.setattr("generator.pipeline.find.all_schemes", lambda: (*own, scheme))

    return add


def schemes_of(files: Files) -> list[str]:
    return [encoding.scheme for encoding in find(files)]


def test_a_tensor_that_nobody_claims_may_be_guessed() -> None:
    assert schemes_of(files()) == ["learned"]


def test_a_tensor_in_which_a_scheme_has_an_encoding_is_not_guessed_too(
    with_bank: Callable[..., None],
) -> None:
    with_bank(find=in_tensor(BANK))
    assert schemes_of(files()) == ["bank"]


def test_a_name_that_a_scheme_claims_and_cannot_read_is_not_guessed(
    with_bank: Callable[..., None],
) -> None:
    with_bank(claims=re.compile(r"pos_bank"))
    assert schemes_of(files()) == []


def test_two_schemes_in_one_tensor_are_an_error_that_names_both(
    with_bank: Callable[..., None],
) -> None:
    with_bank(find=in_tensor("wpe.weight"))
    with pytest.raises(
        RowError, match=r"test: wpe\.weight is taken by the schemes learned and bank; expected one"
    ):
        schemes_of(DictFiles(UNKNOWN, {"wpe.weight": np.ones((32, 16))}))
