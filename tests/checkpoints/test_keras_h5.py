import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from generator.checkpoints.files.formats import keras_h5
from generator.checkpoints.files.reader import FolderFiles
from generator.errors import RowError
from generator.numerics.arrays import Array
from tests.support import save_folder
from tests.synthetic import write_folder

CONFIG = {"model_type": "bert"}
TABLE = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
# Paths as transformers 4 writes them, and the names of the same tensors in PyTorch.
PATHS = {
    "bert/tf_bert_model/bert/embeddings/position_embeddings/embeddings:0": (
        "bert.embeddings.position_embeddings.weight"
    ),
    "bert/tf_bert_model/bert/embeddings/word_embeddings/weight:0": (
        "bert.embeddings.word_embeddings.weight"
    ),
    "bert/tf_bert_model/bert/embeddings/LayerNorm/gamma:0": "bert.embeddings.LayerNorm.weight",
    "bert/tf_bert_model/bert/embeddings/LayerNorm/beta:0": "bert.embeddings.LayerNorm.bias",
    "bert/tf_bert_model/bert/encoder/layer_._11/attention/self/query/bias:0": (
        "bert.encoder.layer.11.attention.self.query.bias"
    ),
    "nsp___cls/tf_bert_for_pre_training/nsp___cls/seq_relationship/bias:0": (
        "cls.seq_relationship.bias"
    ),
    "transformer/tfgpt2lm_head_model/transformer/wpe/embeddings:0": "transformer.wpe.weight",
    "shared/shared/weight:0": "shared.weight",
    "encoder/tf_t5_model/encoder/block_._0/layer_._0/SelfAttention"
    "/relative_attention_bias/embeddings:0": (
        "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
    ),
}


def saved(folder: Path, fill: Callable[[Any], object], **options: Any) -> FolderFiles:
    with h5py.File(save_folder(folder, CONFIG) / "tf_model.h5", "w", **options) as file:
        fill(file)
    return FolderFiles(folder, "here")


def of(array: Array, **options: Any) -> Callable[[Any], object]:
    return lambda file: file.create_dataset("bert/m/bert/table:0", data=array, **options)


def test_paths_become_the_names_of_pytorch(tmp_path: Path) -> None:
    files = saved(tmp_path, lambda file: [file.create_dataset(path, data=TABLE) for path in PATHS])
    assert set(files.tensors) == set(PATHS.values())


STORED: dict[str, tuple[Array, dict[str, Any]]] = {
    "plain": (TABLE, {}),
    "double": (TABLE.astype(np.float64), {}),
    "half": (TABLE.astype(np.float16), {}),
    "whole numbers": (np.arange(24).reshape(6, 4), {}),
    "big-endian": (TABLE.astype(">f4"), {}),
    "in chunks": (TABLE, {"chunks": (4, 3)}),
    "compressed": (
        TABLE,
        {"chunks": (4, 3), "compression": "gzip", "shuffle": True, "fletcher32": True},
    ),
    "number": (np.asarray(2.0), {}),
    "empty": (np.zeros((0, 4)), {}),
}


@pytest.mark.parametrize(("array", "options"), STORED.values(), ids=STORED)
@pytest.mark.parametrize("userblock", [0, 512])
def test_an_array_however_stored_is_read_exactly(
    tmp_path: Path, array: Array, options: dict[str, Any], userblock: int
) -> None:
    files = saved(tmp_path, of(array, **options), userblock_size=userblock)
    np.testing.assert_array_equal(files.tensor("bert.table"), array)
    if array.shape == (6, 4):
        np.testing.assert_array_equal(files.rows("bert.table", [4, 1]), array[[4, 1]])


def test_a_kernel_is_transposed_and_says_its_name_in_the_file(tmp_path: Path) -> None:
    files = saved(
        tmp_path, lambda file: file.create_dataset("bert/m/bert/dense/kernel:0", data=TABLE)
    )
    np.testing.assert_array_equal(files.tensor("bert.dense.weight"), TABLE.T)
    assert files.notes("bert.dense.weight") == (
        "tf_model.h5 calls this tensor bert/m/bert/dense/kernel:0.",
    )


