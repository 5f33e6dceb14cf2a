"""Trained models that run: loaded by the classes of transformers from whatever a row holds, watched
while they read, and asked what they make of a position.
"""
