"""Train a tiny GPT-2 on the text of this repository, save checkpoints on the way, and keep their
numbers: python -m benchmarks.tiny_gpt

Bytes are tokens. The same seed, text, versions and machine give the same checkpoints.
"""

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from generator.checkpoints import run_file
from generator.contracts import Checkpoint, Outcome, Run, UseOptions
from generator.pipeline import evaluate, runs, use
from generator.reading import plan
from generator.reading.find import all_schemes

ROOT = Path(__file__).parent.parent
FOLDER, NUMBERS = ROOT / "runs" / "tiny-gpt", ROOT / "references" / "tiny-gpt.json"
TITLE = "Tiny GPT on this repository"
TEXTS = (
    "README.md", "CONTRIBUTING.md", "site_src/**/*.md", "templates/**/*.jinja",
    "generator/**/*.py",
)  # fmt: skip
SEED, STEPS, EVERY = 0, 2000, 100
CONTEXT, WIDTH, LAYERS, HEADS = 128, 64, 2, 4
# sequences a step, peak of the learning rate, steps of its linear rise
BATCH, RATE, WARM_UP = 8, 4e-3, 20
DECAY, CLIP = 0.1, 1.0  # of AdamW; of the norm of the gradient


def text() -> bytes:
    """All texts that the model reads, one after the other."""
    paths = [path for pattern in TEXTS for path in sorted(ROOT.glob(pattern))]
    return b"\n".join(path.read_bytes() for path in paths)


def model() -> Any:
    """A GPT-2 of bytes with random weights."""
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes = {"n_positions": CONTEXT, "n_embd": WIDTH, "n_layer": LAYERS, "n_head": HEADS}
    none = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)
    words = {"vocab_size": 256, "bos_token_id": 0, "eos_token_id": 0}
    return GPT2LMHeadModel(GPT2Config(**sizes, **none, **words, loss_type="ForCausalLM"))


def train(data: bytes, steps: int) -> Iterator[tuple[int, Any, float]]:
    """The model before the first step and after each one, with the loss of the step in nats per
    byte.
    """
    import torch

    # The same sums however many processors there are; so small a model is hardly slower.
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    trained = model()
    weights, betas = trained.parameters(), (0.9, 0.98)
    optimiser = torch.optim.AdamW(weights, lr=RATE, betas=betas, weight_decay=DECAY)
    tokens = torch.from_numpy(np.frombuffer(data, dtype=np.uint8).astype(np.int64))
    yield 0, trained, float("nan")
    for step in range(1, steps + 1):
        starts = torch.randint(len(tokens) - CONTEXT, (BATCH,))
        batch = torch.stack([tokens[start : start + CONTEXT] for start in starts])
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1.0, step / WARM_UP)
        loss = trained(input_ids=batch, labels=batch).loss
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained.parameters(), CLIP)
        optimiser.step()
        yield step, trained, loss.item()


def about(data: bytes, steps: int) -> dict[str, object]:
    """What the checkpoints depend on."""
    import torch
    import transformers

    digest = hashlib.sha256(data).hexdigest()
    sizes = {"context": CONTEXT, "width": WIDTH, "layers": LAYERS, "heads": HEADS}
    rates = {"learning_rate": RATE, "warm_up": WARM_UP, "weight_decay": DECAY}
    return {
        "steps": steps,
        "seed": SEED,
        "text": {"files": list(TEXTS), "bytes": len(data), "sha256": digest},
        "model": {**sizes, "tokens": "bytes"},
        "training": {"batch": BATCH, **rates, "clip": CLIP},
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }


def measured(folder: Path) -> Run:
    """The numbers of the checkpoints in ``folder``."""
    name = f"{folder.parent.name}/{folder.name}/checkpoint-*"
    row = Checkpoint(
        folder.name, "folder", name, str(folder / "checkpoint-*"), TITLE, use=UseOptions()
    )
    outcomes = [_outcome(task) for task in plan.plan([row], offline=True)]
    _, [run] = runs.split(outcomes, all_schemes())
    return run


def _outcome(task: plan.Task) -> Outcome:
    """A checkpoint with what its model does."""
    found = {one.measure: evaluate.outcome_of(one) for one in use.measures(task)}
    return use.with_measures(evaluate.outcome_of(task), found)


def main(
    folder: Annotated[Path, typer.Option(help="Where the checkpoints go.")] = FOLDER,
    numbers: Annotated[Path, typer.Option(help="Where their numbers go.")] = NUMBERS,
    steps: Annotated[int, typer.Option(min=1)] = STEPS,
    every: Annotated[int, typer.Option(min=1, help="Steps between two checkpoints.")] = EVERY,
) -> None:
    """Train, save a checkpoint every few steps, the first before training, and measure all of
    them.
    """
    data = text()
    shutil.rmtree(folder, ignore_errors=True)
    for step, trained, loss in train(data, steps):
        if step % every == 0:
            trained.save_pretrained(folder / f"checkpoint-{step}")
            typer.echo(f"step {step}: loss {loss:.3f} nats per byte")
    numbers.write_bytes(run_file.encoded(measured(folder), about(data, steps)))
    typer.echo(f"{numbers}: {numbers.stat().st_size:,} bytes")


if __name__ == "__main__":
    typer.run(main)
