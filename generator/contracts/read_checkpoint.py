"""What programs in Python get: the encodings of one checkpoint, and figures."""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup

from generator.contracts.checkpoints import Encoding
from generator.contracts.layer_map import Layer
from generator.contracts.model_config import Json
from generator.contracts.wording import Wording
from generator.encodings import Form, OffsetBias, PositionTable, Rotation
from generator.errors import NotApplicableError, RefusedError
from generator.numerics.arrays import Floats
from generator.text import number, short, visible

WORDING = Wording("wording/read_checkpoint.jinja")
MOST_SHOWN = 20  # encodings in the table of a notebook


@dataclass(frozen=True, eq=False)
class ReadEncoding:
    """A position encoding of one part of a checkpoint. Its arrays are read-only.

    key: unique within the checkpoint; scheme: key of the way of encoding; title: of the scheme
    parameters: what defines it, by the names of atlas.json
    origins: for each of these that follows from settings, where it comes from, in words
    has_numbers: whether its numbers are known; False where they are in weights that were not read
    name: as figures call it; checkpoint: slug of its checkpoint, which gives figures a colour
    encoding: the record of the program behind it
    """

    key: str
    part: str
    scheme: str
    title: str
    parameters: Json = field(repr=False)
    origins: Mapping[str, str] = field(repr=False)
    has_numbers: bool
    name: str = field(repr=False)
    checkpoint: str = field(repr=False)
    encoding: Encoding[Form] = field(repr=False)

    @property
    def form(self) -> str:
        """Name of the class of its form, such as Rotation, PositionTable or OffsetBias."""
        return type(self.encoding.form).__name__

    @property
    def numbers(self) -> Floats | None:
        """All of its numbers, in the shape and unit of its form; None where they are not known."""
        return _read_only(self.encoding.form.numbers) if self.has_numbers else None

    @property
    def inverse_frequencies(self) -> Floats | None:
        """Of a rotation, the frequencies after scaling: (n_pairs,), radians per position, without
        pairs that do not turn; None for other forms.
        """
        return self.numbers if isinstance(self.encoding.form, Rotation) else None

    @property
    def table(self) -> Floats | None:
        """Of a table, a vector for each position: (n_positions, d_model), from the first position
        on; None for other forms, and where its weights were not read.
        """
        return self.numbers if isinstance(self.encoding.form, PositionTable) else None

    @property
    def bias(self) -> Floats | None:
        """Of a bias by offset: (n_heads, n_offsets), in logits; None for other forms, and where its
        weights were not read.
        """
        return self.numbers if isinstance(self.encoding.form, OffsetBias) else None

    @property
    def offsets(self) -> Floats | None:
        """The offsets of ``bias``, key minus query: (n_offsets,) consecutive integers, in
        positions; None for other forms.
        """
        form = self.encoding.form
        return _read_only(form.offsets) if isinstance(form, OffsetBias) else None

    def kernel(self, n_positions: int) -> Floats:
        """Its value for every two of the first positions, query by key: (n_heads, n, n), in the
        unit ``quantity``; NaN for keys that a causal mask hides.

        n is ``n_positions``, limited to the positions of a table, bias, window or temperature.

        errors: NotApplicableError where its numbers are not known, RefusedError for less than 1
        """
        if n_positions < 1:
            raise RefusedError(
                f"{self.key}: a kernel of {n_positions} positions; expected 1 or more"
            )
        self.check_numbers()
        return self.encoding.form.kernel(n_positions)

    def check_numbers(self) -> None:
        """errors: NotApplicableError where its numbers are not known"""
        if not self.has_numbers:
            raise NotApplicableError(
                f"{self.key}: {self.encoding.provenance.tensor} was not read; expected its weights"
            )

    @property
    def quantity(self) -> str:
        """What ``kernel`` gives, with its unit."""
        return self.encoding.form.quantity


@dataclass(frozen=True, eq=False)
class ReadCheckpoint:
    """What the files of a checkpoint say of position.

    name: as it was given; revision: the commit of a repository, None for what is on this disk
    context: positions by its settings; None where they give no such length
    layers: of every stack, with what each mixes, how far it sees, and keys of its encodings
    encodings: those without numbers last
    questions: what stays open, a sentence each
    """

    name: str
    revision: str | None
    context: int | None
    encodings: tuple[ReadEncoding, ...]
    layers: tuple[Layer, ...] = field(repr=False)
    questions: tuple[str, ...]

    @property
    def origins(self) -> dict[str, Mapping[str, str]]:
        """Where parameters come from, in words, by the key of the encoding and by parameter."""
        return {one.key: one.origins for one in self.encodings}

    def _repr_html_(self) -> str:
        """Its encodings and open questions, for notebooks, which show every text literally."""
        about = WORDING("about", name=self.name, context=self.context, n_layers=len(self.layers))
        left_out = len(self.encodings) - MOST_SHOWN
        more = [WORDING("left_out", count=left_out)] if left_out > 0 else []
        rows = (
            _elements("td", (one.part, one.title, "; ".join(_facts(one))))
            for one in self.encodings[:MOST_SHOWN]
        )
        table = Markup("<tr>{}</tr>").format(
            _elements("th", [WORDING(name) for name in ("part", "encoding", "parameters")])
        )
        table += Markup().join(Markup("<tr>{}</tr>").format(row) for row in rows)
        shown = Markup("<p>{}</p><table>{}</table><ul>{}</ul>").format(
            visible(about), table, _elements("li", (*self.questions, *more))
        )
        # By this class MathJax leaves formulas in it alone.
        return Markup('<div class="tex2jax_ignore">{}</div>').format(shown)


@dataclass(frozen=True)
class DrawnFigure:
    """A figure, which a notebook shows. svg: its picture; alt: what it shows, in words"""

    svg: str = field(repr=False)
    alt: str

    def _repr_svg_(self) -> str:
        """The picture, for notebooks."""
        return self.svg

    def _repr_html_(self) -> str:
        """The picture as an image, whose styles stay its own, for notebooks that show HTML."""
        data = b64encode(self.svg.encode()).decode()
        image = Markup('<img src="data:image/svg+xml;base64,{}" alt="{}">')
        return image.format(data, visible(self.alt))

    def save(self, path: str | Path) -> None:
        """Write the picture as an SVG file. errors: OSError"""
        Path(path).write_text(self.svg, encoding="utf-8", newline="\n")


def _facts(encoding: ReadEncoding) -> Iterator[str]:
    """Its parameters that are a number or a word, with where they come from."""
    for name, value in encoding.parameters.items():
        if isinstance(value, bool | int | float | str):
            shown = short(str(value)) if isinstance(value, bool | str) else number(value)
            origin = encoding.origins.get(name, "")
            yield WORDING("parameter", name=name, value=shown, origin=origin)


def _elements(tag: str, texts: Sequence[str]) -> Markup:
    """An element for each text."""
    element = Markup("<{0}>{1}</{0}>")
    return Markup().join(element.format(tag, visible(text)) for text in texts)


def _read_only(values: Floats) -> Floats:
    view = values.view()
    view.setflags(write=False)
    return view
