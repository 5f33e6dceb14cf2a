"""Formulas are shown by KaTeX's own HTML, made before any reader comes."""

import asyncio
import re
from pathlib import Path

import pytest

from generator.builds import TEMPLATES
from generator.site import formulas
from generator.site.formulas import formula


def test_a_formula_is_there_for_the_eye_and_for_a_screen_reader() -> None:
    shown = formula(r"\frac{a}{b}")
    assert "<mfrac><mi>a</mi><mi>b</mi></mfrac>" in shown
    assert 'class="katex-html" aria-hidden="true"' in shown


def test_a_formula_is_one_line_so_that_markdown_leaves_it_alone() -> None:
    assert "\n" not in formula("\n  a_b\n  + c_d\n")


def test_an_event_loop_that_has_closed_is_not_asked() -> None:
    formulas._katex.cache_clear()

    async def first() -> str:
        return formula("a")

    assert asyncio.run(first()) != formula("b")


def test_tex_that_katex_does_not_know_is_told() -> None:
    with pytest.raises(Exception, match="Undefined control sequence"):
        formula(r"\nosuchthing")


def test_no_script_of_katex_is_sent_to_a_reader(built: Path) -> None:
    pages = [path.read_text(encoding="utf-8") for path in (built / "site").rglob("*.html")]
    assert not any(re.search(r"<script[^>]*katex", page) for page in pages)
    assert any("katex-mathml" in page for page in pages)


def test_every_font_that_the_stylesheet_names_first_is_there() -> None:
    folder = Path("site_src/assets/vendor/katex")
    named = re.findall(r"url\((fonts/[^)]+\.woff2)\)", (folder / "katex.min.css").read_text(encoding="utf-8"))
    assert named
    assert all((folder / name).is_file() for name in named)


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*/*.jinja")), ids=lambda path: path.stem)
def test_no_formula_is_left_as_plain_html(path: Path) -> None:
    assert '<p class="pa-formula">' not in path.read_text(encoding="utf-8")
