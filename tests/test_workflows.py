"""The workflows: what they may do, and that their steps run."""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from importlib import metadata
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

from generator import PACKAGE, ROOT, __version__
from generator.cli.commands import app
from tests.test_installed import install

STARTED = ".github/workflows/site.yml"
OURS, RELEASE = ROOT / STARTED, ROOT / ".github/workflows/release.yml"
STARTER, ACTION = PACKAGE / "cli/starter/site.yml", ROOT / "action.yml"
OF_GITLAB = PACKAGE / "cli/starter/gitlab-ci.yml"
MODELS = ROOT / ".github/workflows/models.yml"
THOROUGH = ROOT / ".github/workflows/thorough.yml"
ALL = [OURS, STARTER, ACTION, RELEASE, MODELS, THOROUGH]  # Of GitHub.
PINNED = re.compile(r"uses: (?:\./|[\w./-]+@[0-9a-f]{40} # v[\d.]+)$")


def read(path: Path) -> dict[str, Any]:
    return dict(YAML(typ="safe").load(path))


def jobs(path: Path) -> Iterator[dict[str, Any]]:
    return iter(read(path)["jobs"].values())


def test_every_action_is_pinned_by_its_whole_hash() -> None:
    lines = [line for path in ALL for line in path.read_text(encoding="utf-8").splitlines()]
    used = [line.strip().removeprefix("- ") for line in lines if "uses: " in line]
    assert used
    assert [line for line in used if not PINNED.match(line)] == []


@pytest.mark.parametrize("path", [OURS, STARTER], ids=["ours", "starter"])
def test_only_the_job_that_publishes_may_and_never_for_a_pull_request(path: Path) -> None:
    assert read(path)["permissions"] == {}
    (publishing,) = [job for job in jobs(path) if job["permissions"].get("pages") == "write"]
    assert publishing["if"] == (
        "github.event_name != 'pull_request' && github.ref == 'refs/heads/main'"
    )
    assert publishing["needs"] == "build"


def test_a_tag_is_published_to_the_index_by_a_token_of_that_run_alone() -> None:
    assert read(RELEASE)["permissions"] == {}
    build, publish = jobs(RELEASE)
    assert build["permissions"] == {"contents": "read"}
    installs = [step["run"] for step in build["steps"] if "pip install" in step.get("run", "")]
    assert [run for run in installs if "pip install -c constraints.txt" not in run] == []
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["environment"]
    assert "secrets." not in RELEASE.read_text(encoding="utf-8")


def test_what_opens_a_pull_request_runs_no_code_of_others_and_what_does_may_not_write() -> None:
    """Packages, and configs of the Hub, are read in a job whose token can only read."""
    assert read(MODELS)["permissions"] == {}
    reading, proposing = jobs(MODELS)
    assert reading["permissions"] == {"contents": "read"}
    assert proposing["permissions"] == {"contents": "write", "pull-requests": "write"}
    assert "secrets." not in json.dumps(proposing)
    commands = " ".join(step.get("run", "") for step in proposing["steps"])
    assert re.search(r"\b(pip|python|make|bash|source)\b", commands) is None


def test_the_weekly_steps_are_commands() -> None:
    [run] = [step["run"] for step in next(jobs(MODELS))["steps"] if step.get("id") == "read"]
    commands = re.findall(r"python -m generator (.*?) >", run.replace("$NEW_OF", "--owner x"))
    assert len(commands) > 1
    for command in commands:
        assert CliRunner().invoke(app, [*shlex.split(command), "--help"]).exit_code == 0


def test_known_vulnerabilities_are_looked_for_every_week() -> None:
    assert read(THOROUGH)["on"]["schedule"]
    assert "make audit" in [step.get("run") for job in jobs(THOROUGH) for step in job["steps"]]


