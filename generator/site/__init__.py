"""The site: ``render`` makes Markdown, figures and data from outcomes, ``write`` puts them on disk,
``mkdocs_build`` turns them into HTML.
"""
