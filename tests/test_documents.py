"""The documents of the repository: their links lead to files that exist, and forms for issues can
be read.
"""

import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from generator import ROOT, __version__

DOCUMENTS = [*sorted(ROOT.glob("*.md")), ROOT / "benchmarks/README.md"]
FORMS = sorted(
    path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"
)
KINDS = {"markdown", "input", "textarea", "dropdown", "checkboxes"}
# The headings of Keep a Changelog.
CHANGES = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def read(path: Path) -> Any:
    return YAML(typ="safe").load(path)


def test_every_link_to_a_file_leads_to_one() -> None:
    link = re.compile(r"\]\((?!https?://|#)([^)#\s]+)")
    texts = {path: path.read_text(encoding="utf-8") for path in DOCUMENTS}
    targets = [path.parent / name for path, text in texts.items() for name in link.findall(text)]
    assert [target for target in targets if not target.exists()] == []


def test_the_changelog_has_this_version_and_only_kinds_of_changes_that_its_form_knows() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert __version__ in text
    assert set(re.findall(r"^### (.+)$", text, re.MULTILINE)) <= CHANGES
    assert re.findall(r"^## (.+)$", text, re.MULTILINE)[0] == "[Unreleased]"


def test_the_readme_links_all_documents_and_begins_with_make_site_and_make_test() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    others = {path.name for path in ROOT.glob("*.md")} - {"README.md"}
    assert [name for name in others if f"]({name})" not in readme] == []
    commands = re.findall(r"^    ([a-z][^#\n]*?)\s*(?:#.*)?$", readme, re.MULTILINE)
    assert commands[:2] == ["make site", "make test"]


def test_forms_for_issues_have_what_github_requires_and_others_may_write_without_one() -> None:
    for path in FORMS:
        form = read(path)
        assert all(isinstance(form[key], str) and form[key] for key in ("name", "description"))
        assert {element["type"] for element in form["body"]} <= KINDS
        asking = [element for element in form["body"] if element["type"] != "markdown"]
        assert all(element["attributes"]["label"] for element in asking)
        ids = [element["id"] for element in asking]
        assert len(set(ids)) == len(ids)
        assert all(re.fullmatch(r"[A-Za-z0-9_-]+", identity) for identity in ids)
        assert any(element.get("validations", {}).get("required") for element in asking)
    assert len({read(path)["name"] for path in FORMS}) == len(FORMS) == 3
    assert read(ROOT / ".github/ISSUE_TEMPLATE/config.yml")["blank_issues_enabled"] is True
