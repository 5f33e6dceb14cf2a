"""The positions of a model, moved from outside: where its code looks up a row, turns a pair or
takes a bias, it is given other positions than it asks for.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from generator.checkpoints.model.position_tables import NAME
from generator.checkpoints.model.running.stack import RunningStack
from generator.checkpoints.model.running.watch import hooked
from generator.errors import NotApplicableError
from generator.numerics.arrays import Floats

Moved = Callable[[int], Floats | None]  # Positions of a text of n tokens; None: all are equal.
ROTATION, BIAS = "RotaryEmbedding", "compute_bias"  # In the code of transformers.


@dataclass(frozen=True, eq=False)
class Places:
    """Where a model's code has positions.

    tables: modules whose rows are those of positions, each with its first row; rotations: modules
        that make sines and cosines; biases: modules that make a bias of offsets
    """

    tables: tuple[tuple[Any, int], ...]
    rotations: tuple[Any, ...]
    biases: tuple[Any, ...]

    @property
    def n_positions(self) -> int | None:
        """Positions of the shortest table, its first row included; None without a table, which has
        an end.
        """
        sizes = [module.weight.shape[0] - first for module, first in self.tables]
        return min(sizes, default=None)


def places(stack: RunningStack) -> Places:
    """Where the code of ``stack`` has positions, seen while it reads.

    errors: NotApplicableError where none of the ways is known
    """
    tables: list[tuple[Any, int]] = []
    looked_up, rotations, biases = [], [], []

    def note_table(module: Any, _: object, output: Any) -> None:
        rows = output.detach().reshape(-1, output.shape[-1])
        distances = (module.weight.detach() - rows[0]).abs().sum(dim=1)
        tables.append((module, int(distances.argmin())))

    for name, module in stack.model.named_modules():
        if NAME.search(f"{name}.weight") and hasattr(module, "weight") and module.weight.ndim == 2:
            looked_up.append(module)
        elif type(module).__name__.endswith(ROTATION):
            rotations.append(module)
        elif hasattr(module, BIAS) and getattr(module, "has_relative_attention_bias", True):
            biases.append(module)
    with hooked(looked_up, note_table):
        stack.read_once()
    if not tables and not rotations and not biases:
        raise NotApplicableError("where positions enter its code is not known here")
    return Places(tuple(tables), tuple(rotations), tuple(biases))


@contextmanager
def moved(found: Places, to: Moved) -> Iterator[None]:
    """In the block, the model has other positions: those that ``to`` gives for a length."""
    with ExitStack() as stack:
        for module, first in found.tables:
            stack.enter_context(hooked([module], _table_hook(first, to)))
        for module in found.rotations:
            handle = module.register_forward_pre_hook(_rotation_hook(to), with_kwargs=True)
            stack.callback(handle.remove)
        for module in found.biases:
            module.compute_bias = _bias(module, to)
            stack.callback(delattr, module, BIAS)
        yield


def _table_hook(first: int, to: Moved) -> Callable[[Any, Any, Any], Any]:
    def replaced(module: Any, _: object, output: Any) -> Any:
        import torch

        n = output.shape[-2]
        table = module.weight.detach()[first:]
        positions = to(n)
        if positions is None:
            return table.mean(dim=0).expand_as(output)
        if positions.min() < 0 or positions.max() > len(table) - 1:
            raise NotApplicableError(
                f"its table has only {len(table):,} of the {int(positions.max()) + 1:,} positions"
                " needed"
            )
        low = np.floor(positions).astype(np.int64)
        high = np.minimum(low + 1, len(table) - 1)
        part = torch.as_tensor(positions - low, dtype=table.dtype, device=table.device)[:, None]
        return ((1 - part) * table[low] + part * table[high]).expand_as(output)

    return replaced


def _rotation_hook(to: Moved) -> Callable[[Any, Any, Any], Any]:
    def replaced(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        import torch

        name = "position_ids"
        given = kwargs.get(name, args[1] if len(args) > 1 else None)
        if given is None:
            raise NotApplicableError(
                "its rotation computes its own positions, which cannot be changed from outside"
            )
        positions = to(given.shape[-1])
        values = np.zeros(given.shape[-1]) if positions is None else positions
        ids = torch.as_tensor(values, dtype=torch.float64, device=given.device).expand(given.shape)
        if name in kwargs:
            return args, {**kwargs, name: ids}
        return (args[0], ids, *args[2:]), kwargs

    return replaced


def _bias(module: Any, to: Moved) -> Callable[..., Any]:
    def compute_bias(query_length: int, key_length: int, **_: object) -> Any:
        import torch

        table = module.relative_attention_bias.weight
        positions = to(key_length)
        if positions is None:
            mean = table.mean(dim=0)[None, :, None, None]
            return mean.expand(1, -1, query_length, key_length)
        offsets = np.rint(positions[None, :] - positions[:query_length, None]).astype(np.int64)
        buckets = module._relative_position_bucket(
            torch.from_numpy(offsets).to(table.device),
            bidirectional=not module.is_decoder,
            num_buckets=module.relative_attention_num_buckets,
            max_distance=module.relative_attention_max_distance,
        )
        return module.relative_attention_bias(buckets).permute(2, 0, 1)[None]

    return compute_bias
