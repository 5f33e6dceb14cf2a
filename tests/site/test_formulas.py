"""Formulas are valid MathML Core, and the font of the site has all their characters."""

import html
import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from fontTools.ttLib import TTFont
from math_core import LatexError

from generator import ROOT
from generator.pipeline.evaluate import all_analyses
from generator.site.html.formulas import formula
from generator.site.html.minify import compact

if TYPE_CHECKING:
    from playwright.sync_api import Page

FORMULA = re.compile(r"\{% filter formula %\}(.*?)\{% endfilter %\}", re.DOTALL)
FORMULAS = {
    f"{path.name.split('.')[0]}-{number}": tex
    for path in sorted((ROOT / "templates").glob("*/*.jinja"))
    for number, tex in enumerate(FORMULA.findall(path.read_text(encoding="utf-8")), 1)
}
FONT = ROOT / "site_src/assets/vendor/latin-modern-math/atlas-math.woff2"

# https://www.w3.org/TR/mathml-core/, section 3: number of children of an element; TOKENS and GROUPS
# have any number of them.
ARITIES = {
    "mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3,
    "munderover": 3, "mspace": 0,
}  # fmt: skip
TOKENS = {"mi", "mn", "mo", "ms", "mtext"}
GROUPS = {
    "math", "mpadded", "mphantom", "mrow", "msqrt", "mstyle", "mtable", "mtd", "mtr", "merror",
    "mmultiscripts", "mprescripts",
}  # fmt: skip
# MathML according to the specification or to the rules of TeX.
EXPECTED = {
    r"\frac{a}{b}": "<mfrac><mi>a</mi><mi>b</mi></mfrac>",
    r"x^2": "<msup><mi>x</mi><mn>2</mn></msup>",
    r"x_i": "<msub><mi>x</mi><mi>i</mi></msub>",
    r"x_i^2": "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>",
    r"\sqrt[3]{x}": "<mroot><mi>x</mi><mn>3</mn></mroot>",
    r"a < b": "<mi>a</mi><mo>&lt;</mo><mi>b</mi>",
    "\n  a\n  = b\n": "<mi>a</mi><mo>=</mo><mi>b</mi>",
}


def tree(tex: str) -> ElementTree.Element:
    """The <math> element of a formula, parsed as XML, which has only five named characters."""
    other = r"&(?!(?:lt|gt|amp|quot|apos);)\w+;"
    named = re.sub(other, lambda name: html.unescape(name[0]), formula(tex))
    # Our own.
    return ElementTree.fromstring(named[named.index("<math") : named.index("</div>")])  # noqa: S314


def characters(math: ElementTree.Element) -> Iterator[str]:
    """Characters that a browser shows: identifiers of a single letter are italic (MathML Core,
    section 4.2).
    """
    for token in math.iter():
        if token.tag in TOKENS:
            text = token.text or ""
            is_italic = token.tag == "mi" and token.get("mathvariant") != "normal"
            yield from ITALIC.get(text, text) if is_italic else text


ITALIC = {
    unicodedata.normalize("NFKC", letter): letter
    for letter in map(chr, range(0x1D434, 0x1D7CC))
    if unicodedata.name(letter, "").startswith("MATHEMATICAL ITALIC ")
} | {"h": "\N{PLANCK CONSTANT}"}


@pytest.fixture(scope="module")
def font() -> Iterator[TTFont]:
    with TTFont(FONT) as opened:
        yield opened


@pytest.mark.parametrize(("tex", "mathml"), EXPECTED.items())
def test_tex_becomes_mathml(tex: str, mathml: str) -> None:
    assert f'<math display="block">{mathml}</math>' in formula(tex)


def test_every_formula_is_valid_mathml_core_of_known_characters_on_one_line(font: TTFont) -> None:
    problems = {name: found for name, tex in FORMULAS.items() if (found := list(_wrong(tex, font)))}
    assert problems == {}
    assert len(FORMULAS) > 50


