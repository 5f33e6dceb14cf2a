"""From outcomes to a site: ``render`` makes one tree of files, each when it is asked for, ``write`` puts it on disk, ``html`` has mkdocs make HTML."""
