"""Checkpoints as training programs leave them on a disk: each is read, or ends in one sentence that
says what to do.

What torch, numpy, safetensors, onnx and gguf write is written by them; other layouts are made
by hand, with the names that their programs give.
"""

import json
import re
import warnings
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from onnx import helper
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import save_file
from torch import nn

from generator.checkpoints import list_file
from generator.checkpoints.files.library_errors import as_row_error
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import row_text
from generator.checkpoints.sources.folder import SOURCE
from generator.contracts import Checkpoint, Encoding, Files
from generator.encodings import Form
from generator.errors import RowError
from generator.reading import plan
from generator.reading.find import find
from tests import gguf_files, inline
from tests.checkpoints import onnx_files
from tests.hub_server import Repository, serving
from tests.support import checkpoint

TABLE = torch.randn(24, 16, generator=torch.Generator().manual_seed(0)).div(50)
WORDS = torch.randn(40, 16, generator=torch.Generator().manual_seed(1))
GPT = {"transformer.wte.weight": WORDS, "transformer.wpe.weight": TABLE}
LLAMA = {"tok_embeddings.weight": WORDS, "layers.0.attention.wq.weight": torch.ones(16, 16)}
SIZES = {"dim": 16, "n_layers": 2, "n_heads": 2, "vocab_size": 40, "norm_eps": 1e-5}
ARGS = {
    "n_layer": 2, "n_head": 2, "n_embd": 16, "block_size": 24, "bias": False, "vocab_size": 40,
}  # fmt: skip
LITGPT = """
{hf_config: {name: pythia-14m, org: EleutherAI}, block_size: 512, n_layer: 2, n_embd: 16, n_head: 2,
 n_query_groups: 2, head_size: 8, padded_vocab_size: 40, rope_base: 10000, rotary_percentage: 0.25,
 rope_condense_ratio: 1, rope_adjustments: null, sliding_window_size: null}
"""
LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LITGPT_LLAMA = LITGPT.replace("0.25", "1.0").replace(
    "adjustments: null", f"adjustments: {json.dumps({**LLAMA3, 'original_max_seq_len': 8192})}"
)
BLOB = "sha256-" + "c" * 64
MANIFEST = {
    "schemaVersion": 2,
    "layers": [
        {"mediaType": "application/vnd.ollama.image.license", "digest": "sha256:" + "1" * 64},
        {"mediaType": "application/vnd.ollama.image.model", "digest": BLOB.replace("-", ":")},
    ],
}
PLACE = "manifests/registry.ollama.ai/library/tiny/latest"


class Coder(nn.Module):
    """An encoder of torch with positions in a buffer, as the tutorial of torch has it."""

    def __init__(self) -> None:
        super().__init__()
        self.pos_encoder = nn.Module()
        self.pos_encoder.register_buffer("pe", TABLE[:, None])
        layer = nn.TransformerEncoderLayer(16, 2, 16)
        self.transformer_encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.transformer_encoder(values))


def torch_file(name: str, content: object) -> Callable[[Path], object]:
    return lambda folder: torch.save(content, folder / name)


def former(name: str, content: object) -> Callable[[Path], object]:
    """What writes a file in torch's former format."""
    return lambda folder: torch.save(content, folder / name, _use_new_zipfile_serialization=False)


def renamed(make: Callable[[Path], object], made: str, name: str) -> Callable[[Path], object]:
    """What makes the file ``made`` and calls it ``name``."""

    def make_renamed(folder: Path) -> None:
        make(folder)
        (folder / made).rename(folder / name)

    return make_renamed


def files_of(contents: Mapping[str, Any]) -> Callable[[Path], None]:
    """What makes files: of text, of JSON, of bytes, or by torch."""

    def make(folder: Path) -> None:
        for name, content in contents.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, str | bytes):
                path.write_bytes(content.encode() if isinstance(content, str) else content)
            elif name.endswith(".json") or name == PLACE:
                path.write_text(json.dumps(content), encoding="utf-8")
            else:
                torch.save(content, path)

    return make


def prefixed(prefix: str, state: Mapping[str, torch.Tensor] = GPT) -> dict[str, torch.Tensor]:
    return {prefix + name: tensor for name, tensor in state.items()}