@pytest.mark.parametrize(("came", "expected"), [
    (None, f"position-atlas[site]=={__version__}"),
    ({"url": "file:///here", "dir_info": {}}, f"position-atlas[site]=={__version__}"),
    ("no JSON", f"position-atlas[site]=={__version__}"),
    ({"url": "https://example.org/atlas.git", "vcs_info": {"vcs": "git", "commit_id": "c" * 40}},
        f"position-atlas[site] @ git+https://example.org/atlas.git@{'c' * 40}"),
    ({"url": "https://example.org/position_atlas-0.1.0-py3-none-any.whl", "archive_info": {}},
        "position-atlas[site] @ https://example.org/position_atlas-0.1.0-py3-none-any.whl"),
])  # fmt: skip
def test_the_starter_installs_the_program_from_where_it_came(
    came: object, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "position_atlas-0.1.0.dist-info"
    about.mkdir()
    if came is not None:
        text = came if isinstance(came, str) else json.dumps(came)
        (about / "direct_url.json").write_text(text, encoding="utf-8")
    monkeypatch.setattr(metadata, "distribution", lambda _: PathDistribution(about))
    done = CliRunner().invoke(app, ["init", str(tmp_path / "new")])
    assert done.exit_code == 0
    steps = [step for job in jobs(tmp_path / "new" / STARTED) for step in job["steps"]]
    given = [step["env"]["PROGRAM"] for step in steps if "PROGRAM" in step.get("env", {})]
    assert given == [f"${{{{ vars.POSITION_ATLAS || '{expected}' }}}}"]
    assert ("Set the variable POSITION_ATLAS" in " ".join(done.stdout.split())) == (
        "file:" in str(came)
    )


def test_what_others_may_have_written_reaches_no_shell() -> None:
    """An expression in a command would be code; in its environment it is text."""
    steps = [step for path in ALL if path != ACTION for job in jobs(path) for step in job["steps"]]
    steps += read(ACTION)["runs"]["steps"]
    assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []


def commands_of_starter() -> list[str]:
    commands = [step.get("run", "") for step in next(jobs(STARTER))["steps"]]
    return [command for command in commands if command.startswith("position-atlas")]


def test_the_steps_of_the_starter_are_commands_with_their_options() -> None:
    """A parser refuses what it does not know before it shows help."""
    of_gitlab = [line for line in read(OF_GITLAB)[".site"]["script"] if "position-atlas" in line]
    for step in (*commands_of_starter(), *of_gitlab):
        given = re.sub(r"\$\{\w+:\+(.*?)\}", r"\1", re.split(r"[|>]", step)[0])
        assert CliRunner().invoke(app, [*shlex.split(given)[1:], "--help"]).exit_code == 0, step
    assert [len(commands_of_starter()), len(of_gitlab)] == [2, 2]
    assert CliRunner().invoke(app, ["build", "--unheard", "x", "--help"]).exit_code == 2


def test_the_hook_of_pre_commit_is_a_command_on_files_of_settings() -> None:
    [hook] = YAML(typ="safe").load(ROOT / ".pre-commit-hooks.yaml")
    program, *command = shlex.split(hook["entry"])
    assert program in {script.name for script in metadata.entry_points(group="console_scripts")}
    assert CliRunner().invoke(app, [*command, "--help"]).exit_code == 0
    given = ["config.json", "a/params.json", "myconfig.json", "config.json.bak"]
    assert [bool(re.search(hook["files"], path)) for path in given] == [True, True, False, False]


def test_the_action_builds_nothing_where_it_compares_or_lints() -> None:
    steps = {step["name"]: step for step in read(ACTION)["runs"]["steps"] if "name" in step}
    for name, given in (("Compare", "compare"), ("Lint", "lint")):
        assert steps[name]["if"] == f"${{{{ inputs.{given} }}}}"
        assert all(f"!inputs.{given}" in steps[each]["if"] for each in ("Build", "Summarise"))
    words = shlex.split(steps["Lint"]["run"].rpartition("; ")[2])
    assert CliRunner().invoke(app, [words[1], "--help"]).exit_code == 0


@pytest.mark.thorough
def test_the_steps_of_the_starter_build_and_summarise(tmp_path: Path) -> None:
    install(tmp_path, {"plain": {}}, build=False)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'env/bin'}:{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "HF_ENDPOINT": "http://127.0.0.1:9",
        "SITE_URL": "",
    }
    for command in commands_of_starter():
        shell = [shutil.which("bash") or "bash", "-euo", "pipefail", "-c", command]
        subprocess.run(
            shell, cwd=tmp_path / "plain", env=environment, check=True, capture_output=True
        )
    assert (tmp_path / "plain/build/site/index.html").is_file()
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("**3 checkpoints**: 3 ok")


