"""Which checkpoints there are, their files, and what those say of the model."""
