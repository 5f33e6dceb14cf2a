"""Tabs of the browser. The tests of a file share one: a new one costs a process of the browser, and
as much time as the page in it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

DESKTOP = ViewportSize(width=1280, height=900)
FORGET = (
    "() => { try { localStorage.clear(); sessionStorage.clear() } catch { /* No page is open, or"
    " one that may not store. */ } }"
)


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    with browser.new_context(color_scheme="light", viewport=DESKTOP) as context:
        yield context.new_page()


@pytest.fixture
def page(tab: Page) -> Iterator[Page]:
    """The tab that all tests of a file share, empty and set as a new one; what a test adds for all
    pages to come, it adds to ``own_page``.
    """
    tab.set_viewport_size(DESKTOP)
    tab.emulate_media(media="null", color_scheme="light")
    yield tab
    tab.unroute_all()
    tab.mouse.move(0, 0)
    tab.evaluate(FORGET)
    tab.goto("about:blank")


@contextmanager
def problems_of(page: Page, *own: str) -> Iterator[list[str]]:
    """Errors in the console, and requests for addresses that begin otherwise than those of our
    own.
    """
    found: list[str] = []
    handlers: dict[Any, Any] = {
        "console": lambda message: found.append(message.text) if message.type == "error" else None,
        "pageerror": lambda error: found.append(str(error)),
        "request": lambda sent: None if sent.url.startswith(own) else found.append(sent.url),
    }
    for event, handler in handlers.items():
        page.on(event, handler)
    yield found
    for event, handler in handlers.items():
        page.remove_listener(event, handler)


@pytest.fixture(scope="module")
def without_scripts(browser: Browser) -> Iterator[Page]:
    """A tab that runs no script."""
    with browser.new_context(java_script_enabled=False, viewport=DESKTOP) as context:
        yield context.new_page()


@pytest.fixture
def own_page(browser: Browser) -> Iterator[Page]:
    """A tab for one test."""
    with browser.new_context(color_scheme="light", viewport=DESKTOP) as context:
        yield context.new_page()
