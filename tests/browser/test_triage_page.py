"""The page of a triage as a reader uses it: thousands of jobs, filtered, sorted, reached by keys."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from postmortem.report.page.triage_page import render_triage
from tests.browser.conftest import Opened
from tests.report.triage_samples import HOSTILE, a_hostile_triage, a_triage

JOBS = 10_000
LANGUAGES = ("en", "zh")
Visit = Callable[..., Opened]
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def value() -> dict[str, Any]:
    """The triage that is shown."""
    return a_triage(JOBS)


@pytest.fixture(scope="module")
def written(value: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its page."""
    path = tmp_path_factory.mktemp("triage") / "index.html"
    path.write_text(render_triage(value), encoding="utf-8")
    return path


def grid(page: Page) -> Locator:
    """The table of all jobs."""
    return page.locator("article:visible .joblist")


def show_all(page: Page) -> None:
    """Take all filters back."""
    page.locator("article:visible .above button").click()


def count(page: Page) -> int:
    """How many jobs the filters leave, as a reader is told."""
    said = page.locator("article:visible .shown").inner_text()
    return int(said.split()[0].replace(",", ""))


def field(page: Page, name: str) -> Locator:
    """A field of the form."""
    return page.locator(f"article:visible .filters [name={name}]")


def cell(page: Page, row: int, column: int) -> Locator:
    """A cell by the place of its row among those that are left."""
    return page.locator(f"[role=row][aria-rowindex='{row + 2}'] [aria-colindex='{column + 1}']")


def test_it_opens_without_complaint_and_holds_few_rows(visit: Visit, written: Path) -> None:
    """Every job can be reached, yet only those in view are elements; nothing is fetched."""
    opened = visit(written)
    page = opened.page
    assert count(page) == JOBS
    assert grid(page).get_attribute("aria-rowcount") == str(JOBS + 1)
    assert 5 < grid(page).locator("[role=row]").count() < 40
    assert page.locator("article:visible .still").is_hidden()
    assert (opened.complaints, opened.requests) == ([], [])


def test_each_filter_leaves_the_jobs_that_fit(
    visit: Visit, written: Path, value: dict[str, Any]
) -> None:
    """As a count over the values themselves tells; filters add up, and can be taken back."""
    page = visit(written).page
    rows = value["jobs"]["rows"]
    causes = [one["cause"] for one in value["causes"]]
    oom = causes.index("memory.cuda-oom")
    field(page, "cause").select_option("memory.cuda-oom")
    assert count(page) == sum(row[3] == oom for row in rows)
    field(page, "node").fill("gpu-017")
    assert count(page) == sum(row[3] == oom and "gpu-017" in row[7] for row in rows)
    field(page, "user").fill("user03")
    assert count(page) == sum(
        row[3] == oom and "gpu-017" in row[7] and row[6] == "user03" for row in rows
    )
    show_all(page)
    assert count(page) == JOBS
    field(page, "cause").select_option("none")
    assert count(page) == sum(row[3] == causes.index(None) for row in rows)
    show_all(page)
    field(page, "state").select_option("crashed")
    assert count(page) == sum(row[2] == "crashed" for row in rows)
    show_all(page)
    group = value["groups"][3]
    field(page, "group").select_option(group["id"])
    assert count(page) == group["jobs"]
    show_all(page)
    field(page, "text").fill("SFT-RUN-100 ")
    assert count(page) == sum("sft-run-100" in row[1] for row in rows)
    field(page, "text").fill("no such thing anywhere")
    expect(page.locator("article:visible .nothing")).to_be_visible()
    assert count(page) == 0


