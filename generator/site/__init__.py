"""From outcomes to a site: ``render`` makes one tree of files in memory, ``write`` puts it on disk, ``mkdocs`` makes HTML."""
