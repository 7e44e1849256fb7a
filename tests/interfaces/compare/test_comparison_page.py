"""The page of a comparison: whole without a script, in both languages, with nothing given away."""

import base64
import hashlib
import re
from pathlib import Path

import pytest

from postmortem.interfaces.cli import main
from postmortem.interfaces.compare import compare_runs
from postmortem.report.side_by_side import render

HEAD = "torch: {torch}\ntorchrun train.py --learning_rate {rate}\n"


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """Two runs that differ in rate and torch; the loss of the second leaves at step 31."""
    paths = tmp_path / "good.log", tmp_path / "bad.log"
    for path, rate, torch, tail, extra in (
        (paths[0], "2e-5", "2.4.1", [2.0] * 30, ""),
        (paths[1], "2e-2", "2.5.0", [9.0] * 29 + [float("nan")], "data of /home/dave/a is old\n"),
    ):
        values = [3.0 - step / 30 for step in range(30)] + tail
        steps = "".join(f"step {step} loss {value:.4f}\n" for step, value in enumerate(values, 1))
        path.write_text(HEAD.format(torch=torch, rate=rate) + steps + extra)
    return paths


@pytest.fixture
def page(runs: tuple[Path, Path]) -> str:
    """Their page."""
    return render(compare_runs([runs[0]], [runs[1]]), "html")


def test_both_losses_stand_on_one_axis(page: str) -> None:
    """With the place where they part, in the legend of each language."""
    assert page.count('class="curve odd series-0"') >= 1
    assert page.count('class="curve dash-0 series-1"') >= 1
    assert "the curves part: step 31" in page
    assert "曲线分离处：第 31 步" in page


def test_facts_stand_side_by_side(page: str) -> None:
    """The name, the good value, the bad one."""
    rows = re.findall(
        r'<tr><th scope="row" class="mono">(.*?)</th><td>(.*?)</td><td>(.*?)</td>', page
    )
    told = {re.sub("<[^>]*>", "", " ".join(row)) for row in rows}
    assert any(row.startswith("learning_rate") for row in told)
    assert "torch 2.4.1 2.5.0" in told


def test_names_are_hidden_in_the_page(runs: tuple[Path, Path], page: str) -> None:
    """As in every form that is passed on."""
    assert "dave" not in page
    assert "dave" in render(compare_runs([runs[0]], [runs[1]]), "html", redact=False)


def test_the_policy_names_style_and_script(page: str) -> None:
    """Nothing else runs, nothing is fetched."""
    policy = re.search(r'Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    for tag in ("style", "script"):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy[1].replace("&#39;", "'").replace(
            "&#43;", "+"
        )
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]+"', page)


def test_the_suffix_names_the_form(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page by .html; what a comparison is not written as is refused."""
    asked = ["compare", *map(str, runs), "-o"]
    with pytest.raises(SystemExit):
        main([*asked, str(tmp_path / "cmp.html")])
    assert (tmp_path / "cmp.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    with pytest.raises(SystemExit) as refused:
        main([*asked, str(tmp_path / "cmp.sarif")])
    assert refused.value.code == 2
    assert "sarif" in capsys.readouterr().err


def test_runs_without_curves_have_a_page(tmp_path: Path) -> None:
    """There is nothing to draw, and no script for it."""
    (tmp_path / "one.log").write_text("loading\nValueError: no rows\n")
    (tmp_path / "two.log").write_text("loading\n")
    page = render(compare_runs([tmp_path / "two.log"], [tmp_path / "one.log"]), "html")
    assert "ValueError: no rows" in page
    assert "uPlot" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_it_opens_in_the_language_asked_for(runs: tuple[Path, Path], language: str) -> None:
    """The other is one switch away."""
    made = render(compare_runs([runs[0]], [runs[1]]), "html", language=language)
    assert re.findall(r'data-language="(\w+)" data-title', made)[0] == language
    assert len(re.findall("<article ", made)) == 2
