"""From outcomes to a site: ``render`` makes one tree of files, each when it is asked for, ``write`` puts it on disk, ``mkdocs_build`` has mkdocs make HTML."""
