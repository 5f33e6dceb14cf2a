"""Measures of what a trained model does with position, one module each, which are discovered by
listing this package.
"""
