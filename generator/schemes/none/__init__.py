"""No position encoding, for families whose code has none."""

from generator.checkpoints.model.families import RECURRENT, attends_without_encoding
from generator.contracts import Encoding, Files, ModelConfig, Provenance, Scheme
from generator.contracts.wording import Wording
from generator.encodings import Form, NoEncoding

WORDING = Wording("schemes/none.md.jinja")
MASK_ALONE = "mask_alone"


def find(files: Files) -> list[Encoding[Form]]:
    """One empty encoding for a family without position encoding, unless the weights say how its
    recurrent layers forget; otherwise none.
    """
    reason = _reason(files.config)
    if reason is None or (files.tensors and reason != MASK_ALONE):
        return []
    why, origin = WORDING(reason), Provenance("config.json")
    note = WORDING("no_encoding", family=files.config.family, why=why)
    notes = (note,) if reason == MASK_ALONE else (note, WORDING("weights_unread"))
    return [Encoding("decoder", SCHEME.key, NoEncoding(why), origin, notes, stack="decoder")]


def _reason(config: ModelConfig) -> str | None:
    """Name of the reason why a family needs no position encoding; None for other families."""
    if config.family in RECURRENT:
        return "keeps_state"
    if not attends_without_encoding(config):
        return None
    attends = ["attention" in kind and "linear" not in kind for kind in config.layer_types]
    return MASK_ALONE if attends and all(attends) else "recurrent_between"


SCHEME = Scheme(
    key="none",
    paper="2203.16634",
    also=("NoPE (attention layers without position)",),
    sought=("without positions",),
    acts_in="",
    after="decomposed",
    find=find,
    by_formula=True,
)
