"""“Report a wrong number”: on which pages it is, and where it leads."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from bs4 import BeautifulSoup
from ruamel.yaml import YAML

from generator.site import reports
from tests.built import ROOT
from tests.inline import build
from tests.synthetic import BROKEN, WORDLESS, write_folder

PAGE = "https://example.org/atlas/checkpoints/a.html"
REPOSITORY = "https://github.com/owner/name"
LIST = f"""\
repository: {REPOSITORY}
checkpoints:
  - folder: read
    title: Read & <b>
  - folder: broken
  - folder: run/step-*
    title: Run
"""


def fields(address: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


def test_github_fills_in_the_fields_of_the_form_and_others_title_and_text() -> None:
    form = YAML(typ="safe").load(
        (ROOT / ".github/ISSUE_TEMPLATE" / reports.FORM).read_text("utf-8")
    )
    known = {field.get("id") for field in form["body"]}
    address = reports.address(f"{REPOSITORY}/", PAGE, "0.1.0", "abc")
    given = fields(address)
    assert address.startswith(f"{REPOSITORY}/issues/new?")
    assert {*given} - known == {"template", "title", "body"}
    assert (given["page"], given["revision"]) == (PAGE, "abc, 0.1.0")
    assert given["body"] == f"{PAGE}\nabc, 0.1.0\n"
    address = reports.address("https://gitlab.example.org/a/b/c", PAGE, "0.1.0", None)
    assert address.startswith("https://gitlab.example.org/a/b/c/-/issues/new?")
    assert fields(address) == {
        "issue[title]": f"Wrong number: {PAGE}", "issue[description]": f"{PAGE}\n0.1.0\n",
    }  # fmt: skip
    assert not reports.address("", PAGE, "0.1.0", "abc")


@pytest.mark.parametrize("where", ["list", "environment", "nowhere"])
def test_every_page_of_an_entry_leads_to_a_form(where: str, tmp_path: Path) -> None:
    write_folder(tmp_path / "read", WORDLESS)
    write_folder(tmp_path / "broken", BROKEN)
    for step in (1, 2):
        write_folder(tmp_path / f"run/step-{step}", WORDLESS)
    text = LIST if where == "list" else LIST.partition("\n")[2]
    (tmp_path / "checkpoints.yml").write_text(text, encoding="utf-8")
    given = REPOSITORY if where == "environment" else None
    assert build(tmp_path, REPOSITORY_URL=given, SITE_URL=None).returncode == 1
    docs = tmp_path / "out/docs"
    pages = [path for path in docs.glob("checkpoints/*.md") if path.stem != "index"]
    pages += docs.glob("runs/run.md")
    assert len(pages) == 3
    for name in ("layers", "use"):  # Of entries with many encodings, and of measured models.
        template = ROOT / f"templates/pages/{name}.md.jinja"
        assert "report_link(report(outcome.revision)) }}" in template.read_text(encoding="utf-8")
    for page in pages:
        links = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").find_all(
            "a", string="Report a wrong number"
        )
        assert [fields(str(link["href"]))["page"] for link in links] == [
            page.relative_to(docs).with_suffix(".html").as_posix()
        ] * (where != "nowhere")


def test_an_address_that_is_none_is_refused_in_the_environment_too(tmp_path: Path) -> None:
    write_folder(tmp_path / "read", WORDLESS)
    (tmp_path / "checkpoints.yml").write_text("checkpoints:\n  - folder: read\n", encoding="utf-8")
    done = build(tmp_path, REPOSITORY_URL="owner/name")
    expected = "REPOSITORY_URL: found 'owner/name'; expected an address such as"
    assert (done.returncode, done.stderr.startswith(expected)) == (2, True)
