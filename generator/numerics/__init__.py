"""Numbers from numbers: numpy in, numpy out."""
