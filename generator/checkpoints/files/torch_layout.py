"""Names and axes of tensors as PyTorch has them, for what Flax and Keras store under names and in
layouts of their own.

The rules are those by which transformers 4 converted such weights (modeling_flax_pytorch_utils.py,
modeling_tf_pytorch_utils.py).
"""

from collections.abc import Sequence

ENDS = {
    "embedding": "weight",
    "embeddings": "weight",
    "kernel": "weight",
    "scale": "weight",
    "gamma": "weight",
    "beta": "bias",
}
OF_IMAGES = (3, 2, 0, 1)  # From rows, columns, inputs, outputs.


def name(words: Sequence[str]) -> str:
    """The name of a tensor, from the names of its modules and its own."""
    return ".".join([*words[:-1], ENDS.get(words[-1], words[-1])])


def axes(words: Sequence[str], n_axes: int) -> tuple[int, ...] | None:
    """The order in which to take the axes of a tensor; None for the order in which they are
    stored.
    """
    if words[-1] != "kernel" or n_axes < 2:
        return None
    return OF_IMAGES if n_axes == len(OF_IMAGES) else tuple(reversed(range(n_axes)))
