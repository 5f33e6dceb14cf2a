"""What mlx-lm takes: its model of a config, with random weights, reads 24 tokens. Its rotations are
measured on unit vectors, and its windows by the masks that attention gets.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import MISSING, fields
from importlib import import_module
from typing import Any

N_TOKENS = 24
POSITION = ("rope", "rotary", "window", "layer_types", "max_position", "head_dim", "theta", "chunk",
            "nope", "pattern")  # fmt: skip
# By the type of a field that a shipped config leaves out, since it does not concern position.
FILL: tuple[tuple[str, Any], ...] = (
    ("float", 1.0),
    ("bool", False),
    ("int", 2),
    ("ist", []),
    ("", "silu"),
)
OF_TEXT = ("TextArgs", "TextConfig", "TextModelArgs")
SMALL = 1e-12  # sines below it are no rotation's


def filled(of_class: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """Settings with values for fields that have no default and do not concern position."""
    missing = {
        one.name: 1e-5 if "eps" in one.name else next(v for t, v in FILL if t in str(one.type))
        for one in fields(of_class)
        if one.default is MISSING and one.default_factory is MISSING
        and one.name not in settings and not any(word in one.name for word in POSITION)
    }  # fmt: skip
    return {**missing, **settings}


def model_of(settings: dict[str, Any]) -> Any:
    """The model of a config."""
    classes = import_module("mlx_lm.utils")._get_classes
    of_model, of_arguments = classes(settings)[:2]
    module, settings = import_module(of_model.__module__), filled(of_arguments, settings)
    for name in ("text_config", "language_config"):
        if isinstance(settings.get(name), dict):
            own = [getattr(module, each) for each in OF_TEXT if hasattr(module, each)]
            inner = own[0] if own else classes(settings[name])[1]
            settings[name] = filled(inner, settings[name])
    return of_model(of_arguments.from_dict(settings))


def turned(rope: Any, width: int) -> Iterator[tuple[int, int, float, float]]:
    """Components that are turned together, with their angle a position and the factor."""
    mx, np = import_module("mlx.core"), import_module("numpy")
    units = mx.broadcast_to(mx.eye(width)[:, None, None, :], (width, 1, 2, width))
    every, used = np.array(rope(units).astype(mx.float32))[:, 0], set[int]()
    for i in range(width):
        row, cosine = every[i, 1].copy(), every[i, 1, i]
        row[i] = 0.0
        j = int(np.abs(row).argmax())
        if i not in used and abs(row[j]) > SMALL:
            used |= {i, j}
            yield i, j, float(np.arctan2(row[j], cosine)), float(every[i, 0, i])


def read(model: Any) -> tuple[dict[int, tuple[Any, int]], list[int | None]]:
    """Its rotations with the widths that they turn, and the window of each layer, while it reads
    tokens.
    """
    mx, nn, np = (import_module(name) for name in ("mlx.core", "mlx.nn", "numpy"))
    real = import_module("mlx_lm.models.base").scaled_dot_product_attention
    ropes: dict[int, tuple[Any, int]] = {}
    windows: list[int | None] = []

    def attention(*arguments: Any, mask: Any = None, **named: Any) -> Any:
        row = None if mask is None or isinstance(mask, str) else np.array(mask)[..., -1, :].ravel()
        seen = N_TOKENS if row is None else int((row[:N_TOKENS] > -1e4 * (row.dtype != bool)).sum())
        windows.append(seen if seen < N_TOKENS else None)
        return real(*arguments, mask=mask, **named)

    every = [module for _, module in model.named_modules() if not module.children()]
    kinds = {type(one) for one in every
             if isinstance(one, nn.RoPE) or "rope" in type(one).__name__.lower()
             or "rotary" in type(one).__name__.lower()}  # fmt: skip
    calls = {kind: kind.__call__ for kind in kinds}
    for kind, call in calls.items():

        def calling(rope: Any, x: Any, *more: Any, _call: Any = call, **named: Any) -> Any:
            ropes[id(rope)] = rope, int(x.shape[-1])
            return _call(rope, x, *more, **named)

        kind.__call__ = calling
    modules = [one for name, one in sys.modules.items() if name.startswith("mlx_lm.models")]
    modules = [one for one in modules if hasattr(one, real.__name__)]
    try:
        for module in modules:
            setattr(module, real.__name__, attention)
        model(mx.array([list(range(N_TOKENS))]))
    finally:
        for module in modules:
            setattr(module, real.__name__, real)
        for kind, call in calls.items():
            kind.__call__ = call
    return ropes, windows


def taken(settings: dict[str, Any]) -> dict[str, Any]:
    """Of each rotation the number of pairs, sum and last of the angles, and the factor; windows;
    and which components make a pair.
    """
    ropes, windows = read(model_of(settings))
    forms, orders = [], set[str]()
    for rope, width in ropes.values():
        pairs = list(turned(rope, width))
        angles = [angle for *_, angle, _ in pairs]
        form = [len(pairs), sum(angles), angles[-1], pairs[0][-1]]
        forms += [] if form in forms else [form]
        if len(pairs) > 1:
            orders.add("adjacent" if pairs[0][1] == pairs[0][0] + 1 else "halves")
    order = orders.pop() if len(orders) == 1 else ""
    return {"forms": sorted(forms), "windows": windows, "pairs": order}


def main() -> None:
    """Print what is taken of each config."""
    found: list[Any] = []
    for settings in json.load(sys.stdin):
        try:
            found.append(taken(settings))
        except (Exception, SystemExit):  # noqa: BLE001
            found.append(None)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
