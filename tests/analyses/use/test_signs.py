"""Signs that massive values must have in models of the samples."""

from pathlib import Path

import numpy as np
import pytest
import torch

from generator.analyses.use import pairs

pytestmark = pytest.mark.samples
MGM = Path(__file__).parents[3] / "samples/mgm/resources/general_model"


def test_a_model_with_a_table_of_positions_has_no_massive_values() -> None:
    """Jin et al. 2025, arXiv 2502.01563, section 3: massive values of queries and keys come with
    rotary, and GPT-2 has none. MGM is a GPT-2.
    """
    from transformers import GPT2Model

    model = GPT2Model.from_pretrained(MGM).eval()
    n_heads, fused = model.config.n_head, dict[int, torch.Tensor]()
    for layer, block in enumerate(model.h):
        block.attn.c_attn.register_forward_hook(
            lambda _module, _inputs, output, layer=layer: fused.update({layer: output})
        )
    words = np.random.default_rng(0).integers(10, model.config.vocab_size, (2, 512))
    with torch.inference_mode():
        model(torch.from_numpy(words))
    of_all = np.stack([fused[layer].double().numpy() for layer in sorted(fused)], axis=1)
    squares = (of_all**2).sum(axis=2)  # (n_texts, n_layers, 3 · d_model)
    for each in np.split(squares, 3, axis=2):
        by_head = each.reshape(*each.shape[:2], n_heads, -1)
        assert not pairs._are_massive(by_head).any()
        norms = np.sqrt(by_head.sum(axis=0))
        assert (norms / norms.mean(axis=-1, keepdims=True)).max() < 4.0
