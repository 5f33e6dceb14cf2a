"""Readers of config.json and tensor names, stored position tables, and the input of the first
layer.
"""
