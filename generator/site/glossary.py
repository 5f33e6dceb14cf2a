"""Words of the field, each in one sentence and one small picture, and their first uses on pages."""

import re
from dataclasses import dataclass
from posixpath import relpath

from markupsafe import escape

from generator.figures.style import ACCENT, DARK, INK, MUTED

PAGE = "learn/glossary.html"
PICTURES = "assets/words.svg"
WIDTH, HEIGHT = 100, 60  # of a picture, in pixels
MOST_MARKED = 8  # words on a page
# Folders of pages for readers; the guide and the pages on files have words of their own.
MARKED = re.compile(
    r"(index|compare|map|use|runs)\.html$|(analyses|checkpoints|learn|map|schemes)/"
)


@dataclass(frozen=True)
class Word:
    """A word. meaning: a sentence; picture: SVG within 100 × 60, in the classes of ``STYLE``; uses:
    regular expression of what a page marks, whole words in any case
    """

    title: str
    meaning: str
    picture: str
    uses: str

    @property
    def key(self) -> str:
        """Fragment of its place on the page, and name of its picture."""
        return re.sub(r"\W+", "-", self.title.lower())


# w: what the word means; m: what is beside it; d: dotted; f: filled, without a stroke; t: fainter
STYLE = (
    f"path,circle{{fill:none;stroke:{INK};stroke-width:2;stroke-linecap:round;"
    "stroke-linejoin:round}"
    f".m{{stroke:{MUTED};stroke-width:1}}.w{{stroke:{ACCENT};stroke-width:3}}.t{{opacity:.4}}"
    f".d{{stroke-dasharray:1 4}}.f{{fill:{INK};stroke:none}}.m.f{{fill:{MUTED}}}"
    f".w.f{{fill:{ACCENT}}}"
    f"text{{fill:{INK};font:11px sans-serif;text-anchor:middle}}"
    ":root{color-scheme:light dark}@media(prefers-color-scheme:dark){"
    f"path,circle{{stroke:{DARK[INK]}}}.m{{stroke:{DARK[MUTED]}}}.w{{stroke:{ACCENT}}}"
    f".f{{fill:{DARK[INK]};stroke:none}}.m.f{{fill:{DARK[MUTED]}}}.w.f{{fill:{ACCENT}}}"
    f"text{{fill:{DARK[INK]}}}}}"
)
FALL = '<path class="m" d="M10 5V54H94"/><path {} d="M10 8C30 8 30 48 92 50"/>'
DOTS = "".join(f'<circle class="f" cx="{x}" cy="{{y}}" r="3"/>' for x in range(14, 94, 12))

