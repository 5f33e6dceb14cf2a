"""The page of words: what each means, with a picture."""

from generator.contracts import Atlas, Page, PageKind, untyped
from generator.site.glossary import WORDS


def pages(_: Atlas) -> list[Page]:
    """The page, with the words in alphabetical order."""
    words = sorted(WORDS, key=lambda word: word.title.lower())
    return [Page("learn/glossary.md", untyped("glossary.md.jinja", {"words": words}))]


PAGE = PageKind("glossary", pages)
