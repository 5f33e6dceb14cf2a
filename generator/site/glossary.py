"""Terms of the field, each in one sentence, and their first uses on pages. Their pictures are in
`site_src/assets/words.svg`. Classes there: w is what the term means, m what is beside it; d is
dotted, f filled, t fainter.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from posixpath import relpath
from typing import Self

from markupsafe import escape

from generator.contracts.wording import Wording

MEANINGS = Wording("wording/glossary.jinja")
PAGE = "learn/glossary.html"
MOST_MARKED = 8  # terms on a page
# Folders of pages for readers; the guide and the pages on files have terms of their own.
MARKED = re.compile(
    r"(index|compare|map|models|use|runs)\.html$|(analyses|checkpoints|learn|map|models|schemes)/"
)
ARXIV = "https://arxiv.org/abs/"
SKLEARN = "https://scikit-learn.org/stable/modules/generated/"


@dataclass(frozen=True)
class Term:
    """A term. uses: regular expression of what a page marks, in any case; anchor: an earlier title,
    to which links lead; source: address of what defines it, "" for what the atlas defines itself
    """

    title: str
    uses: str
    anchor: str = ""
    source: str = ""

    @property
    def key(self) -> str:
        """Fragment of its place on the page, and of its picture in `words.svg`."""
        return re.sub(r"\W+", "-", (self.anchor or self.title).lower())

    @property
    def meaning(self) -> str:
        """What it means, in a sentence."""
        return MEANINGS(self.key.replace("-", "_"))


# Those first that most need a sentence: a page marks the first few that it has.
TERMS = (
    Term("Kernel", r"kernels?"),
    Term("R²", r"r²", "R squared", SKLEARN + "sklearn.metrics.r2_score.html"),
    Term("Nat", r"nats?", source="https://doi.org/10.1002/j.1538-7305.1948.tb01338.x"),
    Term("YaRN", r"yarn", source=ARXIV + "2309.00071"),
    Term("LongRoPE", r"longrope", source=ARXIV + "2402.13753"),
    Term("Latent attention", r"(?:multi-head )?latent attention|mla", source=ARXIV + "2405.04434"),
    Term("Recurrent state", r"recurrent states?", source=ARXIV + "2312.00752"),
    Term("Rotary base", r"rotary bases?|base of its frequencies", source=ARXIV + "2104.09864"),
    Term("KV cache", r"kv[- ]caches?|cache of keys and values", source=ARXIV + "2211.05102"),
    Term("Causal mask", r"causal(?: masks?| attention)?", source=ARXIV + "1706.03762"),
    Term("GGUF", r"gguf", source="https://github.com/ggml-org/ggml/blob/master/docs/gguf.md"),
    Term("Half way to the far level", r"half ?way to (?:its|the|their) far level", "Half-distance"),
    Term("Far level", r"far level"),
    Term("Local monotonicity", r"local monotonicity|monotonicity"),
    Term("Translation invariance", r"translation invariance|translation-invariant"),
    Term("Seam", r"seams?"),
    Term("Rotation pair", r"(?:rotation|frequency) pairs?", "Frequency pair"),
    Term("Centring", r"mean-centred|after centring|centring"),
    Term("Energy", r"energy"),
    Term("Logit", r"logits?"),
    Term("Query and key", r"queries and keys|query and key|query|queries"),
    Term("Principal component", r"principal components?|principal directions?"),
    Term("Outlier", r"outliers?"),
    Term("Random weights", r"random weights"),
    Term("Chance", r"(?:by )?chance"),
    Term("Sink", r"attention sinks?|sinks?"),
    Term("Reach", r"the reach|reach of"),
    Term("RMS", r"rms|root mean square"),
    Term("Norm", r"norms?"),
    Term(
        "Cosine similarity",
        r"(?<!sine and )cosines?(?: similarity)?(?! of (?:all|the) angles?)",
        "Cosine",
    ),
    Term("Probe", r"(?:linear )?probes?"),
    Term("Offset", r"offsets?"),
    Term("Bias", r"bias(?:es)?"),
    Term("Rotation", r"rotary|rotations?|rotat(?:es|ed)"),
    Term("Wavelength", r"wavelengths?"),
    Term("Window", r"(?:attention|sliding) windows?|window layers?|with(?:in)? a window"),
    Term("Configured context", r"configured contexts?|context length|contexts?", "Context"),
    Term("Head", r"heads?"),
    Term("Scheme", r"schemes?"),
    Term("Encoding", r"position encodings?|positional encodings?|encodings?"),
    Term("Part", r"parts? of (?:a|the) model"),
    Term("Checkpoint", r"checkpoints?"),
    Term("Entry", r"entr(?:y|ies) of the list|this entry has|rows? of the list|this row has"),
    Term("Table", r"tables? of (?:position )?vectors|position tables?"),
    Term("Row", r"rows? of (?:a|the|its) table"),
    Term("Layer", r"layers?"),
    Term("Distance", r"distances?"),
    Term("Adjacent positions", r"adjacent positions"),
    Term("Dimension", r"dimensions?"),
    Term("Token", r"tokens?"),
    Term("Position", r"positions?"),
)

TAG = re.compile(r"""(<!--.*?-->|<(?:[^<>"']|"[^"]*"|'[^']*')+>)""", re.DOTALL)
NAME = re.compile(r"</?([\w-]+)")
ARTICLE = re.compile(r"<article\b.*</article>", re.DOTALL)
PROSE = frozenset(("p", "li", "figcaption", "dd", "blockquote"))
# What a term is not marked in: what does something on its own, or is no prose.
OTHER = frozenset(
    ["a", "button", "code", *(f"h{level}" for level in range(1, 7)), "label", "math", "nav"]
) | frozenset(
    ["output", "pre", "script", "select", "span", "style", "summary", "svg", "template", "textarea"]
)
FOLDED = "details"
BETWEEN = "\0"  # Chunks, which no term crosses.
COUNTED = PROSE | OTHER | {FOLDED}


@dataclass(frozen=True)
class LinkedTerm:
    """A use of a term in prose, in a chunk of a page, and the tag of its link."""

    chunk: int
    start: int
    end: int
    link: str

    def crosses(self, other: "LinkedTerm") -> bool:
        """Whether both have a letter in common."""
        return self.chunk == other.chunk and self.start < other.end and other.start < self.end


@dataclass(frozen=True)
class Prose:
    """The prose of a page as one text, which is searched once for a term.

    numbers: of its chunks; starts: of each chunk in the text
    """

    text: str
    numbers: list[int]
    starts: list[int]

    @classmethod
    def of(cls, chunks: list[str], numbers: list[int]) -> Self:
        """numbers: of the chunks that are prose"""
        texts = [chunks[number] for number in numbers]
        starts = list(accumulate((len(text) + len(BETWEEN) for text in texts), initial=0))
        return cls(BETWEEN.join(texts), numbers, starts)

    def mark(self, use: re.Match[str], link: str) -> LinkedTerm:
        """The link of a use."""
        index = bisect_right(self.starts, use.start()) - 1
        start = self.starts[index]
        return LinkedTerm(self.numbers[index], use.start() - start, use.end() - start, link)


def with_terms(html: str, path: str) -> str:
    """``html`` of the page at ``path``, in which the first use in prose of a few terms links to
    their place on the page of the glossary.

    A use in plain sight comes before one in what a reader has to unfold.
    """
    article = ARTICLE.search(html) if MARKED.match(path) and path != PAGE else None
    if article is None:
        return html
    chunks = TAG.split(article[0])
    prose = Prose.of(chunks, _prose(chunks))
    page = relpath(PAGE, path.rpartition("/")[0] or ".")
    marks: list[LinkedTerm] = []
    for term in TERMS:
        link = f'<a class="pa-word" href="{page}#{term.key}" title="{escape(term.meaning)}">'
        if len(marks) < MOST_MARKED and (mark := _first(prose, term, link, marks)):
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


def _first(prose: Prose, term: Term, link: str, others: list[LinkedTerm]) -> LinkedTerm | None:
    """The first use of ``term`` that crosses none of the ``others``; None without any."""
    uses = re.compile(rf"(?<![\w&#-])(?:{term.uses})(?![\w-]|\.\w)", re.IGNORECASE)
    marks = (prose.mark(use, link) for use in uses.finditer(prose.text))
    return next((mark for mark in marks if not any(mark.crosses(other) for other in others)), None)