# Those first that most need a word: a page marks the first few that it has.
WORDS = (
    Word(
        "Kernel",
        "A square of numbers, one for every two positions: how close the encoding makes them.",
        '<path class="m" d="M24 4h52v52h-52z"/><path class="w" d="M27 7l46 46"/>'
        '<path class="w t" d="M38 7l35 35M27 18l35 35"/>',
        "kernels?",
    ),
    Word(
        "Half-distance",
        "The distance at which similarity has fallen halfway to its far level.",
        FALL.format("") + '<path class="w d" d="M10 29h25v25"/>',
        "half-distances?",
    ),
    Word(
        "Far level",
        "The mean similarity of positions far apart: of all pairs in the last quarter of the"
        " distances.",
        FALL.format("") + '<path class="w" d="M66 48h26"/><path class="m d" d="M10 48h52"/>',
        "far level",
    ),
    Word(
        "Local monotonicity",
        "The share of the first twenty steps outwards at which similarity falls.",
        '<path class="m" d="M10 5V54H94"/><path d="M14 9h12v10h12v10h12"/>'
        '<path class="w" d="M50 29v-9"/><path d="M50 20h12v16h12v10h14"/>',
        "local monotonicity|monotonicity",
    ),
    Word(
        "Translation invariance",
        "Whether the offset alone decides: moving both positions together changes nothing.",
        DOTS.format(y=44)
        + '<path class="w" d="M14 36q12-22 24 0"/><path class="w" d="M62 36q12-22 24 0"/>'
        '<path class="m" d="M44 26h12m-4-4 4 4-4 4"/>',
        "translation invariance|translation-invariant",
    ),
    Word(
        "Seam",
        "A place at which a table breaks, or neighbours become less or more alike.",
        '<path d="M6 34Q16 14 26 30T46 26"/><path class="w d" d="M50 6v48"/>'
        '<path d="M54 46l6-26 7 22 7-30 7 34 7-22"/>',
        "seams?",
    ),
    Word(
        "Frequency pair",
        "Two components of a vector that turn together, like the hand of a clock.",
        '<circle class="m" cx="50" cy="30" r="24"/><path class="w" d="M50 30L66 14"/>'
        '<path class="m d" d="M66 14v16M66 14h-16"/><circle class="f" cx="50" cy="30" r="3"/>',
        "frequency pairs?",
    ),
    Word(
        "Centring",
        "Taking the mean of all vectors away, so that only their differences remain.",
        '<path class="m" d="M50 4v52M10 30h80"/><circle class="m f" cx="74" cy="12" r="2.5"/>'
        '<circle class="m f" cx="84" cy="18" r="2.5"/><circle class="m f" cx="72" cy="20" r="2.5"/>'
        '<path class="m" d="M70 20L58 27m1-5-1 5 5 1"/><circle class="w f" cx="47" cy="25" r="3"/>'
        '<circle class="w f" cx="56" cy="32" r="3"/><circle class="w f" cx="45" cy="34" r="3"/>',
        "mean-centred|after centring|centring",
    ),
    Word(
        "Energy",
        "The sum of the squares of all values of a table, or of a part of it.",
        '<path class="w" d="M8 34h18v18H8z"/><text x="34" y="47">+</text>'
        '<path class="w" d="M42 42h10v10H42z"/><text x="60" y="47">+</text>'
        '<path class="w" d="M68 26h26v26H68z"/>',
        "energy",
    ),
    Word(
        "Logit",
        "The score of a key, before softmax turns all scores into shares of attention.",
        '<path class="m" d="M10 40h80"/><path class="w" d="M22 40v-26"/>'
        '<path d="M42 40v-10M62 40v14M80 40v-18"/>',
        "logits?",
    ),
    Word(
        "Query and key",
        "The query is the vector of the token that looks, the key that of a token looked at.",
        DOTS.format(y=46) + '<circle class="w f" cx="74" cy="46" r="5"/>'
        '<path class="w" d="M74 36Q50 2 28 34m0-8v8h8"/>',
        "queries and keys|query and key|query|queries",
    ),
    Word(
        "Principal component",
        "A direction along which vectors vary most, once those before it are taken out.",
        "".join(
            f'<circle class="m f" cx="{x}" cy="{y}" r="2.5"/>'
            for x, y in ((18, 48), (30, 38), (34, 48), (46, 28), (58, 30), (68, 14), (80, 18))
        )
        + '<path class="w" d="M14 54L88 8m-9 0h9l-3 8"/><path class="m" d="M44 20l12 20"/>',
        "principal components?|principal directions?",
    ),
    Word(
        "Outlier",
        "A position whose vector has an unusual norm, or is unlike its neighbours.",
        '<path class="m" d="M8 48h84"/>'
        + "".join(
            f'<circle class="f" cx="{x}" cy="{y}" r="3"/>'
            for x, y in ((14, 44), (26, 42), (38, 45), (62, 43), (74, 45), (86, 42))
        )
        + '<circle class="w f" cx="50" cy="12" r="5"/>',
        "outliers?",
    ),
    Word(
        "Sink",
        "A learned score that takes a share of the attention and gives it to no token.",
        DOTS.format(y=14)
        + '<path class="w" d="M30 36v18h40v-18"/><path d="M26 20l14 24M50 20v24M74 20L60 44"/>',
        "attention sinks?|sinks?",
    ),
    Word(
        "Reach",
        "How far from a position an encoding, a window or a convolution still counts.",
        '<path class="m" d="M6 46h88"/><path d="M26 46v-6M38 46v-16M50 46v-34M62 46v-16M74 46v-6"/>'
        '<path class="w" d="M50 54h26m-5-4 5 4-5 4M50 54H24m5-4-5 4 5 4"/>',
        "the reach|reach of",
    ),
    Word(
        "RMS",
        "Root mean square: the typical size of a value, whatever its sign.",
        '<path class="m" d="M6 30h88"/><path d="M8 30l8-18 9 34 10-26 9 22 10-32 9 36 10-24 9 18"/>'
        '<path class="w d" d="M6 18h88M6 42h88"/>',
        "rms|root mean square",
    ),
    Word(
        "Norm",
        "The length of a vector: the square root of the sum of its squared values.",
        '<path d="M18 50L78 12m-9 0h9l-3 8"/><path class="w" d="M12 40L72 2m-60 34v6M70 0l5 5"/>',
        "norms?",
    ),
    Word(
        "Cosine",
        "How alike the directions of two vectors are: 1 the same, 0 unrelated, −1 opposite.",
        '<path d="M16 52L80 40m-8-4 8 4-6 6M16 52L58 8m-9 2 9-2-1 9"/>'
        '<path class="w" d="M48 46Q46 32 36 31"/>',
        "(?<!sine and )cosines?(?: similarity)?(?! of (?:all|the) angles?)",
    ),
    Word(
        "Probe",
        "A simple model, fitted to some vectors and tested on others: what do they tell?",
        '<path class="m" d="M10 4V54H94"/><path class="w" d="M12 52L90 8"/>'
        + "".join(
            f'<circle class="f" cx="{x}" cy="{y}" r="2.5"/>'
            for x, y in ((20, 42), (30, 46), (42, 30), (52, 34), (64, 18), (76, 22), (84, 8))
        ),
        "(?:linear )?probes?",
    ),
    Word(
        "Offset",
        "The key’s position minus the query’s: −2 is two to the left, 1 one to the right.",
        DOTS.format(y=42) + '<circle class="w f" cx="50" cy="42" r="5"/>'
        '<path class="w" d="M48 33Q38 12 27 32m0-8v8h7M53 33q5-14 9 0"/>'
        '<text x="36" y="14">−2</text><text x="62" y="20">1</text>',
        "offsets?",
    ),
    Word(
        "Bias",
        "A number added to an attention score because of position, whatever the words.",
        '<path class="m" d="M6 50h88"/><path d="M14 50v-12M32 50v-20M68 50v-26M86 50v-10"/>'
        '<path class="w" d="M50 50v-16M50 28v-16M44 20h12"/>',
        "bias(?:es)?",
    ),
    Word(
        "Rotation",
        "Turning queries and keys by an angle that grows with position, as rotary encodings do.",
        '<circle class="m" cx="50" cy="30" r="25"/><path class="t" d="M50 30h24"/>'
        '<path d="M50 30L60 8"/><path class="w" d="M69 26Q68 18 62 15m6 0h-6v6"/>',
        "rotary|rotations?|rotat(?:es|ed)",
    ),
    Word(
        "Wavelength",
        "The number of positions in which a wave repeats, or a pair turns once around.",
        '<path d="M6 36C12 2 24 2 30 36S48 70 54 36 72 2 78 36 88 54 94 52"/>'
        '<path class="w" d="M18 5h48m-48-3v6m48-6v6"/>',
        "wavelengths?",
    ),
    Word(
        "Window",
        "A stretch of positions: what a layer can see, or what is measured at a time.",
        DOTS.format(y=30) + '<path class="w" d="M31 14h38v32H31z"/>',
        "(?:attention |sliding )?windows?",
    ),
    Word(
        "Context",
        "The most positions that a model is made for, or that training used.",
        DOTS.format(y=30) + '<path class="w" d="M6 16v28M94 16v28M6 50h88"/>',
        "context length|contexts?",
    ),
    Word(
        "Head",
        "One of the parallel attentions of a layer, each with its own queries.",
        '<path class="m" d="M6 6h88v48H6z"/><path class="w" d="M14 46l8-30 8 30"/>'
        '<path d="M42 46l8-30 8 30M70 46l8-30 8 30"/>',
        "heads?",
    ),
    Word(
        "Scheme",
        "A kind of position encoding, such as a learned table or a rotation.",
        '<path d="M8 18h22v24H8zM8 26h22M8 34h22M16 18v24M23 18v24"/>'
        '<path class="w" d="M38 30c5-18 8-18 12 0s7 18 12 0"/><circle cx="80" cy="30" r="12"/>'
        '<path d="M80 30l8-8"/>',
        "schemes?",
    ),
    Word(
        "Encoding",
        "Any way in which a model tells where a token stands.",
        '<path class="m" d="M8 8h22v16H8zM39 8h22v16H39zM70 8h22v16H70z"/>'
        '<path class="w" d="M19 30v6M50 30v6M81 30v6"/><text x="19" y="54">0</text>'
        '<text x="50" y="54">1</text><text x="81" y="54">2</text>',
        "position encodings?|positional encodings?|encodings?",
    ),
    Word(
        "Checkpoint",
        "A model as stored: its settings and, unless they were left out, its trained numbers.",
        '<path d="M26 14q24-12 48 0v32q-24 12-48 0z"/><path class="w" d="M26 14q24 12 48 0"/>'
        '<path class="m" d="M26 25q24 12 48 0M26 36q24 12 48 0"/>',
        "checkpoints?",
    ),
    Word(
        "Row",
        "An entry of the list of checkpoints of an atlas: a checkpoint, and where it lies.",
        '<path class="m" d="M14 10h72M14 40h72M14 54h72"/><path class="w" d="M14 25h72"/>',
        "rows? of the list|this row has",
    ),
    Word(
        "Layer",
        "One of the steps that a model takes in turn, mostly attention and a small network.",
        '<path d="M26 44h48v11H26zM26 5h48v11H26z"/><path class="w" d="M26 24.500h48v11H26z"/>'
        '<path class="m" d="M50 43v-6M50 23v-6"/>',
        "layers?",
    ),
    Word(
        "Distance",
        "How many places two positions lie apart, whichever comes first.",
        DOTS.format(y=40) + '<circle class="w f" cx="26" cy="40" r="4.5"/>'
        '<circle class="w f" cx="74" cy="40" r="4.5"/>'
        '<path class="w" d="M27 20h46m-6-5 6 5-6 5M27 20l6-5M27 20l6 5"/>',
        "distances?",
    ),
    Word(
        "Dimension",
        "One of the numbers of a vector: the one at the same place in all.",
        "".join(
            f'<path class="m" d="M{x} 4h12v52h-12zM{x} 17h12M{x} 30h12M{x} 43h12"/>'
            for x in (20, 44, 68)
        )
        + '<path class="w" d="M16 30.500m0-13.500h68v13h-68z"/>',
        "dimensions?",
    ),
    Word(
        "Token",
        "What a model reads one by one: a word, a piece of one, a patch of an image.",
        '<path class="m" d="M6 18h24v24H6zM70 18h24v24H70z"/><path class="w" d="M36 18h28v24H36z"/>'
        '<text x="18" y="34">the</text><text x="50" y="34">cat</text>'
        '<text x="82" y="34">sat</text>',
        "tokens?",
    ),
    Word(
        "Position",
        "The place of a token in its sequence, counted from 0.",
        '<path class="m" d="M6 8h24v20H6zM38 8h24v20H38zM70 8h24v20H70z"/>'
        '<text x="18" y="46">0</text><text x="50" y="46">1</text><text x="82" y="46">2</text>'
        '<path class="w" d="M12 52h12M44 52h12M76 52h12"/>',
        "positions?",
    ),
)

