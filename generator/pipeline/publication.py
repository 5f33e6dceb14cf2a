"""The releases of an output folder, and the one that a build adds."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from generator.cache.blobs import BlobCache
from generator.contracts import Atlas, Maker, Release
from generator.errors import MOST_LOST, RefusedError
from generator.site.data import downloads as data_files
from generator.site.history import former_site, published_numbers, releases
from generator.site.history.published_numbers import Compared

FOLDER = "history"
COMPARED = "compared-tables"  # Name of an entry of the store.


@dataclass(frozen=True)
class History:
    """The releases of an output folder, and what a build adds to them.

    folder: of the releases; present: the atlas of the build
    former: releases in the folder; new: that of the build, None where nothing has changed; data:
        its files, by name
    """

    folder: Path
    present: Atlas
    former: tuple[Release, ...]
    new: Release | None
    data: Mapping[str, bytes]

    @classmethod
    def of(
        cls, output: Path, atlas: Atlas, published: str = "", compared: Compared | None = None
    ) -> "History":
        """The history of the ``output`` of a build, continued by ``atlas``.

        published: address of the site of the last release, where that is not in ``output``
        compared: tables of the last release beside those of the build, which are added
        errors: RefusedError
        """
        former = releases.read(output / FOLDER)
        makers = cache(lambda: data_files.makers(atlas))

        def made(path: str) -> bytes | None:
            return makers()[path]() if path in makers() else None

        document = published_numbers.with_steps(data_files.document(atlas), made)
        read = former_site.reader_of(published or str(output), releases.state(former))
        new = releases.following(
            former,
            document,
            lambda before, after: published_numbers.with_rows(before, after, read, made, compared),
        )
        whole = {"atlas.json": data_files.atlas_json, "metrics.csv": data_files.metrics_csv}
        data = {name: whole[name](atlas) for name in releases.DATA} if new else {}
        return cls(output / FOLDER, atlas, former, new, data)

    def check_complete(self) -> None:
        """Check that at most ``MOST_LOST`` of the checkpoints that were read for the last release,
        and are listed still, are not reached now.

        errors: RefusedError
        """
        listed = {outcome.checkpoint.slug: outcome for outcome in self.present.outcomes}
        formerly = [slug for slug in releases.readable(self.former) if slug in listed]
        lost = [slug for slug in formerly if listed[slug].status == "not reached"]
        if len(lost) > MOST_LOST * len(formerly):
            first = listed[lost[0]]
            raise RefusedError(
                f"{len(lost)} of {len(formerly)} checkpoints of the former site were not reached,"
                f" such as {first.reason}; expected at most {MOST_LOST:.0%}, or --allow-shrink"
            )

    @property
    def atlas(self) -> Atlas:
        """The present atlas with all releases, and their files to publish."""
        files: dict[str, Maker] = {
            f"{releases.PUBLISHED}/{release.id}/{path.name}": path.read_bytes
            for release in self.former
            for path in sorted((self.folder / release.id).iterdir())
        }
        if self.new:
            place = f"{releases.PUBLISHED}/{self.new.id}"
            files |= {
                f"{place}/{name}.gz": partial(releases.compressed, content)
                for name, content in self.data.items()
            }
            files[f"{place}/{releases.RECORD}"] = partial(releases.encoded, self.new)
        return replace(
            self.present, releases=(*self.former, *((self.new,) if self.new else ())), archive=files
        )

    def save(self) -> None:
        """Keep the new release, for later builds. errors: OSError"""
        if self.new:
            releases.write(self.folder, self.new, self.data)


def read_compared(blobs: BlobCache) -> Compared:
    """What a build which has not finished found of tables that its site has replaced since."""
    stored = json.loads(blobs.get(COMPARED) or b"[]")
    return {(path, before, after): rows for (path, before, after), rows in stored}


def store_compared(blobs: BlobCache, compared: Compared) -> None:
    """Store for the next build what is ``compared``; nothing where that is nothing."""
    if compared:
        blobs.put(COMPARED, json.dumps([*compared.items()]).encode())
    else:
        (blobs.folder / COMPARED).unlink(missing_ok=True)
