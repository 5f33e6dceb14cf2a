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
from safetensors.numpy import save

import position_atlas
from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.diffusion_transformers import ROTATED, Axes
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.sources import hub
from generator.encodings import Rotation
from generator.errors import RowError
from generator.reading.evidence import look_closely
from tests import inline
from tests.hub_server import Hub, Repository, serving
from tests.synthetic import binary, write_list

COMMIT = "a" * 40
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


@pytest.mark.parametrize(
    "settings",
    [
        {"_class_name": "FluxTransformer2DModel", "axes_dims_rope": [16, 56, 56]},
        {"_class_name": "Flux2Transformer2DModel", "axes_dims_rope": [32, 32, 32, 32]},
        {"_class_name": "BriaTransformer2DModel", "axes_dims_rope": [0, 64, 64]},
        {"_class_name": "ZImageTransformer2DModel", "axes_dims": [32, 48, 48]},
    ],
)
def test_components_of_axes_that_a_file_gives_are_no_default(settings: dict[str, Any]) -> None:
    [key] = settings.keys() - {"_class_name"}
    for one in look_closely(ConfigAlone(settings, "own")).measured:
        assert (one.origins["rotary_dim"].keys, one.origins["rotary_dim"].default_of) == (
            (key,), None,
        )  # fmt: skip


def test_a_base_that_a_class_does_not_read_is_none() -> None:
    """FluxTransformer2DModel has no setting for it, Flux2Transformer2DModel has."""
    assert read("FluxTransformer2DModel", {"rope_theta": 5.0})[0][16] == {1e4}
    assert read("Flux2Transformer2DModel", {"rope_theta": 5.0})[0] == {32: {5.0}}


def contents(n_single: int, *others: str) -> dict[str, bytes]:
    """Files of Flux in small; ``scheduler`` is no model. others: what the pipeline names too"""
    clip = {"model_type": "clip_text_model", "hidden_size": 16, "num_hidden_layers": 1,
            "num_attention_heads": 2, "max_position_embeddings": 7, "vocab_size": 9}  # fmt: skip
    flux = {"_class_name": "FluxTransformer2DModel", "num_layers": 1, "num_single_layers": n_single}
    named = {name: ["of", "any"] for name in ("scheduler", "text_encoder", "transformer", *others)}
    files: dict[str, object] = {
        "model_index.json": {"_class_name": "FluxPipeline", **named},
        "scheduler/scheduler_config.json": {},
        "text_encoder/config.json": clip,
        "transformer/config.json": flux,
    }
    return {name: json.dumps(content).encode() for name, content in files.items()}


def pipeline(folder: Path, n_single: int, *others: str) -> str:
    for name, content in contents(n_single, *others).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return str(folder)


def test_a_pipeline_is_the_models_that_it_names(tmp_path: Path) -> None:
    one, other = pipeline(tmp_path / "one", 2), pipeline(tmp_path / "other", 3)
    inspected = inline.run("inspect", one, "--json", home=tmp_path)
    ids = [each["id"] for each in json.loads(inspected.stdout)]
    assert ids == [f"{one}/text_encoder", f"{one}/transformer"]
    assert inline.run("lint", one, home=tmp_path).returncode == 0
    compared = inline.run("compare", one, other, home=tmp_path)
    assert compared.returncode == 1
    layers = "The transformer has 3 layers in A and 4 layers"
    assert f"transformer:\ndifferent\n  - {layers}" in compared.stdout
    alone = inline.run("compare", one, f"{other}/transformer", home=tmp_path)
    assert (alone.returncode, "text_encoder: a part of" in alone.stderr) == (2, True)
    with pytest.raises(RowError, match=r"expected the folder of one part, such as .*/text_encoder"):
        position_atlas.read(one)


def test_a_pipeline_leads_to_no_other_folder(tmp_path: Path) -> None:
    """Nor to more models than any has."""
    pipeline(tmp_path, 2)
    pipeline(tmp_path / "one", 2, "../text_encoder")
    inspected = inline.run("inspect", str(tmp_path / "one"), "--json", home=tmp_path)
    assert len(json.loads(inspected.stdout)) == 2
    many = [f"part_{index}" for index in range(31)]
    for name in many:
        (tmp_path / "one" / name).mkdir()
        (tmp_path / "one" / name / "config.json").write_text("{}", encoding="utf-8")
    pipeline(tmp_path / "one", 2, *many)
    refused = inline.run("inspect", str(tmp_path / "one"), home=tmp_path)
    assert "model_index.json names 33 models; expected at most 32" in refused.stderr


@pytest.fixture
def published(tmp_path: Path) -> Iterator[Hub]:
    """A pipeline on the Hub, with weights, and files that it does not name."""
    table = {"text_model.embeddings.position_embedding.weight": binary(7, 16)}
    unnamed = ("config.json.bak", "vae/config.json", "flux.safetensors")
    files = {
        **contents(2),
        "text_encoder/model.safetensors": save(table),
        "transformer/diffusion_pytorch_model.safetensors": save({"proj_out.weight": binary(4, 4)}),
        **dict.fromkeys(unnamed, b"{}"),
    }
    with serving({"atlas/flux": Repository({COMMIT: files}, {"main": COMMIT})}) as hub:
        yield hub


def test_a_pipeline_on_the_hub_is_the_models_that_it_names(published: Hub, tmp_path: Path) -> None:
    endpoint = published.endpoint
    inspected = inline.run("inspect", "atlas/flux", "--json", home=tmp_path, endpoint=endpoint)
    text, images = json.loads(inspected.stdout)
    assert (text["id"], images["id"]) == ("atlas/flux/text_encoder", "atlas/flux/transformer")
    [row] = [each for each in text["encodings"] if each["scheme"] == "learned"]
    assert row["tensor"] == "text_model.embeddings.position_embedding.weight"
    assert len(images["encodings"]) == 2
    named = {name for name in published.downloads() if "/" in name}
    assert {name.partition("/")[0] for name in named} == {"text_encoder", "transformer"}
    listed = [request for request in published.log if "/revision/" in request.path]
    assert len(listed) == 1
    linted = inline.run("lint", "atlas/flux", home=tmp_path, endpoint=endpoint)
    assert (linted.returncode, linted.stderr) == (0, "")
    again = inline.run("inspect", "atlas/flux/transformer@main", home=tmp_path, endpoint=endpoint)
    assert (again.returncode, "Layers of the transformer: 3" in again.stdout) == (0, True)


def test_a_row_of_a_pipeline_on_the_hub_is_an_entry_for_each_model(
    published: Hub, tmp_path: Path
) -> None:
    rows, out = write_list(tmp_path, [{"hub": "atlas/flux"}]), tmp_path / "out"
    command = ["build", "--config", str(rows), "--output", str(out)]
    done = inline.run(*command, home=tmp_path, endpoint=published.endpoint)
    assert done.returncode == 0
    found = json.loads((out / "site/data/atlas.json").read_text(encoding="utf-8"))["checkpoints"]
    assert [(row["id"], row["revision"]) for row in found] == [
        ("atlas/flux/text_encoder", COMMIT), ("atlas/flux/transformer", COMMIT),
    ]  # fmt: skip
    address = f"https://huggingface.co/atlas/flux/tree/{COMMIT}/transformer"
    assert hub.SOURCE.address("atlas/flux/transformer", COMMIT) == address
    published.log.clear()
    offline = inline.run(*command, "--offline", home=tmp_path, endpoint=published.endpoint)
    assert (offline.returncode, published.log) == (0, [])


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
