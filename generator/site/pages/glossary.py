"""The page of words: what each means, with a picture."""

from generator.contracts import Atlas, Page, PageKind
from generator.site.glossary import HEIGHT, PICTURES, WIDTH, WORDS


def pages(_: Atlas) -> list[Page]:
    """The page, with the words in alphabetical order."""
    words = sorted(WORDS, key=lambda word: word.title.lower())
    shown = {"words": words, "pictures": PICTURES, "width": WIDTH, "height": HEIGHT}
    return [Page("learn/glossary.md", "glossary.md.jinja", shown)]


PAGE = PageKind("glossary", pages)
