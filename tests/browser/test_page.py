"""The page as a browser sees it: it opens, it shows, it fetches nothing and runs nothing."""

import re
import subprocess
from pathlib import Path

import pytest

import postmortem

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_logs" / "xtuner" / "nan-internlm2.log"
QUIET = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync")


def dom(chromium: str, page: Path, profile: Path, *options: str) -> str:
    """The document after Chromium has built it."""
    done = subprocess.run([chromium, *QUIET, f"--user-data-dir={profile}", *options, "--dump-dom", page.as_uri()], capture_output=True, check=True, timeout=120)
    return done.stdout.decode()


@pytest.mark.browser
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_opens_with_its_curves(chromium: str, tmp_path: Path, language: str) -> None:
    """Verdict, curves with the marked failure and the log excerpt are in the built document."""
    page = tmp_path / "report.html"
    page.write_text(postmortem.analyze(SAMPLE, language=language).render("html"), encoding="utf-8")
    document = dom(chromium, page, tmp_path / "profile")
    assert "numerics.fp16-overflow" in document
    assert document.count('class="chart"') >= 2
    assert 'id="en-0-L79"' in document
    assert f'<html lang="{language}' in document
    assert document.count('class="copy"') >= 3     # the page's own script may run under its policy


@pytest.mark.browser
def test_a_log_cannot_run_in_the_page(chromium: str, tmp_path: Path) -> None:
    """Script and markup in the log stay text."""
    log = tmp_path / "evil.log"
    log.write_text("step 1 loss 1.0\n<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\nRuntimeError: CUDA error: device-side assert triggered </pre><script>document.title='owned'</script>\n")
    page = tmp_path / "report.html"
    page.write_text(postmortem.analyze(log).render("html"), encoding="utf-8")
    document = dom(chromium, page, tmp_path / "profile", "--virtual-time-budget=2000")
    assert "owned</title>" not in document
    assert not re.search(r"<script>document", document)


@pytest.mark.browser
def test_a_picture_can_be_taken(chromium: str, tmp_path: Path) -> None:
    """The page renders at phone width."""
    page, picture = tmp_path / "report.html", tmp_path / "phone.png"
    page.write_text(postmortem.analyze(SAMPLE).render("html"), encoding="utf-8")
    subprocess.run([chromium, *QUIET, f"--user-data-dir={tmp_path / 'profile'}", f"--screenshot={picture}", "--window-size=390,844", page.as_uri()], check=True, capture_output=True, timeout=120)
    assert picture.read_bytes().startswith(b"\x89PNG")