def accelerate(folder: Path) -> None:
    """A state folder: accelerator.save_state."""
    save_file(GPT, folder / "model.safetensors")
    torch.save({"state": {}, "param_groups": []}, folder / "optimizer.bin")
    torch.save({}, folder / "scheduler.bin")
    (folder / "random_states_0.pkl").write_bytes(b"any")


def distributed(folder: Path) -> None:
    """FSDP with sharded state dicts."""
    from torch.distributed.checkpoint import state_dict_saver

    with warnings.catch_warnings(action="ignore"):  # Of the single process.
        state_dict_saver.save({"model": GPT}, checkpoint_id=str(folder), no_dist=True)


def script(folder: Path) -> None:
    with warnings.catch_warnings(action="ignore"):  # Of its age.
        model = torch.jit.trace(nn.Linear(16, 16), TABLE)  # type: ignore[no-untyped-call]
    model.save(str(folder / "model.pt"))


def blobs(folder: Path) -> None:
    """A store of Ollama: the model is a GGUF file without an end."""
    (folder / "blobs").mkdir()
    tensors = {"position_embd.weight": TABLE.numpy()}
    made = gguf_files.write(folder / "blobs" / "made.gguf", "gpt2", {}, tensors)
    made.rename(folder / "blobs" / BLOB)
    (folder / "blobs" / ("sha256-" + "1" * 64)).write_text("a licence", encoding="utf-8")
    files_of({PLACE: MANIFEST})(folder)


