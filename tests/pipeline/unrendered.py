"""Builds whose pages stay Markdown, for tests of what is evaluated, requested and counted: HTML
takes longer than all else in a small build.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from generator.site import write
from generator.site.html import mkdocs_build


def _copied(settings: Sequence[Path], docs: Path, site: Path, *_: object) -> None:
    with write.fresh(site) as new:
        shutil.copytree(docs, new, dirs_exist_ok=True)


@contextmanager
def without_html() -> Iterator[None]:
    """The site of a build in this process is a copy of its docs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mkdocs_build, "build", _copied)
        yield
