"""The page of words: what each means, with a picture."""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.contracts import Atlas, Page, PageContext, PageKind
from generator.site.glossary import WORDS, Word


@dataclass(frozen=True)
class GlossaryContext(PageContext, template="glossary.md.jinja"):
    """All words, in no order."""

    words: Sequence[Word]


def pages(_: Atlas) -> list[Page]:
    """The page, with the words in alphabetical order."""
    return [Page("learn/glossary.md", GlossaryContext(WORDS))]


PAGE = PageKind("glossary", pages)
