"""Long tables, of which a page has the first rows; the others are in a script beside it, which
browsers load when a reader sorts, filters or downloads the table.
"""

import json
import re

from generator.contracts.wording import Wording

WORDING = Wording("wording/tables.jinja")
MOST_ROWS = 200
SCRIPT = ".rows.js"  # In place of .html.
TABLE = re.compile(
    r"(?P<tag><table\b[^>]*\bdata-pa-long\b[^>]*)(?P<head>>.*?)(?P<end></caption>.*?<tbody>)"
    r"(?P<rows>.*?)(?=</tbody>)",
    re.DOTALL,
)
ROW = re.compile(r"(?=<tr[\s>])")


def shortened(html: str, script: str) -> tuple[str, bytes]:
    """``html`` with the first rows of its long tables, and the script with the others; as it is,
    with an empty script, where no table is long. script: its address from the page
    """
    others = list[str]()

    def cut(table: re.Match[str]) -> str:
        _, *rows = ROW.split(table["rows"])
        if len(rows) <= MOST_ROWS:
            return table[0]
        said = WORDING("beginning", shown=MOST_ROWS, total=len(rows))
        where = (
            f'data-pa-rest="{script}" data-pa-number="{len(others)}" data-pa-total="{len(rows)}"'
        )
        others.append("".join(rows[MOST_ROWS:]))
        first = "".join(rows[:MOST_ROWS])
        hint = f' <span data-pa-hint class="pa-kind">{said}</span>'
        return f"{table['tag']} {where}{table['head']}{hint}{table['end']}{first}"

    short = TABLE.sub(cut, html)
    return short, f"window.atlas.rest={json.dumps(others)};\n".encode() if others else b""
