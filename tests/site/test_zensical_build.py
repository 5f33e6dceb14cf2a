"""HTML by Zensical, whose place a package of a few lines takes here: what a site gets beside what
Zensical makes. ``make zensical`` builds by the real one.
"""

import gzip
import json
from pathlib import Path

import pytest

from generator.errors import RefusedError
from generator.site.data import search_index
from generator.site.html import mkdocs_build, zensical_build
from tests.built import contents
from tests.inline import run
from tests.synthetic import NOTHING, write_folder, write_list

# As Zensical does: settings in JSON are YAML, and all paths lie below their folder.
MAIN = """\
import json, sys
from pathlib import Path
options = json.loads(Path(sys.argv[-1]).read_text())
print("\\x1b[33mgiven\\x1b[0m", sys.argv[1:])
if "broken" in Path(options["docs_dir"], "index.md").read_text():
    sys.exit(1)
site = Path(options["site_dir"])
Path(".cache").mkdir()
names = '<nav class="md-tags" >x</nav>'
page = f"<html><head></head><body>\\n\\n <p>A</p>{names}</body></html>"
(site / "index.html").write_text(page)
address = options["site_url"]
(site / "sitemap.xml").write_text(f"<loc>{address}/index.html</loc>")
items = [
    {"location": "index.html", "level": 1, "title": "A", "text": "", "tags": ["name"]},
    {"location": "index.html#b", "level": 2, "title": "B", "text": "", "tags": ["name"]},
    {"location": "checkpoints/c.html", "level": 1, "title": "C", "text": "long", "tags": []},
]
(site / "search.json").write_text(json.dumps({"config": {}, "items": items}))
(site / "search.js").write_text("")
"""
SETTINGS = "site_name: Small\nextra: {policy: \"default-src 'self'\"}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with docs and settings, and a package zensical for this process and its own."""
    write_folder(tmp_path / "packages/zensical", {"__init__.py": b"", "__main__.py": MAIN.encode()})
    monkeypatch.syspath_prepend(tmp_path / "packages")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "packages"))
    monkeypatch.delenv(mkdocs_build.ADDRESS, raising=False)
    write_folder(tmp_path / "out/docs", {"index.md": b"# A\n"})
    (tmp_path / "mkdocs.yml").write_text(SETTINGS, encoding="utf-8")
    return tmp_path


def build(folder: Path) -> dict[str, bytes]:
    out = folder / "out"
    zensical_build.build((folder / "mkdocs.yml",), out / "docs", out / "site", 1_700_000_000)
    return contents(out / "site")


def test_pages_have_the_policy_are_minified_and_show_no_names_for_search(folder: Path) -> None:
    page = build(folder)["index.html"].decode()
    assert '<head><meta http-equiv="Content-Security-Policy" content="default-src \'self\'' in page
    assert "<body>\n<p>A</p></body>" in page


def test_the_sitemap_is_compressed_too_and_is_none_without_an_address(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "sitemap.xml" not in build(folder)
    monkeypatch.setenv(mkdocs_build.ADDRESS, "https://example.org/a")
    site = build(folder)
    assert b"https://example.org/a//index.html" in site["sitemap.xml"]
    assert gzip.decompress(site["sitemap.xml.gz"]) == site["sitemap.xml"]
    assert build(folder) == site


def test_the_search_index_has_its_limit_and_names_stand_with_pages_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = build(folder)
    items = json.loads(site["search.json"])["items"]
    assert [item["tags"] for item in items] == [["name"], [], []]
    assert site["search.js"].decode() == search_index.BEFORE + site["search.json"].decode()
    monkeypatch.setattr(search_index, "MOST_BYTES", 10)
    assert json.loads(build(folder)["search.json"])["items"][2]["text"] == ""


def test_what_zensical_leaves_behind_is_gone(folder: Path) -> None:
    build(folder)
    assert {path.name for path in (folder / "out").iterdir()} == {"docs", "site"}


def test_what_zensical_refuses_is_named_and_the_former_site_stays(folder: Path) -> None:
    former = build(folder)
    write_folder(folder / "out/docs", {"index.md": b"broken"})
    with pytest.raises(RefusedError, match=r"Zensical says: given \['build', '--strict'"):
        build(folder)
    assert contents(folder / "out/site") == former
    assert {path.name for path in (folder / "out").iterdir()} == {"docs", "site"}


def test_hooks_which_zensical_would_ignore_are_refused(folder: Path) -> None:
    (folder / "mkdocs.yml").write_text(f"{SETTINGS}hooks: [a.py]\n", encoding="utf-8")
    with pytest.raises(RefusedError, match="hooks: Zensical runs none; expected settings without"):
        build(folder)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("hugo", "--renderer hugo: no such renderer; expected one of mkdocs, zensical\n"),
        (
            "zensical",
            "--renderer zensical: the package zensical is not installed; expected it, as of"
            " pip install zensical\n",
        ),
    ],
)
def test_a_renderer_that_is_not_there_is_refused_in_one_sentence(
    name: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zensical_build, "find_spec", lambda _: None)
    write_folder(tmp_path / "nothing", NOTHING)
    done = run(
        "build",
        "--config",
        str(write_list(tmp_path, [{"folder": "nothing"}])),
        "--output",
        str(tmp_path / "out"),
        "--renderer",
        name,
        home=tmp_path / "hub",
    )
    assert done.returncode == 2
    assert done.stderr == problem
