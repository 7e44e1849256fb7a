"""Printed mappings that hold their place are records, whatever their figures are called."""

from pathlib import Path

import pytest

import postmortem


def _read(folder: Path, lines: list[str]) -> dict[str, tuple[int, float]]:
    """Give the points and the last step of each series."""
    path = folder / "run.log"
    path.write_text("\n".join(["Training starts", *lines, ""]), encoding="utf-8")
    found = postmortem.analyze(path).diagnosis.series
    return {one.name: (one.points, one.last[0] or 0.0) for one in found if one.last is not None}


@pytest.mark.parametrize("place", ["step", "global_step", "timesteps", "episode", "update"])
def test_any_names_beside_a_place(tmp_path: Path, place: str) -> None:
    """The place is the step; the other items are series."""
    lines = [
        f"{{'win ratio': {n / 40}, 'tanks left': {9 - n % 9}, '{place}': {100 * n}}}"
        for n in range(1, 30)
    ]
    assert _read(tmp_path, lines) == {"win ratio": (29, 2900.0), "tanks left": (29, 2900.0)}


@pytest.mark.parametrize(
    "line",
    [
        "{{'win ratio': 0.5, 'tanks left': {n}}}",
        "{{'step': 100, 'win ratio': 0.{n}}}",
        "answer {n}: {{'step': {n}, 'say': 'yes'}}",
    ],
)
def test_without_a_place_that_rises_nothing_is_read(tmp_path: Path, line: str) -> None:
    """Neither one that stands still, nor a mapping that holds words."""
    assert _read(tmp_path, [line.format(n=n) for n in range(1, 30)]) == {}
