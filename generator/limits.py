"""Limits that help names: light, so that help needs nothing of what they limit."""

# Of a search for checkpoints in a folder.
MOST_DEPTH = 8  # levels below the folder that is looked through
MOST_FOLDERS = 5_000
MOST_OPENED = 500  # checkpoints and runs; of a run, the first and the last checkpoint
BOUNDS = f"{MOST_DEPTH} levels down, {MOST_FOLDERS:,} folders, {MOST_OPENED} checkpoints and runs"
MOST_LOST = 1 / 3  # of the former site's checkpoints: beyond that, a whole source is missing.
