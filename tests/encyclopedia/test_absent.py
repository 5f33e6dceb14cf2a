"""A site without published models: a build names no guest, and no page leads to one."""

from pathlib import Path

import grimp
import pytest

from generator.contracts import discovery
from tests import inline
from tests.links import broken
from tests.synthetic import ROTATION, TABLE, write_folder, write_list


def test_a_build_and_its_pages_import_no_guest() -> None:
    graph = grimp.build_graph("generator")
    importing = graph.find_modules_that_directly_import
    guests = ("generator.encyclopedia", *graph.find_descendants("generator.encyclopedia"))
    importers = {name.split(".")[1] for guest in guests for name in importing(guest)}
    assert importers == {"cli", "encyclopedia"}


def test_a_build_that_finds_no_guest_makes_a_site_whose_links_all_lead_somewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [guest.key for guest in discovery.guests()] == ["models"]
    monkeypatch.setattr(discovery, "guests", tuple)
    for name, files in {"one": TABLE, "other": ROTATION}.items():
        write_folder(tmp_path / name, files)
    write_list(tmp_path, [{"folder": "one"}, {"folder": "other"}])
    with inline.blank_figures():
        done = inline.build(tmp_path, rendered=True)
    site = tmp_path / "out/site"
    assert (done.returncode, done.stderr) == (0, "")
    assert not [*site.glob("models*"), *site.glob("timeline*"), *site.glob("data/expected*")]
    assert broken(site) == []
