"""The sections of the page on notebooks as notebooks to download, made of its lines of Python."""

import html
import json
import re
from collections.abc import Callable, Mapping
from functools import partial

from generator.contracts.wording import Wording

PAGE = "learn/notebooks.md"
SECTION = re.compile(r"^## (.+?) \{ #([\w-]+) \}$", re.MULTILINE)
CELL = re.compile(
    r"^### (.+?) \{ #([\w-]+) \}\n.*?^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE
)
NAMES = ("gpt-2-first", "gpt-2-second", "bert-first", "t5-first", "bert-second")
WORDING = Wording("wording/notebooks.jinja")


def makers(
    pages: Mapping[str, Callable[[], bytes]], address: str | None
) -> dict[str, Callable[[], bytes]]:
    """Functions that return each notebook, by path below the docs folder; none without the page.

    pages: functions that return pages in Markdown; address: of the site
    """
    if PAGE not in pages:
        return {}
    return {
        f"data/notebooks/{name}.ipynb": partial(notebook, pages[PAGE], name, address or "")
        for name in NAMES
    }


def notebook(page: Callable[[], bytes], name: str, address: str) -> bytes:
    """A section as a notebook of format 4.5: its lines of Python under their titles."""
    _, *parts = SECTION.split(page().decode())
    sections = {key: (title, text) for title, key, text in zip(*[iter(parts)] * 3, strict=True)}
    title, text = sections[name]
    place = f"{address}{PAGE.removesuffix('.md')}.html#{name}"
    cells = [_markdown(name, f"# {title}", WORDING("shown", place=place), WORDING("needs"))]
    for title, key, lines in CELL.findall(text):
        cells += [
            _markdown(f"{key}-title", f"## {title}"),
            _cell("code", key, html.unescape(lines)),
        ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    written = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(written, ensure_ascii=False, indent=1).encode() + b"\n"


def _markdown(key: str, *lines: str) -> dict[str, object]:
    return _cell("markdown", key, html.unescape("\n\n".join(lines)))


def _cell(kind: str, key: str, text: str) -> dict[str, object]:
    lines = text.rstrip("\n").splitlines(keepends=True)
    of_code: dict[str, object] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": key, "metadata": {}, "source": lines, **of_code}
