"""Builds whose pages stay Markdown, with blank figures, for tests of what is evaluated, requested
and counted: HTML and figures take longer than all else in a small build.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from generator.figures import svg
from generator.site import write
from generator.site.html import mkdocs_build

BLANK = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"><metadata>{}</metadata>\n</svg>'


def _copied(settings: Sequence[Path], docs: Path, site: Path, *_: object) -> None:
    with write.fresh(site) as new:
        shutil.copytree(docs, new, dirs_exist_ok=True)


@contextmanager
def unrendered_pages() -> Iterator[None]:
    """The site of a build in this process is a copy of its docs, and nothing is drawn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mkdocs_build, "build", _copied)
        patch.setattr(svg, "encode", lambda *_: BLANK)
        yield
