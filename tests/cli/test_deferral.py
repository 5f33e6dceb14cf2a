"""Imports that wait for a command."""

import subprocess
import sys

import pytest
from jinja2 import TemplateNotFound

from generator.contracts.wording import Wording


def test_help_imports_nothing_that_commands_work_with() -> None:
    code = (
        "import sys; from generator.cli.commands import app;"
        "print({'numpy', 'jinja2', 'pydantic', 'transformers'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_the_whole_of_transformers_is_loaded_later_without_a_word() -> None:
    """The module of each class is none of what its config classes need."""
    code = (
        "from generator.libraries import config_classes; from generator.checkpoints.model import"
        " halves; config_classes(); print(halves.own_type('LlamaForCausalLM'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("llama\n", "")


def test_a_template_is_read_when_its_first_text_is() -> None:
    wording = Wording("schemes/missing.md.jinja")
    with pytest.raises(TemplateNotFound):
        wording("title")
