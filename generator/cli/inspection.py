"""What ``inspect`` prints of one checkpoint: open questions, a strip of its layers, its encodings,
and what its page says first.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_letters
from typing import Any

from rich.text import Text

from generator.checkpoints.files.weights import row_text
from generator.checkpoints.model import origins
from generator.cli.terminal import Terminal
from generator.contracts import Checkpoint, EncodingRecord, Outcome, Scheme, names
from generator.errors import AtlasError
from generator.libraries import need_site
from generator.pipeline import local_pool
from generator.pipeline.inspect import Inspected, findings
from generator.reading.find import all_schemes
from generator.reading.plan import Task
from generator.site.data import downloads as data_files
from generator.site.pictures.layer_strips import (
    COLOURS,
    LayerGroup,
    LayerStrip,
    described,
    layer_strips,
)
from generator.text import visible

MOST_UNMEASURED = 6  # encodings that are listed of those whose numbers were not read
MOST_TENSORS = 3  # that are listed of those that a build reads
MORE = "+"  # In place of a letter, from the 53rd kind of layer on.
LEAST_WIDTH = 20  # columns of text, however narrow the terminal
SECONDS = 60.0  # that measuring a checkpoint for its findings may take
INDENT = Text("  ")
HEADING = "bold"


def show(terminal: Terminal, inspected: Inspected, schemes: Sequence[Scheme]) -> None:
    """Print an inspected checkpoint.

    Colours, where the terminal has them, only repeat what letters say.
    """
    outcome, records = inspected.outcome, inspected.records
    terminal.print(outcome.checkpoint.title, style=HEADING)
    for question in outcome.unresolved:
        _paragraph(terminal, question, Text("? ", "bold yellow"))
    if inspected.block:
        terminal.print(Text("\nA family for families.yml beside a list, to begin with:", HEADING))
    for line in inspected.block:
        terminal.print(INDENT + visible(line))
    _show_rules(terminal, outcome)
    for strip in layer_strips(outcome.layers, [*records, *outcome.unmeasured], schemes):
        _show_strip(terminal, strip)
    titles = {scheme.key: scheme.title for scheme in schemes}
    if records:
        terminal.print(Text(f"\nEncodings: {len(records):,}", HEADING))
    for record, n_analyses in zip(records, inspected.n_analyses, strict=True):
        _show_encoding(terminal, record, titles[record.scheme], n_analyses)
    if outcome.unmeasured:
        _show_unmeasured(terminal, outcome.unmeasured, titles)
    if not records and not outcome.unmeasured:
        # "None" is said only of what is understood.
        found = "Nothing recognised" if outcome.unresolved else "No position encoding found"
        terminal.print(Text(f"\n{found}. Looked for:", HEADING))
        for scheme in schemes:
            _paragraph(terminal, scheme.looked_for, Text("  · "))


def _show_rules(terminal: Terminal, outcome: Outcome) -> None:
    """Print what lint says beside open questions, and every limit."""
    for one in outcome.lint:
        mark = Text("· ") if one.level == "fact" else Text("! ", "bold yellow")
        if not one.is_question:
            _paragraph(terminal, f"{one.text} ({one.rule})", mark)
    if outcome.limits:
        terminal.print(Text("\nLimits of a text:", HEADING))
    for limit in outcome.limits:
        _paragraph(terminal, limit.text, INDENT)


def show_findings(terminal: Terminal, task: Task) -> None:
    """Print the sentences with which the page of a checkpoint opens; why there are none where
    measuring it fails or takes longer than SECONDS.
    """
    within_seconds = local_pool.Limits(processor=SECONDS, seconds=SECONDS)
    try:
        need_site("findings")
        with local_pool.processes(jobs=1, limits=within_seconds) as executor:
            said = local_pool.within_limits(executor, findings, task)
    except AtlasError as error:
        said = (f"Not measured here: {error}",)
    if said:
        terminal.print(Text("\nFindings that open its page:", HEADING))
    for sentence in said:
        _paragraph(terminal, sentence, Text("  · "))


def show_readers(terminal: Terminal, said: Sequence[str]) -> None:
    """Print what each program takes from a config.json."""
    for text in said:
        _paragraph(terminal, text, Text("· "))


def show_row(terminal: Terminal, asked: Checkpoint, config: Path | None) -> None:
    """Print the row of a list that has what was asked for.

    config: path of the file that is read in place of config.json
    """
    place = {asked.source: asked.id}
    options = {"revision": asked.revision, "weights": asked.weights, "config": config}
    written = {**place, **{key: str(value) for key, value in options.items() if value}}
    terminal.print(Text("\nEntry for a list:", HEADING))
    # On one line, to be pasted.
    terminal.print(INDENT + row_text(written, asked.pickle))


def _show_unmeasured(
    terminal: Terminal, records: Sequence[EncodingRecord], titles: Mapping[str, str]
) -> None:
    """Print the encodings that the code of the family has, and whose numbers were not read."""
    terminal.print(Text(f"\nEncodings in weights that were not read: {len(records):,}", HEADING))
    for record in records[:MOST_UNMEASURED]:
        _paragraph(
            terminal,
            f"{record.numbered_part} · {titles[record.scheme]} · tensor {record.provenance.tensor}"
            f" · {_shape(record)}",
            INDENT,
        )
    if len(records) > MOST_UNMEASURED:
        _paragraph(terminal, f"and {len(records) - MOST_UNMEASURED:,} more", INDENT)


def show_needed(terminal: Terminal, slug: str, needed: Mapping[str, int]) -> None:
    """Print what a build reads of the weights of one checkpoint.

    needed: bytes by name of a tensor or file
    """
    largest = sorted(needed, key=needed.__getitem__, reverse=True)
    named = [f"{name} {needed[name]:,}" for name in largest[:MOST_TENSORS]]
    more = [f"{len(needed) - MOST_TENSORS} more"] if len(needed) > MOST_TENSORS else []
    listed = f" ({'; '.join([*named, *more])})" if needed else ""
    terminal.print(f"{slug}: {sum(needed.values()):,} bytes{listed}")


def _shape(record: EncodingRecord) -> str:
    """The shape of the tensor of an encoding, in words."""
    return f"shape {' × '.join(f'{size:,}' for size in record.provenance.shape)}"


def _paragraph(terminal: Terminal, text: str, before: Text, style: str = "") -> None:
    """Print untrusted ``text``, wrapped to the width of the terminal beside ``before``."""
    lines = Text(visible(text), style).wrap(
        terminal, max(terminal.width - before.cell_len, LEAST_WIDTH)
    )
    for number, line in enumerate(lines):
        line.rstrip()
        terminal.print(Text.assemble(Text(" " * before.cell_len) if number else before, line))


def _show_strip(terminal: Terminal, strip: LayerStrip) -> None:
    terminal.print(
        Text.assemble("\n", (f"Layers of the {visible(strip.part)}: {len(strip.kinds):,}", HEADING))
    )
    if strip.finding:
        _paragraph(terminal, strip.finding, INDENT)
    letters = [_cell(kind, strip) for kind in strip.kinds]
    n_digits = len(str(len(letters) - 1))
    per_row = max((terminal.width - n_digits - 3) // 20 * 10, 10)
    for first in range(0, len(letters), per_row):
        terminal.print(
            Text.assemble(INDENT, f"{first:>{n_digits}} ", *letters[first : first + per_row])
        )
    for kind, group in enumerate(strip.groups):
        _paragraph(terminal, _in_words(group), Text.assemble(INDENT, _cell(kind, strip), " "))


def _cell(kind: int, strip: LayerStrip) -> Text:
    """The cell of a layer: the letter of its kind, on the colour that this has on the pages."""
    letter = ascii_letters[kind] if kind < len(ascii_letters) else MORE
    return Text(f"{letter} ", f"bold #000000 on {COLOURS[strip.groups[kind].kind]}")


def _in_words(group: LayerGroup) -> str:
    count = "1 layer" if group.count == 1 else f"{group.count:,} layers"
    reach = (
        (f"{_distance(group.before)} before, {_distance(group.after)} after",)
        if group.before
        else ()
    )
    encodings = (
        ("unknown, because no weights were read",) if group.encodings is None else group.encodings
    )
    return " · ".join((f"{count}: {group.layers}", group.mixing, *reach, *encodings))


def _distance(reach: str) -> str:
    return f"up to {reach}" if reach[0].isdecimal() else reach


def _show_encoding(terminal: Terminal, record: EncodingRecord, title: str, n_analyses: int) -> None:
    """Print one encoding, and what there is to say of it."""
    _paragraph(
        terminal, f"{record.numbered_part} · {described(title, record.parameters)}", INDENT, HEADING
    )
    provenance = record.provenance
    tensor = (
        f"tensor {provenance.tensor}" if provenance.tensor else f"no tensor, from {provenance.file}"
    )
    facts = (
        record.form,
        tensor,
        _shape(record) if provenance.shape else "",
        provenance.dtype,
        "1 analysis" if n_analyses == 1 else f"{n_analyses:,} analyses",
    )
    _paragraph(terminal, " · ".join(fact for fact in facts if fact), Text("    "), "dim")
    for setting, origin in origins.in_words(record).items():
        _paragraph(terminal, f"{setting}: {origin}", Text("    "), "dim")
    for note in record.notes:
        _paragraph(terminal, note, Text("    "))


def document(inspected: Inspected) -> dict[str, Any]:
    """A checkpoint as in atlas.json, without metrics and arrays; encodings have the names of an
    atlas of this checkpoint alone.
    """
    outcome, records = inspected.outcome, inspected.records
    titles = names.names([(outcome.checkpoint, record) for record in records], all_schemes())
    encodings = [
        {key: value for key, value in encoding.items() if key not in ("arrays", "metrics")}
        for title, record in zip(titles, records, strict=True)
        for encoding in [data_files.encoding(record, title, None, {})]
    ]
    return {
        **data_files.checkpoint(outcome),
        "layers": data_files.layers(outcome.layers, records),
        "encodings": encodings,
    }
