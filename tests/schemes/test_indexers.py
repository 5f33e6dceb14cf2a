"""Indexers of sparse attention, which rotate queries and keys of their own."""

import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers.models

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.encyclopedia.known_models import known_model
from generator.reading.find import find
from generator.schemes.rotary.families import INDEXERS

TURNS = re.compile(r"\bapply_rotary_pos_emb\w*")
MODELS = Path(transformers.models.__file__).parent
N = 8  # components


def source_of(function: Any) -> str:
    """That of a function, within what wraps it; "" of one that a dataclass makes."""
    try:
        return inspect.getsource(inspect.unwrap(function))
    except OSError:
        return ""


def order_of(apply: Callable[..., Any]) -> str:
    """Which components a function of transformers turns together: those that have parts in the
    same components of the result.
    """
    vectors = torch.eye(N).reshape(1, 1, N, N)
    is_of_one = "x" in inspect.signature(apply).parameters
    angles = torch.full((1, N, N // 2 if is_of_one else N), 0.5)
    given = (vectors,) if is_of_one else (vectors, vectors)
    turned = apply(*given, cos=angles.cos(), sin=angles.sin())
    parts = (turned if is_of_one else turned[0])[0, 0] != 0
    [partner] = [other for other in range(1, N) if bool((parts[other] == parts[0]).all())]
    return {1: "adjacent", N // 2: "halves"}[partner]


def indexers() -> Iterator[tuple[str, tuple[str, str] | None]]:
    """The model type of each class of an indexer, and the order of pairs in attention and in it;
    None where it does not rotate.
    """
    for path in sorted(MODELS.glob("*/modeling_*.py")):
        if not re.search(r"class \w+Indexer\(", path.read_text(encoding="utf-8")):
            continue
        module = import_module(f"transformers.models.{path.parent.name}.{path.stem}")
        every: list[Any] = [one for one in vars(module).values() if inspect.isclass(one)]
        own = [one for one in every if one.__module__ == module.__name__]
        [indexer] = [one for one in own if one.__name__.endswith("Indexer")]
        stem = indexer.__name__.removesuffix("Indexer").removesuffix("QSA")
        configs = vars(module)
        of_text, whole = f"{stem}TextConfig", f"{stem}Config"
        config = configs.get(of_text) or configs[whole]
        attention = next(one for one in own if "Indexer(" in source_of(one.__init__))
        sources = (attention, indexer)
        names = [TURNS.search(source_of(one.forward)) for one in sources]
        orders = [order_of(vars(module)[name[0]]) for name in names if name]
        yield config.model_type, (orders[0], orders[1]) if names[1] else None


def test_the_order_of_pairs_is_that_of_the_code_of_every_indexer() -> None:
    found = dict(indexers())
    assert len(found) > 8
    assert {name: orders for name, orders in found.items() if orders} == INDEXERS


@pytest.mark.parametrize(("model", "said"), [
    ("zai-org/GLM-5.2", "rotates 64 of the 128 components of its own queries and keys by the same"
     " angles (base 8,000,000). There, a pair consists of adjacent components, as in attention."),
    ("deepseek-ai/DeepSeek-V3.2", "(base 10,000). There, a pair consists of components half the"
     " rotated part apart, but in attention of adjacent components."),
])  # fmt: skip
def test_an_indexer_is_named_with_base_share_and_order(model: str, said: str) -> None:
    known = known_model(model)
    assert known is not None
    [rotation] = [one for one in find(known.files) if one.scheme == "rotary"]
    assert any(said in note for note in rotation.notes)


def test_of_an_indexer_whose_code_is_not_known_nothing_is_said() -> None:
    settings = {"model_type": "glm5_next", "text_config": {"model_type": "glm5_next_text"}}
    notes = [note for one in find(ConfigAlone(settings, "own")) for note in one.notes]
    assert not any("indexer" in note for note in notes)
