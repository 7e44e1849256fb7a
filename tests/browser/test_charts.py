"""The curves in a browser.

They draw, can be zoomed, read by pointer, keyboard and touch, and step back for paper and where no
script runs.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page

import postmortem
from tests.browser.conftest import Opened

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
SCALE = ROOT / "sample_logs" / "deepspeed" / "diverged-then-exhausted-0.log"
XTUNER = ROOT / "sample_logs" / "xtuner" / "nan-internlm2.log"
JOB = ROOT / "sample_logs" / "pytorch" / "job-ranks-nan-shard-0"
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Path]:
    """The pages of the logs, written once."""
    folder = tmp_path_factory.mktemp("pages")
    found = {log: folder / f"{log.stem}.html" for log in (SCALE, XTUNER, JOB)}
    for log, page in found.items():
        page.write_text(postmortem.analyze(log).render("html"), encoding="utf-8")
    return found


@pytest.fixture
def opened(visit: Callable[..., Opened], pages: dict[Path, Path]) -> Iterator[Open]:
    """Open pages, their charts built, whose console stays silent."""
    seen: list[Opened] = []

    def open_page(log: Path, *, built: bool = True, **options: Any) -> Page:
        seen.append(visit(pages[log], **{"viewport": {"width": 1100, "height": 900}, **options}))
        page = seen[-1].page
        for one in panels(page).all() if built else ():
            one.scroll_into_view_if_needed()
            one.locator("canvas").wait_for()
        panels(page).first.scroll_into_view_if_needed()
        return page

    yield open_page
    assert [one.complaints for one in seen] == [[]] * len(seen)


def panels(page: Page, language: str = "en") -> Locator:
    """Give the charts of one language."""
    return page.locator(f"article[data-language={language}] .panel")


def read_out(page: Page, panel: int = 0) -> str:
    """Give what stands under a chart."""
    return " | ".join(panels(page).nth(panel).locator(".panel-read > *").all_inner_texts())


def drag(page: Page, start: float, end: float, panel: int = 0) -> None:
    """Drag over a share of a drawing."""
    box = panels(page).nth(panel).locator(".u-over").bounding_box()
    page.mouse.move(box["x"] + box["width"] * start, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * (start + end) / 2, box["y"] + 70)
    page.mouse.move(box["x"] + box["width"] * end, box["y"] + 80)
    page.mouse.up()


def drawing(page: Page, panel: int = 0) -> str:
    """Give the pixels of a chart."""
    return str(panels(page).nth(panel).locator("canvas").evaluate("canvas => canvas.toDataURL()"))


def button(page: Page, name: str, panel: int = 0) -> Locator:
    """Give a button of a chart."""
    return panels(page).nth(panel).get_by_role("button", name=name, exact=True)


def test_all_panels_are_drawn_in_place_of_the_svg(opened: Open) -> None:
    """Each panel has a canvas, and its drawing is gone from the screen.

    The failure is read out at once.
    """
    page = opened(XTUNER)
    assert panels(page).count() == page.locator(".panel canvas").count() == 6
    assert page.locator(".panel-static:visible").count() == 0
    assert (
        read_out(page) == "step 130 | loss NaN | line 79 | first failure | first non-finite value"
    )


def test_a_link_past_the_curves_lands(opened: Open) -> None:
    """Curves that are drawn later than the page do not move what a link aims at."""
    page = opened(XTUNER, built=False)
    panels(page).last.locator("canvas").wait_for()
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    page.locator("nav a[href='#en-environment']:visible").first.click()
    page.wait_for_timeout(1500)
    assert 0 < page.locator("#en-environment").bounding_box()["y"] < 104


def test_dragging_zooms_all_panels_of_the_run_and_a_double_click_goes_back(opened: Open) -> None:
    """The drawing changes, also that of the next panel.

    The button says whether there is a way back.
    """
    page = opened(XTUNER)
    before, beside = drawing(page), drawing(page, 1)
    assert button(page, "Whole run").is_disabled()
    drag(page, 0.1, 0.5)
    assert drawing(page) != before
    assert drawing(page, 1) != beside
    assert button(page, "Whole run", 1).is_enabled()
    panels(page).locator(".u-over").first.dblclick()
    page.mouse.move(0, 0)
    assert button(page, "Whole run").is_disabled()
    assert button(page, "Whole run", 1).is_disabled()


def test_pointing_reads_step_value_and_line_of_all_curves(opened: Open) -> None:
    """The line is a link to the quoted log where the page quotes it; the other panels follow."""
    page = opened(SCALE)
    box = panels(page).locator(".u-over").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 50)
    assert read_out(page).startswith("step 13 | loss NaN | loss_scale 1 | line 186")
    assert read_out(page, 1).startswith("step 13 | ")
    assert panels(page).locator(".panel-read a").first.get_attribute("href") == "#en-0-L186"
    panels(page).locator(".panel-read a").first.click()
    assert page.url.endswith("#en-0-L186")


def test_the_logarithmic_axis_can_be_switched(opened: Open) -> None:
    """A pressed button says so, and the drawing changes.

    A loss scale is always in powers of two.
    """
    page = opened(SCALE)
    toggle, before = button(page, "Log axis"), drawing(page)
    assert toggle.get_attribute("aria-pressed") == "true"
    toggle.click()
    assert toggle.get_attribute("aria-pressed") == "false"
    assert drawing(page) != before
    toggle.click()
    assert toggle.get_attribute("aria-pressed") == "true"


def test_a_logarithmic_axis_has_labels_within_a_decade(opened: Open) -> None:
    """A loss from 1.3 to 2.2 has no power of ten to show: round values stand in their place.

    And a zoom finds others.
    """
    page = opened(XTUNER)
    page.evaluate("""() => {
        window.written = [];
        const write = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, x, y) { window.written.push([text, x, y]); write.call(this, text, x, y); };
    }""")
    button(page, "Log axis").click()
    page.wait_for_timeout(100)
    found = [
        float(text)
        for text in page.evaluate(
            "written.map(([text]) => text).filter((text) => /^\\d\\.\\d+$/.test(text))"
        )
    ]
    assert len(set(found)) >= 3
    assert all(1.3 < value < 2.3 for value in found)
    assert all(float(f"{value:.2f}") == value for value in found)


def test_the_read_out_says_whose_value_is_not_finite(opened: Open) -> None:
    """The panel of a finite series names the one that is not."""
    assert read_out(opened(XTUNER), 2).endswith("first non-finite value: loss NaN")


def test_the_processes_of_a_job_are_compared_in_one_chart(opened: Open) -> None:
    """The first chart names each rank at one step, and shows which went first.

    It does so in both languages.
    """
    page = opened(JOB)
    assert (
        read_out(page)
        == "step 20 | rank 2 NaN | rank 0 0.27682 | rank 1 0.45146 | rank 3 0.47485 | line 21 | first failure | first non-finite value"
    )
    assert panels(page).first.locator(".legend li").all_inner_texts()[:4] == [
        "rank 2",
        "rank 0",
        "rank 1",
        "rank 3",
    ]
    panels(page).first.locator(".panel-plot").focus()
    page.keyboard.press("ArrowRight")
    assert read_out(page).startswith(
        "step 21 | rank 2 NaN | rank 0 NaN | rank 1 NaN | rank 3 NaN | line 22"
    )


def test_the_focus_ring_stays_within_the_drawing(opened: Open) -> None:
    """It cuts no text beside it."""
    page = opened(XTUNER)
    panels(page).first.locator("button:enabled").last.focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "panel-plot"
    assert page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineOffset)") < 0


def test_the_keyboard_does_all_that_the_pointer_does(opened: Open) -> None:
    """Arrow keys go from sample to sample and say it.

    + - 0 zoom, Escape goes back, L switches the axis.
    """
    page = opened(XTUNER)
    plot = panels(page).locator(".panel-plot").first
    plot.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    said = panels(page).locator("[aria-live]").first
    assert said.inner_text() == "step 20, loss 2.0753, line 68"
    page.keyboard.press("ArrowLeft")
    assert said.inner_text().startswith("step 10, loss 2.1829, line 67")
    page.keyboard.press("+")
    assert button(page, "Whole run").is_enabled()
    page.keyboard.press("End")
    assert said.inner_text().startswith("step 500, loss NaN")
    page.keyboard.press("Escape")
    assert button(page, "Whole run").is_disabled()
    page.keyboard.press("l")
    assert button(page, "Log axis").get_attribute("aria-pressed") == "true"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.panel-plot')") is None


def test_a_tap_reads_and_the_page_still_scrolls(opened: Open) -> None:
    """On a phone nothing is wider than the screen, and a tap shows a value.

    Targets are large enough, no gesture is taken from the page.
    """
    page = opened(SCALE, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = panels(page).locator(".u-over").first.bounding_box()
    page.touchscreen.tap(box["x"] + 3, box["y"] + 60)
    assert read_out(page).startswith("step 0 | loss 82.5788")
    assert (
        panels(page).locator(".u-over").first.evaluate("over => getComputedStyle(over).touchAction")
        == "auto"
    )
    sizes = (
        panels(page)
        .locator("button")
        .evaluate_all(
            "all => all.map(one => one.getBoundingClientRect()).map(({ width, height }) => [width, height])"
        )
    )
    assert min(min(size) for size in sizes) >= 24


def test_paper_shows_the_svg(opened: Open) -> None:
    """In print the canvas is gone and the drawing is back."""
    page = opened(XTUNER)
    page.emulate_media(media="print")
    assert page.locator(".panel-static svg.chart:visible").count() == 6
    assert page.locator(".panel canvas:visible").count() == 0


@pytest.mark.parametrize("theme", ["auto", "dark"])
def test_paper_is_white_whatever_the_theme(opened: Open, theme: str) -> None:
    """Neither a dark system nor a dark page chosen by hand prints light curves on a dark ground."""
    page = opened(XTUNER, built=False, color_scheme="dark")
    page.locator(f"label[for=theme-{theme}]").click()
    page.emulate_media(media="print", color_scheme="dark")
    colour = "(one, name) => getComputedStyle(one).getPropertyValue(name).trim()"
    root = page.locator("html")
    assert [root.evaluate(colour, name) for name in ("--card", "--ink", "--series-0")] == [
        "#fff",
        "#000",
        "#1d4ed8",
    ]


def test_without_a_script_the_svg_is_there(opened: Open) -> None:
    """Drawing, legend and table need no script."""
    page = opened(XTUNER, built=False, java_script_enabled=False)
    assert page.locator(".panel-static svg.chart:visible").count() == 6
    assert page.locator(".panel canvas").count() == 0
    panels(page).locator(".values summary").first.click()
    assert panels(page).locator(".values table").first.locator("tbody tr").count() == 50


def test_the_drawing_follows_the_theme(opened: Open) -> None:
    """Colours are read again when the theme changes, by the system or by the page."""
    page = opened(XTUNER)
    light = drawing(page)
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(200)
    dark = drawing(page)
    assert dark != light
    page.locator("label[for=theme-light]").click()
    page.wait_for_timeout(200)
    assert drawing(page) != dark


def test_the_other_language_is_built_when_it_is_shown(opened: Open) -> None:
    """What is not displayed costs nothing until it is; the zoom goes along."""
    page = opened(XTUNER)
    drag(page, 0.1, 0.5)
    assert panels(page, "zh").locator("canvas").count() == 0
    page.locator("label[for=language-zh]").click()
    panels(page, "zh").last.locator("canvas").wait_for()  # nobody has scrolled there
    assert panels(page, "zh").first.locator(".panel-read").inner_text().startswith("第 130 步")
    assert panels(page, "zh").first.get_by_role("button", name="全程", exact=True).is_enabled()
