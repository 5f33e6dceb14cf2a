"""Where a reader reports what is wrong on a page: in a new issue, which names page, revision and
version.
"""

from urllib.parse import urlencode, urlsplit

FORM = "wrong-number.yml"  # In .github/ISSUE_TEMPLATE; its fields have the names below.


def address(repository: str, page: str, program: str, revision: str | None) -> str:
    """Address of a new issue on ``page`` of the ``repository``; "" without one.

    program: its version; revision: of the checkpoint
    """
    if not repository:
        return ""
    made_of = ", ".join(filter(None, (revision, program)))
    title, body = f"Wrong number: {page}", f"{page}\n{made_of}\n"
    if "gitlab" in (urlsplit(repository).hostname or ""):
        fields = {"issue[title]": title, "issue[description]": body}
        return f"{repository.rstrip('/')}/-/issues/new?{urlencode(fields)}"
    # A repository without the form, and other forges, take title and body.
    fields = {"template": FORM, "title": title, "page": page, "revision": made_of, "body": body}
    return f"{repository.rstrip('/')}/issues/new?{urlencode(fields)}"
