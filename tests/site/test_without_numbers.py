"""Pages of checkpoints without numbers: the nearest rows with some, and earlier releases."""

from dataclasses import replace

import pytest

from generator.contracts import (
    Atlas,
    EncodingRecord,
    Fact,
    Outcome,
    Provenance,
    Release,
    ReleasedCheckpoint,
    ReleasedMetric,
    Run,
    RunEncoding,
    Status,
)
from generator.site import relatives
from generator.site.html.escape import literal
from generator.site.rankings.columns import columns_of
from tests.site.test_comparing import ANALYSES, KINDS, SCHEMES, outcome, rendered, table
from tests.support import checkpoint

LEARNED = next(scheme for scheme in SCHEMES if scheme.key == "learned")
IN_WEIGHTS = EncodingRecord(
    "encoder", "learned", "PositionTable", Provenance("", "wpe.weight", shape=(512, 768))
)


def facts(family: str, words: int, width: int) -> tuple[Fact, ...]:
    return Fact("Family", family), Fact("Hidden size", width), Fact("Vocabulary", words)


def with_numbers(
    slug: str, family: str, words: int, width: int, scheme: str = "learned"
) -> Outcome:
    made = outcome(slug, table(len(slug)), scheme=scheme)
    drawn = replace(made.readings[0], alts={"thumbnail": ""})
    return replace(made, facts=facts(family, words, width), readings=(drawn,))


BERT = Outcome(
    checkpoint(slug="bert", title="BERT", source="hub", id="google-bert/bert-base-uncased"),
    "not reached",
    "the Hub did not answer",
    facts=facts("bert", 30522, 768),
    unmeasured=(IN_WEIGHTS,),
    described_by="a paper, section 3",
)
ROWS = {
    "family": with_numbers("family", "bert", 100, 16),
    "words": with_numbers("words", "other", 30522, 16),
    "width": with_numbers("width", "other", 100, 700),
    "scheme": with_numbers("scheme", "other", 100, 16),
    "none": with_numbers("none", "bert", 30522, 768, scheme="sinusoidal"),
}


def atlas(*others: Outcome, **more: object) -> Atlas:
    made = Atlas((BERT, *others), ANALYSES, SCHEMES, {"position-atlas": "1.0"}, "2020-02-20")
    return replace(made, **more)  # type: ignore[arg-type]


def page(made: Atlas) -> str:
    pages = {page.path: page for page in KINDS["checkpoint"].pages(made)}
    return rendered(pages["checkpoints/bert.md"])


@pytest.mark.parametrize("count", range(1, 5))
def test_the_nearest_is_of_the_family_then_the_vocabulary_then_the_width(count: int) -> None:
    farthest_first = [ROWS[name] for name in ("scheme", "width", "words", "family")][:count]
    found = relatives.nearest(atlas(*farthest_first), BERT, LEARNED)
    assert found
    assert found.outcome is farthest_first[-1]


def test_of_a_model_of_words_and_images_the_part_of_words_has_the_relative() -> None:
    patches = replace(IN_WEIGHTS, part="vision", modality="image")
    both = replace(BERT, unmeasured=(patches, IN_WEIGHTS))
    parts = []
    for one in (BERT, both):
        found = relatives.nearest(atlas(ROWS["family"]), one, LEARNED)
        parts.append(found and found.part)
    assert parts == ["", "encoder"]


def test_a_row_of_another_scheme_is_no_relative() -> None:
    assert relatives.nearest(atlas(ROWS["none"]), BERT, LEARNED) is None


def test_the_page_says_why_a_row_is_the_nearest() -> None:
    text = page(atlas(ROWS["family"]))
    assert "from the same family (bert)" in text.replace("&#40;", "(").replace("&#41;", ")")
    assert "vocabulary of the same size" not in text
    assert "from another family, with the same scheme" in page(atlas(ROWS["width"]))


def test_the_page_says_where_its_config_is_from_and_has_the_picture_of_its_scheme() -> None:
    text = page(atlas())
    said = ("our own record", "could not download its weights", 'src="figures/schemes/learned')
    assert [words for words in (literal("a paper, section 3"), *said) if words not in text] == []
    pages = {page.path: page for page in KINDS["checkpoint"].pages(atlas())}
    [figure] = pages["checkpoints/bert.md"].figures
    assert figure.path == "figures/schemes/learned"


def test_a_training_run_of_the_same_scheme_and_part_is_linked() -> None:
    def run(slug: str, part: str) -> Run:
        encoding = RunEncoding("k", "n", part, "learned", "PositionTable", "", (), ())
        return Run(slug, slug.title(), "folder", slug, (), (encoding,))

    text = page(atlas(runs=(run("alike", "encoder"), run("other", "decoder"))))
    assert "runs/alike.html" in text
    assert "runs/other.html" not in text


def release(number: int, status: Status, value: float | None) -> Release:
    shown = columns_of(atlas(ROWS["family"]))[0]
    metrics: dict[str, ReleasedMetric] = {
        f"{shown.analysis.key}.{shown.headline.metric}": {"value": value, "unit": ""},
        "of an analysis.that is gone": {"value": value, "unit": ""},
    }
    record: ReleasedCheckpoint = {
        "slug": "bert",
        "title": "BERT",
        "status": status,
        "reason": None,
        "revision": "a" * 40,
        "encodings": [{"key": "k", "name": "BERT", "sha256": None, "metrics": metrics}],
    }
    return Release(f"2020-01-0{number}", number, f"2020-01-0{number}", "0.1", {}, {"bert": record})


def test_the_last_release_that_read_it_gives_its_numbers_with_its_name() -> None:
    releases = (release(1, "ok", 1.0), release(2, "ok", 1.375), release(3, "not reached", 7.0))
    former = relatives.former_numbers(atlas(ROWS["family"], releases=releases), BERT)
    assert former
    assert former.release.id == "2020-01-02"
    assert [value for _, _, value in former.values] == ["1.38"]
    assert "Release 2020&#45;01&#45;02" in page(atlas(ROWS["family"], releases=releases))


@pytest.mark.parametrize("releases", [(), (release(1, "not reached", 1.0),)])
def test_without_such_a_release_there_are_no_numbers(releases: tuple[Release, ...]) -> None:
    assert "earlier release" not in page(atlas(ROWS["family"], releases=releases))


def test_an_id_without_a_config_says_that_it_shows_nothing() -> None:
    bare = replace(BERT, facts=(), unmeasured=(), described_by="")
    pages = KINDS["checkpoint"].pages(Atlas((bare,), ANALYSES, SCHEMES, {"position-atlas": "1.0"}))
    assert "An id alone does not show how a model encodes position" in rendered(pages[0])
