"""Records that packages exchange, records that define an extension, and the discovery of
extensions. What a module below calls by a public name is exchanged.
"""

from generator.contracts.checkpoints import *  # noqa: F403
from generator.contracts.comparisons import *  # noqa: F403
from generator.contracts.config_readers import *  # noqa: F403
from generator.contracts.file_formats import *  # noqa: F403
from generator.contracts.layer_map import *  # noqa: F403
from generator.contracts.model_config import *  # noqa: F403
from generator.contracts.oracle import *  # noqa: F403
from generator.contracts.outcomes import *  # noqa: F403
from generator.contracts.read_checkpoint import *  # noqa: F403
from generator.contracts.releases import *  # noqa: F403
from generator.contracts.resolved import *  # noqa: F403
from generator.contracts.results import *  # noqa: F403
from generator.contracts.rules import *  # noqa: F403
from generator.contracts.runs import *  # noqa: F403
from generator.contracts.subjects import *  # noqa: F403
from generator.contracts.usable_lengths import *  # noqa: F403
