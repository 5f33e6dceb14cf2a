"""Train a small GPT-2 with and without its table of positions, and keep what each can do:
python -m benchmarks.without_encoding

Bytes are tokens, and the text is Persuasion, whose last tenth is not trained on. But for the table,
which one of the two has not, both are the same model with the same settings and data.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from generator.numerics.arrays import Array, Floats
from generator.numerics.hidden_states import Sums, probe

ROOT = Path(__file__).parent.parent
TEXT = ROOT / "references" / "persuasion" / "text.txt"
FILE = ROOT / "generator" / "schemes" / "none" / "trained.json"
SEEDS = (0, 1, 2)
STEPS, BATCH, CONTEXT = 1000, 8, 64
WIDTH, LAYERS, HEADS = 64, 4, 4
RATE, WARM_UP, DECAY, CLIP = 4e-3, 50, 0.1, 1.0
LOSSES = "with", "without", "taken away"
HELD_OUT = 0.1  # of the text, at its end
FITTED, TRIED = 256, 128  # pieces of a probe
LEFT_OUT = 4  # First positions, as in “Position in hidden states”.


def model(*, has_table: bool) -> Any:
    """A GPT-2 of bytes with random weights; without its table, all positions have the vector 0."""
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes = {"n_positions": CONTEXT, "n_embd": WIDTH, "n_layer": LAYERS, "n_head": HEADS}
    none = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)
    words = {"vocab_size": 256, "bos_token_id": 0, "eos_token_id": 0}
    made = GPT2LMHeadModel(GPT2Config(**sizes, **none, **words, loss_type="ForCausalLM"))
    if not has_table:
        without_table(made)
    return made


def without_table(trained: Any) -> None:
    """Give every position the vector 0, which training leaves as it is."""
    table = trained.transformer.wpe.weight
    table.data.zero_()
    table.requires_grad_(requires_grad=False)


def train(data: Array, seed: int, steps: int, *, has_table: bool) -> tuple[Any, Any]:
    """A model before and after training on ``data``, bytes."""
    import copy

    import torch

    torch.manual_seed(seed)
    trained = model(has_table=has_table)
    before = copy.deepcopy(trained)
    weights = [each for each in trained.parameters() if each.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=RATE, betas=(0.9, 0.98), weight_decay=DECAY)
    draws = np.random.default_rng(seed)
    for step in range(1, steps + 1):
        batch = pieces(data, BATCH, draws)
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1.0, step / WARM_UP, 2.0 * (1.0 - (step - 1) / steps))
        loss = trained(input_ids=batch, labels=batch).loss
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, CLIP)
        optimiser.step()
    return before.eval(), trained.eval()


def pieces(data: Array, count: int, draws: np.random.Generator) -> Any:
    """Pieces of ``data`` from random places: (count, CONTEXT), int64."""
    import torch

    starts = draws.integers(len(data) - CONTEXT, size=count)
    return torch.from_numpy(np.stack([data[start : start + CONTEXT] for start in starts]))


def loss_of(trained: Any, held: Array) -> float:
    """Nats per byte on the whole held-out text, in pieces of CONTEXT that follow each other."""
    import torch

    n_pieces = len(held) // CONTEXT
    inputs = torch.from_numpy(held[: n_pieces * CONTEXT].reshape(n_pieces, CONTEXT))
    with torch.inference_mode():
        return float(trained(input_ids=inputs, labels=inputs).loss)


def recovered(read: Any, data: Array, held: Array) -> Floats:
    """Share of the position's variance that a linear probe recovers at the input and after each
    layer: (LAYERS + 1,). The probe is fitted to pieces of ``data`` and tried on those of ``held``.
    """
    import torch

    draws = np.random.default_rng(0)
    inputs = [pieces(data, FITTED, draws), pieces(held, TRIED, draws)]
    with torch.inference_mode():
        fitted, tried = (read(input_ids=each, output_hidden_states=True).hidden_states
                         for each in inputs)  # fmt: skip
    positions = np.arange(LEFT_OUT, CONTEXT)
    found = []
    for one, other in zip(fitted, tried, strict=True):
        sums = Sums(positions.astype(float), WIDTH)
        sums.add(one[:, positions].double().numpy())
        missed = probe(sums).missed(other[:, positions].double().numpy())
        found.append(1.0 - float(missed.mean()))
    return np.array(found)


def loss_of_frequencies(data: Array, held: Array) -> float:
    """Nats per byte on ``held`` of how often each byte is in ``data``, each counted once more."""
    shares = np.bincount(data, minlength=256) + 1.0
    return float(-np.log(shares / shares.sum())[held].mean())


def measured(steps: int, note: Callable[[str], None] = typer.echo) -> dict[str, Any]:
    """Losses by seed and of frequencies, and shares by seed and layer."""
    text = np.frombuffer(TEXT.read_bytes(), dtype=np.uint8).astype(np.int64)
    end = int(len(text) * (1.0 - HELD_OUT))
    data, held = text[:end], text[end:]
    losses: dict[str, list[float]] = {name: [] for name in LOSSES}
    shares: dict[str, list[list[float]]] = {"trained": [], "random": []}
    for seed in SEEDS:
        _, with_table = train(data, seed, steps, has_table=True)
        losses["with"].append(loss_of(with_table, held))
        without_table(with_table)
        losses["taken away"].append(loss_of(with_table, held))
        before, trained = train(data, seed, steps, has_table=False)
        losses["without"].append(loss_of(trained, held))
        for name, read in (("trained", trained), ("random", before)):
            shares[name].append(recovered(read, data, held).round(4).tolist())
        note(f"seed {seed}: " + ", ".join(f"{name} {of[-1]:.3f}" for name, of in losses.items()))
        note(str(shares["trained"][-1]) + str(shares["random"][-1]))
    rounded = {name: [round(each, 4) for each in of] for name, of in losses.items()}
    frequencies = round(loss_of_frequencies(data, held), 4)
    return {"losses": rounded, "frequencies": frequencies, "shares": shares}


def main(
    file: Annotated[Path, typer.Option(help="Where the numbers go.")] = FILE,
    steps: Annotated[int, typer.Option(min=1)] = STEPS,
) -> None:
    """Train both models with each seed and write what they can do."""
    import torch

    torch.set_num_threads(1)
    found = json.dumps(measured(steps), indent=1)
    file.write_text(found + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
