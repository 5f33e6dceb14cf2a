"""Links to pages that an atlas does not have: what is left of them is their words."""

import re
from collections.abc import Callable
from posixpath import join, normpath

ANCHOR = r'<a\b[^>]*?\bhref="([^"#]*)[^"]*"[^>]*>((?:(?!</a>).)*)</a>'
IN_HTML = re.compile(ANCHOR, re.DOTALL)
# An item of a list that is nothing but a link, and a list without items.
ITEM = re.compile(rf"<li>\s*{ANCHOR}\s*</li>\n?", re.DOTALL)
EMPTY = re.compile(r"<ul\b[^>]*>\s*</ul>\n?")
IN_MARKDOWN = re.compile(r"(?<!!)\[([^\[\]]*)\]\(([^()#\s]*)(?:#[^()\s]*)?\)")
ENDING = re.compile(r"\.html$")


def without_links(text: str, folder: str, is_absent: Callable[[str], bool]) -> str:
    """``text`` of a page in Markdown without links to pages that are absent.

    folder: of the page; is_absent: whether a page is, by its path in Markdown below the docs folder
    """

    def leads_nowhere(address: str) -> bool:
        return is_absent(ENDING.sub(".md", normpath(join(folder, address))))

    text = ITEM.sub(lambda link: "" if leads_nowhere(link[1]) else link[0], text)
    text = EMPTY.sub("", text)
    text = IN_HTML.sub(lambda link: link[2] if leads_nowhere(link[1]) else link[0], text)
    return IN_MARKDOWN.sub(lambda link: link[1] if leads_nowhere(link[2]) else link[0], text)
