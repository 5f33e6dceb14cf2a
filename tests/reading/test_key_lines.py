"""Where the keys of a JSON file stand."""

import json
import tracemalloc

from generator.reading.key_lines import lines_of_keys


def test_strings_with_quotes_and_brackets_are_passed_over() -> None:
    nested = {'a"b': {"c": ['x"', {"d": 1}]}, "e": "}\\", "f": "{"}
    assert lines_of_keys(json.dumps(nested, indent=1)) == {
        'a\\"b': 2, 'a\\"b.c': 3, 'a\\"b.c.d': 6, "e": 10, "f": 11,
    }  # fmt: skip


def test_a_long_string_takes_little_memory() -> None:
    text = json.dumps({"a": "x" * 1_000_000, "b": 1})
    tracemalloc.start()
    found = lines_of_keys(text)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == {"a": 1, "b": 1}
    assert most < 10_000_000
