"""One part of a trained model, ready to read: encoder, decoder, or what looks at images."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from generator.checkpoints.model.resolved import quietly
from generator.checkpoints.model.running.loading import untrained
from generator.checkpoints.model.running.vocabulary import Vocabulary
from generator.checkpoints.model.running.watch import OnAttention, attention_modules, watched
from generator.contracts import Result, StackKind
from generator.errors import NotApplicableError
from generator.numerics.arrays import Array, Floats

BATCH = 8  # sequences that are read at once
FEWEST = 16  # sequences from which a number may be known
CONTEXT = 40  # Tokens that the encoder reads before a decoder; no length of a sequence.
SILENCE = -1.5  # The least value of Whisper's spectrograms.
LENGTHS = ("max_position_embeddings", "n_positions", "max_target_positions")
SOUND = "input_features"  # Name of an input in transformers.


@dataclass(frozen=True, eq=False)
class Attention:
    """Where a model attends. modules: that do so; shape: layers, heads, and positions of a text"""

    modules: tuple[Any, ...]
    shape: tuple[int, int, int]
    is_causal: bool


@dataclass(frozen=True, eq=False)
class RunningStack:
    """A part of a model.

    part: as in the layer map; model: of transformers, whole
    vocabulary: None for images; grid: rows and columns of patches, None for words
    text: what there is to read; length, n_sequences: of each measure, at most; seed: of what it
        draws
    again: the first result, where what its findings rest on is measured a second time
    """

    part: str
    kind: StackKind
    model: Any
    vocabulary: Vocabulary | None
    grid: tuple[int, int] | None = None
    text: str = ""
    length: int = 64
    n_sequences: int = 64
    seed: int = 0
    device: str = "cpu"
    again: Result | None = None

    def wants(self, key: str) -> bool:
        """Whether the metric ``key`` is to be measured."""
        if self.again is None:
            return True
        return any(key in finding.rests_on for finding in self.again.findings)

    def batches(self, n: int | None = None) -> list[range]:
        """Of ``n`` sequences, or as many as a measure may read; it may stop before the last."""
        all_ = range(n or self.n_sequences)
        return [all_[start : start + BATCH] for start in all_[::BATCH]]

    @property
    def is_causal(self) -> bool:
        """Whether positions see none after them."""
        return self.attention.is_causal

    @property
    def n_first(self) -> int:
        """Tokens before the first word, or of the class before the first patch."""
        if self.vocabulary is not None:
            return len(self.vocabulary.before)
        rows, columns = self.grid or (0, 0)
        return self.attention.shape[2] - rows * columns

    @property
    def longest(self) -> int:
        """Most positions of a text, as its config says; those of a sequence where it does not."""
        return most_positions(self.model) or self.length

    @cached_property
    def text_vocabulary(self) -> Vocabulary:
        """Its vocabulary. errors: NotApplicableError for images"""
        if self.vocabulary is None:
            raise NotApplicableError("it reads images, not text")
        return self.vocabulary

    def inputs(self, n: int | None = None) -> Array:
        """Random words (n, length), int, or images (n, channels, height, width)."""
        if self.vocabulary is not None:
            return self.vocabulary.random(n or self.n_sequences, self.length, self.seed)
        return self._images(n or self.n_sequences)

    def pieces(self, n: int | None = None, length: int | None = None) -> Array:
        """Pieces of the text: (n, length), int. errors: NotApplicableError"""
        count, long = n or self.n_sequences, length or self.length
        return self.text_vocabulary.pieces(self.text, count, long, self.seed)

    def run(
        self,
        inputs: Array,
        on_attention: OnAttention | None = None,
        *,
        predicts: bool = False,
        batch: int = BATCH,
    ) -> Iterator["Read"]:
        """What the model makes of ``inputs``, ``batch`` sequences at a time.

        on_attention: gets layer and weights (batch, heads, n, n) of each layer as it is read;
        predicts: whether its words for each place are wanted
        """
        import torch

        modules = self.attention.modules if on_attention else ()
        for start in range(0, len(inputs), batch):
            part = torch.from_numpy(inputs[start : start + batch]).to(self.device)
            with torch.inference_mode(), watched(modules, on_attention or (lambda _, __: None)):
                output = self._call(part, predicts=predicts)
            yield Read(output, part)

    def attended(
        self, inputs: Array, reduce: Callable[[Any], Floats], batch: int = BATCH
    ) -> Floats:
        """Of each layer, the mean over ``inputs`` of what ``reduce`` makes of its weights (batch,
        heads, n, n), a sum over the batch: (n_layers, …).
        """
        sums: defaultdict[int, Any] = defaultdict(float)

        def note(layer: int, weights: Any) -> None:
            sums[layer] += reduce(weights)

        for _ in self.run(inputs, note, batch=batch):
            pass
        return np.stack([sums[layer] for layer in sorted(sums)]) / len(inputs)

    def read_once(self) -> None:
        """Have it read one sequence, as for hooks on its modules."""
        for _ in self.run(self.inputs(1)):
            pass

    def untrained(self, seed: int) -> "RunningStack":
        """The same with random weights."""
        return replace(self, model=untrained(self.model, seed).to(self.device))

    @cached_property
    def attention(self) -> "Attention":
        """Where it attends, found by having it read once. errors: NotApplicableError"""
        import torch

        once = torch.from_numpy(self.inputs(1)).to(self.device)
        if self.kind == "decoder" and has_two_sides(self.model):
            _ = self._context  # Read before, since an encoder attends too.
        shapes, causal = [], []

        def note(_: int, weights: Any) -> None:
            shapes.append(tuple(weights.shape))
            causal.append(bool(torch.triu(weights[0].float(), 1).max() == 0.0))

        with torch.inference_mode():
            modules = attention_modules(lambda: self._call(once), self.model)
            with watched(modules, note):
                self._call(once)
        if not shapes:
            raise NotApplicableError(
                "its code returns no self-attention of several tokens whose weights add up to 1"
            )
        return Attention(modules, (len(shapes), *shapes[0][1:3]), all(causal))

    @quietly()  # No code of transformers fetches kernels.
    def _call(self, inputs: Any, *, predicts: bool = False) -> Any:
        model = self.model if predicts else self.model.base_model
        options = {"output_hidden_states": True, "return_dict": True}
        if self.vocabulary is None:
            return model(pixel_values=inputs, **options)
        if not has_two_sides(model):
            return model(input_ids=inputs, **options)
        if self.kind == "encoder":
            return model.get_encoder()(input_ids=inputs, **options)
        context = self._context.last_hidden_state  # Of one text.
        repeated = context.expand(len(inputs), *context.shape[1:])
        return model(
            encoder_outputs=type(self._context)(last_hidden_state=repeated),
            decoder_input_ids=inputs,
            use_cache=False,
            **options,
        )

    @cached_property
    def _context(self) -> Any:
        """What the encoder makes of one text of random words, or of silence, for a decoder to
        attend to.
        """
        import torch

        encoder = self.model.get_encoder()
        with torch.inference_mode():
            if self.model.main_input_name == SOUND:
                config = self.model.config
                shape = (1, config.num_mel_bins, 2 * config.max_source_positions)
                silence = torch.full(shape, SILENCE, dtype=self.model.dtype, device=self.device)
                return encoder(silence, return_dict=True)
            ids = torch.from_numpy(self.text_vocabulary.random(1, CONTEXT, seed=0))
            return encoder(input_ids=ids.to(self.device), return_dict=True)

    def _images(self, n: int) -> Array:
        """Half of one colour each, half of noise, as a normalised image has them."""
        config = self.model.config
        size = config.image_size
        height, width = (size, size) if isinstance(size, int) else tuple(size)
        draws = np.random.default_rng(self.seed)
        plain = draws.normal(size=(n - n // 2, config.num_channels, 1, 1))
        noise = draws.normal(size=(n // 2, config.num_channels, height, width))
        images = [np.broadcast_to(plain, (len(plain), config.num_channels, height, width)), noise]
        return np.concatenate(images).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Read:
    """What a model made of some sequences. output: of transformers; inputs: (batch, n) ids"""

    output: Any
    inputs: Any

    @property
    def states(self) -> list[Floats]:
        """The input of the first layer and the output of each: (batch, n, d_model) each."""
        found = getattr(self.output, "decoder_hidden_states", None)
        found = self.output.hidden_states if found is None else found
        return [state.float().cpu().numpy() for state in found]

    def losses(self, targets: Any, at: Any) -> Floats:
        """Cross-entropy in nats of ``targets`` (batch, n) at the places ``at`` (batch, n), bool:
        (n_places,), in their order.
        """
        import torch

        logits = self.output.logits[at]
        return np.asarray(
            torch.nn.functional.cross_entropy(logits, targets[at], reduction="none")
            .double()
            .cpu()
            .numpy()
        )


def most_positions(model: Any) -> int | None:
    """Most positions of a text, as the config of a model says; None where it does not."""
    config = model.config.get_text_config()
    found = (getattr(config, name, None) for name in LENGTHS)
    return next((size for size in found if isinstance(size, int)), None)


def has_two_sides(model: Any) -> bool:
    """Whether a model of transformers has an encoder and a decoder."""
    return hasattr(model.base_model, "encoder") and hasattr(model.base_model, "decoder")
