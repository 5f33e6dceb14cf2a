"""What carries information from token to token in a layer: its modules, called again, and the
gradient of one position's output.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.logits import Reach, reach
from benchmarks.turning import all_tensors

if TYPE_CHECKING:
    from benchmarks.running import Recorder


class Mixing:
    """The mixers of one layer.

    kinds: sorted; reach: of the first that has no attention weights to look at
    """

    def __init__(self, recorder: "Recorder", layer: Any, length: int) -> None:
        self._recorder, self._length = recorder, length
        found = self._found(layer)
        unseen = [module for module in found if recorder.calls[module].square != length]
        reaches = {module: self._reach(module) for module in unseen}
        self.kinds = tuple(sorted({self._kind(module, reaches.get(module)) for module in found}))
        self.reach = next(iter(reaches.values()), Reach(None, None))

    def _found(self, layer: Any) -> list[Any]:
        """The modules of a layer that mix tokens; the same ones as in a former layer of the same
        modules.
        """
        calls, known = self._recorder.calls, self._recorder.mixers
        below = {path: module for path, module in layer.named_modules() if module in calls}
        alike = tuple((path, type(one), calls[one].square) for path, one in below.items())
        if alike not in known:
            found = set(self._within(layer)) or ({layer} if self._mixes(layer) else set())
            known[alike] = [path for path, module in below.items() if module in found]
        return [below[path] for path in known[alike]]

    def _within(self, module: Any) -> Iterator[Any]:
        """The modules that mix tokens, the outermost, below ``module``."""
        for child in module.children():
            if child not in self._recorder.calls:
                yield from self._within(child)
            elif self._mixes(child):
                yield child

    def _kind(self, module: Any, found: Reach | None) -> str:
        # By name where no softmax was seen, as in attention by hashing.
        by_name = "Attention" in type(module).__name__
        if (
            found is None
            or self._recorder.calls[module].softmax
            or (found.after is None and by_name)
        ):
            return "attention"
        # By name where it is wider than the sequence.
        if found.before is not None or "Conv" in type(module).__name__:
            return "shift" if found == Reach(1, 0) else "convolution"
        return "recurrent" if found.after == 0 else "other"

    def _mixes(self, module: Any) -> bool:
        # Even where keys come from a former layer.
        if self._recorder.calls[module].square == self._length:
            return True
        middle = self._length // 2
        seen = self._seen(module, [middle])
        return bool(np.delete(seen, middle, axis=1).any())

    def _reach(self, module: Any) -> Reach:
        """How far the outputs see; of all places where keys are chosen by a softmax, otherwise of
        the first and the last.
        """
        if self._recorder.calls[module].softmax:
            return reach(self._seen(module, range(self._length)))
        last = self._length - 1
        first, end = self._seen(module, [0, last])
        before, after = last - int(np.flatnonzero(end)[0]), int(np.flatnonzero(first)[-1])
        return Reach(before if before < last else None, after if after < last else None)

    def _seen(self, module: Any, places: Iterable[int]) -> np.ndarray:
        """The inputs on which the outputs at some places depend, by their gradient: (places,
        length); none for a module without such in and output.
        """
        import torch

        from benchmarks.running import replaced

        call, hidden = self._recorder.calls[module], self._recorder.hidden(module)
        none = np.zeros((1, self._length), dtype=bool)
        if hidden is None or self._length not in hidden.shape[:-1]:
            return none
        given = hidden.detach().clone().requires_grad_()
        with torch.enable_grad():
            args, kwargs = replaced(call.args, call.kwargs, lambda _: given * 1.0)
            output = next(iter(all_tensors(module(*args, **kwargs))), None)
        if output is None or self._length not in output.shape or not output.requires_grad:
            return none
        rows = output.movedim(list(output.shape).index(self._length), 0)
        weights = torch.randn(rows.shape[1:], generator=torch.Generator().manual_seed(1))
        seen = []
        for place in places:
            total = (rows[place] * weights).sum()
            (gradient,) = torch.autograd.grad(total, given, retain_graph=True)
            axis = list(hidden.shape).index(self._length)
            seen.append(gradient.movedim(axis, 0).reshape(self._length, -1).any(dim=1).numpy())
        return np.stack(seen)
