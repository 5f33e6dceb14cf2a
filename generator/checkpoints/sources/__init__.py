"""Sources of files: every module defines one ``Source``."""
