"""The wheel, installed into a fresh environment outside of the checkout."""

import os
import site
import subprocess
import sys
import venv
import zipfile
from collections.abc import Mapping
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
FOLDERS: Mapping[str, Mapping[str, str]] = {"plain": {}, "mine": MINE}


def run(*command: object, folder: Path) -> str:
    """What a command prints.

    It finds no checkout: neither by the current folder nor by PYTHONPATH.
    """
    environment = {
        **os.environ,
        "HF_ENDPOINT": "http://127.0.0.1:9",
        "SOURCE_DATE_EPOCH": "1700000000",
    }
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def install(
    folder: Path, folders: Mapping[str, Mapping[str, str]] = FOLDERS, *, build: bool = True
) -> None:
    """Build the wheel, install it into ``folder``/env, and begin ``folders`` there, with files of a
    user, and perhaps build their sites.
    """
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    built = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT)
    run(*pip, *built, folder=folder)
    venv.create(folder / "env", with_pip=False, symlinks=True)
    given = ("install", "--quiet", "--no-deps", *folder.glob("*.whl"))
    run(*pip, "--python", folder / "env", *given, folder=folder)
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


def page(installed: Path, name: str) -> str:
    return (installed / f"{name}.html").read_text(encoding="utf-8")


def test_the_wheel_has_all_that_the_checkout_has(installed: Path) -> None:
    (wheel,) = installed.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    kept = run("git", "ls-files", "templates", "site_src", "references", folder=ROOT)
    assert {f"generator/project/{path}" for path in kept.split()} <= inside


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