def packed(numbers: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """Whole numbers (n_rows, n_columns) as MLX packs those of 2, 4 or 8 bits."""
    per_word = 32 // bits
    words = numbers.astype(np.uint32).reshape(len(numbers), -1, per_word)
    shifted = words << (bits * np.arange(per_word, dtype=np.uint32))
    return np.asarray(np.bitwise_or.reduce(shifted, axis=2))


def mlx(folder: Path) -> None:
    numbers = np.random.default_rng(0).integers(0, 16, (24, 64))
    arrays = {
        "model.wpe.weight": packed(numbers, 4),
        "model.wpe.scales": np.full((24, 1), 0.5, np.float16),
        "model.wpe.biases": np.full((24, 1), -4, np.float16),
    }
    save_arrays(arrays, folder / "model.safetensors")
    config = {"model_type": "gpt2", "quantization": {"group_size": 64, "bits": 4}}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")


@dataclass(frozen=True)
class Layout:
    """A layout of files.

    make: writes it into a folder; ends_in: the tensor of its table or the file of its settings, or
        else the sentence; scheme: "" where names of a table are another matter
    pickle: whether a row has to allow one; weights: the file that it has to name with that
    file: of which a row is
    """

    make: Callable[[Path], object]
    ends_in: str
    scheme: str = "learned"
    pickle: bool = False
    weights: str = ""
    file: str = ""


PLAIN = {"table": TABLE}
GRAPH = onnx_files.model(
    [helper.make_node("Gather", ["wpe.weight", "input_ids"], ["out"])],
    onnx_files.tensors_of({"wpe.weight": TABLE.numpy()}),
)
NUMPY: dict[str, Any] = {name: tensor.numpy() for name, tensor in GPT.items()}


def pickled(name: str, content: object, ends_in: str, scheme: str = "learned") -> Layout:
    """A file by torch whose name no format has."""
    return Layout(torch_file(name, content), ends_in, scheme, pickle=True, weights=name)


WPE = "transformer.wpe.weight"
EMB, TURNS = "token_emb.emb.weight", "attn_layers.rotary_pos_emb.inv_freq"
FREQUENCIES = 10_000 ** -torch.arange(0, 1, 1 / 16)
T5 = "attn_layers.rel_pos.relative_attention_bias.weight"
RUN = {"model": GPT, "optimizer": {"state": {0: {"exp_avg": TABLE}}}, "model_args": ARGS}
READ = {
    "nanoGPT": pickled("ckpt.pt", {**RUN, "iter_num": 10}, WPE),
    "torch.compile": pickled("last.pt", prefixed("_orig_mod."), f"_orig_mod.{WPE}"),
    "DistributedDataParallel": pickled(
        "checkpoint.pth", {"epoch": 3, "net": prefixed("module.")}, f"module.{WPE}"
    ),
    "Lightning": pickled(
        "epoch=0-step=1.ckpt",
        {"state_dict": prefixed("model."), "hyper_parameters": {"lr": 0.1}, "loops": {}},
        f"model.{WPE}",
    ),
    "Accelerate": Layout(accelerate, WPE),
    "litgpt": Layout(
        files_of({"lit_model.pth": {"lm_head.weight": WORDS}, "model_config.yaml": LITGPT}),
        "model_config.yaml",
        "rotary",
        pickle=True,
        weights="lit_model.pth",
    ),
    "Meta": Layout(
        files_of({"consolidated.00.pth": LLAMA, "params.json": SIZES}),
        "params.json",
        "rotary",
        True,
    ),
    "Mistral": Layout(
        lambda folder: (
            save_file(LLAMA, folder / "consolidated.safetensors"),
            files_of({"params.json": {**SIZES, "head_dim": 8, "rope_theta": 1e6}})(folder),
        ),
        "params.json",
        "rotary",
    ),
    "x-transformers, absolute": pickled(
        "x.pt", {EMB: WORDS, "pos_emb.emb.weight": TABLE}, "pos_emb.emb.weight"
    ),
    "x-transformers, T5 bias": pickled("x.pt", {T5: torch.randn(32, 4)}, T5, ""),
    "x-transformers, rotary": pickled("x.pt", {TURNS: FREQUENCIES}, TURNS, "rotary"),
    # Nothing of ALiBi is stored.
    "x-transformers, ALiBi": pickled("x.pt", {EMB: WORDS}, EMB, ""),
    "nn.TransformerEncoder": pickled("weights.pth", Coder().state_dict(), "pos_encoder.pe"),
    "timm": pickled(
        "last.pth.tar", {"arch": "vit", "state_dict": {"pos_embed": TABLE[None, :17]}}, "pos_embed"
    ),
    "open_clip": pickled(
        "epoch_1.pt",
        {"name": "run", "state_dict": prefixed("module.", {"positional_embedding": TABLE})},
        "module.positional_embedding",
    ),
    "MLX": Layout(mlx, "model.wpe.weight"),
    "Ollama": Layout(blobs, "position_embd.weight", file=f"blobs/{BLOB}"),
    "Ollama, all blobs": Layout(blobs, "position_embd.weight", file="blobs"),
    ".npy": Layout(
        lambda folder: np.save(folder / "table.npy", TABLE.numpy()), "position_embeddings"
    ),
    ".npy with a name": Layout(
        lambda folder: np.save(folder / "pos_embed.npy", TABLE.numpy()), "pos_embed"
    ),
    ".npz": Layout(lambda folder: np.savez(folder / "run.npz", **NUMPY), WPE),
    "ONNX": Layout(
        lambda folder: (folder / "mine.onnx").write_bytes(GRAPH.SerializeToString()), "wpe.weight"
    ),
    "an unknown end, safetensors": Layout(
        lambda folder: save_file(GPT, folder / "weights.final"), WPE
    ),
    "an unknown end, torch": pickled("weights.final", GPT, WPE),
    "an unknown end, torch's former format": Layout(
        former("weights.final", GPT), WPE, pickle=True, weights="weights.final"
    ),
    "an unknown end, npz": Layout(
        renamed(lambda folder: np.savez(folder / "a.npz", **NUMPY), "a.npz", "weights.final"), WPE
    ),
    "dicts in dicts": pickled(
        "out.pt",
        {"model": {"embedding": {"position_embeddings": {"weight": TABLE}}}},
        "embedding.position_embeddings.weight",
    ),
}
ZERO = {
    "latest": "global_step10",
    "zero_to_fp32.py": "",
    "global_step10/mp_rank_00_model_states.pt": {"module": GPT},
    "global_step10/bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt": {},
}
MEGATRON = {
    "latest_checkpointed_iteration.txt": "100",
    "iter_0000100/mp_rank_00/model_optim_rng.pt": {"args": Namespace(num_layers=2), "model": {}},
}
BY_ZERO = "{where}: a DeepSpeed ZeRO checkpoint … run `python zero_to_fp32.py"
LOAD = "torch cannot load it with weights_only"
ADAPTER = {"peft_type": "LORA", "base_model_name_or_path": "own/gpt"}
# Where what is said of a layout begins, and a part of it after "…".
ENDING = {
    "DeepSpeed": Layout(files_of(ZERO), BY_ZERO, pickle=True),
    "DeepSpeed beside config.json": Layout(
        files_of({**ZERO, "config.json": {"model_type": "gpt2"}}), BY_ZERO, pickle=True
    ),
    "FSDP": Layout(
        distributed,
        "{where}: a checkpoint of torch.distributed.checkpoint … dcp_to_torch {where} weights.pt",
        pickle=True,
    ),
    "Megatron": Layout(
        files_of(MEGATRON), "{where}: a Megatron checkpoint … AutoBridge.export_ckpt", pickle=True
    ),
    "fairseq": Layout(
        torch_file("checkpoint_best.pt", {"args": Namespace(arch="gpt"), "model": GPT}),
        f"{{where}}/checkpoint_best.pt: {LOAD} (argparse.Namespace); … torch.save(model.state_dict",
        pickle=True,
    ),
    "a whole module": Layout(
        torch_file("model.pt", nn.Linear(2, 2)),
        f"{{where}}/model.pt: {LOAD} (torch.nn.modules.linear.Linear); … in the program that made",
        pickle=True,
    ),
    "a whole module in torch's former format": Layout(
        former("m.pt", {"model": nn.Linear(2, 2)}),
        f"{{where}}/m.pt: {LOAD} (torch.nn.modules.linear.Linear); … in the program that made it",
        pickle=True,
    ),
    "a command": Layout(
        files_of({"model.pt": b"\x80\x02cposix\nsystem\nq\x00."}),
        f"{{where}}/model.pt: {LOAD} (posix.system); … in the program that made it",
        pickle=True,
    ),
    "a later protocol": Layout(
        lambda folder: torch.save(GPT, folder / "model.pt", pickle_protocol=4),
        f"{{where}}/model.pt: {LOAD} (Unsupported operand 149); … in the program that made it",
        pickle=True,
    ),
    "TorchScript": Layout(
        script, "{where}/model.pt: TorchScript … torch.jit.load('model.pt').state_dict", pickle=True
    ),
    "TorchScript, by its file": Layout(
        script, "{where}: TorchScript … is never run", pickle=True, file="model.pt"
    ),
    "LoRA": Layout(
        files_of({"adapter_config.json": ADAPTER}),
        "{where}/adapter_config.json: a PEFT adapter … base, own/gpt: name that",
    ),
    "a Keras 3 model": Layout(
        files_of({"model.keras": b"any"}), "{where}/model.keras: a Keras 3 model … numpy.savez"
    ),
    "a store of Ollama": Layout(
        blobs, f"{{where}}: a store of Ollama … {{where}}/blobs/{BLOB} is tiny:latest"
    ),
    "a manifest of Ollama": Layout(
        blobs, f"{{where}}: a manifest of Ollama … model: own/blobs/{BLOB})", file=PLACE
    ),
    "several files": Layout(
        lambda folder: [save_file(GPT, folder / f"{name}.safetensors") for name in "ab"],
        "{where}: no config.json, and 2 files … `- {{folder: own, weights: b.safetensors}}`",
    ),
    "torchtune, whose row allows a pickle": Layout(
        files_of({"meta_model_0.pt": LLAMA, "config.json": {"model_type": "gpt2"}}),
        "{where}: weights only in 'meta_model_0.pt' … weights: meta_model_0.pt, pickle: true}}`",
        pickle=True,
    ),
    "an array of objects": Layout(
        lambda folder: np.save(folder / "table.npy", np.array([{}]), allow_pickle=True),
        "{where}/table.npy: it cannot be read ( … Python objects",
    ),
    "no weights": Layout(
        files_of({"notes.final": "no weights"}), "{where}: no config.json; … beside the weights"
    ),
}


def row(folder: Path, layout: Layout, *, pickle: bool) -> Checkpoint:
    """The row ``folder: own``, or of the file that the layout names."""
    name = "/".join(filter(None, ("own", layout.file)))
    return checkpoint(id=name, place=str(folder / name), pickle=pickle)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder with an empty folder called own."""
    (tmp_path / "own").mkdir()
    return tmp_path


def check_read(files: Files, layout: Layout) -> None:
    """Check that the encoding of a layout was found, or at least its tensor."""
    if layout.scheme:
        found: list[Encoding[Form]] = find(files)
        origins = [(each.scheme, each.provenance.tensor or each.provenance.file) for each in found]
        assert origins == [(layout.scheme, layout.ends_in)]
    else:
        assert layout.ends_in in files.tensors


@pytest.mark.parametrize("layout", READ.values(), ids=READ)
def test_a_layout_is_read(own: Path, layout: Layout) -> None:
    layout.make(own / "own")
    check_read(SOURCE.open(row(own, layout, pickle=layout.pickle), offline=True), layout)


@pytest.mark.parametrize(
    "layout", [pytest.param(each, id=key) for key, each in READ.items() if each.pickle]
)
def test_a_pickle_that_no_row_allows_ends_in_the_row_that_does(own: Path, layout: Layout) -> None:
    layout.make(own / "own")
    with pytest.raises(RowError) as caught:
        assert SOURCE.open(row(own, layout, pickle=False), offline=True).tensors
    weights = {"weights": layout.weights} if layout.weights else {}
    written = row_text({"folder": "own", **weights}, pickle=True)
    assert str(caught.value).endswith(f"set `pickle: true` on the row: `{written}`)")
    (own / "list.yml").write_text(f"checkpoints:\n  {written}\n", encoding="utf-8")
    [pasted] = list_file.load(own / "list.yml", plan.all_sources())
    check_read(SOURCE.open(pasted, offline=True), layout)


@pytest.mark.parametrize("layout", ENDING.values(), ids=ENDING)
def test_a_layout_ends_in_one_sentence(own: Path, layout: Layout) -> None:
    layout.make(own / "own")
    asked = row(own, layout, pickle=layout.pickle)
    with pytest.raises(RowError) as caught:
        assert SOURCE.open(asked, offline=True).tensors
    beginning, _, rest = layout.ends_in.format(where=asked.id).partition(" … ")
    assert str(caught.value).startswith(beginning)
    assert rest in str(caught.value)


def settings_of(folder: Path, contents: Mapping[str, Any]) -> Mapping[str, Any]:
    files_of({"lit_model.pth": LLAMA, **contents})(folder)
    asked = checkpoint(id="own", place=str(folder), pickle=True, weights="lit_model.pth")
    return SOURCE.open(asked, offline=True).config.settings


def test_sizes_of_nanogpt_are_settings_of_no_family(own: Path) -> None:
    READ["nanoGPT"].make(own / "own")
    config = SOURCE.open(row(own, READ["nanoGPT"], pickle=True), offline=True).config
    sizes = ("n_layers", "n_heads", "d_model", "n_positions")
    assert [config.size(name) for name in sizes] == [2, 2, 16, 24]  # type: ignore[arg-type]
    assert (config.family, config.source) == ("unknown", "ckpt.pt")


SMALL = {"dim": 2048, "n_layers": 16, "n_heads": 32}


@pytest.mark.parametrize(
    ("more", "factor"), [({}, 8.0), ({"rope_scaling_factor": 16}, 16), (SMALL, 32.0)]
)
def test_scaled_rope_of_meta_is_that_of_llama_3(
    own: Path, more: Mapping[str, Any], factor: float
) -> None:
    """The factor is 8 in Llama 3.1, and 32 in the small models of 3.2, as transformers has them."""
    given = {**SIZES, "rope_theta": 500000.0, "use_scaled_rope": True, **more}
    settings = settings_of(own / "own", {"params.json": given})
    scaling = {**LLAMA3, "rope_type": "llama3", "original_max_position_embeddings": 8192}
    assert settings["rope_scaling"] == {**scaling, "factor": factor}
    assert settings["rope_theta"] == 500000.0


def test_rope_of_litgpt_is_scaled_as_its_adjustments_say(own: Path) -> None:
    settings = settings_of(own / "own", {"model_config.yaml": LITGPT_LLAMA})
    scaling = {**LLAMA3, "rope_type": "llama3", "original_max_position_embeddings": 8192}
    assert settings["rope_scaling"] == scaling


NOT_LITGPT = [
    "", "[1]", "a: [", "!!python/object/apply:os.system [true]",
    *(LITGPT.replace("sliding_window_size: null", other) for other in (
        "sliding_window_size: 8", "rope_local_base_freq: 10000", "latent_attention: {rank: 4}",
    )),
    LITGPT.replace("rope_adjustments: null", "rope_adjustments: {factor: 2, beta_fast: 32}"),
    LITGPT.replace("rope_base: 10000", "rope_base: [10000]"),
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_LITGPT)
def test_other_settings_of_litgpt_are_not_guessed(own: Path, text: str) -> None:
    assert settings_of(own / "own", {"model_config.yaml": text}) == {}


NANOTRON: Mapping[str, Any] = {
    "is_qwen2_config": True, "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 4,
    "max_position_embeddings": 256, "rope_theta": 5e5, "rope_interleaved": False,
    "rope_scaling": None, "vocab_size": 100, "sliding_window_size": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("more", "family"),
    [({}, "llama"), ({"no_rope_layer": 4}, "smollm3"), ({"sliding_window_size": 8}, None)],
)
def test_settings_of_nanotron_are_those_of_transformers(
    own: Path, more: Mapping[str, Any], family: str | None
) -> None:
    settings = settings_of(own / "own", {"model_config.json": {**NANOTRON, **more}})
    assert settings.get("model_type") == family
    if family:
        assert (settings["rope_theta"], settings["rope_interleave"]) == (5e5, False)
    if family == "smollm3":
        assert settings["no_rope_layer_interval"] == 4


def test_a_model_config_json_of_another_program_is_no_config(own: Path) -> None:
    assert settings_of(own / "own", {"model_config.json": {"hidden_size": 64}}) == {}


@pytest.mark.parametrize("given", [{"dim": 16}, {"lr": 0.1}])
def test_a_params_json_of_another_program_is_no_config(own: Path, given: Mapping[str, Any]) -> None:
    assert settings_of(own / "own", {"params.json": given}) == {}


# What mlx.core.quantize (0.30) makes of two rows of 32 normal numbers, in groups of 32, and the
# first values that its dequantize gives back.
OF_MLX = {
    "wpe.weight": np.array(
        [[3554326884, 1297836552, 2318722735], [1328174876, 3435660980, 2740689789]], np.uint32
    ),
    "wpe.scales": np.array([[0.581257700920105], [-0.4900645911693573]], np.float32),
    "wpe.biases": np.array([[-2.32503080368042], [1.9602583646774292]], np.float32),
}
VALUES = [
    [0, 0, 0.581258, 0, -0.581258, 0.581258, 1.162515, 1.162515, -0.581258, -1.162515, -0.581258],
    [0, 0.490065, 0, 0.490065, -0.490064, 0, 0.980129, 1.470194, -1.470194, 1.470194, 1.470194],
]


def quantised(folder: Path, **settings: object) -> FolderFiles:
    save_arrays(OF_MLX, folder / "model.safetensors")
    config = {"quantization": {"group_size": 32, "bits": 4, **settings}}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return FolderFiles(folder, "here")


def test_a_matrix_that_mlx_quantised_has_the_values_of_its_dequantize(tmp_path: Path) -> None:
    files = quantised(tmp_path, bits=3)
    assert {name: info.shape for name, info in files.tensors.items()} == {"wpe.weight": (2, 32)}
    np.testing.assert_allclose(files.tensor("wpe.weight")[:, :11], VALUES, atol=2e-6)
    rows = files.rows("wpe.weight", [1, 0, 1])
    np.testing.assert_array_equal(rows, files.tensor("wpe.weight")[[1, 0, 1]])
    assert files.notes("wpe.weight") == (
        "MLX stores it in 3 bits per number, and every 32 numbers of a row share a scale and a"
        " bias.",
    )


def test_a_module_may_have_bits_of_its_own(tmp_path: Path) -> None:
    files = quantised(tmp_path, wpe={"group_size": 32, "bits": 3})
    np.testing.assert_allclose(files.tensor("wpe.weight")[:, :11], VALUES, atol=2e-6)


@pytest.mark.parametrize(
    "settings",
    [
        {"bits": 5},
        {"group_size": 16, "bits": 3},
        {"group_size": 20, "bits": 3},
        {"group_size": 13, "bits": 7},
        {"bits": "3"},
        {"bits": 0},
        {"bits": 9},
    ],
)
def test_settings_that_do_not_fit_leave_the_tensors_as_they_are(
    tmp_path: Path, settings: Mapping[str, object]
) -> None:
    files = quantised(tmp_path, **settings)
    assert set(files.tensors) == set(OF_MLX)
    with pytest.raises(RowError, match="dtype U32"):
        files.tensor("wpe.weight")


@pytest.mark.parametrize("name", ["a b.pt", "true.pt", "1.pt", "ä,{}.pt", "x: y.pt"])
def test_the_row_is_valid_whatever_the_file_is_called(own: Path, name: str) -> None:
    torch.save(GPT, own / "own" / name)
    layout = Layout(str, "transformer.wpe.weight", pickle=True, weights=name)
    with pytest.raises(RowError) as caught:
        SOURCE.open(row(own, layout, pickle=False), offline=True)
    written = re.findall("`(- .*?)`", str(caught.value))[-1]
    (own / "list.yml").write_text(f"checkpoints:\n  {written}\n", encoding="utf-8")
    [pasted] = list_file.load(own / "list.yml", plan.all_sources())
    assert (pasted.weights, pasted.pickle) == (name, True)


def test_no_message_has_codes_of_a_terminal() -> None:
    with pytest.raises(RowError) as caught, as_row_error("own", "weights", "no weights"):
        raise ValueError("do so \x1b[1monly if you trust it\x1b[0m, or not")
    assert str(caught.value) == (
        "own: no weights (do so only if you trust it, or not); expected weights"
    )


def test_a_file_that_is_named_is_not_named_twice(own: Path) -> None:
    (own / "own" / "model.pt").write_bytes(b"no weights")
    asked = checkpoint(id="own/model.pt", place=str(own / "own/model.pt"), pickle=True)
    with pytest.raises(RowError, match=r"^own/model.pt: ") as caught:
        assert SOURCE.open(asked, offline=True).tensors
    assert str(caught.value).count("model.pt") == 1


def test_inspect_reads_the_folder_and_prints_its_row(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "own" + "-long" * 20  # Longer than a line: what is pasted stays on one.
    (own / name).mkdir()
    READ["nanoGPT"].make(own / name)
    monkeypatch.chdir(own)
    done = inline.run("inspect", name, "--pickle", home=own / "hub")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"Entry for a list:\n  - {{folder: {name}, pickle: true}}\n")
    assert "so the family is unknown" in done.stdout


def test_a_repository_without_config_is_read_too(own: Path) -> None:
    save_file(GPT, own / "run.safetensors")
    torch.save(GPT, own / "run.pt")
    commit = "a" * 40
    repositories = {}
    for name, file in (("own/safe", "run.safetensors"), ("own/pickled", "run.pt")):
        contents = {file: (own / file).read_bytes(), "README.md": b"any"}
        repositories[name] = Repository({commit: contents}, {"main": commit})
    with serving(repositories) as hub:
        given: dict[str, Any] = {"home": own / "hub", "endpoint": hub.endpoint}
        read, refused = (inline.run("inspect", name, **given) for name in repositories)
    assert "tensor transformer.wpe.weight" in read.stdout
    assert read.stdout.endswith("- {hub: own/safe}\n")
    assert refused.stderr.startswith(f"own/pickled@{commit}: only a pickle")
    assert refused.stderr.endswith("`- {hub: own/pickled, weights: run.pt, pickle: true}`)\n")


def test_inspect_of_a_folder_that_is_not_there_says_so(own: Path) -> None:
    done = inline.run("inspect", "nosuch", home=own / "hub")
    assert done.returncode == 1
    assert done.stderr.startswith(
        "no folder or file 'nosuch', so it was looked for on the Hub: nosuch@main: "
    )


def checked(folder: Path, *rows: str) -> tuple[int, list[str]]:
    text = "".join(f"  - {row}\n" for row in rows)
    (folder / "list.yml").write_text(f"checkpoints:\n{text}", encoding="utf-8")
    done = inline.run("check", "--config", str(folder / "list.yml"), home=folder / "hub")
    return done.returncode, done.stderr.replace(f"{folder}/", "").splitlines()


def test_check_finds_what_is_not_there(own: Path) -> None:
    accelerate(own / "own")
    rows = (
        "folder: own", "folder: o*n", "owner/name",
        "{folder: own, weights: model.safetensors, title: whole}", "folder: none",
        "folder: runs/*/step", "{folder: own, weights: last.pt, title: third}", "run: run.json",
    )  # fmt: skip
    found = (
        "6:5: checkpoints[4].folder: found 'none', and no such folder or file",
        "7:5: checkpoints[5].folder: found 'runs/*/step', and no such folder or file",
        "8:19: checkpoints[6].weights: found 'last.pt', and no such file in 'own'",
        "9:5: checkpoints[7].run: found 'run.json', and no such folder or file",
    )
    ending = "; expected a path relative to this file"
    assert checked(own, *rows) == (1, [f"list.yml:{each}{ending}" for each in found])
