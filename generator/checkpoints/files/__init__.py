"""The files of a checkpoint: file formats, and tensors by name, read by range."""
