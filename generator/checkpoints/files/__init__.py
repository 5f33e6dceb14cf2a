"""The files of a checkpoint by their formats: tensors by name, read by range."""
