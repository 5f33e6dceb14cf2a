"""Transformers of diffusers: what is read of a config is what the class makes of it."""

import inspect
import json
import pkgutil
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

import position_atlas
from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.diffusion_transformers import ROTATED, Axes
from generator.checkpoints.model.layer_map import layer_map
from generator.encodings import Rotation
from generator.errors import RowError
from generator.reading.evidence import look_closely
from tests import inline

TRANSFORMERS = "diffusers.models.transformers"
# What a class needs that it has no default for.
NEEDED: Mapping[str, Mapping[str, Any]] = {
    "HiDreamImageTransformer2DModel": {
        "patch_size": 2,
        "caption_channels": [64] * 2,
        "llama_layers": [0, 1],
    },
}
# Classes with axes, and more than the same rotation in all blocks of full attention.
MORE_THAN_AXES = {
    "AnyFlowFARTransformer3DModel": "attention by chunks",
    "CogView4Transformer2DModel": "positions are scaled to a side of 256",
    "Cosmos3OmniTransformer": "axes take turns",
    "Kandinsky5Transformer3DModel": "blocks of text turn by one axis",
    "Kandinsky6Transformer3DModel": "blocks of text and of sound turn by one axis",
    "Kandinsky6SRTransformer3DModel": "no setting has the width of a head",
    "SanaVideoTransformer3DModel": "linear attention",
    "SanaWMTransformer3DModel": "linear attention",
}
OF_AXES = ("axes_dim", "axes_dims", "rope_dim", "rope_dim_list", "rope_axes_dim")
NAMED = (("t_dim", "h_dim", "w_dim"), ("DT", "DY", "DX"))
OF_BASE = ("theta", "rope_theta", "base", "max_period")
TURNS = re.compile(r"rot|rope|freqs|pos_embed|^pe$")


def classes() -> Iterator[type[Any]]:
    """Every transformer of the installed diffusers."""
    package = import_module(TRANSFORMERS)
    for each in pkgutil.iter_modules(package.__path__):
        module = import_module(f"{TRANSFORMERS}.{each.name}")
        for found in vars(module).values():
            is_own = inspect.isclass(found) and found.__module__ == module.__name__
            if is_own and hasattr(found, "load_config"):
                yield found


def built(of: type[Any], settings: Mapping[str, Any]) -> Any:
    with torch.device("meta"):
        return of(**{**NEEDED.get(of.__name__, {}), **settings})


def axes_of(model: Any) -> tuple[tuple[int, ...], float | None] | None:
    """Components of each axis, and the base, of the module that has them; None without one."""
    children = [each for each in vars(model).values() if hasattr(each, "__dict__")]
    for part in (*model.children(), *children, model):
        own = vars(part)
        named = [[own[name] for name in names] for names in NAMED if own.keys() >= {*names}]
        sizes = next((own[name] for name in OF_AXES if name in own), named[0] if named else None)
        if sizes is None and {"attention_head_dim", "max_seq_len"} <= own.keys():
            third = own["attention_head_dim"] // 3  # As their forward has it.
            sizes = [own["attention_head_dim"] - 2 * third, third, third]
        if isinstance(sizes, list | tuple):
            defaults = inspect.signature(type(part)).parameters
            bases = [own.get(name) for name in OF_BASE]
            bases += [defaults[name].default for name in OF_BASE if name in defaults]
            return tuple(sizes), next((each for each in bases if each), None)
    return None


def n_blocks(model: Any) -> int:
    """Blocks that take a rotation."""
    lists = [each for each in model.children() if isinstance(each, torch.nn.ModuleList) and each]
    return sum(
        len(each)
        for each in lists
        if any(map(TURNS.search, inspect.signature(_inner(each[0]).forward).parameters))
    )


def _inner(block: Any) -> Any:
    return getattr(block, "block", block)


def read(name: str, settings: Mapping[str, Any]) -> tuple[dict[int, set[float]], int, int]:
    """Bases by the size of an axis, the number of layers, and the width of a head."""
    files = ConfigAlone({"_class_name": name, **settings}, "own")
    found = look_closely(files).measured
    forms = [one.form for one in found if isinstance(one.form, Rotation)]
    bases: dict[int, set[float]] = {}
    for form in forms:
        bases.setdefault(form.rotary_dim, set()).add(form.base)
    [head_dim] = {form.head_dim for form in forms}
    return bases, len(layer_map(files, found)), head_dim


