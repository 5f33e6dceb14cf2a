"""The page of schemes that no model of transformers has."""

import re
from functools import cache
from pathlib import Path

from generator import ROOT
from generator.contracts.oracles import VERSIONS
from generator.reading.find import all_schemes
from tests.support import flowing

PAGE = (ROOT / "site_src/learn/further-schemes.md").read_text(encoding="utf-8")
ROW = re.compile(
    r"- \*\*(?P<name>[^*]+)\*\* \((?P<learned>[^)]*(learned)[^)]*)\)\. (?P<differs>[A-Z].+\.)"
    r" (?P<source>[A-Z].+ \d{4}, \[arXiv .+\)\.)"
)
ROWS = [flowing(row) for row in re.findall(r"^- (?:.+\n?)+?(?=^- |\n|\Z)", PAGE, re.MULTILINE)]
NAMES = [row.split("**")[1] for row in ROWS]


@cache
def sources() -> str:
    """The code of all models of transformers."""
    import transformers

    files = Path(transformers.__file__).parent.glob("models/*/modeling_*.py")
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(files))


def test_no_model_of_transformers_has_one_of_them() -> None:
    # One that models have is found.
    assert set(re.findall(rf"\b({'|'.join([*NAMES, 'alibi'])})\b", sources())) == {"alibi"}


def test_the_page_names_the_version_that_was_searched() -> None:
    assert f"transformers {VERSIONS['transformers'].rpartition('.')[0]} " in PAGE


def test_each_says_whether_it_is_learned_how_it_differs_and_its_source() -> None:
    assert len(ROWS) >= 12
    assert [row for row in ROWS if not ROW.fullmatch(row)] == []


def test_none_is_named_twice_or_known_to_the_atlas() -> None:
    assert len(set(NAMES)) == len(NAMES)
    known = {name.lower() for scheme in all_schemes() for name in (scheme.title, *scheme.also)}
    assert known.isdisjoint(name.lower() for name in NAMES)


def test_an_address_is_that_of_the_number_beside_it() -> None:
    links = re.findall(r"\[arXiv ([^\]]*)\]\(https://arxiv\.org/abs/([^)]*)\)", PAGE)
    assert len(links) == PAGE.count("arxiv.org") >= len(ROWS)
    assert all(
        shown == address and re.fullmatch(r"\d{4}\.\d{5}", address) for shown, address in links
    )
