from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal

from generator.checkpoints.files.reader import FolderFiles
from generator.encodings import WindowBias
from generator.numerics.arrays import Floats
from generator.schemes.window_bias import find
from tests.schemes.test_tables_of_images import with_random_table
from tests.support import DictFiles, close, form_of, save_model

SWIN: dict[str, Any] = {"image_size": 32, "patch_size": 2, "embed_dim": 8, "depths": [2, 1],
                        "num_heads": [2, 4], "window_size": 4}  # fmt: skip
BEIT: dict[str, Any] = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2,
                        "num_hidden_layers": 2, "patch_size": 8, "image_size": 32}  # fmt: skip


def build(model_type: str, **options: Any) -> Any:
    """The bare model in double precision with random biases, which new ones have not."""
    from transformers import CONFIG_MAPPING, AutoModel

    torch.manual_seed(0)
    config = CONFIG_MAPPING[model_type](attn_implementation="eager", **options)
    model = with_random_table(AutoModel.from_config(config)).eval()
    for name, parameter in model.named_parameters():
        if name.endswith("attention_biases"):
            torch.nn.init.normal_(parameter)
    return model.double()


def kernels(model: Any, folder: Path) -> dict[str, Floats]:
    """The biases read from a folder as matrices, query by key, by their parts."""
    files = FolderFiles(save_model(model, folder), "test")
    return {encoding.part: form_of(encoding, WindowBias).kernel(10**6) for encoding in find(files)}


def attention_without_content(model: Any, self_attention: Any, **inputs: Any) -> Floats:
    """Weights (n_windows, n_heads, n, n) of a module without queries: the softmax of its bias."""
    with torch.no_grad():
        for name, parameter in self_attention.named_parameters():
            if "query" in name or "q_proj" in name:
                parameter.zero_()
    outputs: list[Any] = []
    self_attention.register_forward_hook(lambda _module, _inputs, output: outputs.append(output[1]))
    with torch.no_grad():
        model(**inputs, output_attentions=True)
    return np.asarray(outputs[0].numpy(), dtype=np.float64)


def softmax(logits: Floats) -> Floats:
    weights = np.exp(logits)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def image(model: Any, side: int = 32) -> Any:
    channels = getattr(model.config, "num_channels", 3)
    draws = torch.Generator().manual_seed(0)
    return torch.randn(1, channels, side, side, generator=draws).double()


def self_attention_of(block: Any) -> Any:
    return getattr(block.attention, "self", block.attention)


@pytest.mark.parametrize("family", ["swin", "donut-swin", "swinv2"])
def test_the_bias_is_what_the_forward_pass_adds(family: str, tmp_path: Path) -> None:
    model = build(family, **SWIN)
    ours = kernels(model, tmp_path)["vision stage 0 block 0"]
    theirs = attention_without_content(
        model, self_attention_of(model.encoder.layers[0].blocks[0]), pixel_values=image(model)
    )
    close(np.broadcast_to(softmax(ours), theirs.shape), theirs)


@pytest.mark.parametrize("family", ["swin", "donut-swin", "maskformer-swin"])
def test_the_bias_of_every_layer_equals_that_of_its_module(family: str, tmp_path: Path) -> None:
    model = build(family, **SWIN)
    ours = kernels(model, tmp_path)
    assert list(ours) == [
        "vision stage 0 block 0",
        "vision stage 0 block 1",
        "vision stage 1 block 0",
    ]
    for part, kernel in ours.items():
        _, _, stage, _, block = part.split()
        attention = self_attention_of(model.encoder.layers[int(stage)].blocks[int(block)])
        holder = getattr(attention, "relative_position_bias", attention)
        theirs = holder.relative_position_bias_table[
            holder.relative_position_index.view(-1)
        ].reshape(16, 16, -1)
        assert_array_equal(kernel, theirs.detach().permute(2, 0, 1).numpy())


V2: list[dict[str, Any]] = [{}, {"pretrained_window_sizes": [6, 3]}, {"window_size": 16},
                            {"image_size": 8, "window_size": 3, "depths": [1, 1, 1],
                             "num_heads": [2, 2, 2]}]  # fmt: skip


@pytest.mark.parametrize("options", V2)
def test_the_bias_of_swin_v2_is_its_networks_output(options: Any, tmp_path: Path) -> None:
    model = build("swinv2", **{**SWIN, **options})
    for part, kernel in kernels(model, tmp_path).items():
        _, _, stage, _, block = part.split()
        attention = model.encoder.layers[int(stage)].blocks[int(block)].attention.self
        with torch.no_grad():
            table = attention.continuous_position_bias_mlp(
                attention.relative_coords_table.double()
            ).view(-1, attention.num_attention_heads)
            n = attention.window_size[0] * attention.window_size[1]
            theirs = 16 * torch.sigmoid(
                table[attention.relative_position_index.view(-1)].view(n, n, -1).permute(2, 0, 1)
            )
        close(kernel, theirs)


