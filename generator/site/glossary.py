"""Words of the field, each in one sentence, and their first uses on pages. Their pictures are in
`site_src/assets/words.svg`. Classes there: w is what the word means, m what is beside it; d is
dotted, f filled, t fainter.
"""

import re
from dataclasses import dataclass
from posixpath import relpath

from markupsafe import escape

PAGE = "learn/glossary.html"
MOST_MARKED = 8  # words on a page
# Folders of pages for readers; the guide and the pages on files have words of their own.
MARKED = re.compile(
    r"(index|compare|map|use|runs)\.html$|(analyses|checkpoints|learn|map|schemes)/"
)


@dataclass(frozen=True)
class Word:
    """A word. meaning: a sentence; uses: regular expression of what a page marks, in any case"""

    title: str
    meaning: str
    uses: str

    @property
    def key(self) -> str:
        """Fragment of its place on the page, and of its picture in `words.svg`."""
        return re.sub(r"\W+", "-", self.title.lower())


# Those first that most need a word: a page marks the first few that it has.
WORDS = (
    Word(
        "Kernel",
        "A square of numbers, one for every two positions: how close the encoding makes them.",
        "kernels?",
    ),
    Word(
        "Half-distance",
        "The distance at which similarity has fallen halfway to its far level.",
        "half-distances?",
    ),
    Word(
        "Far level",
        "The mean similarity of positions far apart: of all pairs in the last quarter of the"
        " distances.",
        "far level",
    ),
    Word(
        "Local monotonicity",
        "The share of the first twenty steps outwards at which similarity falls.",
        "local monotonicity|monotonicity",
    ),
    Word(
        "Translation invariance",
        "Whether the offset alone decides: moving both positions together changes nothing.",
        "translation invariance|translation-invariant",
    ),
    Word(
        "Seam",
        "A place at which a table breaks, or neighbours become less or more alike.",
        "seams?",
    ),
    Word(
        "Frequency pair",
        "Two components of a vector that turn together, like the hand of a clock.",
        "frequency pairs?",
    ),
    Word(
        "Centring",
        "Taking the mean of all vectors away, so that only their differences remain.",
        "mean-centred|after centring|centring",
    ),
    Word(
        "Energy", "The sum of the squares of all values of a table, or of a part of it.", "energy"
    ),
    Word(
        "Logit",
        "The score of a key, before softmax turns all scores into shares of attention.",
        "logits?",
    ),
    Word(
        "Query and key",
        "The query is the vector of the token that looks, the key that of a token looked at.",
        "queries and keys|query and key|query|queries",
    ),
    Word(
        "Principal component",
        "A direction along which vectors vary most, once those before it are taken out.",
        "principal components?|principal directions?",
    ),
    Word(
        "Outlier",
        "A position whose vector has an unusual norm, or is unlike its neighbours.",
        "outliers?",
    ),
    Word(
        "Sink",
        "A learned score that takes a share of the attention and gives it to no token.",
        "attention sinks?|sinks?",
    ),
    Word(
        "Reach",
        "How far from a position an encoding, a window or a convolution still counts.",
        "the reach|reach of",
    ),
    Word(
        "RMS",
        "Root mean square: the typical size of a value, whatever its sign.",
        "rms|root mean square",
    ),
    Word(
        "Norm",
        "The length of a vector: the square root of the sum of its squared values.",
        "norms?",
    ),
    Word(
        "Cosine",
        "How alike the directions of two vectors are: 1 the same, 0 unrelated, −1 opposite.",
        "(?<!sine and )cosines?(?: similarity)?(?! of (?:all|the) angles?)",
    ),
    Word(
        "Probe",
        "A simple model, fitted to some vectors and tested on others: what do they tell?",
        "(?:linear )?probes?",
    ),
    Word(
        "Offset",
        "The key’s position minus the query’s: −2 is two to the left, 1 one to the right.",
        "offsets?",
    ),
    Word(
        "Bias",
        "A number added to an attention score because of position, whatever the words.",
        "bias(?:es)?",
    ),
    Word(
        "Rotation",
        "Turning queries and keys by an angle that grows with position, as rotary encodings do.",
        "rotary|rotations?|rotat(?:es|ed)",
    ),
    Word(
        "Wavelength",
        "The number of positions in which a wave repeats, or a pair turns once around.",
        "wavelengths?",
    ),
    Word(
        "Window",
        "A stretch of positions: what a layer can see, or what is measured at a time.",
        "(?:attention |sliding )?windows?",
    ),
    Word(
        "Context",
        "The most positions that a model is made for, or that training used.",
        "context length|contexts?",
    ),
    Word("Head", "One of the parallel attentions of a layer, each with its own queries.", "heads?"),
    Word(
        "Scheme", "A kind of position encoding, such as a learned table or a rotation.", "schemes?"
    ),
    Word(
        "Encoding",
        "Any way in which a model tells where a token stands.",
        "position encodings?|positional encodings?|encodings?",
    ),
    Word(
        "Checkpoint",
        "A model as stored: its settings and, unless they were left out, its trained numbers.",
        "checkpoints?",
    ),
    Word(
        "Row",
        "An entry of the list of checkpoints of an atlas: a checkpoint, and where it lies.",
        "rows? of the list|this row has",
    ),
    Word(
        "Layer",
        "One of the steps that a model takes in turn, mostly attention and a small network.",
        "layers?",
    ),
    Word(
        "Distance", "How many places two positions lie apart, whichever comes first.", "distances?"
    ),
    Word(
        "Dimension",
        "One of the numbers of a vector: the one at the same place in all.",
        "dimensions?",
    ),
    Word(
        "Token",
        "What a model reads one by one: a word, a piece of one, a patch of an image.",
        "tokens?",
    ),
    Word("Position", "The place of a token in its sequence, counted from 0.", "positions?"),
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
