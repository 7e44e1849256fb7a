"""Two runs side by side: settings, environment, curves, lines.

In every form, with nothing given away.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from postmortem.core.answer import SeriesView
from postmortem.core.errors import InputError
from postmortem.core.findings import NOWHERE
from postmortem.interfaces.compare import compare_runs, find_divergence
from postmortem.report.side_by_side import FORMS, render

HEAD = "torch: {torch}\nnumpy==1.26.4\ntorchrun train.py --learning_rate {rate} --seed 1\n"


def curve(values: Sequence[float], *, first: int = 1) -> SeriesView:
    """A loss with a value a step."""
    samples = tuple((float(step), value, step + 10) for step, value in enumerate(values, first))
    return SeriesView(
        "loss",
        "pytorch",
        0,
        NOWHERE,
        "",
        len(values),
        0,
        (samples[0][0], samples[0][1]),
        (samples[-1][0], samples[-1][1]),
        min(values),
        max(values),
        None,
        interleaved=False,
        samples=samples,
    )


SMOOTH = [3.0 * 0.97**step for step in range(60)]
NOISY = [value * (1.02 if step % 2 else 0.98) for step, value in enumerate(SMOOTH)]


@pytest.mark.parametrize(
    ("good", "bad", "step"),
    [
        pytest.param(SMOOTH, NOISY, None, id="another seed"),
        pytest.param(
            SMOOTH, [*NOISY[:30], *(5.0 + step / 10 for step in range(30))], 31, id="a divergence"
        ),
        pytest.param(SMOOTH, [*NOISY[:30], 9.0, *NOISY[31:]], None, id="a spike that is over"),
        pytest.param(SMOOTH, [*NOISY[:20], *[math.nan] * 40], 21, id="NaN"),
        pytest.param(SMOOTH, SMOOTH, None, id="the same"),
        pytest.param(SMOOTH, [3 * value for value in SMOOTH], 1, id="apart from the start"),
    ],
)
def test_where_curves_part(good: list[float], bad: list[float], step: float | None) -> None:
    """Where their distance leaves what it was and stays away; a NaN at once."""
    found = find_divergence(curve(good), curve(bad))
    assert found is not None
    assert (found.step, found.common) == (step, 60)
    if step is not None:
        assert (found.good_line, found.bad_line) == (step + 10, step + 10)


def test_curves_without_a_common_step_are_not_compared() -> None:
    """One run ends before the other begins."""
    assert find_divergence(curve([1.0, 2.0]), curve([1.0, 2.0], first=50)) is None


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """Two runs with another rate, another torch, and a warning of the bad one."""
    paths = tmp_path / "good.log", tmp_path / "bad.log"
    for path, values, rate, torch, extra in (
        (paths[0], SMOOTH, "2e-5", "2.4.1", "cache warm after 12 s\n"),
        (
            paths[1],
            [*NOISY[:30], *[9.0] * 30],
            "2e-2",
            "2.5.0",
            "WARNING data at /home/dave/set is 7 days old\n",
        ),
    ):
        path.write_text(
            HEAD.format(torch=torch, rate=rate)
            + extra
            + "loading shard 1\n"
            + "".join(
                f"step {step} loss {value:.4f} lr {rate}\n" for step, value in enumerate(values, 1)
            )
        )
    return paths


def test_what_differs_is_found(runs: tuple[Path, Path]) -> None:
    """Settings and versions by name, the curve's step, the lines of one run only."""
    found = compare_runs([runs[0]], [runs[1]])
    assert ("learning_rate", "2e-05", "0.02") in found.settings or (
        "learning_rate",
        "2e-5",
        "2e-2",
    ) in found.settings
    assert [(one.name, one.step) for one in found.curves if one.name == "loss"] == [("loss", 31)]
    assert [(one.text, one.line) for one in found.only_bad] == [
        ("WARNING data at /home/dave/set is 7 days old", 4)
    ]
    assert [one.text for one in found.only_good] == ["cache warm after 12 s"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_form_hides_names(runs: tuple[Path, Path], form: str, language: str) -> None:
    """Unless asked not to."""
    found = compare_runs([runs[0]], [runs[1]])
    assert "dave" not in render(found, form, language=language)
    assert "dave" in render(found, form, language=language, redact=False)


def test_json_is_strict(runs: tuple[Path, Path]) -> None:
    """A NaN is a string."""
    runs[1].write_text(runs[1].read_text().replace("loss 9.0000", "loss nan"))
    told = json.loads(
        render(compare_runs([runs[0]], [runs[1]]), "json"), parse_constant=pytest.fail
    )
    assert told["schema"] == "postmortem.comparison/1"
    assert told["curves"][0]["bad"] == "NaN"


def test_a_line_cannot_steer(runs: tuple[Path, Path]) -> None:
    """Escapes of a log reach no form."""
    runs[1].write_text(runs[1].read_text() + "evil \x1b]0;title\x07 \u202egnp\n```\n")
    for form in FORMS:
        text = render(compare_runs([runs[0]], [runs[1]]), form)
        assert not {"\x1b", "\x07", "\u202e"} & set(text)


def test_standard_input_is_refused(runs: tuple[Path, Path]) -> None:
    """It cannot be read twice."""
    with pytest.raises(InputError, match="standard input"):
        compare_runs(["-"], [runs[1]])
