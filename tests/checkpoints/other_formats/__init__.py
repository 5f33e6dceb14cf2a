"""File formats that the program does not have; a test puts them into the package where it looks for
its own.
"""
