"""Sinusoids of heads for feature maps, against the modules of transformers."""

from importlib import import_module
from typing import Any

import pytest
import torch

from generator.encodings import PositionTable
from generator.schemes.sinusoidal import SCHEME
from tests.support import DictFiles, close, form_of, found_by

FLOAT32 = 1e-5
HYBRID = {"rt_detr": "RTDetr", "rt_detr_v2": "RTDetrV2", "d_fine": "DFine", "deimv2": "Deimv2",
          "pp_doclayout_v2": "PPDocLayoutV2", "pp_doclayout_v3": "PPDocLayoutV3",
          "pp_doclayout_v4": "PPDocLayoutV4"}  # fmt: skip
MASKS = {"maskformer": "MaskFormer", "mask2former": "Mask2Former", "oneformer": "OneFormer"}
MODULE = "SinePositionEmbedding"


def module_of(family: str, prefix: str, *sizes: Any, **options: Any) -> Any:
    place = import_module(f"transformers.models.{family}.modeling_{family}")
    return getattr(place, prefix + MODULE)(*sizes, **options)


def found(config: dict[str, Any]) -> Any:
    (encoding,) = found_by(SCHEME, DictFiles(config))
    return encoding


def config_of(family: str) -> dict[str, Any]:
    width = {"decoder_config": {"d_model": 16}} if family == "maskformer" else {"hidden_dim": 16}
    return {"model_type": family, **width, "backbone_config": {"image_size": [96, 160]}}


@pytest.mark.parametrize("base", [10000, 20])
@pytest.mark.parametrize(("family", "prefix"), HYBRID.items())
def test_a_hybrid_encoder_has_its_modules_sinusoid(family: str, prefix: str, base: int) -> None:
    config = {"model_type": family, "encoder_hidden_dim": 16, "anchor_image_size": [96, 160],
              "positional_encoding_temperature": base}  # fmt: skip
    encoding = found(config)
    theirs = (
        module_of(family, prefix, 16, base)(5, 3, torch.device("cpu"), torch.float32)[0]
        .double()
        .numpy()
    )
    form = form_of(encoding, PositionTable)
    close(form.vectors, theirs, FLOAT32)
    assert (encoding.part, form.grid) == ("vision", (3, 5))


@pytest.mark.parametrize(("family", "prefix"), MASKS.items())
def test_a_mask_head_has_the_sinusoid_of_its_module(family: str, prefix: str) -> None:
    encoding = found(config_of(family))
    made = module_of(family, prefix, 8, normalize=True)(
        torch.Size((1, 16, 3, 5)), torch.device("cpu"), torch.float32
    )
    form = form_of(encoding, PositionTable)
    close(form.vectors, made[0].flatten(1).T, FLOAT32)
    assert (encoding.part, form.grid) == ("vision", (3, 5))


def test_the_size_and_the_stride_are_those_of_the_config_or_assumptions_with_a_note() -> None:
    (given,) = found(config_of("oneformer")).notes
    assert "stride 32, for images of 96 × 160 pixels (as given by its config): 3 rows by 5" in given
    (assumed,) = found({"model_type": "rt_detr"}).notes
    assert (
        "640 × 640 pixels (an assumption, because its config gives no size): 20 rows by 20"
        in assumed
    )
    strides = {"feat_strides": [8, 16, 32], "encode_proj_layers": [1]}
    assert found({"model_type": "rt_detr", **strides}).form.grid == (40, 40)
