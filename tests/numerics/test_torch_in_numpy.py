"""Rotations that are rescaled without torch: as with it, in every published config."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from numpy.testing import assert_allclose

from generator import libraries
from generator.encodings import Rotation
from generator.encyclopedia.known_models import known_models
from generator.libraries import light_transformers
from generator.reading.find import find


def rescaled() -> Iterator[Rotation]:
    """Every rotation of a published config that transformers rescales."""
    for model in known_models():
        for encoding in find(model.files):
            form = encoding.form
            if isinstance(form, Rotation) and form.is_rescaled and form.rescaled is None:
                yield form


def test_rotations_are_rescaled_as_by_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    by_torch = {
        repr((form.base, form.rotary_dim, form.head_dim, form.n_positions, form.scaling)): form
        for form in rescaled()
    }
    expected = [(form.frequencies, form.attention_factor) for form in by_torch.values()]
    monkeypatch.setattr(libraries, "_without_torch", True)
    for form, (frequencies, factor) in zip(by_torch.values(), expected, strict=True):
        other = replace(form)  # Nothing of it is computed yet.
        assert_allclose(other.frequencies, frequencies, rtol=1e-6)
        assert_allclose(other.attention_factor, factor, rtol=1e-6)
    kinds = light_transformers("modeling_rope_utils").ROPE_INIT_FUNCTIONS
    assert {form.rope_type for form in by_torch.values()} >= {*kinds}


def test_models_have_torch_whatever_was_rescaled_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "_without_torch", True)
    assert libraries.rotary_initialisers().torch.__name__ == libraries.IN_NUMPY
    libraries.import_transformers()
    module = light_transformers("modeling_rope_utils")
    assert libraries.rotary_initialisers().torch.__name__ == module.torch.__name__ == "torch"


def test_what_is_only_compared_needs_no_torch_and_leaves_that_of_models() -> None:
    libraries.import_transformers()
    module = libraries.rotary_initialisers()
    with libraries.only_compared():
        assert libraries.rotary_initialisers().torch.__name__ == libraries.IN_NUMPY
        assert module.torch.__name__ == "torch"
    assert libraries.rotary_initialisers() is module
