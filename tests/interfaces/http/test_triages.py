"""The triages of a store, looked at through the service."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest

from postmortem.report.wire import read_schema
from tests.interfaces.http.conftest import PATIENCE, ROOT, Serve, Served

LOGS = sorted((ROOT / "sample_logs" / "pytorch").glob("style-*-0.log"))[:4]


@pytest.fixture(scope="module")
def triaged(command: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A triage as the command writes it, of two jobs each and one that is empty."""
    folder = tmp_path_factory.mktemp("triages")
    jobs = folder / "jobs"
    jobs.mkdir()
    for place, log in enumerate(LOGS):
        for copy in range(2):
            shutil.copy(log, jobs / f"slurm-{100 * copy + place + 1000}.out")
    (jobs / "slurm-9000.out").write_bytes(b"")
    scheduler = folder / "jobs.csv"
    scheduler.write_text(
        "job_id,user,nodes,gpus,start,end,state\n"
        "1000,ada,gpu-1,8,2026-05-01T00:00:00Z,2026-05-01T02:00:00Z,FAILED\n"
    )
    for _ in range(2):
        call = [*command, "triage", str(jobs), "--out", str(folder), "--no-model"]
        subprocess.run(
            [*call, "--jobs", str(scheduler), "--workers", "2", "--reports", "all"],
            check=True,
            capture_output=True,
        )
    return folder


@pytest.fixture(scope="module")
def shown(serve: Serve, triaged: Path) -> Served:
    """A service over its store."""
    return serve("--store", str(triaged / "triage.sqlite"), limits={"workers": 1})


def got(service: Served, path: str, status: int = 200, **given: Any) -> httpx.Response:
    """What is there."""
    answer = httpx.get(service.url + path, timeout=PATIENCE, **given)
    assert answer.status_code == status, answer.text
    return answer


def test_triages_are_listed_the_newest_first(shown: Served, triaged: Path) -> None:
    """A page at a time, for programs and for people."""
    first = got(shown, "/api/triages?limit=1").json()
    (one,) = first["triages"]
    assert (one["number"], one["jobs"], one["places"]) == (2, 9, [str(triaged / "jobs")])
    rest = got(shown, f"/api/triages?limit=1&before={first['next']}").json()
    assert [one["number"] for one in rest["triages"]] == [1]
    page = got(shown, "/triages?limit=1").text
    assert 'href="/triages/2"' in page
    assert 'href="/triages?before=2"' in page


def test_the_overview_says_what_the_triage_wrote(shown: Served, triaged: Path) -> None:
    """All but the addresses of the reports."""
    written = json.loads((triaged / "overview.json").read_text())
    told = got(shown, "/api/triages/2").json()
    jsonschema.Draft202012Validator(json.loads(read_schema("triage"))).validate(told)
    for value in (written, told):
        del value["made"]
        for group in value["groups"]:
            assert group.pop("report")
        for row in value["jobs"]["rows"]:
            row.pop()
    assert told == written
    assert told["totals"]["gpu_hours"] == 16.0


def test_the_page_of_a_triage_leads_to_its_reports(shown: Served) -> None:
    """Each link is there, and its report as the triage would write it."""
    page = got(shown, "/triages/2").text
    links = set(re.findall(r'href="(2/jobs/[0-9]+)"', page))
    assert len(links) == 8
    answer = got(shown, f"/triages/{min(links)}")
    assert "<article" in answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"


def test_the_report_of_a_job_is_rendered_from_the_store(shown: Served, triaged: Path) -> None:
    """Byte for byte the page that the triage wrote, but for its mark; the log is not needed."""
    jobs = {one["title"]: one["number"] for one in got(shown, "/api/triages/2/jobs").json()["jobs"]}
    page = got(shown, f"/triages/2/jobs/{jobs['1000']}").text
    last = got(shown, f"/jobs/{jobs['1000']}").text
    written = [one.read_text().rpartition("<!--")[0] for one in (triaged / "jobs").glob("*.html")]
    assert page == last
    assert page in written
    report = got(shown, f"/api/triages/2/jobs/{jobs['1000']}?lang=zh").json()
    assert report["schema"] == "postmortem.report/1"
    assert re.search("[\u4e00-\u9fff]", report["verdict"]["summary"])


def test_jobs_are_filtered_and_paged_by_the_store(shown: Served) -> None:
    """All of them are reached, each once."""
    seen, after = [], ""
    while after is not None:
        page = got(shown, "/api/triages/1/jobs", params={"limit": 4, "after": after}).json()
        seen += [one["title"] for one in page["jobs"]]
        after = page["next"]
    assert seen == sorted(seen)
    assert len(seen) == 9
    (empty,) = got(shown, "/api/triages/1/jobs?state=unreadable").json()["jobs"]
    assert (empty["title"], empty["cause"], empty["probability"]) == ("9000", None, None)
    assert empty["reason"]["zh"]
    judged = got(shown, "/api/triages/1/jobs?state=judged").json()["jobs"]
    cause = judged[0]["cause"]
    some = got(shown, "/api/triages/1/jobs", params={"cause": cause}).json()["jobs"]
    assert {one["number"] for one in some} == {
        one["number"] for one in judged if one["cause"] == cause
    }
    for text, count in (("100", 5), ("%", 0), ("_", 0), ("nothing like it", 0)):
        found = got(shown, "/api/triages/1/jobs", params={"text": text}).json()["jobs"]
        assert len(found) == count, text


def test_a_group_is_its_jobs_and_the_report_of_one(shown: Served) -> None:
    """For programs and for people."""
    group = got(shown, "/api/triages/2").json()["groups"][0]
    told = got(shown, f"/api/triages/2/groups/{group['id']}").json()
    assert (told["id"], len(told["jobs"]), told["title"]) == (
        group["id"],
        group["jobs"],
        group["title"],
    )
    first = told["jobs"][0]["number"]
    page = got(shown, f"/triages/2/groups/{group['id']}").text
    assert page == got(shown, f"/triages/2/jobs/{first}").text


@pytest.mark.parametrize(
    "path",
    ["/triages/9", "/triages/2/jobs/9999", "/triages/2/groups/nix", "/jobs/9999", "/nix"],
)
def test_what_is_not_there_is_told_to_people_and_programs(shown: Served, path: str) -> None:
    """In words of both languages, or in the one shape of errors."""
    page = got(shown, path, 404, headers={"Accept": "text/html"}).text
    assert "没有" in page
    assert set(got(shown, path, 404).json()["error"]) == {"what", "where", "mend"}


def test_a_job_that_was_not_judged_says_why(shown: Served) -> None:
    """It has no report."""
    (empty,) = got(shown, "/api/triages/2/jobs?state=unreadable").json()["jobs"]
    told = got(shown, f"/triages/2/jobs/{empty['number']}", 404).json()["error"]
    assert "files are empty" in told["what"]


def test_a_service_without_a_store_shows_none(service: Served) -> None:
    """And says how it would."""
    told = got(service, "/api/triages", 404).json()["error"]
    assert "--store" in told["mend"]


def test_looking_changes_nothing(shown: Served, triaged: Path) -> None:
    """Neither groups nor triages."""
    before = json.loads(got(shown, "/api/triages/1").text)
    assert json.loads(got(shown, "/api/triages/1").text) == before
    assert shown.health()["store"] == "ok"
