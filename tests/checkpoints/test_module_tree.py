"""Modules from the names of tensors."""

from generator.checkpoints.model.module_tree import Module, modules, tensor_rows
from generator.contracts import TensorInfo, TensorRow


def row(pattern: str, *shape: int, dtype: str = "F32", count: int = 1) -> TensorRow:
    return TensorRow(pattern, shape, dtype, count)


def test_weight_and_bias_of_a_module_are_grouped() -> None:
    rows = (
        row("h.#.attn.bias", 8, count=4),
        row("h.#.attn.weight", 8, 8, count=4),
        row("h.#.mlp.weight", 8, 2, count=4),
    )
    attention = Module("h.#.attn", (("bias", (8,)), ("weight", (8, 8))), "F32", 4)
    assert modules(rows) == (attention, Module("h.#.mlp", (("weight", (8, 2)),), "F32", 4))


def test_tensors_of_different_dtype_or_count_are_separate() -> None:
    rows = (row("a.x", 2), row("a.y", 2, dtype="I64"), row("a.z", 2, dtype="I64", count=3))
    assert [module.tensors for module in modules(rows)] == [
        (("x", (2,)),),
        (("y", (2,)),),
        (("z", (2,)),),
    ]


def test_a_name_without_dots_is_a_module() -> None:
    assert modules((row("table", 3, 2), row("other", 3))) == (
        Module("table", (("", (3, 2)),), "F32", 1),
        Module("other", (("", (3,)),), "F32", 1),
    )


def test_a_tensor_whose_header_is_not_read_has_no_shape() -> None:
    tensors = {name: TensorInfo(name, "F32", (2, 3)) for name in ("h.0.w", "h.1.w", "h.2.w")}
    assert tensor_rows(tensors, {"h.1.w", "h.2.w"}) == (
        row("h.#.w", 2, 3),
        TensorRow("h.#.w", None, "", 2),
    )
