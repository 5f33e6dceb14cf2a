"""Learned absolute position embeddings: a table whose rows are trained like word vectors."""

from generator.contracts import Encoding, Files, Scheme
from generator.encodings import Form
from generator.patch_tables import as_encoding as of_patches
from generator.patch_tables import patch_tables
from generator.tables import as_encoding, layout_of, stored_tables, vectors


def find(files: Files) -> list[Encoding[Form]]:
    tables = [(table, vectors(files, table)) for table in stored_tables(files)]
    found = [as_encoding(files, table, rows, SCHEME.key) for table, rows in tables if layout_of(table, rows) is None]
    return found + [of_patches(files, table, SCHEME.key) for table in patch_tables(files)]


SCHEME = Scheme(
    key="learned",
    title="Learned table",
    summary="One trained vector for each position, added to the vector of the word or image patch before the first layer.",
    looked_for="a position table among the tensors (position_embeddings, wpe, embed_positions, pos_embed …)",
    order=10,
    find=find,
)
