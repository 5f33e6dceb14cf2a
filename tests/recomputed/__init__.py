"""The numbers of a built site, computed again from the arrays that it publishes.

Nothing here imports the program. Each function follows the section “Method” of the page of its
analysis, by numpy and scipy alone, and returns its metrics by their names.
"""
