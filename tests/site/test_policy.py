"""What a page may load and run, and what its links out say, read back by BeautifulSoup."""

import base64
import hashlib

import pytest
from bs4 import BeautifulSoup

from generator.site.html.policy import with_policy, with_relations

POLICY = "default-src 'self'; script-src 'self'; object-src 'none'"
HEAD = (
    "<!doctype html><html><head><meta charset=utf-8><title>T</title></head><body>{}</body></html>"
)


def sources(body: str) -> list[str]:
    """The sources of scripts that the policy of a page with this body allows."""
    page = BeautifulSoup(with_policy(HEAD.format(body), POLICY), "html.parser")
    [meta] = page.select("meta[http-equiv=Content-Security-Policy]")
    directives = dict(part.strip().split(" ", 1) for part in str(meta["content"]).split(";"))
    assert (directives["default-src"], directives["object-src"]) == ("'self'", "'none'")
    return directives["script-src"].split()


def digest(code: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"


def test_a_script_within_the_page_is_allowed_by_its_digest() -> None:
    code = "\n  let a = '<b>ä</b>';\n"
    for start in ("<script>", '<script id="a">', "<script type=module>"):
        for end in ("</script>", "</script >"):
            assert sources(f"{start}{code}{end}") == [digest(code), "'self'"]


def test_a_script_that_is_not_of_the_theme_does_not_run() -> None:
    theme, content = "let of = 'theme';", "let of = 'content';"
    article = f"<article><script>{content}</script></article><script>{content}2</script></article>"
    assert sources(f"{article}<script>{theme}</script>") == [digest(theme), "'self'"]


@pytest.mark.parametrize(
    "element",
    [
        '<script src="a.js"></script>', '<script type="application/json">{"a": 1}</script>',
        "<b onclick='a()'>b</b>", "",
    ],
)  # fmt: skip
def test_a_script_in_a_file_data_and_a_handler_add_nothing(element: str) -> None:
    assert sources(element) == ["'self'"]


def test_the_policy_comes_before_all_that_loads_and_after_the_character_set() -> None:
    page = BeautifulSoup(with_policy(HEAD.format("a"), POLICY), "html.parser")
    assert page.head is not None
    assert [tag.name for tag in page.head.find_all(True)] == ["meta", "meta", "title"]
    assert page.head.meta is not None
    assert page.head.meta.get("charset") == "utf-8"


def test_no_policy_and_no_head_leave_a_page_as_it_is() -> None:
    for html, policy in ((HEAD.format("a"), ""), ("<p>a part of a page</p>", POLICY)):
        assert with_policy(html, policy) == html


@pytest.mark.parametrize(
    ("link", "relations"),
    [
        ('<a href="https://example.org/a">b</a>', ["external", "noopener"]),
        ('<a class="c" href="http://example.org">b</a>', ["external", "noopener"]),
        ('<a rel="next" href="https://example.org/a">b</a>', ["next"]),
        ('<a href="../a.html?of=https://example.org">b</a>', None),
        ('<abbr href="https://example.org">b</abbr>', None),
    ],
)
def test_a_link_out_says_so(link: str, relations: list[str] | None) -> None:
    [found] = BeautifulSoup(with_relations(link), "html.parser").find_all(True)
    assert found.get("rel") == relations
    assert found.get_text() == "b"