def test_the_bias_of_swin2sr_without_stages_equals_that_of_its_module(tmp_path: Path) -> None:
    model = build("swin2sr", **{**SWIN, "image_size": 8, "patch_size": 1})
    ours = kernels(model, tmp_path)["vision stage 1 block 0"]
    theirs = attention_without_content(
        model, model.encoder.stages[1].layers[0].attention.self, pixel_values=image(model, 8)
    )
    close(np.broadcast_to(softmax(ours), theirs.shape), theirs)


@pytest.mark.parametrize("family", ["beit", "data2vec-vision"])
@pytest.mark.parametrize("shared", [True, False])
def test_the_bias_of_beit_is_its_modules(family: str, shared: bool, tmp_path: Path) -> None:
    options = {"use_shared_relative_position_bias": shared,
               "use_relative_position_bias": not shared}  # fmt: skip
    model = build(family, **BEIT, **options)
    ours = kernels(model, tmp_path)
    assert list(ours) == (["vision"] if shared else ["vision layer 0", "vision layer 1"])
    holders = [
        module
        for name, module in model.named_modules()
        if hasattr(module, "relative_position_bias_table")
    ]
    for kernel, holder in zip(ours.values(), holders, strict=True):
        theirs = holder((4, 4)).detach().numpy().reshape(2, 17, 17)[:, 1:, 1:]
        close(kernel, theirs)


def test_the_bias_of_beit_is_what_its_forward_pass_adds(tmp_path: Path) -> None:
    model = build("beit", **BEIT, use_relative_position_bias=True)
    ours = kernels(model, tmp_path)["vision layer 0"]
    modules = (module for module in model.modules() if hasattr(module, "q_proj"))
    weights = attention_without_content(model, next(modules), pixel_values=image(model))
    theirs = weights[0, :, 1:, 1:]
    close(softmax(ours), theirs / theirs.sum(axis=-1, keepdims=True))


def test_the_bias_of_levit_equals_that_of_its_module_with_fewer_queries(tmp_path: Path) -> None:
    model = build("levit", image_size=64)
    ours = kernels(model, tmp_path)
    holders = {
        name: module
        for name, module in model.named_modules()
        if hasattr(module, "attention_biases")
    }
    assert len(ours) == len(holders) == 14
    for kernel, holder in zip(ours.values(), holders.values(), strict=True):
        theirs = holder.get_attention_biases("cpu").detach().numpy()
        step = round((kernel.shape[1] / theirs.shape[1]) ** 0.5)
        side = round(kernel.shape[1] ** 0.5)
        looks = np.arange(side * side).reshape(side, side)[::step, ::step].ravel()
        assert_array_equal(kernel[:, looks], theirs)


def test_the_patches_of_clap_are_of_audio() -> None:
    name = "audio_encoder.layers.0.blocks.0.attention.self.relative_position_bias_table"
    (encoding,) = find(DictFiles(arrays={name: np.zeros((9, 2))}))
    assert encoding.part == "audio stage 0 block 0"


NAME = "layers.0.attention.relative_position_bias_table"


def table(n_rows: int, n_heads: int = 1) -> Floats:
    return np.arange(float(n_rows * n_heads)).reshape(n_rows, n_heads)


def test_the_rows_for_cls_are_omitted_with_a_note() -> None:
    encoding = find(DictFiles(arrays={NAME: table(12)}))[0]
    assert_array_equal(form_of(encoding, WindowBias).values.ravel(), np.arange(9.0)[::-1])
    assert "last 3 of the 12 stored rows are for [CLS]" in encoding.notes[0]


@pytest.mark.parametrize(
    ("config", "n_rows"),
    [({"window_size": [2, 3]}, 15), ({"image_size": [16, 24], "patch_size": 8}, 18)],
)
def test_a_window_that_is_oblong_is_read_from_the_config(config: Any, n_rows: int) -> None:
    assert form_of(find(DictFiles(config, {NAME: table(n_rows)}))[0], WindowBias).grid == (2, 3)


def test_layers_are_in_numerical_order_with_distinct_parts() -> None:
    names = [
        f"layers.{stage}.blocks.{block}.relative_position_bias_table"
        for stage in (1, 0)
        for block in (10, 2)
    ]
    encodings = find(DictFiles(arrays=dict.fromkeys(names, table(9))))
    assert [encoding.part for encoding in encodings] == [
        f"vision stage {place}" for place in ("0 block 2", "0 block 10", "1 block 2", "1 block 10")
    ]
    encodings = find(DictFiles(arrays=dict.fromkeys((f"a.{NAME}", f"b.{NAME}"), table(9))))
    assert len({encoding.record.key for encoding in encodings}) == 2
