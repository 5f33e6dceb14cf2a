"""What config.json and the names of tensors say of a model, and what goes into its first layer."""
