"""A real browser to drive.

Debian's Chromium through Playwright, with every message, error and request of the page kept.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass
class Opened:
    """A page and what it did."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    """Console messages and uncaught errors."""
    requests: list[str] = field(default_factory=list)
    """Addresses that were asked for, the page's own apart."""


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    """The browser, started once."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield started
        started.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Opened]]:
    """Open a page in a fresh context; the options are those of Playwright's `new_context`."""
    contexts = []

    def opened(path: Path, anchor: str = "", **options: Any) -> Opened:
        context = browser.new_context(**options)
        contexts.append(context)
        context.set_default_timeout(60_000)
        found = Opened(context.new_page())
        found.page.on("console", lambda message: found.complaints.append(message.text))
        found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
        found.page.on("request", lambda request: found.requests.append(request.url))
        found.page.goto(path.as_uri() + anchor)
        found.requests = [
            address for address in found.requests if address.partition("#")[0] != path.as_uri()
        ]
        return found

    yield opened
    for context in contexts:
        context.close()
