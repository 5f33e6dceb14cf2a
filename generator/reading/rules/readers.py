"""What programs take from a config.json that transformers 5 reads otherwise."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from generator.checkpoints.model.keys import dotted
from generator.checkpoints.model.resolved import WINDOW
from generator.contracts import Examined, Json, Rule
from generator.contracts.model_config import ROPE
from generator.reading.taken import (
    CLOSE,
    OURS,
    Taken,
    agreed,
    beyond_mend,
    by_rotation,
    is_read,
    ours_of,
    taken,
    without_base,
)


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Programs that turn by other angles, magnitudes or pairs, or limit other layers or lengths,
    without a word, and programs that refuse the file; of one program that is asked for, also what
    it takes.
    """
    config = examined.files.config
    if not is_read(config):
        return
    every = taken(config.settings, config.where)
    ours = ours_of(every)
    asked = [one for one in every if examined.reader in ("", one.reader.key)]
    is_one = bool(examined.reader)
    for one in asked if is_one or (ours.is_known and ours.rotations) else ():
        if is_one or (one.refused and one.reader.key != OURS):
            yield one.sentence(config.source, ours)
    if ours.is_known and not ours.refused and ours.rotations:
        kind = "otherwise" if _is_stated(config.settings) else "by_default"
        apart = [group for group in by_rotation(asked) if not group[0].turns_as(ours)]
        others = [group for group in apart if not _is_long(group[0], ours)]
        for group in apart:
            if group not in others:
                yield "long_alone", _long(group, ours, every)
        is_known = others and not without_base(config)  # Else it would fix what was filled in.
        mend = agreed(config.settings, config.where) if is_known else {}
        is_beyond = is_known and not mend
        unmended = beyond_mend(config.settings, config.where) if is_beyond else []
        for group in others:
            mends = {"mend": mend, **_unmended(group, ours, unmended)}
            yield kind, {"source": config.source, **mends, **_both(group, ours)}
        known = [one for one in asked if one.is_known and not one.refused]
        # Of RoBERTa's 514 rows, 512 are positions.
        is_of_rows = config.text_model.size("n_positions") not in (None, ours.limit)
        length = "" if is_of_rows else dotted(config.path_of("n_positions"))
        yield from _of_layers(known, ours, length)


def _is_long(one: Taken, ours: Taken) -> bool:
    """Whether it takes LongRoPE's factors for long texts in all, and transformers 5 does not."""
    pairs = [(form, ours.rotations.get(part)) for part, form in one.rotations.items()]
    return any(
        form.rope_type == "longrope" and not form.has_two_lists and other and other.has_two_lists
        for form, other in pairs
    )


def _long(group: Sequence[Taken], ours: Taken, every: Sequence[Taken]) -> Json:
    """short: up to which length transformers 5 takes the other factors, None for any; others: the
    programs that read both lists; is_alike: whether all turn longer texts by the same angles
    """
    short = max((form.short or 0 for form in ours.rotations.values()), default=0)
    others = [one.name for one in every if one.is_known and one.turns_as(ours)]
    about = {
        "others": others,
        "is_alike": bool(short) and all(_turns_long(one, ours) for one in group),
    }
    readers = {"readers": [one.name for one in group]}
    return {**readers, "short": short or None, "apart": ours.apart(group[0]), **about}


def _turns_long(one: Taken, ours: Taken) -> bool:
    """Whether its angles are those of transformers 5 in long texts."""
    return all(
        bool(twin.long_factors)
        and np.allclose(form.frequencies * twin.long_factors, twin.unscaled_frequencies, CLOSE, 0.0)
        and np.isclose(form.attention_factor, twin.attention_factor, rtol=CLOSE)
        for part, form in one.rotations.items()
        if (twin := ours.rotations[part]).has_two_lists
    )


def _unmended(group: Sequence[Taken], ours: Taken, unmended: Sequence[Taken]) -> Json:
    """Whether those of a group turn otherwise also with base and scaling in both spellings, and
    whether they then take no scaling where transformers 5 has one.
    """
    names = [one.name for one in group]
    still = [one for one in unmended if one.name in names and not one.refused]
    is_stuck = len(still) == len(group)
    scaled = any(each.get("scaling") for each in ours.parameters.values())
    lost = [not any(each.get("scaling") for each in one.parameters.values()) for one in still]
    return {"is_stuck": is_stuck, "is_lost": is_stuck and scaled and all(lost)}


def _of_layers(asked: Sequence[Taken], ours: Taken, length: str) -> Iterator[tuple[str, Json]]:
    """Other pairs, windows or limits than those of transformers 5. length: the key with its"""
    pairs = [one for one in asked if {one.pair_order, ours.pair_order} == {"adjacent", "halves"}]
    if pairs:
        orders = {"theirs": pairs[0].pair_order, "ours": ours.pair_order}
        yield "pairs", {"readers": [one.name for one in pairs], **orders}
    by_windows: dict[str, Json] = {}
    for one in asked:
        limiting = one.windows_that_limit, ours.windows_that_limit
        # Of equal windows, a lower limit may leave nothing to limit.
        if one.windows != ours.windows and limiting[0] != limiting[1]:
            sizes = {"theirs": limiting[0], "ours": limiting[1]}
            about = {"readers": [], "paths": [WINDOW], "n_layers": len(ours.windows), **sizes}
            by_windows.setdefault(str(limiting[0]), about)["readers"].append(one.name)
    yield from (("windows", values) for values in by_windows.values())
    served = [one for one in asked if one.reader.limit is not None and (one.limit or 0) > 0]
    limits = [one for one in served if one.limit != ours.limit and not one.limit_elsewhere]
    if limits and ours.limit:
        by_program = [{"reader": one.name, "limit": one.limit} for one in limits]
        readers, paths = {"readers": [one.name for one in limits]}, [length] if length else []
        yield "limits", {**readers, "served": by_program, "ours": ours.limit, "paths": paths}


def _both(group: Sequence[Taken], ours: Taken) -> Json:
    is_turned_alike = group[0].has_angles_of(ours)
    return {
        "readers": [one.name for one in group],
        "theirs": group[0].words,
        "ours": ours.words,
        "apart": None if is_turned_alike else ours.apart(group[0]),
        "is_turned_alike": is_turned_alike,
        "factors": group[0].factors_apart(ours),
        "settings": group[0].settings_apart(ours),
        "logits": [one.logits for one in (group[0], ours)],
    }


def _is_stated(settings: Json) -> bool:
    """Whether the file, or a config in it, gives a base or a scaling."""
    values: list[Any] = [settings, *(v for v in settings.values() if isinstance(v, Mapping))]
    return any(value.get(name) for value in values for name in (*ROPE, "rope_theta"))


RULE = Rule(
    key="readers",
    levels={**dict.fromkeys(("otherwise", "pairs"), "warning"),
            **dict.fromkeys(("by_default", "long_alone", "refused", "windows", "limits", "alone",
                             "no_code", "not_known"), "note")},
    find=find,
    about=(*ROPE, "rope_theta", "model_type"),
)  # fmt: skip
