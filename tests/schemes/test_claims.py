"""One tensor, one owner: what a scheme claims no other guesses; what two take is an error."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from generator.contracts import Encoding, Files, Provenance
from generator.encodings import Form, PositionTable
from generator.errors import RowError
from generator.reading.find import all_schemes, find
from tests.support import DictFiles

BANK = "foo.pos_bank"
UNKNOWN = {"model_type": "mine", "hidden_size": 16, "max_position_embeddings": 32, "vocab_size": 40}


def files() -> DictFiles:
    """A family that nobody knows, with one tensor of positions by width."""
    return DictFiles(
        UNKNOWN, {BANK: np.random.default_rng(0).normal(size=(32, 16)), "words": np.ones((40, 16))}
    )


def in_tensor(name: str) -> Callable[[Files], list[Encoding[Form]]]:
    def find_there(files: Files) -> list[Encoding[Form]]:
        form, origin = PositionTable(files.tensor(name)), Provenance.of(files, name)
        return [Encoding("encoder", "bank", form, origin)]

    return find_there


@pytest.fixture
def with_bank(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Add a scheme of a bank of positions to the program's own."""
    own = all_schemes()

    def add(**members: Any) -> None:
        bank = {"key": "bank", "find_last": None, "find": lambda _: [], **members}
        scheme = replace(own[0], **bank)
        monkeypatch.setattr("generator.reading.find.all_schemes", lambda: (*own, scheme))

    return add


def schemes_of(files: Files) -> list[str]:
    return [encoding.scheme for encoding in find(files)]


@pytest.mark.parametrize(("members", "found"), [
    ({}, ["learned"]),
    ({"find": in_tensor(BANK)}, ["bank"]),
    ({"claims": re.compile(r"pos_bank")}, []),
])  # fmt: skip
def test_a_tensor_is_guessed_unless_claimed(members: Any, found: list[str], with_bank: Any) -> None:
    with_bank(**members)
    assert schemes_of(files()) == found


def test_two_schemes_in_one_tensor_are_an_error(with_bank: Callable[..., None]) -> None:
    with_bank(find=in_tensor("wpe.weight"))
    with pytest.raises(RowError, match=r"wpe\.weight .* learned and bank"):
        schemes_of(DictFiles(UNKNOWN, {"wpe.weight": np.ones((32, 16))}))
