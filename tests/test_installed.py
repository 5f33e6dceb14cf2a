"""The wheel, installed into a fresh environment outside of the checkout."""

import json
import os
import shutil
import site
import subprocess
import sys
import venv
import zipfile
from collections.abc import Mapping
from email import message_from_bytes
from functools import partial
from pathlib import Path

import pytest

from generator import ROOT
from tests import inline
from tests.built import once
from tests.synthetic import NOTHING, write_folder, write_list

MINE = {
    "site_src/about.md": "# About this very atlas\n",
    "templates/pages/status.md.jinja": "# What became of every row\n",
    "position-atlas.yml": "site_name: Atlas of a test\n",
}
# Libraries of the extra, by the names under which they are imported.
OF_SITE = ("torch", "matplotlib", "sklearn", "scipy", "mkdocs", "onnx")
REFERENCES = ROOT / "references"
EXAMPLE = ROOT / "examples/own-atlas"
FOLDERS: Mapping[str, Mapping[str, str]] = {"plain": {}, "mine": MINE}


def run(*command: object, folder: Path, code: int = 0, modules: Path | None = None) -> str:
    """What a command prints that ends with ``code``.

    It finds no checkout: neither by the current folder nor by PYTHONPATH, which is ``modules``.
    """
    environment = {
        **os.environ,
        "HF_ENDPOINT": "http://127.0.0.1:9",
        "SOURCE_DATE_EPOCH": "1700000000",
    }
    environment.pop("PYTHONPATH", None)
    if modules is not None:
        environment["PYTHONPATH"] = str(modules)
    done = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr * bool(code)


