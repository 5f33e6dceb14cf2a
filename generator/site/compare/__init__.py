"""What the compare page and the map draw: kernels, ranks and pairs to propose."""
