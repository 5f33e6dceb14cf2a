"""The page of terms: what each means, with a picture."""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.contracts import Atlas, Page, PageContext, PageKind
from generator.site.glossary import TERMS, Term


@dataclass(frozen=True)
class GlossaryContext(PageContext, template="glossary.md.jinja"):
    """All terms, in no order."""

    terms: Sequence[Term]


def pages(_: Atlas) -> list[Page]:
    """The page, with the terms in alphabetical order."""
    return [Page("learn/glossary.md", GlossaryContext(TERMS))]


PAGE = PageKind("glossary", pages, ("learn/glossary.md",))
