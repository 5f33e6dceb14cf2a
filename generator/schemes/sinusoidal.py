"""The fixed sinusoid: stored as a tensor, in one of three layouts, or made when the model runs."""

from generator.contracts import Encoding, Files, Provenance, Scheme
from generator.encodings import Form, PositionTable, SinusoidLayout, sinusoid
from generator.errors import RowError
from generator.model_config import family, needed, whole
from generator.numerics import frozen
from generator.tables import as_encoding, layout_of, stored_tables, vectors

FIRST_ROW = 2  # What fairseq counts from: padding_idx + 1.
FLAGS = ("sinusoidal_pos_embds", "sinusoidal_embeddings", "static_position_embeddings")
# Families whose sinusoid is made when the model is built, with the layout that their code uses.
MADE_AT_RUN_TIME: dict[str, SinusoidLayout] = {
    "ctrl": "halves",
    "marian": "halves",
    "pegasus": "halves",
    "m2m_100": "tensor2tensor",
    "nllb-moe": "tensor2tensor",
    "xglm": "tensor2tensor",
    "speech_to_text": "tensor2tensor",
    "fsmt": "tensor2tensor",
}
DECODERS = frozenset({"ctrl", "xglm"})
MOST_VALUES = 2**27  # 1 GB in float64; the longest in use holds a tenth of it.
SAID = {
    "interleaved": "sines and cosines by turns, as printed in the paper",
    "halves": "all sines in the first half of the vector, all cosines in the second",
    "tensor2tensor": "sines and cosines in halves, with the exponent k/(d/2 − 1) of tensor2tensor",
}


def find(files: Files) -> list[Encoding[Form]]:
    tables = [(table, vectors(files, table)) for table in stored_tables(files)]
    stored = [
        as_encoding(files, table, rows, SCHEME.key, (f"The stored table equals the sinusoid to {table.tolerance:g}: {SAID[layout]}.",))
        for table, rows in tables
        if (layout := layout_of(table, rows))
    ]
    return stored or ([] if tables else _made(files))


def _made(files: Files) -> list[Encoding[Form]]:
    declared = files.config.get("position_embedding_type") == "sinusoidal" or any(files.config.get(flag) is True for flag in FLAGS)
    layout = MADE_AT_RUN_TIME.get(family(files.config), "interleaved" if declared else None)
    if layout is None:
        return []
    shape = _n_positions(files), needed(files.config, "d_model", files.where)
    if shape[0] * shape[1] > MOST_VALUES:
        raise RowError(f"{files.where}: a sinusoid of {shape[0]:,} × {shape[1]:,}; expected at most {MOST_VALUES:,} values")
    note = f"No tensor holds it; it is made when the model runs: {SAID[layout]}."
    first_row = FIRST_ROW if layout == "tensor2tensor" else 0
    table = sinusoid(first_row + shape[0], shape[1], layout)[first_row:]
    form = PositionTable(frozen(table), first_row)
    part = "decoder" if family(files.config) in DECODERS else "encoder"
    return [Encoding(part, SCHEME.key, form, Provenance("config.json", shape=shape), (note,))]


def _n_positions(files: Files) -> int:
    spoken = files.config.get("max_source_positions")  # Of speech, which has no other name for it.
    return needed(files.config, "n_positions", files.where) if spoken is None else whole(spoken, f"{files.where}: max_source_positions")


SCHEME = Scheme(
    key="sinusoidal",
    title="Sinusoid",
    summary="A fixed table of sines and cosines whose wavelengths grow from 2π to 10000 · 2π positions; nothing is learned.",
    looked_for="a stored table equal to the sinusoid, or a config that asks for one",
    order=20,
    find=find,
)
