"""The library: `postmortem.analyze(...)` and the `Report` it gives.

The command line is a thin shell over it.

In: paths. Out: `Report`. Not here: reading and judging (`pipeline`), rendering
(`report`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from postmortem import pipeline
from postmortem.core.diagnosis import Replayed
from postmortem.core.errors import UsageError
from postmortem.core.message import Message
from postmortem.core.names import SHIPPED
from postmortem.reading.sources import LogSource
from postmortem.report.job_report import Report

__all__ = ["Report", "analyze"]


def analyze(
    paths: LogSource | Sequence[LogSource],
    *,
    env: Sequence[LogSource] = (),
    patterns: Sequence[str | Path] = (),
    model: str | Path | None = SHIPPED,
    facts: Mapping[str, str] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    replay: str | Path | None = None,
    trust_code: bool = False,
    workers: int = 1,
    attempt: int | None = None,
) -> Report:
    """Name the cause of a failed (or doubtful) training run.

    Args:
        paths: log files, folders, `-` for standard input, bytes, binary streams, or either of these
            with a name (`postmortem.Stream`); all together are one job.
        env: environment dumps that are not in the log.
        patterns: further folders of rules, of the shape that patterns/README.md describes.
        model: a text classifier (default: POSTMORTEM_MODEL's, else the package's), or None.
        facts: what the caller knows besides: `env_exit_status`, `setting_learning_rate` and so on.
        replay: a capsule of its steps, run again for evidence; needs torch.
        trust_code: execute the code that the capsule names.
        workers: processes that may read large files, this one among them; the result is the same.
        attempt: the number of the attempt to judge, where a log holds several; else the last.
        progress: called with a source's path, its bytes and its lines read so far, now and then.

    Raises:
        InputError: nothing could be read, a folder holds several jobs, or the capsule is refused.
        PatternError: a pattern folder is missing or invalid.
        UsageError: no path; no such attempt; the capsule needs code that is not trusted.

    >>> import postmortem
    >>> postmortem.analyze("sample_logs/deepspeed/scale-exhausted-yi.log").verdict.cause
    'numerics.loss-scale-exhausted'
    """
    _require(paths)
    refuse_several_jobs(paths if isinstance(paths, (list, tuple)) else [paths])
    refuse_several_jobs(env)
    shown = None if replay is None else _run_replay(replay, trust=trust_code)
    given: Any = {"env_files": env, "facts": facts or {}, "progress": progress, "workers": workers}
    return Report(
        pipeline.run_pipeline(
            paths, patterns=patterns, model=model, replayed=shown, attempt=attempt, **given
        )
    )


def _require(paths: object) -> None:
    """Refuse an empty list."""
    if isinstance(paths, (list, tuple)) and not paths:
        raise UsageError("no log was named", "", "postmortem analyze run.log")


def refuse_several_jobs(sources: Iterable[object]) -> None:
    """Refuse a folder that holds several jobs; all other sources are taken as they are.

    Raises:
        InputError: a folder holds several.
    """
    folders = [path for path in sources if isinstance(path, (str, Path)) and Path(path).is_dir()]
    if folders:
        # Who names a file does not pay for the rules of folders.
        from postmortem.fleet.search.finding import require_one_job  # noqa: PLC0415

        require_one_job(folders)


def _run_replay(capsule: str | Path, *, trust: bool) -> Replayed[Message]:
    from postmortem.replay.rerun.requested_replay import replay_capsule  # noqa: PLC0415 -- few runs have a capsule

    return replay_capsule(capsule, trust=trust)
