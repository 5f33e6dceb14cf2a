"""Models that are not yet among the published configs, from the Hub: what their files have, what
their rows say, and what is in doubt.
"""

import re
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from generator.checkpoints.hub import client
from generator.checkpoints.model.keys import leaves, may_matter
from generator.contracts import Json, ModelConfig
from generator.encyclopedia import known_models, table
from generator.encyclopedia.known_models import KnownModel
from generator.encyclopedia.model_rows import growing
from generator.encyclopedia.refreshed import (
    SECONDS,
    SOURCE,
    WORDING,
    Refreshed,
    as_text,
    published_config,
    settings_of,
    type_of,
)
from generator.errors import RowError
from generator.reading import lint
from generator.reading.find import look
from generator.reading.questions import unresolved

MOST = 100  # models of an owner, the newest
COPY = "base_model:quantized:"  # The Hub's tag of what was made from another model.
MONTH = len("2026-08")
# Of training, of precision, of files and of what is written: neither position, nor sizes, nor what
# a class of the family needs to build a model.
OF_NOTHING = re.compile(
    r"drop|(^|_)eps(ilon)?$|initializer|init_(std|scale|range)|_act(ivation)?$|activation_fun"
    r"|dtype|version|_loss|loss_|^bos_|^use_cache$|^output_|^return_|torchscript|pretraining_tp"
    r"|_name_or_path|gradient_checkpointing|^problem_type$|^finetuning|^summary_"
)


def of_owner(owner: str) -> Sequence[str]:
    """The ids of an owner's newest models that the program does not have, without those that the
    Hub calls quantised copies.

    errors: RowError, NotReachedError
    """
    of = quote(owner, safe="")
    asked = f"models?author={of}&sort=createdAt&direction=-1&limit={MOST}&expand=tags"
    end = time.monotonic() + SECONDS
    listed = client.retried(
        lambda: {str(one["id"]): [*(one.get("tags") or ())] for one in client.answer(asked, owner)},
        owner,
        end,
    )
    known = {model.id for model in known_models.known_models()}
    return [
        name
        for name, tags in listed.items()
        if name.startswith(f"{owner}/")
        and name not in known
        and not any(str(tag).startswith(COPY) for tag in tags)
    ]


def proposed(hub_id: str, day: str) -> Refreshed:
    """A model with its config as main has it; day: as YYYY-MM-DD.

    Its file names no layers that the authors state: a person has to read what they say.

    errors: RowError, NotReachedError
    """
    end = time.monotonic() + SECONDS
    commit, given = published_config(hub_id, end)
    config = settings_of_new(hub_id, given)
    owners = {model.id.partition("/")[0]: model.maker for model in known_models.known_models()}
    record: dict[str, Any] = {"id": hub_id}
    if maker := owners.get(hub_id.partition("/")[0]):
        record["maker"] = maker
    if month := _created(hub_id, end):
        record["published"] = {"month": month, "by": "creation of its repository on the Hub"}
    record |= {"source": SOURCE, "commit": commit, "read": day}
    record |= {**type_of(ModelConfig(given, hub_id)), "config": config}
    model = known_models.of_record(record)
    return Refreshed(hub_id, f"{as_text(record)}\n", (), (), _preview(model), tuple(_doubts(model)))


def settings_of_new(hub_id: str, given: Json) -> Json:
    """What a file keeps of a config: all but what is of no use to a reader or to the class of its
    family. errors: RowError where it is nothing
    """
    kept = {
        path
        for path, value in leaves(given)
        if may_matter(path, value) or not OF_NOTHING.search(path[-1])
    }
    return settings_of(hub_id, given, kept)


def _created(hub_id: str, end: float) -> str:
    """The month in which its repository was created, "" where the Hub does not say."""
    asked = f"models/{hub_id}?expand=createdAt"
    created = client.retried(lambda: client.answer(asked, hub_id).get("createdAt"), hub_id, end)
    return str(created or "")[:MONTH]


def _preview(model: KnownModel) -> str:
    """What its page will say first, or why it can say nothing."""
    try:
        row: Json = table.row(model)
    except RowError as error:
        row = {"reason": str(error), "cache": None}
    return WORDING("preview", model=row, growing=None if row["cache"] is None else growing(row))


def _doubts(model: KnownModel) -> list[str]:
    """What lint warns of, and what the program cannot say of its config."""
    try:
        found = look(model.files)
    except RowError:
        return []  # Which the preview says.
    warned = [one.text for one in lint.findings(model.files, found) if one.level == "warning"]
    return [*dict.fromkeys((*unresolved(model.files, found), *warned))]
