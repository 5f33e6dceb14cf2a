"""What changed from one published atlas to the next."""
