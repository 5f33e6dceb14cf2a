"""The model types whose code makes no trained tensor that holds an encoding, as
``families.untrained`` has looked through it beforehand.

A config of such a type needs neither torch nor that code, whose imports take longer than all else
that a config needs.
"""

import json
from functools import cache

from generator.checkpoints.model.code_files import is_built_as_by_default
from generator.contracts import ModelConfig
from generator.pipeline import precomputed


def is_untrained(config: ModelConfig) -> bool:
    """Whether the family's code is known to make no trained tensor with an encoding for ``config``;
    False also where only that code can tell.
    """
    return config.family in _types() and is_built_as_by_default(config)


@cache
def _types() -> frozenset[str]:
    return frozenset(json.loads(precomputed.shipped(precomputed.UNTRAINED) or "[]"))