def changed(axes: Axes) -> dict[str, Any]:
    """Other values of every setting that is read."""
    layers = {
        name: [0, 1] if isinstance(axes.others[name], list) else 2 + index
        for index, name in enumerate(dict.fromkeys(axes.layers))
    }
    sizes = {axes.setting: [*axes.default[::-1]]} if axes.setting else {axes.head[0]: 60}
    return {**layers, **sizes, **({axes.base_key: 777} if axes.base_key else {})}


@pytest.mark.parametrize("name", ["ChromaTransformer2DModel", "FluxTransformer2DModel"])
def test_blocks_of_one_stream_are_layers_too(name: str) -> None:
    """19 blocks of two streams and 38 of one, in each of these."""
    given = {"num_layers": 19, "num_single_layers": 38, "attention_head_dim": 128}
    assert read(name, given) == ({16: {1e4}, 56: {1e4}}, 57, 128)
    assert read(name, {}) == read(name, given)
    [first, _] = look_closely(ConfigAlone({"_class_name": name, **given}, "own")).measured
    assert first.origins["base"].default_of == name
    assert first.origins["head_dim"].keys == ("attention_head_dim",)


def test_a_base_that_a_class_does_not_read_is_none() -> None:
    """FluxTransformer2DModel has no setting for it, Flux2Transformer2DModel has."""
    assert read("FluxTransformer2DModel", {"rope_theta": 5.0})[0][16] == {1e4}
    assert read("Flux2Transformer2DModel", {"rope_theta": 5.0})[0] == {32: {5.0}}


def pipeline(folder: Path, n_single: int) -> str:
    """Flux in small; ``scheduler`` is no model."""
    clip = {"model_type": "clip_text_model", "hidden_size": 16, "num_hidden_layers": 1,
            "num_attention_heads": 2, "max_position_embeddings": 7, "vocab_size": 9}  # fmt: skip
    flux = {"_class_name": "FluxTransformer2DModel", "num_layers": 1, "num_single_layers": n_single}
    named = {name: ["of", "any"] for name in ("scheduler", "text_encoder", "transformer")}
    contents = {
        "model_index.json": {"_class_name": "FluxPipeline", **named},
        "scheduler/scheduler_config.json": {},
        "text_encoder/config.json": clip,
        "transformer/config.json": flux,
    }
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return str(folder)


def test_a_pipeline_is_the_models_that_it_names(tmp_path: Path) -> None:
    one, other = pipeline(tmp_path / "one", 2), pipeline(tmp_path / "other", 3)
    inspected = inline.run("inspect", one, "--json", home=tmp_path)
    ids = [each["id"] for each in json.loads(inspected.stdout)]
    assert ids == [f"{one}/text_encoder", f"{one}/transformer"]
    assert inline.run("lint", one, home=tmp_path).returncode == 0
    compared = inline.run("compare", one, other, home=tmp_path)
    assert compared.returncode == 1
    assert (
        "transformer:\ndifferent\n  - The vision has 3 layers in A and 4 layers" in compared.stdout
    )
    alone = inline.run("compare", one, f"{other}/transformer", home=tmp_path)
    assert (alone.returncode, "text_encoder: a part of" in alone.stderr) == (2, True)
    with pytest.raises(RowError, match=r"expected the folder of one part, such as .*/text_encoder"):
        position_atlas.read(one)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::FutureWarning")  # Of diffusers, by its own classes.
def test_every_class_of_diffusers_is_read_as_it_is_built_or_not_at_all() -> None:
    wrong, seen = {}, set()
    for of in classes():
        name = of.__name__
        axes, settings = ROTATED.get(name), list[dict[str, Any]]([{}])
        if axes is not None:
            settings.append(changed(axes))
            seen.add(name)
        for given in settings:
            try:
                model = built(of, given)
            except (TypeError, ValueError):  # Without defaults for all.
                found = None
            else:
                found = axes_of(model)
            if axes is None:
                if found is not None and name not in MORE_THAN_AXES:
                    wrong[name] = str(found)
            elif found is None:
                wrong[name] = "not built"
            else:
                sizes, base = found
                expected = {size: {base} for size in sizes}, n_blocks(model)
                if read(name, given)[:2] != expected:
                    wrong[name] = f"{given}: {read(name, given)} for {expected}"
    assert wrong == {}
    assert seen == set(ROTATED)