def test_rows_of_a_plain_table_of_16_gb_are_read_alone(tmp_path: Path) -> None:
    def fill(file: Any) -> None:
        early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        early.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        h5py.h5d.create(
            file.id, b"table", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((2**24, 256)), early
        )

    np.testing.assert_array_equal(
        saved(tmp_path, fill).rows("table", [2**24 - 1]), np.zeros((1, 256))
    )


def test_an_array_that_only_claims_its_size_is_a_row_error(tmp_path: Path) -> None:
    files = saved(
        tmp_path,
        lambda file: file.create_dataset("table", shape=(2**30, 256), dtype="f4", chunks=(1, 256)),
    )
    with pytest.raises(RowError, match="here: table: 1,099,511,627,776 bytes; expected at most"):
        files.tensor("table")


def _virtual(file: Any) -> None:
    layout = h5py.VirtualLayout(shape=(6, 4), dtype="f4")
    layout[...] = h5py.VirtualSource("/etc/hostname", "table", shape=(6, 4))
    file.create_virtual_dataset("table", layout)


def _looped(file: Any) -> None:
    file.create_group("a")["b"] = file["/"]


REFUSED: dict[str, tuple[Callable[[Any], object], str]] = {
    "a link to another file": (
        lambda file: file.__setitem__("a", h5py.ExternalLink("other.h5", "/table")),
        "is a link",
    ),
    "a soft link": (lambda file: file.__setitem__("a", h5py.SoftLink("/nowhere")), "is a link"),
    "a virtual array": (_virtual, "is stored in other files"),
    "an array outside": (
        lambda file: file.create_dataset(
            "a", shape=(6,), dtype="u1", external=[("/etc/hostname", 0, 6)]
        ),
        "is stored in other files",
    ),
    "another filter": (
        lambda file: file.create_dataset("a", data=TABLE, compression="lzf"),
        "filter",
    ),
    "a group in itself": (_looped, "nested deeper than 32"),
    "two names that become one": (
        lambda file: [
            file.create_dataset(f"a/m/a/{name}:0", data=TABLE) for name in ("kernel", "embeddings")
        ],
        "2 variables with 1 names",
    ),
}


@pytest.mark.parametrize(("fill", "message"), REFUSED.values(), ids=REFUSED)
def test_what_leads_elsewhere_or_has_no_name_is_a_row_error(
    tmp_path: Path, fill: Callable[[Any], object], message: str
) -> None:
    with pytest.raises(RowError, match=rf"here/tf_model.h5: .*{message}.*expected"):
        assert saved(tmp_path, fill).tensors is None


def test_more_entries_than_the_limit_are_a_row_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keras_h5, "MOST_ENTRIES", 2)
    with pytest.raises(RowError, match="more than 2 entries"):
        assert saved(tmp_path, of(TABLE)).tensors


def test_without_h5py_the_row_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = saved(tmp_path, of(TABLE))
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(
        RowError,
        match=r"it needs h5py, which is not installed; expected `pip install .\[formats\]`",
    ):
        assert files.tensors


@pytest.mark.parametrize(
    "options", [{}, {"chunks": (4, 3), "compression": "gzip"}], ids=["plain", "compressed"]
)
def test_a_changed_or_truncated_file_is_a_row_error_or_has_an_array_within_it(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    saved(tmp_path, of(TABLE, **options))
    whole, random = (tmp_path / "tf_model.h5").read_bytes(), np.random.default_rng(0)
    # The same every time: what libhdf5 does with invalid files is not ours to explore.
    for _ in range(200):
        content = bytearray(whole)
        for index in random.integers(0, len(content), random.integers(1, 4)):
            content[index] = random.integers(256)
        write_folder(
            tmp_path,
            {"tf_model.h5": bytes(content[: random.integers(len(content) // 2, len(content) * 2)])},
        )
        files = FolderFiles(tmp_path, "here")
        try:
            assert sum(files.tensor(name).size for name in files.tensors) <= 10 * len(whole)
        except RowError as error:
            assert "expected" in str(error)  # noqa: PT017  # Any other exception fails the test.
