"""``preload`` for workers that evaluate checkpoints without weights, too: most need the config
classes of transformers, few need torch.
"""

import generator.pipeline.preload  # noqa: F401
from generator.libraries import config_classes

config_classes()
