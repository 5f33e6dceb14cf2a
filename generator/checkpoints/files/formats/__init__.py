"""File formats of weights: every module defines one ``FileFormat``."""
