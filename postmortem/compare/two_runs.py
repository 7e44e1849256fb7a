"""Two runs side by side.

What was set and installed otherwise, where their curves part, which lines only one of them prints.

In: the paths of a good and of a bad run. Out: `Comparison`. Not here: curves
(`compare.parting_curves`), lines (`compare.wordings`), rendering it (`report.side_by_side`).
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from postmortem.compare.parting_curves import pairs, partings
from postmortem.compare.wordings import wordings_of
from postmortem.errors import InputError
from postmortem.model.comparison import Comparison, Differing, Wording
from postmortem.model.diagnosis import Analysis
from postmortem.model.job_facts import Environment
from postmortem.model.said import Said
from postmortem.pipeline import analyze
from postmortem.reading.sources import STDIN


def compare_runs(
    good: Sequence[str | Path],
    bad: Sequence[str | Path],
    *,
    good_env: Sequence[str | Path] = (),
    bad_env: Sequence[str | Path] = (),
    patterns: Sequence[str | Path] = (),
) -> Comparison[Said]:
    """Compare a run that went well with one that did not.

    Args:
        good: files or folders of the one.
        bad: files or folders of the other.
        good_env: environment dumps of the one that are not in its log.
        bad_env: environment dumps of the other.
        patterns: further folders of rules.

    Raises:
        InputError: one of them cannot be read, or is standard input, which cannot be read twice.
    """
    if any(str(path) == STDIN for path in (*good, *bad)):
        raise InputError("standard input cannot be compared", STDIN, "write it to a file first")
    return compared(
        analyze(good, env_files=good_env, patterns=patterns),
        analyze(bad, env_files=bad_env, patterns=patterns),
    )


def compared(good: Analysis, bad: Analysis) -> Comparison[Said]:
    """Compare two analyses whose sources can be read again."""
    known, told = wordings_of(good), wordings_of(bad)
    return Comparison(
        good,
        bad,
        settings=tuple(_differing(_settings(good), _settings(bad))),
        environment=tuple(_differing(_facts(good.environment), _facts(bad.environment))),
        curves=tuple(partings(good.series, bad.series)),
        only_good=_only(known, told),
        only_bad=_only(told, known),
        drawn=tuple(pairs(good.series, bad.series)),
    )


def _only(wordings: Mapping[str, Wording], others: Container[str]) -> tuple[Wording, ...]:
    """Give the wordings that the other run does not have, in the order of their first places."""
    own = (wording for key, wording in wordings.items() if key not in others)
    return tuple(sorted(own, key=lambda wording: (wording.source, wording.line)))


def _settings(analysis: Analysis) -> dict[str, str]:
    return {name: str(setting.value) for name, setting in analysis.settings.items()}


def _differing(good: Mapping[str, str], bad: Mapping[str, str]) -> Iterator[Differing]:
    """Yield what both tell otherwise, then what only one of them tells."""
    both = sorted(name for name in good.keys() & bad.keys() if good[name] != bad[name])
    yield from (Differing(name, good[name], bad[name]) for name in both)
    yield from (
        Differing(name, good.get(name), bad.get(name)) for name in sorted(good.keys() ^ bad.keys())
    )


def _facts(environment: Environment) -> dict[str, str]:
    found = {name: str(version) for name, version in environment.packages.items()}
    for field in fields(environment):
        value = getattr(environment, field.name)
        if field.name == "gpus" and value:
            found["gpus"] = ", ".join(f"{gpu.count} × {gpu.name}" for gpu in value)
        elif field.name != "packages" and value not in (None, ()):
            found[field.name] = str(value)
    return found
