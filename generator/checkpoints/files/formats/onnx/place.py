"""What a place in a graph says of a tensor."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from generator.contracts import StoredTensor


@dataclass(frozen=True)
class TensorPlace:
    """A tensor identified by its place.

    tensor: its name in the graph; name: by which schemes know tensors of this kind, without the
        module; scope: the module, "" if unknown
    role: end of the sentence that says how it was identified
    change: how it is read, where its values stand otherwise in the file than schemes know them
    """

    tensor: str
    name: str
    scope: str
    role: str
    change: Callable[[StoredTensor], StoredTensor] | None = None


def scope_of(name: str) -> str:
    """The module in whose code a value was made, from names such as /model/embeddings/Add_output_0;
    "" where they do not say.
    """
    parts = name.strip("/").split("/")[:-1]
    return (
        ".".join(parts)
        if name.startswith("/") and all(re.fullmatch(r"[\w.]+", part) for part in parts)
        else ""
    )
