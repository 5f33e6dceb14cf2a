"""The list of checkpoints, their sources and files, and readers of config.json and tensor names."""
