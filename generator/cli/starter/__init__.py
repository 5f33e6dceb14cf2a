"""A folder to begin with: a list of checkpoints that needs no network, and a workflow of GitHub or
GitLab that publishes its site.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from generator import PROGRAM, ROOT, __version__
from generator.cli.terminal import Terminal

HERE = Path(__file__).parent
FILES = {
    "checkpoints.yml": "checkpoints.yml",
    "README.md": "README.md",
    "gitignore": ".gitignore",
    "constraints.txt": "constraints.txt",
}
GITHUB = {"site.yml": ".github/workflows/site.yml"}
GITLAB = {"gitlab-ci.yml": ".gitlab-ci.yml"}
EXAMPLES = ("sinusoid", "llama-3.1-8b", "bloom-7b1")
SCHEMA, CONFIG = "checkpoints.schema.json", "config.json"
WHOLE = f"{PROGRAM}[site]"


def requirement() -> str:
    """What pip installs to have this program elsewhere: from a repository at a commit, or from the
    address of a wheel, where it came from such a place; else by its version.
    """
    match origin():
        case {"url": str(url), "vcs_info": {"vcs": vcs, "commit_id": commit}} if is_public(url):
            return f"{WHOLE} @ {vcs}+{url}@{commit}"
        case {"url": str(url)} if is_public(url):
            return f"{WHOLE} @ {url}"
    return f"{WHOLE}=={__version__}"


def is_public(url: str) -> bool:
    """Whether others can reach an address, as far as it says so."""
    return url.startswith("https://")


def origin() -> dict[str, Any] | None:
    """Where pip found the program (PEP 610); None where that was an index, or is not known."""
    from importlib.metadata import PackageNotFoundError, distribution  # Help needs none.

    try:
        found = json.loads(distribution(PROGRAM).read_text("direct_url.json") or "null")
    except (PackageNotFoundError, ValueError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("url"), str) else None


def pins() -> str:
    """A constraint on each library with which the program runs here, a line each: on its public
    version, of which an index may have several builds.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    from packaging.requirements import Requirement

    open_, seen, found = [Requirement(WHOLE)], set[str](), dict[str, str]()
    while open_:
        wanted = open_.pop()
        if str(wanted) in seen:
            continue
        seen.add(str(wanted))
        try:
            library = distribution(wanted.name)
        except PackageNotFoundError:  # Of another system, or of an extra that is not here.
            continue
        if wanted.name != PROGRAM:
            found[library.name] = library.version.partition("+")[0]
        for needed in map(Requirement, library.requires or ()):
            extras = ({"extra": extra} for extra in ("", *wanted.extras))
            if needed.marker is None or any(map(needed.marker.evaluate, extras)):
                open_.append(needed)
    return "\n".join(f"{name}=={found[name]}" for name in sorted(found, key=str.lower))


def is_for(folders: Sequence[Path]) -> bool:
    """Whether ``folders`` are a single one that is empty or missing."""
    [folder, *others] = folders
    return not others and (not folder.exists() or (folder.is_dir() and not any(folder.iterdir())))


def write(folder: Path, *, gitlab: bool = False) -> None:
    """Fill ``folder``, which is empty, or made where it is missing.

    gitlab: whether GitLab is to build and publish the site, in place of GitHub
    errors: OSError
    """
    values = {"REQUIREMENT": requirement(), "PINS": pins()}
    for name, place in {**FILES, **(GITLAB if gitlab else GITHUB)}.items():
        target, content = folder / place, (HERE / name).read_text(encoding="utf-8")
        target.parent.mkdir(parents=True, exist_ok=True)
        for key, value in values.items():
            content = content.replace(key, value)
        target.write_text(content, encoding="utf-8")
    copied = {f"examples/{name}/{CONFIG}": ROOT / "references" / name / CONFIG for name in EXAMPLES}
    for place, source in {SCHEMA: ROOT / SCHEMA, **copied}.items():
        # By bytes: of a full disk, copies of shutil name the source, or list every file.
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_bytes(source.read_bytes())


def tell(terminal: Terminal, folder: Path) -> None:
    """Print what ``folder`` has now."""
    terminal.print(
        f"{folder}: checkpoints.yml lists three checkpoints; run 'position-atlas build' there to"
        " build their site"
    )
    came = origin()
    if came and not is_public(came["url"]):
        terminal.print(
            "The program was installed from this machine, where a workflow cannot find it. Set the"
            " variable POSITION_ATLAS of the repository or project to what pip should install"
            " there."
        )
