from pathlib import Path
from typing import Any

import numpy as np
import torch

from generator.encodings import PositionTable
from generator.numerics.arrays import Floats
from generator.schemes.layout import find
from tests.listening import as_numbers, made, read
from tests.support import DictFiles, close, form_of

SIZE: dict[str, Any] = {"vocab_size": 40, "hidden_size": 24, "num_hidden_layers": 1,
                        "num_attention_heads": 2, "intermediate_size": 16}  # fmt: skip
PAGE = {"max_position_embeddings": 32, "max_2d_position_embeddings": 64}
BOX = (3, 5, 20, 9)  # left, top, right, bottom


def boxes() -> Any:
    return torch.tensor([[BOX]])


def looked_up(encodings: dict[str, Any]) -> list[Floats]:
    """The six vectors of BOX in the order of the paper's formula."""
    left, top, right, bottom = BOX
    rows = {"x": left, "y": top}, {"x": right, "y": bottom}
    sizes = {"height": bottom - top, "width": right - left}
    places = [pair for part in (*rows, sizes) for pair in part.items()]
    return [form_of(encodings[part], PositionTable).vectors[row] for part, row in places]


def test_layoutlm_adds_up_the_vectors_of_a_box(tmp_path: Path) -> None:
    model = made("LayoutLMModel", **SIZE, **PAGE)
    embeddings, token = model.embeddings, torch.tensor([[7]])
    embeddings.LayerNorm = torch.nn.Identity()
    with_box, bare = (
        embeddings(token, bbox=boxes()),
        embeddings.word_embeddings(token) + embeddings.position_embeddings.weight[0],
    )
    theirs = as_numbers(with_box - bare - embeddings.token_type_embeddings.weight[0])[0, 0]
    close(sum(looked_up(read(find, model, tmp_path))), theirs)


def test_layoutlmv3_concatenates_the_vectors_of_a_box(tmp_path: Path) -> None:
    model = made("LayoutLMv3Model", **SIZE, **PAGE, coordinate_size=4, shape_size=4)
    theirs = as_numbers(model.embeddings.calculate_spatial_position_embeddings(boxes()))[0, 0]
    encodings = read(find, model, tmp_path)
    close(np.concatenate(looked_up(encodings)), theirs)
    assert "concatenated" in encodings["x"].notes[1]


def test_the_table_of_box_order_of_lilt_equals_what_its_module_adds(tmp_path: Path) -> None:
    model = made("LiltModel", **SIZE, **PAGE, channel_shrink_ratio=2, pad_token_id=1)
    layout, first = model.layout_embeddings, torch.tensor([[2, 3, 31]])
    layout.LayerNorm = torch.nn.Identity()
    of_boxes = layout.box_linear_embeddings(torch.zeros(24))
    for table in "xyhw":
        torch.nn.init.zeros_(getattr(layout, f"{table}_position_embeddings").weight)
    theirs = as_numbers(
        layout(bbox=torch.zeros(1, 3, 4, dtype=torch.long), position_ids=first) - of_boxes
    )[0]
    form = form_of(read(find, model, tmp_path)["order"], PositionTable)
    close(form.vectors[[0, 1, 29]], theirs)
    assert form.first_row == 2


def test_lilt_concatenates_the_vectors_of_a_box_before_its_map(tmp_path: Path) -> None:
    model = made("LiltModel", **SIZE, **PAGE, channel_shrink_ratio=1)
    layout = model.layout_embeddings
    layout.LayerNorm, layout.box_linear_embeddings = torch.nn.Identity(), torch.nn.Identity()
    torch.nn.init.zeros_(layout.box_position_embeddings.weight)
    theirs = as_numbers(layout(bbox=boxes(), position_ids=torch.tensor([[2]])))[0, 0]
    close(np.concatenate(looked_up(read(find, model, tmp_path))), theirs)


def test_udop_adds_up_the_vectors_of_the_edges() -> None:
    from transformers.models.udop.modeling_udop import UdopCellEmbeddings

    torch.manual_seed(0)
    module = UdopCellEmbeddings(65, 8)
    stem = "encoder.cell_2d_embedding."
    arrays = {stem + name: weight.detach().numpy() for name, weight in module.state_dict().items()}
    tables = {
        encoding.part: form_of(encoding, PositionTable).vectors
        for encoding in find(DictFiles({"model_type": "udop"}, arrays))
    }
    left, top, right, bottom = BOX
    ours = tables["x"][left] + tables["y"][top] + tables["x"][right] + tables["y"][bottom]
    close(ours, as_numbers(module(boxes() / 64))[0, 0])


def test_the_modality_is_page_for_boxes_image_for_patches_and_text_for_their_order() -> None:
    for table, expected in (("x", "page"), ("h", "page"), ("row", "image"), ("box", "text")):
        name = f"embeddings.{table}_position_embeddings.weight"
        (encoding,) = find(DictFiles({}, {name: np.zeros((8, 4))}))
        assert encoding.modality == expected
