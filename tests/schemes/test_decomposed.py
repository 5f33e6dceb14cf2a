from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from generator.checkpoints.files.reader import FolderFiles
from generator.encodings import RelativeTable
from generator.schemes.decomposed import find
from tests.listening import by_pair
from tests.schemes.test_tables_of_images import with_random_table
from tests.support import DictFiles, close, form_of, save_model

SIZES: dict[str, Any] = {"hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 2,
                         "patch_size": 8}  # fmt: skip
MODELS: dict[str, dict[str, Any]] = {
    "sam_vision_model": {"image_size": 32, "window_size": 2, "global_attn_indexes": [1],
                         "output_channels": 8, "mlp_dim": 16},
    "seggpt": {"image_size": [48, 24], "pretrain_image_size": 16, "mlp_dim": 16,
               "intermediate_hidden_state_indices": [1], "merge_index": 0},
    "vitdet": {"image_size": 32, "pretrain_image_size": 32,
               "use_relative_position_embeddings": True},
}  # fmt: skip


def build(family: str) -> Any:
    """The bare model with random tables, which its family initialises with zeros."""
    from transformers import CONFIG_MAPPING, AutoModel

    torch.manual_seed(0)
    config = CONFIG_MAPPING[family](**SIZES, **MODELS[family])
    return with_random_table(AutoModel.from_config(config)).eval()


def attentions(model: Any) -> list[tuple[str, Any]]:
    return [(name, each) for name, each in model.named_modules() if hasattr(each, "rel_pos_h")]


@pytest.mark.parametrize("family", MODELS)
def test_the_vectors_between_patches_equal_the_models(family: str, tmp_path: Path) -> None:
    from transformers.models.vitdet.modeling_vitdet import get_rel_pos

    model = build(family)
    tables = {
        str(encoding.provenance.tensor): encoding
        for encoding in find(FolderFiles(save_model(model, tmp_path), "test"))
    }
    assert len(tables) == 2 * len(attentions(model)) == 4
    for name, module in attentions(model):
        for end in ("rel_pos_h", "rel_pos_w"):
            stored = getattr(module, end)
            count = (len(stored) + 1) // 2
            pick = getattr(module, "get_rel_pos", get_rel_pos)
            theirs = pick(count, count, stored).detach().double().numpy()
            close(by_pair(tables[f"{name}.{end}"], count), theirs)


def test_the_logits_of_sam_differ_by_the_query_times_both_vectors(tmp_path: Path) -> None:
    model = build("sam_vision_model").double()
    down, across = find(FolderFiles(save_model(model, tmp_path), "test"))[2:]
    attention = attentions(model)[1][1]
    query = torch.randn(3, 16, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        theirs = attention.get_decomposed_rel_pos(
            query, attention.rel_pos_h, attention.rel_pos_w, (4, 4), (4, 4)
        ).numpy()
    grid = query.numpy().reshape(3, 4, 4, 8)
    ours = (
        np.einsum("brcd,rsd->brcs", grid, by_pair(down, 4))[..., None]
        + np.einsum("brcd,ctd->brct", grid, by_pair(across, 4))[..., None, :]
    )
    close(ours, theirs.reshape(ours.shape))


def test_layers_are_in_numerical_order_with_distinct_parts() -> None:
    names = [f"layers.{layer}.attn.rel_pos_{end}" for layer in (10, 2) for end in "wh"]
    encodings = find(DictFiles(arrays=dict.fromkeys(names, np.ones((3, 2)))))
    assert [encoding.part for encoding in encodings] == [
        f"vision layer {place}" for place in ("2 rows", "2 columns", "10 rows", "10 columns")
    ]
    names = ["a.layers.0.rel_pos_h", "b.layers.0.rel_pos_h"]
    encodings = find(DictFiles(arrays=dict.fromkeys(names, np.ones((3, 2)))))
    assert len({encoding.record.key for encoding in encodings}) == 2


def test_a_third_table_is_for_frames() -> None:
    """As in MViT: row query − key + frames − 1 of rel_pos_t; three frames have five offsets."""
    table = np.arange(5.0)[:, None] * np.ones(4)
    (encoding,) = find(DictFiles({}, {"blocks.0.attn.rel_pos_t": table}))
    form = form_of(encoding, RelativeTable)
    assert encoding.part == "vision layer 0 frames"
    assert form.vectors[:, 0].tolist() == [4.0, 3.0, 2.0, 1.0, 0.0]
