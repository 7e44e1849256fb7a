"""The pages of the service as a reader uses them, in a real browser against the real service."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from postmortem.report.page.service_page import SERVICE
from tests.interfaces.http.conftest import LOG, TOKEN, Serve, Served, serve

__all__ = ["serve"]  # the fixture of the tests over HTTP

pytestmark = pytest.mark.browser
PATIENCE = 60_000
TEXT = LOG.read_text(encoding="utf-8")
HOSTILE = (
    "Traceback (most recent call last):\n"
    "RuntimeError: </pre><script>document.title='taken'</script><img src=x onerror=alert(1)>\n"
)
LANGUAGES = ("en", "zh")
Go = Callable[..., Page]


@pytest.fixture(scope="module")
def opened(serve: Serve) -> Served:
    """One without tokens, which takes little."""
    return serve(limits={"workers": 1, "body_mib": 1}, rate={"per_minute": 6000, "burst": 100})


@pytest.fixture(scope="module")
def guarded(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Served:
    """One that needs a token, and shows a store."""
    path = tmp_path_factory.mktemp("tokens") / "tokens"
    path.write_text(TOKEN)
    path.chmod(0o600)
    store = str(path.with_name("store.sqlite"))
    return serve(token_file=str(path), store=store, limits={"workers": 1})


@pytest.fixture
def go(browser: Browser) -> Iterator[Go]:
    """Open an address; whatever the page complains of, or asks elsewhere, is a failure."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def at(service: Served, path: str = "/", **options: Any) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()

        def asks(address: str) -> None:
            if not address.startswith((service.url, "about:", "data:", "blob:")):
                complaints.append(f"asks {address}")

        page.on("console", lambda message: complaints.append(f"{message.text} {message.location}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: asks(request.url))
        page.goto(service.url + path)
        return page

    yield at
    for context in contexts:
        context.close()
    refused = re.compile(r"the server responded with a status of [45]")  # told on the page too
    assert [one for one in complaints if not refused.search(one)] == []


def say(language: str, key: str) -> str:
    """A phrase of the page."""
    return SERVICE[language][key]


def told(page: Page, where: str, language: str) -> Locator:
    """What a reader sees there, which is in one language."""
    other = next(one for one in LANGUAGES if one != language)
    expect(page.locator(f"{where} span[lang|={other}]").first).to_be_hidden()
    seen = page.locator(f"{where} span[lang|={language}]").first
    expect(seen).to_be_visible()
    return seen


def report(page: Page) -> Any:
    """What stands in the frame of the report."""
    return page.frame_locator("#page")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_pasted_log_gets_its_report(go: Go, opened: Served, language: str) -> None:
    """In the language that is chosen; what was pasted stays."""
    page = go(opened)
    page.locator(f"label[for=language-{language}]").click()
    page.get_by_label(say(language, "text")).fill(TEXT)
    page.get_by_role("button", name=say(language, "send")).click()
    expect(told(page, "#status", language)).to_have_text(say(language, "done"), timeout=PATIENCE)
    article = report(page).locator(f"article[data-language={language}]")
    expect(article.locator("h1")).to_be_visible()
    expect(told(page, "h1", language)).to_have_text(say(language, "head"))
    assert page.locator("#text").input_value() == TEXT
    assert page.title().startswith(say(language, "head"))


def test_files_are_chosen_dropped_and_left_out(go: Go, opened: Served, tmp_path: Path) -> None:
    """Several at once; those that were chosen before stay."""
    page = go(opened, "/?lang=en")
    page.locator("#files").set_input_files(str(LOG))
    page.evaluate(
        """() => {
          const given = new DataTransfer();
          given.items.add(new File(["waiting"], "rank1.log"));
          given.items.add(new File(["waiting"], "rank2.log"));
          const event = { bubbles: true, cancelable: true, dataTransfer: given };
          document.body.dispatchEvent(new DragEvent("drop", event));
        }"""
    )
    listed = page.locator("#chosen li")
    expect(listed).to_have_count(3)
    page.get_by_role("button", name="Leave out rank1.log").click()
    expect(listed).to_have_count(2)
    page.locator("#send").click()
    expect(told(page, "#status", "en")).to_have_text(say("en", "done"), timeout=PATIENCE)
    expect(report(page).locator("article:visible")).to_contain_text("rank2.log")


def test_a_log_cannot_act_within_the_page(go: Go, opened: Served) -> None:
    """Its script is text; the frame is a world of its own."""
    page = go(opened, "/?lang=en")
    page.locator("#text").fill(HOSTILE)
    page.locator("#send").click()
    expect(told(page, "#status", "en")).to_have_text(say("en", "done"), timeout=PATIENCE)
    expect(report(page).locator("article:visible")).to_contain_text("onerror=alert(1)")
    assert page.title() != "taken"
    frame = page.frames[1]
    assert frame.evaluate("document.title") != "taken"
    assert frame.evaluate("window.origin") == "null"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("text", "key"),
    [
        pytest.param("", "error.empty", id="nothing"),
        pytest.param("x" * (1 << 20) + "y", "error.large", id="too much"),
    ],
)
def test_what_the_page_itself_refuses_is_told(
    go: Go, opened: Served, language: str, text: str, key: str
) -> None:
    """Before anything is sent."""
    page = go(opened, f"/?lang={language}")
    page.locator("#text").fill(text)
    page.locator("#send").click()
    expect(told(page, "#error strong", language)).to_have_text(
        say(language, key).replace("{most}", "1")
    )
    assert page.locator("#text").input_value() == text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("status", [408, 413, 422, 429, 500, 503, 504, 418])
def test_each_refusal_is_told_and_nothing_is_lost(
    go: Go, opened: Served, language: str, status: int
) -> None:
    """In words, and what the service says beside."""
    page = go(opened, f"/?lang={language}")
    page.route(
        "**/api/analyze",
        lambda route: route.fulfill(
            status=status,
            headers={"Retry-After": "7"},
            json={"error": {"what": "<b>what it says</b>", "where": "", "mend": ""}},
        ),
    )
    page.locator("#text").fill(TEXT)
    page.locator("#send").click()
    key = f"error.{status}" if f"error.{status}" in SERVICE["en"] else "error.other"
    words = say(language, key).replace("{seconds}", "7").replace("{status}", str(status))
    expect(told(page, "#error strong", language)).to_have_text(words)
    expect(page.locator("#error")).to_contain_text("<b>what it says</b>")
    assert page.locator("#text").input_value() == TEXT
    expect(page.locator("#send")).to_be_enabled()


def test_a_token_is_asked_for_and_kept_in_the_tab(go: Go, guarded: Served) -> None:
    """A wrong one is told; the right one is there when the page is loaded again."""
    page = go(guarded, "/?lang=en")
    page.locator("#text").fill(TEXT)
    page.locator("#token").fill("this-is-no-token-of-theirs")
    page.locator("#send").click()
    expect(told(page, "#error strong", "en")).to_have_text(say("en", "error.401"))
    assert page.locator("#text").input_value() == TEXT
    page.locator("#token").fill(TOKEN)
    page.locator("#send").click()
    expect(told(page, "#status", "en")).to_have_text(say("en", "done"), timeout=PATIENCE)
    page.reload()
    assert page.locator("#token").input_value() == TOKEN
    assert TOKEN not in guarded.told()


def test_a_reader_signs_in_and_out(go: Go, guarded: Served) -> None:
    """With the same token, by a form that needs no script."""
    page = go(guarded, "/triages?lang=en", java_script_enabled=False)
    page.locator("#token").fill("this-is-no-token-of-theirs")
    page.locator("form button").click()
    expect(page.locator(".wrong")).to_be_visible()
    page.locator("#token").fill(TOKEN)
    page.locator("form button").click()
    expect(page).to_have_url(guarded.url + "/triages")
    expect(page.locator("section span[lang=en]").first).to_have_text(say("en", "none"))
    page.locator("form button").click()
    expect(page).to_have_url(guarded.url + "/")


def test_without_a_script_the_form_works(go: Go, opened: Served) -> None:
    """The report is a page of its own."""
    page = go(opened, "/", java_script_enabled=False)
    page.locator("#text").fill(TEXT)
    page.locator("#send").click()
    expect(page.locator("article:visible h1")).to_be_visible(timeout=PATIENCE)
    assert page.url.startswith(opened.url + "/api/analyze")


def test_an_analysis_can_be_cancelled(go: Go, opened: Served) -> None:
    """The service hears of it, and the text stays."""
    page = go(opened, "/?lang=en")
    page.route("**/api/analyze", lambda _route: None)  # never answered
    page.locator("#text").fill(TEXT)
    page.locator("#send").click()
    page.locator("#cancel").click()
    expect(told(page, "#status", "en")).to_have_text(say("en", "cancelled"))
    assert page.locator("#text").input_value() == TEXT


SHAPES = [
    pytest.param({"viewport": {"width": 1280, "height": 900}}, id="wide"),
    pytest.param({"viewport": {"width": 360, "height": 740}, "has_touch": True}, id="phone"),
    pytest.param({"color_scheme": "dark"}, id="dark"),
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("options", SHAPES)
def test_the_page_is_for_everybody(
    go: Go, opened: Served, language: str, options: dict[str, Any]
) -> None:
    """No rule of accessibility is broken, and nothing is wider than the window."""
    page = go(opened, f"/?lang={language}", **options)
    for step in ("form", "error"):
        if step == "error":
            page.locator("#send").click()
            page.locator("#files").set_input_files(str(LOG))
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert width <= 0, step


@pytest.mark.parametrize("path", ["/triages", "/nix"])
def test_the_other_pages_are_for_everybody(go: Go, guarded: Served, path: str) -> None:
    """Signing in, and what went wrong."""
    page = go(guarded, path)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
