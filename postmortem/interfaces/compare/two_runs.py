"""Compare two runs: settings and versions, where curves diverge, lines that only one prints.

In: the paths of a good and of a bad run. Out: `Comparison`. Not here: curves
(`compare.curve_divergence`), lines (`compare.distinct_lines`), rendering it
(`report.side_by_side`).
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from postmortem.core.comparison import Comparison, Differing, Wording
from postmortem.core.diagnosis import Analysis
from postmortem.core.errors import InputError
from postmortem.core.job_facts import Environment
from postmortem.core.message import Message
from postmortem.interfaces.compare.curve_divergence import iter_divergences, match_series
from postmortem.interfaces.compare.distinct_lines import collect_distinct_lines
from postmortem.pipeline import run_pipeline
from postmortem.reading.sources import STDIN


def compare_runs(
    good: Sequence[str | Path],
    bad: Sequence[str | Path],
    *,
    good_env: Sequence[str | Path] = (),
    bad_env: Sequence[str | Path] = (),
    patterns: Sequence[str | Path] = (),
) -> Comparison[Message]:
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
    return compare_analyses(
        run_pipeline(good, env_files=good_env, patterns=patterns),
        run_pipeline(bad, env_files=bad_env, patterns=patterns),
    )


def compare_analyses(good: Analysis, bad: Analysis) -> Comparison[Message]:
    """Compare two analyses whose sources can be read again."""
    good_lines, bad_lines = collect_distinct_lines(good), collect_distinct_lines(bad)
    return Comparison(
        good,
        bad,
        settings=tuple(_iter_differences(_format_settings(good), _format_settings(bad))),
        environment=tuple(
            _iter_differences(
                _collect_environment(good.environment), _collect_environment(bad.environment)
            )
        ),
        curves=tuple(iter_divergences(good.series, bad.series)),
        only_good=_select_unique_lines(good_lines, bad_lines),
        only_bad=_select_unique_lines(bad_lines, good_lines),
        drawn=tuple(match_series(good.series, bad.series)),
    )


def _select_unique_lines(
    wordings: Mapping[str, Wording], others: Container[str]
) -> tuple[Wording, ...]:
    """Give the wordings that the other run does not have, in the order of their first places."""
    own = (wording for key, wording in wordings.items() if key not in others)
    return tuple(sorted(own, key=lambda wording: (wording.source, wording.line)))


def _format_settings(analysis: Analysis) -> dict[str, str]:
    return {name: str(setting.value) for name, setting in analysis.settings.items()}


def _iter_differences(good: Mapping[str, str], bad: Mapping[str, str]) -> Iterator[Differing]:
    """Yield values that differ, then values that only one run has."""
    both = sorted(name for name in good.keys() & bad.keys() if good[name] != bad[name])
    yield from (Differing(name, good[name], bad[name]) for name in both)
    yield from (
        Differing(name, good.get(name), bad.get(name)) for name in sorted(good.keys() ^ bad.keys())
    )


def _collect_environment(environment: Environment) -> dict[str, str]:
    found = {name: str(version) for name, version in environment.packages.items()}
    for field in fields(environment):
        value = getattr(environment, field.name)
        if field.name == "gpus" and value:
            found["gpus"] = ", ".join(f"{gpu.count} × {gpu.name}" for gpu in value)
        elif field.name != "packages" and value not in (None, ()):
            found[field.name] = str(value)
    return found
