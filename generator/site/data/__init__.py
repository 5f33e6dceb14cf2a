"""Data files of the site, their schema, and what scripts, search and feeds read."""