def _wrong(tex: str, font: TTFont) -> Iterator[str]:
    """What is wrong with a formula."""
    markup = formula(f"\n  {tex}\n")
    if "\n" in markup or compact(markup) != markup:
        yield "minification changes it"
    for element in tree(tex).iter():
        is_token = element.tag in TOKENS
        if element.tag not in {*ARITIES, *TOKENS, *GROUPS}:
            yield f"{element.tag} is not known"
        if len(element) != ARITIES.get(element.tag, len(element)) or (is_token and len(element)):
            yield f"{element.tag} has {len(element)} children"
        if not is_token and (element.text or element.tail):
            yield f"{element.tag} has text"
    yield from (
        f"no {mark}" for mark in characters(tree(tex)) if ord(mark) not in font.getBestCmap()
    )


def test_the_font_is_small_and_has_variants_of_large_symbols(font: TTFont) -> None:
    variants = font["MATH"].table.MathVariants
    assert {"parenleft", "summation", "radical"} <= {*variants.VertGlyphCoverage.glyphs}
    assert len(FONT.read_bytes()) < 40_000


@pytest.mark.parametrize(
    "tex", [r"\nosuchthing", r"\frac{a", "a}", r"\left(a", "a^b^c", "a & b", r"\begin{nosuchthing}"]
)
def test_invalid_tex_is_an_error(tex: str) -> None:
    with pytest.raises(LatexError):
        formula(tex)


def test_no_template_writes_the_html_of_a_formula() -> None:
    templates = (ROOT / "templates").glob("*/*.jinja")
    assert [path for path in templates if "pa-formula" in path.read_text(encoding="utf-8")] == []


def test_every_formula_is_in_the_site(built: Path) -> None:
    """But for those of analyses that apply to no encoding of this build, which have no page."""
    pages_of_analyses = {path.stem for path in (built / "docs/analyses").glob("*.md")}
    absent = {analysis.key for analysis in all_analyses()} - pages_of_analyses
    assert len(absent) < 4
    pages = "".join(path.read_text(encoding="utf-8") for path in (built / "site").rglob("*.html"))
    maths = {name: str(formula(tex)) for name, tex in FORMULAS.items()}
    shown = {name: text[text.index("<math") : text.index("</div>")] for name, text in maths.items()}
    missing = [name for name, text in shown.items() if text not in pages]
    assert {name.rpartition("-")[0] for name in missing} <= absent


def test_the_search_index_excludes_formulas(built: Path) -> None:
    index = json.loads((built / "site/search/search_index.json").read_text(encoding="utf-8"))
    text = re.sub(r"\s", "", "".join(entry["text"] for entry in index["docs"]))
    formulas = (re.sub(r"\s", "", "".join(tree(tex).itertext())) for tex in FORMULAS.values())
    long = [html.escape(letters, quote=False) for letters in formulas if len(letters) > 15]
    assert [letters for letters in long if letters in text] == []


@pytest.mark.browser
def test_a_wide_formula_has_the_font_and_scrolls_without_its_page(
    page: "Page", address: str
) -> None:
    page.set_viewport_size({"width": 375, "height": 800})
    page.goto(f"{address}/analyses/rotation_by_offset.html")
    wide = page.locator(".pa-formula").first
    wide.scroll_into_view_if_needed()
    # The policy of the page keeps Playwright from waiting for an expression.
    page.evaluate("""new Promise(done => { const look = () => [...document.fonts].some(
        font => font.family.includes("Atlas Math") && font.status === "loaded")
        ? done() : requestAnimationFrame(look); look(); })""")
    assert wide.evaluate(
        "block => block.scrollWidth > block.clientWidth && block.scrollHeight <= block.clientHeight"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    wide.focus()
    page.keyboard.press("ArrowRight")
    page.evaluate("""new Promise(done => document.activeElement.scrollLeft > 0 ? done()
        : document.activeElement.addEventListener("scroll", done))""")
