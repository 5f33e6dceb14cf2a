"""A checkpoint outside any list, by a path or an id of the Hub."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from generator.checkpoints.files import weights
from generator.checkpoints.files.named_paths import expanded
from generator.checkpoints.hub import revisions
from generator.contracts import Checkpoint
from generator.errors import AtlasError, RefusedError, RowError
from generator.libraries import keep_torch
from generator.reading import plan
from generator.text import slugify

T = TypeVar("T")


def is_path(source: str) -> bool:
    """Whether what is named is a path: it exists, or looks like one."""
    return (
        os.path.exists(source)  # noqa: PTH110 (a path's own method raises what the system says)
        or source.startswith((".", "/", "~"))
        or source.endswith(weights.suffixes())
    )


def checkpoint_at(
    source: str | Path, pickle: bool = False, file: str = "", config: Path | None = None
) -> Checkpoint:
    """A checkpoint outside any list: a path, or a Hub id with or without a revision.

    errors: RowError when the config cannot be read
    """
    is_local, source = isinstance(source, Path) or is_path(source), str(source)
    key = next(candidate.key for candidate in plan.all_sources() if candidate.is_path == is_local)
    name, _, revision = (source, "", "") if is_local else source.partition("@")
    path = str(expanded(name)) if is_local else name
    settings = "" if config is None else _config_text(config)
    return Checkpoint(
        slugify(name),
        key,
        name,
        path,
        name,
        revision or None,
        pickle=pickle,
        weights=file,
        config=settings,
    )


def _config_text(config: Path) -> str:
    """errors: RowError"""
    from generator.checkpoints import list_file  # Its parser takes a third of a second.

    return list_file.config_text(config, str(config))


@contextmanager
def hub_errors(checkpoint: Checkpoint) -> Iterator[None]:
    """errors: AtlasError that says, of a name that is no path and no repository with a commit, why
    the Hub was asked
    """
    try:
        yield
    except AtlasError as error:
        has_commit = revisions.COMMIT.fullmatch(checkpoint.revision or "")
        is_of_another = not str(error).startswith(checkpoint.place)
        if plan.source_of(checkpoint).is_path or has_commit or is_of_another:
            raise
        raise type(error)(
            f"no folder or file {checkpoint.id!r:.80}, so it was looked for on the Hub: {error}"
        ) from None


def commit_of(checkpoint: Checkpoint) -> str:
    """The commit of a repository's revision.

    errors: RefusedError when it is no repository, or the Hub does not answer
    """
    task, *_ = plan.plan([checkpoint], offline=False)
    commit = task.checkpoint.revision or ""
    if revisions.COMMIT.fullmatch(commit):
        return commit
    try:
        plan.opened(task)
    except AtlasError as error:
        raise RefusedError(str(error)) from None
    raise RefusedError(f"{checkpoint.id}: found no commit; expected a repository of the Hub")


def tasks_of(checkpoint: Checkpoint) -> list[plan.Task]:
    """The task of what is named: of a pattern with ``*`` the last one, of a pipeline of diffusers
    one for each part.
    """
    tasks = plan.plan([checkpoint], offline=False)
    return [task for task in tasks if task.checkpoint.series is None] or tasks[-1:]


def answer(function: Callable[..., T], *sources: str | Path) -> T:
    """What ``function`` finds of the checkpoints that are named, in this process; of a pattern with
    ``*``, of the last one.

    errors: RowError, NotReachedError
    """
    keep_torch()
    tasks = []
    for source in sources:
        task, *others = tasks_of(checkpoint_at(source))
        if others:
            raise RowError(
                f"{source}: a diffusers pipeline; expected the folder of one part, such as"
                f" {task.checkpoint.id}"
            )
        tasks.append(task)
    with ExitStack() as stack:
        for task in tasks:
            stack.enter_context(hub_errors(task.checkpoint))
        return function(*tasks)