def test_sorting_puts_what_is_not_known_last(
    visit: Visit, written: Path, value: dict[str, Any]
) -> None:
    """In both directions; numbers in names count as numbers; the direction is told."""
    page = visit(written).page
    known = sorted(row[8] for row in value["jobs"]["rows"] if row[8] is not None)
    head = grid(page).locator("[role=columnheader]", has_text="GPU-h")
    head.locator("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert cell(page, 0, 5).inner_text() in {f"{known[0]:.2f}", "<0.01", "0"}
    head.locator("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    assert cell(page, 0, 5).inner_text() == f"{known[-1]:,.{0 if known[-1] >= 100 else 1}f}"
    grid(page).focus()
    page.keyboard.press("Control+End")
    assert cell(page, JOBS - 1, 5).inner_text() == "–"
    head.locator("button").click()
    expect(head).to_have_attribute("aria-sort", "none")
    field(page, "sort").select_option("job")
    page.locator("article:visible .joblist").evaluate("one => { one.scrollTop = 0; }")
    names = [cell(page, at, 0).locator("bdi").inner_text() for at in range(3)]
    assert names == ["4200001", "4200002", "4200003"]


def test_the_table_is_worked_by_keys(visit: Visit, written: Path) -> None:
    """Arrows, pages and ends move the cell that is read; Enter does what a click does."""
    page = visit(written).page
    grid(page).focus()
    page.keyboard.press("ArrowDown")
    active = grid(page).get_attribute("aria-activedescendant")
    assert active == "en-cell-0-0"
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    page.keyboard.press("ArrowRight")
    active = grid(page).get_attribute("aria-activedescendant")
    found = re.fullmatch(r"en-cell-(\d+)-1", active or "")
    assert found is not None
    assert int(found[1]) > 10
    expect(page.locator(f"#{active}")).to_be_in_viewport()
    page.keyboard.press("Control+End")
    expect(page.locator(f"#en-cell-{JOBS - 1}-7")).to_be_in_viewport()
    page.keyboard.press("Control+Home")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    user = cell(page, 0, 4).inner_text()
    page.keyboard.press("Enter")
    assert field(page, "user").input_value() == user
    assert grid(page).evaluate("one => one === document.activeElement")


def test_a_click_anywhere_filters_and_back_takes_it_back(
    visit: Visit, written: Path, value: dict[str, Any]
) -> None:
    """On a cause, a group, a node and a user above the table; the address tells it."""
    page = visit(written).page
    for section, name in (
        ("causes", "cause"),
        ("groups", "group"),
        ("nodes", "node"),
        ("users", "user"),
    ):
        link = page.locator(f"#en-{section} a.pick[data-field={name}]").first
        wanted = link.get_attribute("data-value")
        link.click()
        assert field(page, name).input_value() == wanted
        assert 0 < count(page) < JOBS
        assert page.evaluate("location.hash").startswith(f"#jobs?{name}=")
        expect(page.locator("#en-all")).to_be_in_viewport()
    page.go_back()
    expect(field(page, "user")).to_have_value("")
    assert field(page, "node").input_value() != ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_address_brings_its_filter(visit: Visit, written: Path, language: str) -> None:
    """What was filtered and sorted can be sent on; it holds in the other language too."""
    page = visit(written, anchor="#jobs?cause=io.storage&node=gpu-1&sort=-hours").page
    first = count(page)
    assert 0 < first < JOBS
    expect(page.locator("#en-all")).to_be_in_viewport()
    page.locator(f"label[for=language-{language}]").click()
    assert field(page, "cause").input_value() == "io.storage"
    assert field(page, "sort").input_value() == "-hours"
    said = page.locator("article:visible .shown").inner_text()
    assert f"{first:,}" in said
    field(page, "text").fill("user0")
    expect(page).to_have_url(re.compile("text=user0"))
    page.reload()
    assert field(page, "text").input_value() == "user0"


def test_an_address_that_nobody_wrote_does_no_harm(visit: Visit, written: Path) -> None:
    """A fragment that is no filter, or asks for what is not there."""
    opened = visit(written, anchor="#jobs?cause=%E0%A4%A&sort=__proto__&group=nobody")
    assert count(opened.page) == 0
    show_all(opened.page)
    assert count(opened.page) == JOBS
    assert opened.complaints == []


def test_a_job_leads_to_its_report(visit: Visit, written: Path, value: dict[str, Any]) -> None:
    """To its own where it has one, else to that of its group, and the link says which."""
    group = value["groups"][0]
    page = visit(written, anchor=f"#jobs?group={group['id']}").page
    rows = [row for row in value["jobs"]["rows"] if row[5] == 0]
    for at in range(2):
        link = cell(page, at, 7).locator("a")
        is_own = rows[at][0] == group["example"]
        assert link.inner_text() == ("job" if is_own else "group")
        assert link.get_attribute("href") == group["report"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_a_script_all_but_the_filter_is_there(
    visit: Visit, written: Path, language: str
) -> None:
    """Sections, the measure of the bars, drafts, the first jobs and a sentence on the rest."""
    page = visit(written, java_script_enabled=False).page
    page.locator(f"label[for=language-{language}]").click()
    still = page.locator(f"#{language}-all .still")
    assert still.locator("tbody tr").count() == 200
    assert "10,000" in still.locator("p").inner_text()
    by_jobs = page.locator(f"#{language}-causes .of-jobs")
    by_hours = page.locator(f"#{language}-causes .of-hours")
    assert by_jobs.is_visible()
    page.locator(f"label[for={language}-by-hours]").click()
    assert (by_jobs.is_visible(), by_hours.is_visible()) == (False, True)
    draft = page.locator(f"#{language}-groups .draft").first
    draft.locator("summary").click()
    assert "anchors:" in draft.locator("pre").inner_text()
    assert page.locator(f"#{language}-all .live").is_hidden()


def test_no_name_runs_or_leads_astray(visit: Visit, tmp_path: Path) -> None:
    """Markup in names stays text, in the tables and in what the script draws."""
    path = tmp_path / "index.html"
    path.write_text(render_triage(a_hostile_triage()), encoding="utf-8")
    opened = visit(path)
    page = opened.page
    assert HOSTILE in cell(page, 0, 4).inner_text()
    cell(page, 0, 4).locator("button").click()
    assert count(page) == 40
    field(page, "text").fill("onerror")
    assert "owned" not in page.title()
    assert page.locator("main img, main script").count() == 0
    assert not re.search("[\x00\x1b\u200f\u202e]", page.locator("body").inner_text())
    addresses = page.evaluate("[...document.links].map((one) => one.href)")
    assert {address.partition(":")[0] for address in addresses} == {"file"}
    assert (opened.complaints, opened.requests) == ([], [])


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_wider_than_the_screen(visit: Visit, written: Path, width: int) -> None:
    """Whatever is unfolded, in both languages."""
    page = visit(written, viewport={"width": width, "height": 780}).page
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    for language in LANGUAGES:
        page.locator(f"label[for=language-{language}]").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert cell(page, 0, 1).is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_barrier(visit: Visit, tmp_path: Path, scheme: str) -> None:
    """What axe-core can tell, in both languages, on a phone and wide, all unfolded."""
    path = tmp_path / "index.html"
    path.write_text(render_triage(a_triage(40, groups=12)), encoding="utf-8")
    page = visit(path, color_scheme=scheme).page
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = []
    for language in LANGUAGES:
        page.locator(f"label[for=language-{language}]").click()
        width = 360 if (language == "en") == (scheme == "light") else 1280
        page.set_viewport_size({"width": width, "height": 900})
        field(page, "text").fill("gpu")
        result = Axe().run(page)
        found += [
            (language, width, one["id"], [node["target"] for node in one["nodes"][:3]])
            for one in result.response["violations"]
        ]
    assert found == []


def test_the_page_fits_on_paper(visit: Visit, written: Path) -> None:
    """The first of the jobs that are left are printed, and how many these are."""
    page = visit(written, anchor="#jobs?cause=memory.cuda-oom").page
    page.emulate_media(media="print")
    expect(grid(page).locator(".body [role=row]")).to_have_count(200)
    assert "The first 200" in page.locator("article:visible .shown").inner_text()
    assert not page.locator("article:visible .filters").is_visible()
    assert page.pdf().startswith(b"%PDF")
    page.emulate_media(media="screen")
    expect(grid(page).locator("[role=row]").nth(60)).to_have_count(0)
