"""A finished site below another one, and its docs by another program than mkdocs."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from generator.site.html import mkdocs_build
from generator.site.materials import OURS
from tests import links, small_site
from tests.built import ROOT


def test_a_site_copied_into_another_has_no_broken_link(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<a href="atlas/index.html">Atlas</a>', encoding="utf-8")
    shutil.copytree(small_site.small() / "site", tmp_path / "atlas")
    assert links.broken(tmp_path, tmp_path / "atlas") == []


@pytest.mark.thorough
def test_zensical_makes_every_page_of_the_same_docs(tmp_path: Path) -> None:
    """The support of mkdocs-material ends on 2027-05-05; Zensical follows it."""
    small = small_site.small()
    shutil.copytree(small / "docs", tmp_path / "docs")
    options = mkdocs_build.read(OURS.settings[0])
    options["theme"]["custom_dir"] = str(ROOT / options["theme"]["custom_dir"])
    options |= {"docs_dir": "docs", "site_dir": "site", "site_url": ""}
    (tmp_path / "zensical.yml").write_text(json.dumps(options, default=str), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--config-file", "zensical.yml"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {path.relative_to(small / "docs") for path in (small / "docs").rglob("*.md")}
    without = [
        page
        for page in pages
        if "<h1" not in (tmp_path / "site" / page.with_suffix(".html")).read_text(encoding="utf-8")
    ]
    assert len(pages) > 50
    assert without == []