def install_wheel(folder: Path, *options: object) -> None:
    """Build the wheel, and install it into a new environment, ``folder``/env."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    built = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT)
    run(*pip, *built, folder=folder)
    venv.create(folder / "env", with_pip=False, symlinks=True)
    given = ("install", "--quiet", *options, *folder.glob("*.whl"))
    run(*pip, "--python", folder / "env", *given, folder=folder)


def install(
    folder: Path, folders: Mapping[str, Mapping[str, str]] = FOLDERS, *, build: bool = True
) -> None:
    """Build the wheel, install it into ``folder``/env, and begin ``folders`` there, with files of a
    user, and perhaps build their sites.
    """
    install_wheel(folder, "--no-deps")
    (packages,) = (folder / "env").glob("lib/*/site-packages")
    # As they are here, not fetched again.
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()), encoding="utf-8")
    command = folder / "env/bin/position-atlas"
    for name, files in folders.items():
        run(command, "init", name, folder=folder)
        for place, text in files.items():
            (folder / name / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / place).write_text(text, encoding="utf-8")
        if build:
            run(command, "build", folder=folder / name)


@pytest.fixture(scope="module")
def installed() -> Path:
    """An installation in which nothing is built."""
    return once("installed", partial(install, folders={"plain": {}}, build=False))


@pytest.fixture(scope="module")
def sites() -> Path:
    """An installation with which sites were built."""
    return once("sites", install)


@pytest.fixture(scope="module")
def small() -> Path:
    """An installation without any extra, in an empty environment."""
    return once("small", lambda folder: install_wheel(folder, "-c", ROOT / "constraints.txt"))


def page(installed: Path, name: str) -> str:
    return (installed / f"{name}.html").read_text(encoding="utf-8")


def test_the_wheel_has_all_that_the_checkout_has(installed: Path) -> None:
    (wheel,) = installed.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    kept = run("git", "ls-files", "templates", "site_src", "references", folder=ROOT)
    assert {f"generator/project/{path}" for path in kept.split()} <= inside


def test_the_wheel_names_the_licences_of_all_that_is_in_it(installed: Path) -> None:
    """Beside that of the program one for each folder of what others made."""
    (wheel,) = installed.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [about] = [name for name in names if name.endswith(".dist-info/METADATA")]
        said = message_from_bytes(archive.read(about))
    assert said["License-Expression"] == "MIT AND LicenseRef-GUST-Font-License"
    vendored = {name.split("/vendor/")[1].split("/")[0] for name in names if "/vendor/" in name}
    texts = said.get_all("License-File")
    assert texts is not None
    assert [text for text in texts if text.count("/") == 0] == ["LICENSE"]
    assert {text.split("/")[-2] for text in texts if "/" in text} == vendored
    assert all(about.replace("METADATA", f"licenses/{text}") in names for text in texts)


@pytest.mark.thorough
def test_the_small_installation_has_nothing_of_the_extra_and_reads_checkpoints(
    small: Path, tmp_path: Path
) -> None:
    for name in OF_SITE:
        sought = f"from importlib.util import find_spec; raise SystemExit(find_spec({name!r}))"
        run(small / "env/bin/python", "-c", sought, folder=small)
    assert_reads(tmp_path, small / "env/bin/position-atlas")


def test_checkpoints_are_read_without_the_libraries_of_the_extra(
    installed: Path, tmp_path: Path
) -> None:
    hidden = f"import sys\nsys.modules.update(dict.fromkeys({OF_SITE}))\n"
    (tmp_path / "sitecustomize.py").write_text(hidden, encoding="utf-8")
    assert_reads(tmp_path, installed / "env/bin/position-atlas", tmp_path)


def assert_reads(folder: Path, program: Path, modules: Path | None = None) -> None:
    """Whether a small installation says what is true of real files."""
    asked = partial(run, program, folder=folder, modules=modules)
    llama, qwen = REFERENCES / "llama-3.1-8b", REFERENCES / "qwen3-8b"
    # From the table of Men et al. (2024), recomputed for this base and head in tests/reading.
    assert "fact base-and-context" in asked("lint", "--level", "fact", llama, qwen)
    assert asked("compare", llama, llama).startswith("equal")
    assert "The context is 40,960 positions in A" in asked("compare", qwen, llama, code=1)
    seen = asked("inspect", llama)
    assert "llama3" in seen  # Its kind of scaling.
    assert "Not measured here: findings: torch is not installed" in seen
    # The code of its family makes tables of biases, and cannot be looked through.
    seen = asked("inspect", REFERENCES / "flan-t5-small")
    assert "(the code of a family: torch is not installed" in " ".join(seen.split())
    write_list(folder, [{"folder": str(llama)}])
    assert "1 checkpoint, no problem found" in asked("check")
    known = json.loads(asked("expected", "Qwen/Qwen3-8B"))
    assert known["rotations"][0]["base"] == 1e6  # rope_theta of its config.json.
    assert "nearest: Qwen/Qwen3-8B" in asked("expected", "Qwen/Qwen3-8", code=2)
    assert "position-atlas[site]" in asked("build", code=2)


@pytest.mark.thorough
def test_a_new_folder_builds_a_site_of_three_checkpoints(sites: Path) -> None:
    assert {path.stem for path in (sites / "plain/build/site/checkpoints").glob("*.html")} == {
        "index",
        "sinusoid",
        "llama-3-1-8b",
        "bloom-7-1b",
    }


def test_what_is_installed_finds_its_resources_and_reads_the_list_of_a_new_folder(
    installed: Path,
) -> None:
    said = run(installed / "env/bin/position-atlas", "check", "--bytes", folder=installed / "plain")
    assert said.count(": 0 bytes\n") == 3


def test_programs_in_python_read_with_what_is_installed(installed: Path) -> None:
    code = "import position_atlas; print(position_atlas.read('examples/llama-3.1-8b').context)"
    said = run(installed / "env/bin/python", "-c", code, folder=installed / "plain")
    assert said == "131072\n"


@pytest.mark.thorough
def test_what_a_user_has_beside_the_list_of_an_installation_wins(sites: Path) -> None:
    assert_mine(sites / "mine/build/site")


def test_the_example_atlas_is_checked_by_what_is_installed(installed: Path) -> None:
    folder = shutil.copytree(EXAMPLE, installed / "example", dirs_exist_ok=True)
    said = run(installed / "env/bin/position-atlas", "check", folder=folder)
    assert "2 checkpoints, no problem found" in said
    (folder / "analyses/bias_range.md.jinja").unlink()
    said = run(installed / "env/bin/position-atlas", "check", folder=folder, code=2)
    assert "found no bias_range.md.jinja; expected its template beside it" in " ".join(said.split())


@pytest.mark.thorough
def test_the_example_atlas_is_built_by_what_is_installed(installed: Path) -> None:
    folder = shutil.copytree(EXAMPLE, installed / "built")
    run(installed / "env/bin/position-atlas", "build", "--offline", folder=folder)
    built = folder / "build/site"
    assert "Bias range" in page(built, "checkpoints/biased-2-layers")
    assert "as families.yml of this atlas says" in page(built, "checkpoints/nebula-8-layers")
    assert "Context in whole blocks" in page(built, "guide/rules")
    assert "up to" in page(built, "analyses/bias_range")


def test_what_a_user_has_beside_the_list_wins(tmp_path: Path) -> None:
    write_folder(
        tmp_path,
        {
            "nothing/config.json": NOTHING["config.json"],
            **{name: text.encode() for name, text in MINE.items()},
        },
    )
    write_list(tmp_path, [{"folder": "nothing"}])
    done = inline.build(tmp_path, "--offline", rendered=True)
    assert done.returncode == 0, done.stderr
    assert_mine(tmp_path / "out/site")


def assert_mine(built: Path) -> None:
    """Whether the pages are those of a user, and all others those of the program."""
    assert "About this very atlas" in page(built, "about")
    assert "What became of every row" in page(built, "status")
    assert "Atlas of a test" in page(built, "index")
    assert "Learned table" in page(built, "schemes/learned")
