"""A finished page without the bytes that say nothing; mkdocs.yml names this file, so that ``mkdocs build`` alone gives the same."""

import re

VERBATIM = re.compile(r"(<(pre|script|style|textarea)\b.*?</\2\s*>)", re.DOTALL)
BREAKS = re.compile(r"\s*\n\s*")
REFERENCE = re.compile(r"&#(\d{1,7});")
MARKUP = "<>&\"'"


def compact(html: str) -> str:
    """``html``, which a browser shows the same: one line break where there was white space with one, and no needless reference.

    Text that came from outside is all references, for Markdown's sake. Behind Markdown, only those of ``MARKUP`` are
    still needed. Elements that are shown or run letter by letter keep their white space.
    """
    # Of three pieces each, the last two are an element that is kept and its name.
    pieces = VERBATIM.split(html)
    pieces[::3] = [REFERENCE.sub(_character, BREAKS.sub("\n", piece)) for piece in pieces[::3]]
    del pieces[2::3]
    return "".join(pieces)


def _character(reference: re.Match[str]) -> str:
    number = int(reference[1])
    character = chr(number) if number <= 0x10FFFF else ""
    return character if character.isprintable() and character not in MARKUP and not character.isspace() else reference[0]


def on_post_page(output: str, **_: object) -> str:
    """What mkdocs calls with each page before it is written."""
    return compact(output)
