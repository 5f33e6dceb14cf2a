"""Numerical functions: numpy arrays in, numpy arrays out."""