TAG = re.compile(r"""(<!--.*?-->|<(?:[^<>"']|"[^"]*"|'[^']*')+>)""", re.DOTALL)
NAME = re.compile(r"</?([\w-]+)")
ARTICLE = re.compile(r"<article\b.*</article>", re.DOTALL)
PROSE = frozenset(("p", "li", "figcaption", "dd", "blockquote"))
# What a word is not marked in: what does something on its own, or is no prose.
OTHER = frozenset(
    ["a", "button", "code", *(f"h{level}" for level in range(1, 7)), "label", "math", "nav"]
) | frozenset(
    ["output", "pre", "script", "select", "span", "style", "summary", "svg", "template", "textarea"]
)
FOLDED = "details"
COUNTED = PROSE | OTHER | {FOLDED}


@dataclass(frozen=True)
class LinkedWord:
    """A use of a word in prose, in a chunk of a page, and the tag of its link."""

    chunk: int
    start: int
    end: int
    link: str

    def crosses(self, other: "LinkedWord") -> bool:
        """Whether both have a letter in common."""
        return self.chunk == other.chunk and self.start < other.end and other.start < self.end


def pictures() -> bytes:
    """Pictures of all words in one SVG, each as a view with the key of its word."""
    views = "\n".join(
        f'<view id="{word.key}" viewBox="0 {row * HEIGHT} {WIDTH} {HEIGHT}"/>'
        f'<svg y="{row * HEIGHT}" width="{WIDTH}" height="{HEIGHT}">{word.picture}</svg>'
        for row, word in enumerate(WORDS)
    )
    size = f"0 0 {WIDTH} {HEIGHT * len(WORDS)}"
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}"><style>{STYLE}</style>'
    return f"{opening}\n{views}\n</svg>\n".encode()


