"""Names and keys of encodings, each different from all others."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from generator.contracts.checkpoints import Checkpoint, Encoding, EncodingRecord, Scheme
from generator.contracts.outcomes import Outcome
from generator.encodings import Form
from generator.text import short_title

DIGITS = 12  # of a digest, hexadecimal
LONGEST_TITLE = 60  # characters; a longer one is shortened in names, and nothing else is
LONGEST_PATH = 80


def numbered(encodings: Iterable[Encoding[Form]]) -> list[Encoding[Form]]:
    """The encodings of a checkpoint, with numbers by which their keys differ."""
    distinct: dict[str, Encoding[Form]] = {}
    for encoding in encodings:
        number = 1
        while (candidate := replace(encoding, number=number)).key in distinct:
            number += 1
        distinct[candidate.key] = candidate
    return list(distinct.values())


def names(
    encodings: Sequence[tuple[Checkpoint, EncodingRecord]], schemes: Iterable[Scheme]
) -> list[str]:
    """Name of each encoding: the title of its checkpoint, with part, scheme or slug where that is
    ambiguous. No two are equal.

    encodings: with their checkpoints, which have different slugs
    """
    titles = {scheme.key: scheme.title for scheme in schemes}
    return _distinct(
        [_candidates(checkpoint, encoding, titles) for checkpoint, encoding in encodings]
    )


def parts(encodings: Sequence[EncodingRecord], schemes: Iterable[Scheme]) -> list[str]:
    """Name of each encoding of one checkpoint on its pages: the part, with the scheme where that is
    ambiguous. No two are equal.
    """
    titles = {scheme.key: scheme.title for scheme in schemes}
    with_scheme = [
        f"{encoding.numbered_part}, {titles.get(encoding.scheme, encoding.scheme)}"
        for encoding in encodings
    ]
    return _distinct(
        [
            (encoding.numbered_part, longer, encoding.key)
            for encoding, longer in zip(encodings, with_scheme, strict=True)
        ]
    )


def named(outcomes: Sequence[Outcome], schemes: Iterable[Scheme]) -> tuple[Outcome, ...]:
    """``outcomes`` with the name of every encoding among all of them as the title of its label."""
    members = [
        (outcome.checkpoint, reading.encoding)
        for outcome in outcomes
        for reading in outcome.readings
    ]
    titles = iter(names(members, schemes))
    return tuple(
        replace(
            outcome,
            readings=tuple(
                replace(reading, label=replace(reading.label, title=next(titles)))
                for reading in outcome.readings
            ),
        )
        for outcome in outcomes
    )


def _candidates(
    checkpoint: Checkpoint, encoding: EncodingRecord, titles: Mapping[str, str]
) -> tuple[str, ...]:
    scheme = titles.get(encoding.scheme, encoding.scheme)
    endings = (
        "",
        f" · {encoding.numbered_part}",
        f" · {scheme}",
        f" · {encoding.numbered_part}, {scheme}",
    )
    of_title = (_ending(checkpoint.title, ending) for ending in endings)
    of_slug = (_ending(f"{checkpoint.title} ({checkpoint.slug})", ending) for ending in endings)
    return (*of_title, *of_slug, _of_path(f"{checkpoint.slug}/{encoding.key}"))


def _ending(title: str, ending: str) -> str:
    """``title``, shortened where it is long, and ``ending``."""
    return short_title(title, LONGEST_TITLE) + ending


def _of_path(path: str) -> str:
    """``path``; its beginning and a digest of it where it is longer than a name may be."""
    digest = hashlib.sha256(path.encode(errors="backslashreplace")).hexdigest()[:DIGITS]
    return path if len(path) <= LONGEST_PATH else f"{path[: LONGEST_PATH - DIGITS - 1]}…{digest}"


def _distinct(candidates: Sequence[Sequence[str]]) -> list[str]:
    """Of each sequence, the first text that no other contains, or else its last; all differ if the
    last ones do.

    For a text that is in no other sequence is in particular not what another one ends with.
    """
    # Pages and figures show white space so.
    spaced = [[" ".join(text.split()) for text in texts] for texts in candidates]
    counts = Counter(text for texts in spaced for text in set(texts))
    return [next((text for text in texts if counts[text] == 1), texts[-1]) for texts in spaced]
