"""Options of a row for what a trained model does with position."""

from dataclasses import dataclass
from typing import Literal

Scope = Literal["first_layer", "model"]
FIRST_LAYER: Scope = "first_layer"
LONGEST_TEXT = 200_000  # bytes
MOST_PARAMETERS = 1_500_000_000


@dataclass(frozen=True)
class UseOptions:
    """What is measured of a trained model, as its row says.

    scope: from the weights of the first layer alone, or by running the model
    text: what it reads, "" for the atlas's own; length: tokens of a sequence; sequences: how many
    seed: of the first of two runs; device: "auto" takes a GPU where there is one
    most_parameters: beyond which the model is not loaded; None for ``MOST_PARAMETERS``, and on a
        GPU for as many as its memory holds
    """

    scope: Scope = "model"
    text: str = ""
    length: int = 64
    sequences: int = 64
    seed: int = 0
    device: Literal["auto", "cpu", "cuda"] = "auto"
    most_parameters: int | None = None