def test_what_was_read_with_a_token_is_not_kept_where_a_fork_can_read_it() -> None:
    """Neither files of the Hub nor results, which have position tables."""
    job = next(jobs(STARTER))
    assert list(job["env"].items()) == [("READS_WITHOUT_TOKEN", "${{ !secrets.HF_TOKEN }}")]
    kept = [step for step in job["steps"] if "actions/cache" in step.get("uses", "")]
    assert ["env.READS_WITHOUT_TOKEN == 'true'" in step["if"] for step in kept] == [True] * 2
    of_action = [
        step["with"]["path"].splitlines()
        for step in read(ACTION)["runs"]["steps"]
        if "actions/cache" in step.get("uses", "")
    ]
    for paths in of_action:
        *read_from_hub, of_pip = paths
        assert of_pip == "~/.cache/pip"
        for path, kept_path in zip(
            read_from_hub, ("inputs.output", "'~/.cache/huggingface'"), strict=True
        ):
            assert path == f"${{{{ !inputs.token && {kept_path} || '' }}}}"
    assert len(of_action) == 2


@pytest.mark.parametrize("token", ["", "hf_secret"])
def test_gitlab_keeps_nothing_that_was_read_with_a_token(token: str, tmp_path: Path) -> None:
    site = read(OF_GITLAB)[".site"]
    written = tmp_path / "bin/position-atlas"
    written.parent.mkdir()
    written.write_text(
        """#!/bin/sh
[ "$1" = build ] || { echo summary; exit; }
mkdir -p "$3/site" "$HF_HOME"; echo "$HF_TOKEN" > "$3/site/index.html"; exit 1
""",
        encoding="utf-8",
    )
    (tmp_path / "bin/pip").write_text("#!/bin/sh\n", encoding="utf-8")
    for program in written.parent.iterdir():
        program.chmod(0o755)
    lines = [line.replace("/tmp/", f"{tmp_path}/elsewhere/") for line in site["script"]]  # noqa: S108
    environment = {
        "PATH": f"{written.parent}:{os.environ['PATH']}", "HF_TOKEN": token,
        "HF_HOME": ".cache/huggingface", "POSITION_ATLAS": "x", "CI_PAGES_URL": "",
    }  # fmt: skip
    shell = [shutil.which("bash") or "bash", "-euo", "pipefail", "-c", "\n".join(lines)]
    (tmp_path / "project").mkdir()
    done = subprocess.run(
        shell, cwd=tmp_path / "project", env=environment, check=False, capture_output=True
    )
    assert done.returncode == 1, done.stderr  # Of the build, after its summary.
    left = [path for path in site["cache"]["paths"] if (tmp_path / "project" / path).exists()]
    assert left == ([] if token else ["build", ".cache"])
    assert (tmp_path / "project/summary.md").read_text(encoding="utf-8") == "summary\n"
    assert (tmp_path / "project/public/index.html").is_file()


def test_what_comments_runs_no_code_and_only_for_a_branch_of_the_repository() -> None:
    job = read(STARTER)["jobs"]["comment"]
    assert job["permissions"] == {"pull-requests": "write"}
    own = "github.event.pull_request.head.repo.full_name == github.repository"
    assert own in job["if"]
    download, comment = job["steps"]
    assert download["uses"].startswith("actions/download-artifact@")
    assert shlex.split(comment["run"])[:3] == ["gh", "pr", "comment"]
    assert "secrets." not in json.dumps(job)
    uploads = [
        step["with"]["name"]
        for step in next(jobs(STARTER))["steps"]
        if "actions/upload-artifact@" in step.get("uses", "")
    ]
    assert (uploads, download["with"]["name"]) == (["site", "summary"], "summary")


@pytest.mark.parametrize("gitlab", [False, True])
def test_the_starter_pins_what_is_installed_and_takes_torch_without_cuda(
    gitlab: bool, tmp_path: Path
) -> None:
    done = CliRunner().invoke(app, ["init", str(tmp_path), *["--gitlab"] * gitlab])
    assert done.exit_code == 0
    assert (tmp_path / STARTED).exists() != gitlab
    assert (tmp_path / ".gitlab-ci.yml").exists() == gitlab
    written = tmp_path / (".gitlab-ci.yml" if gitlab else STARTED)
    text = written.read_text(encoding="utf-8")
    assert "pip install --constraint constraints.txt" in text
    assert "https://download.pytorch.org/whl/cpu" in text
    constraints = (tmp_path / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in constraints if not line.startswith("#"))
    assert "+" not in "".join(pins.values())
    for name in ("torch", "transformers", "mkdocs-material", "numpy"):
        assert pins[name] == metadata.version(name).partition("+")[0]
    assert {"pytest", "position-atlas", "nvidia-cublas"}.isdisjoint(pins)
    again = CliRunner().invoke(app, ["init", str(tmp_path), "--gitlab"])
    assert isinstance(again.exception, SystemExit)
    assert again.exit_code == 2
