"""Markdown to HTML, by Zensical, in place of mkdocs."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from generator.errors import RefusedError
from generator.site.data import search_index
from generator.site.html import mkdocs_build
from generator.site.html.page_cache import PageCache
from generator.site.write import fresh

PACKAGE = "zensical"
CONFIG = ".zensical.yml"  # Zensical demands that docs and site lie beside its settings.
CACHE = ".cache"
SITEMAP = "sitemap.xml"
HOOKS = "hooks"
# Names by which search finds a page, which mkdocs shows nowhere.
NAMES = re.compile(r'<nav class="md-tags".*?</nav>', re.DOTALL)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
MOST_WORDS = 2000  # characters of what Zensical says


def check() -> None:
    """errors: RefusedError where Zensical is not installed"""
    if find_spec(PACKAGE) is None:
        raise RefusedError(
            "--renderer zensical: the package zensical is not installed; expected it, as of"
            " pip install zensical"
        )


def build(
    settings: Sequence[Path],
    docs: Path,
    site: Path,
    date: int | None,
    cache: PageCache | None = None,
) -> None:
    """As ``mkdocs_build.build``. ``docs`` and ``site`` lie in one folder; no ``cache`` is used.

    errors: RefusedError with what Zensical says
    """
    del cache  # Zensical is asked for the whole site.
    check()
    config = docs.parent / CONFIG
    try:
        with fresh(site) as new:
            options = _options(settings, docs, new)
            config.write_text(json.dumps(options, default=str), encoding="utf-8")
            _run(config, date if date is not None else mkdocs_build.DAY_ZERO)
            _remove_names(new)
            extra = options.get("extra") or {}
            mkdocs_build.finish(docs, new, extra.get("policy") or "", None)
            search_index.finish(new)
            _finish_sitemap(new, options["site_url"], date)
    finally:
        config.unlink(missing_ok=True)


def _options(settings: Sequence[Path], docs: Path, site: Path) -> dict[str, Any]:
    """All settings as one mapping. errors: RefusedError for those that Zensical would ignore"""
    *own, whole = settings
    options = mkdocs_build.read(whole)
    theme = options.get("theme")
    if isinstance(theme, dict) and "custom_dir" in theme:
        theme["custom_dir"] = str((whole.parent / theme["custom_dir"]).resolve())
    if own:
        options |= mkdocs_build.merged(whole, own[0])
    if HOOKS in options:
        raise RefusedError(
            f"{settings[0]}: {HOOKS}: Zensical runs none; expected settings without, or"
            " --renderer mkdocs"
        )
    options |= {
        "docs_dir": docs.name,
        "site_dir": site.name,
        "site_url": mkdocs_build.address(settings) or "",
    }
    return options


def _run(config: Path, date: int) -> None:
    command = [sys.executable, "-m", PACKAGE, "build", "--strict", "--clean"]
    done = subprocess.run(
        [*command, "--config-file", config.name],
        cwd=config.parent,
        env={**os.environ, mkdocs_build.EPOCH: str(date)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    shutil.rmtree(config.parent / CACHE, ignore_errors=True)
    if done.returncode:
        said = " ".join(COLOUR.sub("", done.stdout).split())
        raise RefusedError(f"Zensical says: {said[-MOST_WORDS:]}; expected pages that it can build")


def _remove_names(site: Path) -> None:
    for page in site.rglob("*.html"):
        page.write_text(NAMES.sub("", page.read_text(encoding="utf-8")), encoding="utf-8")


def _finish_sitemap(site: Path, address: str, date: int | None) -> None:
    """Have the sitemap compressed too; without an address, whose pages it could not name, there is
    none.
    """
    sitemap = site / SITEMAP
    if not address:
        sitemap.unlink(missing_ok=True)
    elif sitemap.is_file():
        data = gzip.compress(sitemap.read_bytes(), mtime=date or mkdocs_build.DAY_ZERO)
        (site / f"{SITEMAP}.gz").write_bytes(data)
