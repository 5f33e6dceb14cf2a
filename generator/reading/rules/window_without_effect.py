"""A window that the settings give and that limits no layer."""

from collections.abc import Iterator

from generator.checkpoints.model.resolved import GATE, WINDOW, defaults, is_ungated
from generator.contracts import Examined, Json, ModelConfig, Rule
from generator.contracts.layer_map import LIMITED

FIRST, KINDS = "max_window_layers", "layer_types"
OTHER_LIMITS = LIMITED | {"sparse", "compressed"}  # Their layers may have a window beside.


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Windows of files whose layers have none, and lists of layers with a window that is null."""
    if not examined.layers or examined.rejections or examined.is_open:
        return
    for given in examined.files.config.nested():
        if is_ungated(given):
            n_layers = given.layer_types.count("sliding_attention")
            window = {"window": given.integer(WINDOW), "n_layers": n_layers}
            kind = "ungated" if given.keys_of_file is None else "ungated_elsewhere"
            yield kind, {**window, "family": given.family}
    has_window = any(not OTHER_LIMITS.isdisjoint(layer.mixers) for layer in examined.layers)
    for given in examined.files.config.nested():
        size = given.integer(WINDOW)
        if size and not has_window:
            yield _idle(examined, given, size)
        elif given.value(WINDOW, 0) is None:
            listed = [kind for kind in given.listed(KINDS) if str(kind).startswith("sliding")]
            usual = defaults(given.family).get(WINDOW)
            if listed:
                yield "null_in_list", {"n_layers": len(listed)}
            elif usual and not has_window:
                yield "null", {"family": given.family, "usual": usual}


def _idle(examined: Examined, given: ModelConfig, size: int) -> tuple[str, Json]:
    window, context = {"window": size}, examined.context
    if given.flag(GATE) is False:
        return "gated", window
    if context is not None and size >= context:
        return "wide", {**window, "context": context}
    stack = next((one.config for one in examined.files.resolved.stacks), given)
    first, n_layers = stack.integer(FIRST), stack.count("num_hidden_layers") or 0
    if given.flag(GATE) is True and first is not None and first >= n_layers > 0:
        is_given = given.integer(FIRST) is not None
        return "behind", {**window, "first": first, "n_layers": n_layers, "is_given": is_given}
    return "idle", window


RULE = Rule(
    key="window-without-effect",
    levels={**dict.fromkeys(("behind", "idle", "null_in_list"), "note"),
            **dict.fromkeys(("ungated", "ungated_elsewhere"), "note"),
            **dict.fromkeys(("gated", "wide", "null"), "fact")},
    find=find,
    about=(WINDOW,),
)  # fmt: skip
