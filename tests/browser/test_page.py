"""The page as a reader uses it: in Chromium, driven.

It fetches nothing, complains of nothing, and every link lands.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

import postmortem
from postmortem.core.resources import find_shipped_model
from postmortem.learn.metrics import build_evaluation
from postmortem.report.page.metrics_page import render_evaluation
from tests.browser.conftest import Opened
from tests.report.page.test_metrics_page import TOOL, rows

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = {
    "curve": ("xtuner/nan-internlm2.log", "numerics.fp16-overflow"),
    "job": ("pytorch/job-ranks-nan-shard-0", "rank_2.log"),
    "abstaining": ("", "What would decide"),
    "classifier": ("deepspeed/resume-nothing-there-0.log", "words that carry it"),
    "evaluation": ("", "How good the diagnosis is"),
}
LANGUAGES = {"en": "en", "zh": "zh-CN"}
Visit = Callable[..., Opened]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages of the samples, written once."""
    folder = tmp_path_factory.mktemp("pages")
    unclear = folder / "unclear.log"
    unclear.write_text(
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\ntrain.py FAILED\n",
        encoding="utf-8",
    )
    found = {}
    for name, (path, _) in SAMPLES.items():
        log, model = ROOT / "sample_logs" / path if path else unclear, None
        if name == "classifier":
            model = find_shipped_model()
        written = (
            render_evaluation(build_evaluation(rows(), TOOL))
            if name == "evaluation"
            else postmortem.analyze(log, model=model).render("html")
        )
        found[name] = folder / f"{name}.html"
        found[name].write_text(written, encoding="utf-8")
    return found


def text(page: Page) -> str:
    """What a reader can see."""
    return page.locator("body").inner_text()


@pytest.mark.browser
@pytest.mark.parametrize("name", SAMPLES)
def test_a_page_opens_without_complaint_and_fetches_nothing(
    visit: Visit, pages: dict[str, Path], name: str
) -> None:
    """No console message, no error, no request; the verdict is there."""
    opened = visit(pages[name])
    opened.page.wait_for_load_state("networkidle")
    assert SAMPLES[name][1] in text(opened.page)
    assert opened.complaints == []
    assert opened.requests == []


@pytest.mark.browser
@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_the_language_is_switched_in_the_page(
    visit: Visit, pages: dict[str, Path], *, script: bool
) -> None:
    """One language is shown at a time, with and without a script.

    A script also tells the document's language and title.
    """
    page = visit(pages["curve"], java_script_enabled=script).page
    assert "What to do" in text(page)
    assert "怎么办" not in text(page)
    page.locator("label[for=language-zh]").click()
    assert "怎么办" in text(page)
    assert "What to do" not in text(page)
    if script:
        assert page.evaluate("document.documentElement.lang") == "zh-CN"
        assert "训练任务故障诊断" in page.title()
        page.locator("#language-zh").press("ArrowLeft")  # the keyboard, too
        assert page.evaluate("document.documentElement.lang") == "en"
        assert "What to do" in text(page)


@pytest.mark.browser
def test_a_chosen_language_is_kept_on_reload(visit: Visit, pages: dict[str, Path]) -> None:
    """What was chosen stays; a link into an article of the other language is stronger."""
    page = visit(pages["curve"]).page
    page.locator("label[for=language-zh]").click()
    page.reload()
    assert "怎么办" in text(page)
    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    page.goto(pages["curve"].as_uri() + "#en-timeline")
    page.reload()
    assert "What to do" in text(page)


@pytest.mark.browser
@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_the_verdict_quotes_the_log_beside_a_small_curve(
    visit: Visit, pages: dict[str, Path], *, script: bool
) -> None:
    """The failing line, the run's own figures and the curve are seen at once, without a script too.

    Log-odds and ids of rules are folded; in print they are there.
    """
    page = visit(pages["curve"], java_script_enabled=script).page
    expect(page.locator("#en-verdict .fault")).to_contain_text("loss: nan")
    expect(page.locator("#en-verdict .figures")).to_contain_text("1.3223 → NaN")
    assert page.locator("#en-verdict svg.sketch").bounding_box() is not None
    assert "numerics.context" not in text(page)
    weighed = page.locator("#en-evidence details table")
    expect(weighed).to_be_hidden()
    page.emulate_media(media="print")
    expect(weighed).to_be_visible()


@pytest.mark.browser
def test_a_switch_of_language_keeps_the_place(visit: Visit, pages: dict[str, Path]) -> None:
    """The section that is being read stays where it is."""
    page = visit(pages["curve"]).page
    page.evaluate(
        "document.documentElement.style.scrollBehavior = 'auto'; document.getElementById('en-timeline').scrollIntoView()"
    )
    assert page.evaluate("scrollY") > 500
    page.wait_for_timeout(1000)  # until the curves above it are drawn
    top = "document.getElementById('{}-timeline').getBoundingClientRect().top"
    before = page.evaluate(top.format("en"))
    page.evaluate("document.getElementById('language-zh').click()")
    page.wait_for_timeout(1000)
    assert abs(page.evaluate(top.format("zh")) - before) < 60


