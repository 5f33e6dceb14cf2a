"""What a reader's browser may load and run on a page, and what it tells the pages that a link leads
to.
"""

import base64
import hashlib
import re

ELEMENT = re.compile(r"<script\b(?P<attributes>[^>]*)>(?P<code>.*?)</script\s*>", re.DOTALL)
# Scripts in files, and data.
OTHER = re.compile(r"""\bsrc\s*=|\btype\s*=\s*["']?(?!module|text/javascript)""")
# All that is not of the theme; nothing in it can end it before its last end.
ARTICLE = re.compile(r"<article\b.*</article>", re.DOTALL)
HEAD = re.compile(r"<head>|<meta charset=[^>]*>", re.IGNORECASE)
SCRIPTS = "script-src"
LINK_OUT = re.compile(r"""<a\s(?=[^>]*\bhref=["']?https?://)(?![^>]*\srel=)""")


def with_policy(html: str, policy: str) -> str:
    """``html`` with ``policy`` in its head. Of scripts within the page, just those run that are
    of the theme, which are there now and outside the article.

    policy: directives of a Content-Security-Policy, as https://www.w3.org/TR/CSP3/ has them; "" for
        none
    """
    heads = list(HEAD.finditer(html, 0, html.find("</head>")))
    if not policy or not heads:
        return html
    codes = sorted(
        {
            script["code"]
            for script in ELEMENT.finditer(ARTICLE.sub("", html))
            if script["code"] and not OTHER.search(script["attributes"])
        }
    )
    digests = (base64.b64encode(hashlib.sha256(code.encode()).digest()) for code in codes)
    allowed = " ".join([SCRIPTS, *(f"'sha256-{digest.decode()}'" for digest in digests)])
    content = policy.replace(SCRIPTS, allowed, 1)
    end = heads[-1].end()  # Browsers look for the character set in the first 1,024 bytes.
    return (
        f'{html[:end]}<meta http-equiv="Content-Security-Policy" content="{content}">{html[end:]}'
    )


def with_relations(html: str) -> str:
    """``html``, in which links to other hosts say so and give those no hold on the page."""
    return LINK_OUT.sub('<a rel="external noopener" ', html)
