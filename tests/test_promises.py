"""What SECURITY.md promises: the tests that show each line, and those of what no other test shows:
no code of a checkpoint runs, and a build connects to the Hub alone.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from generator.checkpoints.files.formats import torch_pickle
from generator.checkpoints.hub import client, revisions
from generator.checkpoints.sources import hub as source
from generator.site.history import former_site
from tests import inline, tiny
from tests.built import ROOT
from tests.hub_server import Repository, serving
from tests.serving import served
from tests.synthetic import TABLE, Contents, write_folder, write_list

COMMIT = "a" * 40
LINKED, DEFINED = re.compile(r"\]\((tests/[\w/]+\.py)\)"), re.compile(r"^def (test_\w+)", re.M)
CODE = "from pathlib import Path\nPath({marker!r}).touch()\n"
KINDS = ("Config", "Model", "ModelForCausalLM", "Tokenizer")
CLASSES = {f"Auto{kind}": f"planted.Planted{kind}" for kind in KINDS}
# By the names that transformers has itself, so that its own are believed to be meant.
OF_TRANSFORMERS = {
    "auto_map": dict(zip(map("Auto{}".format, KINDS), (
        "planted.GPT2Config", "planted.GPT2Model", "planted.GPT2LMHeadModel", "planted.Any",
    ), strict=True)),
    "architectures": ["GPT2LMHeadModel"],
}  # fmt: skip
_connected: list[Any] | None = None


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect" and _connected is not None and isinstance(arguments[1], tuple):
        _connected.append(arguments[1][:2])


# Python's own record of what code does. It cannot be taken away, so it listens only where it is
# asked to.
sys.addaudithook(_audit)


@contextmanager
def connections() -> Iterator[list[Any]]:
    """Host and port of every connection that the block opens."""
    global _connected  # noqa: PLW0603 (a hook has no other place)
    _connected = []
    try:
        yield _connected
    finally:
        _connected = None


def planted(model_type: str, marker: Path, **settings: Any) -> Contents:
    """A checkpoint whose configuration asks for code beside it, which would leave ``marker``."""
    config = json.loads(TABLE["config.json"]) | {
        "model_type": model_type, "auto_map": CLASSES, "trust_remote_code": True,
        "_attn_implementation": "planted/kernel", "architectures": ["PlantedModel"],
        **settings,
    }  # fmt: skip
    of_words = {"AutoTokenizer": ["planted.PlantedTokenizer", None]}
    tokenizer = {"auto_map": of_words, "tokenizer_class": "PlantedTokenizer"}
    code = CODE.format(marker=str(marker)).encode()
    return {
        **TABLE,
        "config.json": json.dumps(config).encode(),
        "tokenizer_config.json": json.dumps(tokenizer).encode(),
        **dict.fromkeys(("planted.py", "modeling_planted.py", "__init__.py", "conftest.py"), code),
    }


def build(folder: Path, rows: list[dict[str, Any]], *options: str, **settings: Any) -> Any:
    """atlas.json of a build of ``rows``."""
    write_list(folder, rows)
    done = inline.build(folder, *options, **settings)
    assert done.returncode in (0, 1), done.stderr
    return json.loads((folder / "out/site/data/atlas.json").read_text(encoding="utf-8"))


def _save_model(folder: Path, beside: Contents) -> None:
    """A whole model, with all but the weights and the words of ``beside``."""
    tiny.build("gpt2", n_positions=128).save_pretrained(folder)
    own = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    del own["architectures"]
    config = {**json.loads(beside["config.json"]), **own}
    code = {name: text for name, text in beside.items() if name.endswith((".py", "_config.json"))}
    write_folder(folder, {**code, "config.json": json.dumps(config).encode()})


MODEL_TYPES = ("gpt2", "planted")
RUN = "run"  # The folder of a whole model, which is run.


@dataclass(frozen=True)
class Built:
    """A finished build of a row on the Hub and of two with code beside them: its folder, what it
    connected to, and rows of atlas.json by slug.
    """

    folder: Path
    endpoint: str
    opened: list[Any]
    rows: dict[str, Any]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("promises")
    for model_type in MODEL_TYPES:
        write_folder(folder / model_type, planted(model_type, folder / f"{model_type} ran"))
    _save_model(folder / RUN, planted("gpt2", folder / f"{RUN} ran", **OF_TRANSFORMERS))
    rows: list[dict[str, Any]] = [
        {"hub": "atlas/table"},
        *({"folder": model_type} for model_type in MODEL_TYPES),
        {"folder": RUN, "use": True},
    ]
    with (
        serving({"atlas/table": Repository({COMMIT: TABLE}, {"main": COMMIT})}) as hub,
        connections() as opened,
    ):
        atlas = build(folder, rows, endpoint=hub.endpoint)
    return Built(folder, hub.endpoint, opened, {row["slug"]: row for row in atlas["checkpoints"]})


@pytest.mark.parametrize("model_type", MODEL_TYPES)
def test_no_code_beside_a_checkpoint_runs_though_its_config_asks_for_it(
    model_type: str, built: Built
) -> None:
    row, marker = built.rows[model_type], built.folder / f"{model_type} ran"
    assert (row["status"], [one["scheme"] for one in row["encodings"]]) == ("ok", ["learned"])
    assert not marker.exists()
    # It would have left a trace.
    exec((built.folder / model_type / "planted.py").read_text(encoding="utf-8"), {})  # noqa: S102
    assert marker.exists()


def test_a_model_that_runs_is_one_of_transformers_whatever_its_config_asks_for(
    built: Built,
) -> None:
    assert built.rows[RUN]["use"]["decoder"]["heads.none"]["value"] is not None
    assert not (built.folder / f"{RUN} ran").exists()


def test_a_build_connects_to_the_hub_that_is_configured_and_to_nobody_else(built: Built) -> None:
    assert {row["status"] for row in built.rows.values()} == {"ok"}
    assert {f"http://{host}:{port}" for host, port in built.opened} == {built.endpoint}


def test_an_offline_build_connects_to_nobody(tmp_path: Path) -> None:
    write_folder(tmp_path / "checkpoint", TABLE)
    with connections() as opened:
        build(tmp_path, [{"hub": "atlas/table"}, {"folder": "checkpoint"}], "--offline")
    assert opened == []


def test_an_atlas_that_is_published_is_read_at_its_address_alone(tmp_path: Path) -> None:
    write_folder(tmp_path, {"data/atlas.json": b'{"checkpoints": [], "schema": 1}'})
    with served(tmp_path) as address, connections() as opened:
        former_site.bring_releases(address, tmp_path / "history")
        assert former_site.atlas(address)["checkpoints"] == []
    assert {f"http://{host}:{port}" for host, port in opened} == {address}


# The beginning of each promise, and the tests without which it would not hold.
PROMISES = {
    "No code of a checkpoint runs": (
        "test_no_code_beside_a_checkpoint_runs_though_its_config_asks_for_it",
        "test_a_model_that_runs_is_one_of_transformers_whatever_its_config_asks_for",
        "test_architectures_name_models_of_this_config_and_nothing_else",
        "test_a_config_chooses_no_code_that_computes",
    ),
    "A pickle is opened only for an entry": (
        "test_a_planted_pickle_under_any_name_does_not_run_and_is_not_even_opened_unless_allowed",
        "test_a_malicious_pickle_does_not_run_even_in_a_row_that_allows_pickles",
        "test_a_malicious_pickle_is_not_executed",
        "test_what_is_no_record_of_the_file_is_a_row_error",
        "test_a_record_that_is_not_as_long_as_its_tensor_is_a_row_error",
    ),
    "The store of results contains JSON": (
        "test_a_file_with_changed_bytes_is_a_miss",
        "test_a_foreign_file_is_a_miss_even_with_its_digests",
        "test_what_is_no_outcome_is_a_miss",
        "test_a_damaged_entry_is_converted",
    ),
    "A build contacts only the configured Hub": (
        "test_a_build_connects_to_the_hub_that_is_configured_and_to_nobody_else",
        "test_an_offline_build_connects_to_nobody",
        "test_offline_builds_read_the_cache_and_send_no_request",
        "test_an_atlas_that_is_published_is_read_at_its_address_alone",
    ),
    "Checksums are verified": (
        "test_a_checksum_of_a_format_is_compared",
        "test_a_torch_file_beyond_the_limit_is_not_read_whole",
        "test_a_file_that_is_downloaded_as_a_whole_has_the_digest_that_the_hub_states",
    ),
    "If the Hub takes more than 20 seconds": (
        "test_a_listing_that_comes_byte_by_byte_is_given_up_as_slow",
        "test_a_slow_row_leaves_the_others_to_begin",
        "test_a_listed_name_that_leads_out_of_a_folder_is_not_taken",
    ),
    "All answers of the Hub about one file must agree": (
        "test_answers_about_two_files_under_one_name_fail_the_row",
        "test_a_file_of_another_commit_fails_the_row",
        "test_a_range_in_the_cache_is_of_the_file_whose_beginning_is_there",
    ),
    "The Hub token goes to the Hub alone": (
        "test_a_token_is_not_sent_to_hosts_of_redirects",
        "test_a_redirect_is_followed_to_this_machine_too_without_the_token",
        "test_a_token_is_sent_and_never_printed",
        "test_a_token_is_in_no_file_of_the_site",
    ),
    "What CI reads of the Hub with a token": (
        "test_what_was_read_with_a_token_is_not_kept_where_a_fork_can_read_it",
        "test_gitlab_keeps_nothing_that_was_read_with_a_token",
        "test_what_comments_runs_no_code_and_only_for_a_branch_of_the_repository",
    ),
    "Links that lead out of a checkpoint's folder": (
        "test_a_link_out_of_the_folder_is_a_row_error",
        "test_a_link_into_the_blobs_of_a_hub_cache_is_followed",
        "test_no_file_names_the_folders_of_this_machine",
    ),
    "An answer of the Hub's API takes at most": (
        "test_an_answer_that_is_too_much_gets_one_sentence_and_little_memory",
        "test_branches_and_dates_have_the_same_bound",
        "test_a_refusal_of_a_file_is_not_read_either",
    ),
    "Names and texts of a checkpoint are shown literally": (
        "test_any_text_is_shown_literally_and_adds_no_element_or_attribute",
        "test_a_terminal_and_a_log_show_text_and_obey_none",
        "test_json_holds_text_as_it_is_and_a_log_obeys_none",
        "test_a_message_of_sarif_has_no_link_and_no_place_for_an_argument",
        "test_markdown_of_a_forge_has_no_markup_mention_or_link",
        "test_a_picture_shows_text_and_has_no_element_of_it",
        "test_the_feed_is_xml_with_each_text_on_its_line",
        "test_a_notebook_shows_text_as_html",
        "test_a_spreadsheet_takes_no_text_for_a_formula",
        "test_no_cell_of_metrics_csv_is_a_formula",
        "test_a_name_made_to_mislead_is_shown_as_it_is",
    ),
    "The base model that an adapter names": (
        "test_an_adapter_without_a_base_fails_its_row",
        "test_the_base_beside_an_adapter_is_read_under_its_title",
        "test_the_base_on_the_hub_is_read_at_the_revision_that_the_adapter_names",
    ),
    "Code beside a list runs only for a command": (
        "test_code_beside_no_list_does_not_run",
        "test_an_analysis_that_fails_has_a_reason_where_its_numbers_would_be",
        "test_one_that_hangs_is_ended_and_the_others_go_on",
        "test_a_rule_that_fails_says_so_and_the_others_go_on",
        "test_a_scheme_that_fails_is_a_question_and_the_others_go_on",
        "test_a_wrong_record_is_a_sentence_with_file_and_line",
    ),
    "An entry whose numbers no page can show": (
        "test_a_row_of_which_no_page_can_be_made_fails_and_the_log_says_where",
        "test_odd_results_of_every_analysis_leave_the_other_rows_as_they_are",
        "test_other_files_fail_the_row_and_say_where",
    ),
    "`serve` listens on this machine alone": (
        "test_a_site_is_served_under_the_names_of_this_machine_alone",
        "test_a_site_is_served_at_the_address_of_this_machine_alone",
    ),
    "A page of the site contacts no other host": (
        "test_what_is_planted_in_a_page_runs_only_without_its_policy",
        "test_what_a_reader_types_is_text",
        "test_a_script_within_the_page_is_allowed_by_its_digest",
    ),
}


# Those of what follows the table, by the beginnings of its sentences and by their files.
FURTHER: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "The program follows its redirects to any address, without the token": {
        "checkpoints/test_hub_ranges.py": (
            "test_a_redirect_is_followed_to_this_machine_too_without_the_token",
        ),
    },
    "Each checkpoint is evaluated in a process of its own, with limits of time and": {
        "pipeline/test_jobs.py": (
            "test_a_row_that_takes_too_long_fails_and_says_so",
            "test_a_row_that_computes_too_long_fails_and_waiting_is_no_computing",
            "test_a_row_with_a_tensor_beyond_its_memory_fails_naming_the_tensor_and_no_other_does",
            "test_a_row_whose_process_is_killed_fails_and_no_other_does",
        ),
    },
    "Anyone who can change the list of checkpoints, the files beside it or the output": {
        "contracts/test_own.py": ("test_an_analysis_beside_a_list_measures_and_is_drawn",),
    },
    "What an entry names is not trusted": {
        "checkpoints/test_any_config.py": ("test_any_config_has_encodings_or_a_row_error",),
        "checkpoints/test_damaged_files.py": (
            "test_a_damaged_file_is_a_row_error_or_has_the_numbers_of_its_library",
        ),
    },
    "A command that reads no list runs none of that code": {
        "contracts/test_own.py": ("test_code_beside_no_list_does_not_run",),
        "checkpoints/test_own_families.py": (
            "test_what_is_wrong_is_a_sentence_with_file_and_line",
            "test_text_of_a_file_that_was_downloaded_is_shown_and_obeyed_by_none",
        ),
    },
    "`lint` leaves out the rules that the nearest `position-atlas.toml`": {
        "cli/test_linting.py": (
            "test_a_file_leaves_out_rules",
            "test_the_nearest_file_counts_alone_and_one_of_a_folder_that_is_linted_does_not",
        ),
    },
}


def test_what_follows_the_table_of_security_is_shown_by_tests() -> None:
    text = " ".join((ROOT / "SECURITY.md").read_text(encoding="utf-8").split())
    assert [beginning for beginning in FURTHER if beginning not in text] == []
    for files in FURTHER.values():
        for path, names in files.items():
            defined = DEFINED.findall((ROOT / "tests" / path).read_text(encoding="utf-8"))
            assert set(names) <= set(defined), path


def test_every_line_of_security_is_shown_by_the_tests_that_it_names() -> None:
    rows = re.findall(
        r"^\| (?!Promise|---)(.+?) \| (.+?) \|$",
        (ROOT / "SECURITY.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert len(rows) == len(PROMISES)
    for (promise, links), (beginning, names) in zip(rows, PROMISES.items(), strict=True):
        assert promise.startswith(beginning)
        linked = {path: (ROOT / path).read_text(encoding="utf-8") for path in LINKED.findall(links)}
        defined = {name: path for path, text in linked.items() for name in DEFINED.findall(text)}
        assert set(names) <= defined.keys(), promise
        assert {defined[name] for name in names} == linked.keys(), promise


def test_bounds_in_security_are_those_of_the_program() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for bound in (
        f"more than {revisions.LISTING_SECONDS:g} seconds",
        f"late by more than {source.BEFORE_A_RUN:g} seconds",
        f"revisions of a training run after {revisions.LISTING_SECONDS:g}",
        f"at most {client.MOST_ANSWER_BYTES / 2**20:g} MiB",
        f"at most {revisions.MOST_NAMES:,} files",
        f"above {torch_pickle.MOST_CHECKED_BYTES / 2**30:g} GiB",
    ):
        assert bound in text
