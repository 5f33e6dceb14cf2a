"""What pages are made of beside numbers: templates, hand-written files and settings, where those of
a user win over ours.
"""

from dataclasses import dataclass
from pathlib import Path

from generator import ROOT

# Beside a list of checkpoints: settings of mkdocs, merged with ours.
SETTINGS = "position-atlas.yml"
INDEX = "index.md"


@dataclass(frozen=True)
class Materials:
    """Folders and files, those that win first.

    templates: of Jinja; written: hand-written pages and assets; settings: files like mkdocs.yml
    """

    templates: tuple[Path, ...]
    written: tuple[Path, ...]
    settings: tuple[Path, ...]

    @property
    def paths(self) -> tuple[Path, ...]:
        """All of them."""
        return (*self.templates, *self.written, *self.settings)

    @property
    def own_pages(self) -> tuple[str, ...]:
        """Paths of pages that a user wrote beside ours, those of a folder together, of which its
        index is the first; none that begins with a dot or lies in a folder that does.
        """
        *own, ours = self.written
        files = [(folder, path) for folder in own for path in folder.rglob("*.md")]
        found = {path.relative_to(folder) for folder, path in files if path.is_file()}
        return tuple(
            path.as_posix()
            for path in sorted(found, key=lambda path: (path.parts[:-1], path.name != INDEX, path))
            if not (ours / path).is_file() and not any(part[0] == "." for part in path.parts)
        )


OURS = Materials((ROOT / "templates",), (ROOT / "site_src",), (ROOT / "mkdocs.yml",))


def beside(folder: Path) -> Materials:
    """Ours, and before them those in the ``folder`` of a user."""
    if folder.resolve() == ROOT.resolve():
        return OURS
    own = Materials((folder / "templates",), (folder / "site_src",), (folder / SETTINGS,))
    return Materials(
        tuple(path for path in own.templates if path.is_dir()) + OURS.templates,
        tuple(path for path in own.written if path.is_dir()) + OURS.written,
        tuple(path for path in own.settings if path.is_file()) + OURS.settings,
    )
