"""Documents that an atlas has published, from a file, a folder or an address."""

import json
import re
import shutil
from collections.abc import Callable, Iterator, Set
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from generator.cache import blobs
from generator.errors import RefusedError
from generator.site.history.changes import Checkpoints, checkpoints
from generator.site.history.published_numbers import Read, arrays_of, with_steps
from generator.site.history.releases import DATA, PUBLISHED, RECORD, UNDATED

ATLAS = "data/atlas.json"
PART = re.compile(r"atlas/\d+\.json")
MOST_BYTES = 2**29
SECONDS = 30.0
MOST_DIGITS = 18  # of a whole number
MISSING = (404, 410)
NO_ATLAS = "found no atlas; expected an atlas.json, or a site or an output folder that has one"
NAME = re.compile(rf"(?:\d{{4}}-\d\d-\d\d|{UNDATED})(?:\.\d+)?")


def atlas(place: str) -> dict[str, Any]:
    """The atlas at ``place``: an atlas.json, a folder with one (of a site, or the output of a
    build), or the address of either.

    errors: RefusedError when it holds no atlas, or does not answer; OSError
    """
    if is_address(place):
        return _fetched_atlas(place, fetched(_address(place)))
    file = _file(place)
    if file is None:
        raise RefusedError(f"{place}: {NO_ATLAS}")
    return _with_parts(place, file.read_bytes(), lambda part: (file.parent / part).read_bytes())


def _file(place: str) -> Path | None:
    candidates = (Path(place, name) for name in ("", ATLAS, f"site/{ATLAS}", f"docs/{ATLAS}"))
    return next((path for path in candidates if path.is_file()), None)


def reader(place: str) -> Read:
    """A function that returns a file of the site of the atlas at ``place``, by its path from the
    folder of the site; None for one that it cannot read.
    """

    def read(path: str) -> bytes | None:
        try:
            if is_address(place):
                return fetched(urljoin(_address(place), f"../{path}"))
            file = _file(place)
            # An atlas.json elsewhere has no files beside it.
            is_of_site = file is not None and file.parent.name == "data"
            return (file.parent.parent / path).read_bytes() if file and is_of_site else None
        except (RefusedError, OSError):
            return None

    return read


def reader_of(place: str, state: Checkpoints) -> Read:
    """As ``reader``, of the arrays of stored tables that are those of ``state`` alone: what is at
    ``place`` may be older or newer.
    """
    read = reader(place)

    @cache
    def hashes() -> Set[tuple[str, str | None]]:
        try:
            return set(_hashes(checkpoints(atlas(place))))
        except (RefusedError, OSError):
            return set()

    wanted = dict(_hashes(state))
    return lambda path: read(path) if (path, wanted.get(path)) in hashes() else None


def _hashes(state: Checkpoints) -> Iterator[tuple[str, str | None]]:
    for slug, row in state.items():
        for encoding in row["encodings"]:
            yield arrays_of(slug, encoding["key"]), encoding["sha256"]


def is_address(place: str) -> bool:
    """Whether ``place`` is an address, and no path."""
    return place.lower().startswith(("http://", "https://"))


def built(output: Path) -> dict[str, Any] | None:
    """The atlas in the output folder of a build; None where none can be read there."""
    try:
        return atlas(str(output))
    except (RefusedError, OSError):
        return None


def former(site: str) -> dict[str, Any] | None:
    """The atlas of a published site; None where nothing is published there yet.

    errors: as ``atlas``
    """
    try:
        content = fetched(_address(site))
    except NoSuchFileError:
        return None
    return _fetched_atlas(site, content)


def _address(place: str) -> str:
    return place if place.endswith(".json") else f"{place.rstrip('/')}/{ATLAS}"


def _fetched_atlas(place: str, content: bytes) -> dict[str, Any]:
    return _with_parts(place, content, lambda part: fetched(urljoin(_address(place), part)))


def _with_parts(place: str, content: bytes, read: Callable[[str], bytes]) -> dict[str, Any]:
    """The atlas of ``content``, with the checkpoints of its parts.

    read: returns a file beside atlas.json, by its path from there
    """
    document = _parsed(place, content)
    names = [str(part).removeprefix("data/") for part in document.get("parts", ())]
    if foreign := [name for name in names if not PART.fullmatch(name)]:
        raise RefusedError(
            f"found a part called {foreign[0][:40]!r}; expected one like 'data/atlas/0001.json'"
        )
    rows = (row for name in names for row in _parsed(name, read(name))["checkpoints"])
    whole = {**document, "checkpoints": [*document["checkpoints"], *rows], "parts": []}
    try:
        found = dict(with_steps(whole, reader(place)))
        checkpoints(found)
        dict(found.get("libraries", {}))
    except (LookupError, TypeError, ValueError, AttributeError):
        raise RefusedError(f"{place}: {NO_ATLAS}") from None
    return found


def _whole(digits: str) -> int | float:
    """A whole number, as a float where no other number is as large."""
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)


def _parsed(place: str, content: bytes) -> dict[str, Any]:
    """errors: RefusedError"""
    try:
        document = json.loads(content, parse_int=_whole)
        if not (
            isinstance(document["checkpoints"], list)
            and isinstance(document["schema"], int)
            and isinstance(document.get("parts", []), list)
        ):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RefusedError(f"{place}: {NO_ATLAS}") from None
    return dict(document)


def bring_releases(site: str, folder: Path) -> None:
    """Make the releases in ``folder`` those of a published ``site``: a build that was not published
    made no release. Nothing changes where the site has none.

    errors: RefusedError when the site does not answer, or its index is none; OSError
    """
    base = f"{site.rstrip('/')}/{PUBLISHED}"
    names = _names(f"{base}/index.json")
    for name in names:
        if not (folder / name / RECORD).exists():
            # The record last: without it, the folder is no release.
            for file in (*(f"{data}.gz" for data in DATA), RECORD):
                blobs.write(folder / name / file, [fetched(f"{base}/{name}/{file}")])
    for record in folder.glob(f"*/{RECORD}") if names else ():
        if record.parent.name not in names:
            shutil.rmtree(record.parent)


def _names(address: str) -> list[str]:
    """Folders of the releases that an index lists. errors: RefusedError"""
    try:
        names = [str(release["id"]) for release in json.loads(fetched(address))]
    except NoSuchFileError:
        return []
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RefusedError(
            f"{address}: found no index of releases; expected one that an atlas has published"
        ) from None
    if foreign := [name for name in names if not NAME.fullmatch(name)]:
        raise RefusedError(
            f"{address}: found a release called {foreign[0][:40]!r}; expected a date"
        )
    return names


class NoSuchFileError(RefusedError):
    """A site answered that it has no such file."""


def fetched(address: str) -> bytes:
    """The bytes at an address. errors: RefusedError"""
    import httpx2

    try:
        with httpx2.stream("GET", address, timeout=SECONDS, follow_redirects=True) as answer:
            if answer.status_code in MISSING:
                raise NoSuchFileError(f"{address}: HTTP {answer.status_code}; expected a file")
            answer.raise_for_status()
            content = b""
            for chunk in answer.iter_bytes():
                content += chunk
                if len(content) > MOST_BYTES:
                    raise RefusedError(
                        f"{address}: more than {MOST_BYTES >> 20} MiB; expected an atlas.json"
                    )
            return content
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        raise RefusedError(f"{address}: {error}") from None
