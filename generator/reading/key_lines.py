"""Where the keys of a JSON file stand."""

import re
from collections.abc import Mapping

# A string, with what makes it a key, or the begin or end of what is nested.
# Possessive, since steps back would take 140 bytes of memory for each character of a string.
TOKEN = re.compile(r'"((?:[^"\\]++|\\.)*+)"(\s*:)?|[{}\[\]]')


def lines_of_keys(text: str) -> Mapping[str, int]:
    """The line of each key, by its path with dots; of what is in a list, the first."""
    found: dict[str, int] = {}
    around: list[str] = []
    key, line, end = "", 1, 0
    for token in TOKEN.finditer(text):
        line, end = line + text.count("\n", end, token.start()), token.start()
        if token[2]:
            key = token[1]
            found.setdefault(".".join(filter(None, [*around, key])), line)
        elif token[0] in "{[":
            around.append(key)
            key = ""
        elif token[0] in "}]":
            key = ""
            del around[-1:]
    return found
