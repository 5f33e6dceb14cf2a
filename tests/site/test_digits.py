"""Numbers of measures have their digits by one rule wherever a built site shows them: in sentences,
tables, strips and captions, so that two places give a value alike. CSV and JSON have all digits.

Per cent is whole, and has one decimal below ten. Others have three significant digits, two below a
tenth, and two decimals at most. More digits, two at most but near 0, only tell a value from 0, 1,
−1 or 100%.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from bs4 import BeautifulSoup

PAGES = (
    *("*.html", "checkpoints/*/*.html"),
    *(f"{folder}/*.html" for folder in ("analyses", "checkpoints", "runs", "schemes")),
)
# Where pages show measures. Code, settings, sizes in bytes and what others print have digits of
# their own.
PLACES = (
    ".pa-metrics td, .pa-found, .pa-verdict, .pa-answer, .pa-row-says, .pa-dots b, .pa-dots em,"
    " .pa-dot-axis span, .pa-glances dd, .pa-glances p, .pa-lead, figcaption p,"
    " .pa-list:not(.pa-models) td"
)
NUMBER = re.compile(
    r"(?<![\w.,×÷±/:^-])(?<!arXiv )(?<!± )(?<!× )[−-]?\d+(?:,\d{3})*\.\d+"
    r"(?![\d.]|[\w-]| (?:[kMG]i?B|B|rad)\b| ?± | × 10)(?= to [\d.]+%|%)?"
)


def breaks_the_rule(shown: str, is_percent: bool) -> bool:
    """Whether a number with decimals has too many."""
    size = abs(float(shown.replace(",", "").replace("−", "-")))
    decimals = len(shown.partition(".")[2])
    if is_percent:
        most = 2 if 99.0 < size < 101.0 else 9 if size < 0.1 else int(size < 10.0)
    elif size < 0.1:
        return len(f"{size:.{decimals}f}".lstrip("0.")) > 2
    else:
        near_one = abs(size - 1.0) < 0.0051
        most = 4 if near_one else 2 if size < 10.0 else int(size < 100.0)
    return decimals > most


def test_the_rule_has_two_sides() -> None:
    many = [("86.37", True), ("5.67", True), ("0.8513", False), ("43.93", False), ("508.3", False)]
    many += [("99.996", True), ("0.99998", False)]
    few = [("5.7", True), ("99.7", True), ("0.85", False), ("0.998", False), ("0.058", False)]
    assert [case for case in (*many, *few) if breaks_the_rule(*case)] == many


def offenders(page: Path) -> Iterator[str]:
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    article = soup.find("article") or soup
    for literal in article.select("pre, code, svg"):
        literal.decompose()
    for place in article.select(PLACES):
        text = " ".join(place.get_text().split())
        for found in NUMBER.finditer(text):
            after = text[found.end() :]
            is_percent = after.startswith("%") or bool(re.match(r"( to | and |, )[\d.]+%", after))
            if breaks_the_rule(found[0], is_percent):
                yield text[max(0, found.start() - 60) : found.end() + 20]


def test_measures_have_their_digits_by_one_rule(built: Path) -> None:
    site = built / "site"
    pages = [page for pattern in PAGES for page in sorted(site.glob(pattern))]
    assert len(pages) > 20
    found = {page.relative_to(site).as_posix(): list(offenders(page)) for page in pages}
    assert {page: texts for page, texts in found.items() if texts} == {}
