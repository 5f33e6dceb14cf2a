"""Long tables: what a page has of them, and what the script beside it."""

import json
import re

import pytest

from benchmarks import long_lists
from generator.site.html.long_tables import MOST_ROWS, shortened
from generator.site.html.minify import compact

OF_SCRIPT = re.compile(r"window\.atlas\.rest=(.*);\n")


def table(n_rows: int, marks: str = " data-pa-long") -> str:
    rows = "".join(
        f"<tr id=r{n}><th>&lt;/tbody&gt; {n}</th><td>\u2028é</td></tr>" for n in range(n_rows)
    )
    return (
        f"<table class=x{marks}><caption>A &lt;b&gt;</caption><thead><tr><th>H</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def rests(script: bytes) -> list[str]:
    found = OF_SCRIPT.fullmatch(script.decode("ascii"))
    assert found is not None
    texts: list[str] = json.loads(found[1])
    return texts


@pytest.mark.parametrize("html", ["<p>", table(MOST_ROWS), table(900, " data-pa-sortable")])
def test_what_is_not_long_or_not_marked_stays_whole(html: str) -> None:
    assert shortened(html, "a.rows.js") == (html, b"")


def test_the_first_rows_stay_and_the_script_has_all_others_of_each_table() -> None:
    whole = f"{table(MOST_ROWS + 3)}<p>between</p>{table(5)}{table(MOST_ROWS + 1)}"
    short, script = shortened(whole, "a.rows.js")
    first, last = rests(script)
    assert first.startswith(f"<tr id=r{MOST_ROWS}><th>&lt;/tbody&gt;")
    assert (first.count("<tr"), last.count("<tr")) == (3, 1)
    assert [found[1] for found in re.finditer(r'data-pa-number="(\d)"', short)] == ["0", "1"]
    assert "The first 200 of 203 rows." in short
    for number, rest in enumerate((first, last)):
        total = MOST_ROWS + rest.count("<tr")
        mark = f' data-pa-rest="a.rows.js" data-pa-number="{number}" data-pa-total="{total}"'
        assert mark in short
        short = short.replace(mark, "")
        end = short.index("</tbody>", short.index("data-pa-hint"))
        short = re.sub(
            " <span data-pa-hint.*?</span>", "", f"{short[:end]}{rest}{short[end:]}", count=1
        )
    assert short == whole


def test_lists_of_many_entries_have_short_pages() -> None:
    n_entries = MOST_ROWS + 40
    pages = long_lists.rendered(n_entries)
    assert {"checkpoints/index.md", "analyses/decay_with_distance.md", "status.md"} < {*pages}
    for path, text in pages.items():
        html = compact(text)
        short, script = shortened(html, "a.rows.js")
        longest = max((part.count("<tr") for part in short.split("<table")), default=0)
        assert longest <= MOST_ROWS + 1, path
        if html.count("<tr") > n_entries:
            assert rests(script)
