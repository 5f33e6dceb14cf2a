"""How tensors are stored in files: one module a format, each with one ``FileFormat``."""
