"""What a trained model does with position while it reads, one measure a module."""
