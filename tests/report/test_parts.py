"""Pieces that several forms show: the turning points of a run, harmless lines."""

from dataclasses import replace
from pathlib import Path

import pytest

import postmortem
from postmortem.core.answer import Event, FirstFailure
from postmortem.core.findings import NOWHERE
from postmortem.report.parts import list_harmless_signatures, select_milestones
from tests.report.samples import rich

FAILED = FirstFailure(0, NOWHERE, 9, None, "x")


def test_the_turning_points() -> None:
    """Of many events the first, the last, and those around the first failure.

    They stand in order, and each once.
    """
    events = tuple(
        Event(0, NOWHERE, line, None, None, "context", str(line)) for line in range(1, 41)
    )
    shown = [
        [
            event.line
            for event in select_milestones(
                replace(rich(), timeline=events, first_failure=replace(FAILED, line=line)), 6
            )
        ]
        for line in (1, 20, 40)
    ]
    assert shown == [[1, 2, 3, 4, 5, 40], [1, 18, 19, 20, 21, 40], [1, 36, 37, 38, 39, 40]]
    assert select_milestones(replace(rich(), timeline=events[:6]), 6) == events[:6]


def test_a_harmless_line_is_listed_once() -> None:
    """Of two rules for a line the more specific one tells why.

    A rule is named once, at its first line.
    """
    kept = rich().signatures[0]
    hits = tuple(
        replace(kept, id=name, role="harmless", line=line, literal=literal)
        for line, name, literal in ((3, "a", 9), (3, "b", 20), (4, "a", 9), (5, "b", 20))
    )
    assert [
        (hit.id, hit.line) for hit in list_harmless_signatures(replace(rich(), signatures=hits))
    ] == [
        ("b", 3),
        ("a", 4),
    ]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        (
            "UserWarning: TORCH_CUDA_ARCH_LIST is not set, all archs for visible cards are included for compilation.",
            "comments on compiler and architectures",
        ),
        (
            "FutureWarning: You are using `torch.load` with `weights_only=False` (the current default value)",
            "announces weights_only",
        ),
        (
            "UserWarning: The detected CUDA version (12.4) has a minor version mismatch with the version that was used to compile PyTorch (12.1).",
            "same major version is accepted",
        ),
    ],
)
def test_one_reason_for_a_notice(tmp_path: Path, line: str, title: str) -> None:
    """What programs print about their defaults is known to one rule.

    It gives the reason that holds.
    """
    log = tmp_path / "run.log"
    log.write_text(
        f"{line}\n{{'loss': 1.5, 'learning_rate': 1e-05, 'epoch': 0.1}}\n", encoding="utf-8"
    )
    hits = [hit for hit in postmortem.analyze(log).diagnosis.signatures if hit.role == "harmless"]
    assert len(hits) == 1
    assert title in hits[0].title