@pytest.mark.browser
@pytest.mark.parametrize("system", ["light", "dark"])
def test_the_theme_follows_the_system_and_the_switch(
    visit: Visit, pages: dict[str, Path], system: str
) -> None:
    """Automatic is the system's; either can be chosen against it."""
    page = visit(pages["curve"], color_scheme=system).page

    def lightness() -> int:
        found = re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))
        return sum(map(int, found[:3])) // 3

    assert (lightness() > 128) == (system == "light")
    page.locator("label[for=theme-dark]").click()
    assert lightness() < 64
    page.locator("label[for=theme-light]").click()
    assert lightness() > 192
    page.locator("label[for=theme-auto]").click()
    assert (lightness() > 128) == (system == "light")


@pytest.mark.browser
@pytest.mark.parametrize("name", ["curve", "job"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_link_to_a_line_lands_on_it(
    visit: Visit, pages: dict[str, Path], name: str, language: str
) -> None:
    """What a place names, file and number, is the line that comes into view.

    It has the text that stands in the log.
    """
    page = visit(pages[name]).page
    page.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
    page.locator(f"label[for=language-{language}]").click()
    root = ROOT / "sample_logs" / SAMPLES[name][0]
    links = page.locator(
        f"article[data-language={language}] :is(.evidence, .timeline, .answers) a[href*='-L']"
    )
    seen = 0
    for link in links.all():
        if not link.is_visible():
            continue
        file, line = re.fullmatch(r"(.+):(\d+)(?:-\d+)?", link.inner_text()).groups()
        link.click()
        target = page.locator(
            page.evaluate("'#' + CSS.escape(decodeURIComponent(location.hash.slice(1)))")
        )
        assert target.locator(":scope > a").inner_text() == line
        log = root if root.is_file() else root / file
        assert (
            target.locator(":scope > span")
            .inner_text()
            .startswith(log.read_text(encoding="utf-8").split("\n")[int(line) - 1].rstrip())
        )
        box = target.bounding_box()
        assert box is not None
        assert -1 <= box["y"] < page.viewport_size["height"]
        seen += 1
    assert seen >= 5


@pytest.mark.browser
def test_a_link_into_the_other_language_brings_it(visit: Visit, pages: dict[str, Path]) -> None:
    """An address that a colleague sends arrives, whatever language the page opens in."""
    page = visit(pages["curve"], anchor="#zh-0-L131").page
    assert page.locator("#zh-0-L131").is_visible()
    assert page.locator("#language-zh").is_checked()


@pytest.mark.browser
def test_a_snippet_is_copied(visit: Visit, pages: dict[str, Path]) -> None:
    """The button puts the snippet, and nothing else, on the clipboard, and says so."""
    page = visit(pages["curve"], permissions=["clipboard-read", "clipboard-write"]).page
    block = page.locator("#en-fixes .snippet").first
    block.locator("button").click()
    expect(block.locator("button")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == block.locator(
        "pre"
    ).inner_text().rstrip("\n")


@pytest.mark.browser
@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(
    visit: Visit, pages: dict[str, Path], name: str, width: int
) -> None:
    """A page is never scrolled sideways, on a phone neither, whatever is unfolded."""
    page = visit(pages[name], viewport={"width": width, "height": 844}).page
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    for language in LANGUAGES:
        page.locator(f"label[for=language-{language}]").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", SAMPLES)
def test_no_barrier(visit: Visit, pages: dict[str, Path], name: str, scheme: str) -> None:
    """WCAG 2.2 AA and the best practices that axe-core can tell.

    In both languages, at phone width and wide, with everything unfolded.
    """
    page = visit(pages[name], color_scheme=scheme).page
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = []
    for language in LANGUAGES:
        page.locator(f"label[for=language-{language}]").click()
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            result = Axe().run(page)
            found += [
                (
                    language,
                    width,
                    one["id"],
                    one["impact"],
                    [node["target"] for node in one["nodes"][:3]],
                )
                for one in result.response["violations"]
            ]
    assert found == []


@pytest.mark.browser
def test_a_log_cannot_run_in_the_page(visit: Visit, tmp_path: Path) -> None:
    """Script and markup in the log stay text."""
    log, written = tmp_path / "evil.log", tmp_path / "report.html"
    log.write_text(
        "step 1 loss 1.0\n<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\nRuntimeError: CUDA error: device-side assert triggered </pre><script>document.title='owned'</script>\n"
    )
    written.write_text(postmortem.analyze(log).render("html"), encoding="utf-8")
    opened = visit(written)
    opened.page.wait_for_timeout(300)
    assert "owned" not in opened.page.title()
    assert "</pre><script>document.title='owned'</script>" in text(opened.page)
    assert opened.page.locator("script").count() == opened.page.evaluate("document.scripts.length")
    assert opened.page.locator("main script:not([type='application/json']), main img").count() == 0
    assert (opened.complaints, opened.requests) == ([], [])


@pytest.mark.browser
def test_the_page_fits_on_paper(visit: Visit, pages: dict[str, Path]) -> None:
    """In print there are no switches, and the whole log is there."""
    page = visit(pages["curve"]).page
    page.emulate_media(media="print")
    assert not page.locator(".switches").is_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('.log')).maxHeight") == "none"
    assert page.pdf().startswith(b"%PDF")
