"""From Markdown to HTML: mkdocs, and what keeps its pages safe and small."""
