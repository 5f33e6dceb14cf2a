"""What tests of several commands use."""

from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from tests import inline


@pytest.fixture
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., CompletedProcess[str]]:
    """Runs a command, in a home of its own."""
    home = tmp_path_factory.mktemp("home")
    return lambda *arguments, stdin="": inline.run(*map(str, arguments), home=home, stdin=stdin)
