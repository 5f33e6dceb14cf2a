"""Names of model families that schemes know by name: a misspelt one would never be met."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

from generator import schemes
from generator.libraries import config_classes

# Their code is in their repositories, or was in an earlier version of transformers.
ELSEWHERE = {"gated_deltanet", "rwkv5", "rwkv6", "MiniMaxM1", "minimax_m1", "minimax_text_01",
             "retnet", "neobert", "open-llama", "exaone4_5_text"}  # fmt: skip
PARTS = ("", "_vision", "_vision_model", "_vision_encoder")


def names() -> Iterator[tuple[str, str]]:
    """Every family in a collection of families, after the module."""
    for module in walk_packages(schemes.__path__, f"{schemes.__name__}."):
        if module.name.endswith(".families"):
            for constant, collection in vars(import_module(module.name)).items():
                if constant.isupper() and isinstance(collection, dict | frozenset):
                    yield from (
                        (module.name, name)
                        for name in sorted(collection)
                        if isinstance(name, str) and not name.startswith("(")
                    )


def test_families_are_those_of_transformers_or_known_to_be_elsewhere() -> None:
    known = set(config_classes())
    assert {
        (module, name)
        for module, name in names()
        if name not in ELSEWHERE and known.isdisjoint(name + part for part in PARTS)
    } == set()
    assert {name for _, name in names()} >= ELSEWHERE
