"""The documents of the repository: their links lead to files that exist, and forms for issues can
be read.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

from generator import PACKAGE, ROOT, __version__
from generator.cli.commands import app
from tests import gguf_files
from tests.support import flowing

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


def published(name: str) -> dict[str, Any]:
    """A config that the program has."""
    path = PACKAGE / "encyclopedia/models" / f"{name.replace('/', '--')}.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))["config"])


def test_the_examples_of_the_readme_print_what_stands_below_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
    scaling = yarn | {"attn_factor": 0.8782488562869419}
    longer = published("Qwen/Qwen3-8B") | {"rope_scaling": scaling}
    longer["max_position_embeddings"] = 131072
    glm = published("zai-org/GLM-4-32B-0414")
    for folder, config in (("DeepSeek-R1-0528-Qwen3-8B", longer), ("GLM-4-32B-0414", glm)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    settings = {
        "context_length": 32768, "embedding_length": 6144, "block_count": 61,
        "attention.head_count": 48, "attention.head_count_kv": 2, "rope.dimension_count": 128,
        "rope.freq_base": 10000.0, "attention.layer_norm_rms_epsilon": 1e-5,
    }  # fmt: skip
    gguf_files.write(tmp_path / "GLM-4-32B-0414.gguf", "glm4", settings)
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    examples = re.findall(r"```console\n\$ position-atlas (.*)\n([^`]*)```", readme)
    assert len(examples) == 2
    for command, shown in examples:
        done = CliRunner().invoke(app, command.split(), env={"COLUMNS": "400"})
        assert flowing(done.output) == flowing(shown)
        assert done.exit_code == 1


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