def with_words(html: str, path: str) -> str:
    """``html`` of the page at ``path``, in which the first use in prose of a few words links to
    their place on the page of words.

    A use in plain sight comes before one in what a reader has to unfold.
    """
    article = ARTICLE.search(html) if MARKED.match(path) and path != PAGE else None
    if article is None:
        return html
    chunks = TAG.split(article[0])
    prose = _prose(chunks)
    page = relpath(PAGE, path.rpartition("/")[0] or ".")
    marks: list[LinkedWord] = []
    for word in WORDS:
        link = f'<a class="pa-word" href="{page}#{word.key}" title="{escape(word.meaning)}">'
        if len(marks) < MOST_MARKED and (mark := _first(chunks, prose, word, link, marks)):
            marks.append(mark)
    for mark in sorted(marks, key=lambda mark: mark.start, reverse=True):
        text = chunks[mark.chunk]
        marked = f"{mark.link}{text[mark.start : mark.end]}</a>"
        chunks[mark.chunk] = f"{text[: mark.start]}{marked}{text[mark.end :]}"
    return f"{html[: article.start()]}{''.join(chunks)}{html[article.end() :]}"


def _prose(chunks: list[str]) -> list[int]:
    """Numbers of the chunks that are prose, those in plain sight first. chunks: text and tags in
    turn
    """
    depth = dict.fromkeys(COUNTED, 0)
    plain: list[int] = []
    folded: list[int] = []
    for number, chunk in enumerate(chunks):
        if number % 2:
            name = NAME.match(chunk)
            if name and name[1] in depth:
                depth[name[1]] += -1 if chunk.startswith("</") else 1
        elif any(depth[name] for name in PROSE) and not any(depth[name] for name in OTHER):
            (folded if depth[FOLDED] else plain).append(number)
    return plain + folded


def _first(
    chunks: list[str], prose: list[int], word: Word, link: str, others: list[LinkedWord]
) -> LinkedWord | None:
    """The first use of ``word`` that crosses none of the ``others``; None without any."""
    uses = re.compile(rf"(?<![\w&#-])(?:{word.uses})(?![\w-]|\.\w)", re.IGNORECASE)
    marks = (
        LinkedWord(number, use.start(), use.end(), link)
        for number in prose
        for use in uses.finditer(chunks[number])
    )
    return next((mark for mark in marks if not any(mark.crosses(other) for other in others)), None)
