"""Training runs on pages: the metrics of all their checkpoints, figures and findings."""
