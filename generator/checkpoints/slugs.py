"""Names in addresses."""

import re
import unicodedata


def slugify(text: str) -> str:
    """``text`` as lower-case ASCII words joined by hyphens; empty without ASCII letters or
    digits.
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:80]
