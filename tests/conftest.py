"""Property tests draw the same examples every time, take what time they need and leave nothing on disk."""

from pathlib import Path

import pytest
from hypothesis import settings

from tests.built import build

settings.register_profile("atlas", deadline=None, derandomize=True, database=None)
settings.load_profile("atlas")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of the default list: its docs and its site."""
    output = tmp_path_factory.mktemp("atlas") / "build"
    done = build(output)
    assert done.returncode == 0, done.stdout + done.stderr
    return output
