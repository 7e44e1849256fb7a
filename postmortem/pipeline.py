"""One job in, one `Diagnosis` out.

Reads the sources, gathers, finds shapes, ranks causes, chooses fixes.

In: the paths of a job. Out: what was read (`Job`), and its `Diagnosis` in a language; judging again
in the other language reads nothing again. Not here: rendering (`report`), many jobs (later rooms).
"""

import dataclasses
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from postmortem import marks, progress, timeline, views
from postmortem.errors import InputError, PatternError
from postmortem.facts import collectives, ending, last_words, memory, ranks, shapes, silence
from postmortem.facts import environment as env
from postmortem.facts.series import Series
from postmortem.fixes.select import fixes
from postmortem.formats import csv_metrics, error_file, trainer_state
from postmortem.formats.records import Record
from postmortem.gather import Gathering
from postmortem.gathered import CROWD, Gathered, Seen, bounded
from postmortem.inference import attempts, events, order
from postmortem.inference import verdict as judging
from postmortem.inference.case import Case
from postmortem.inference.clock import Clock, skews
from postmortem.inference.rules import score
from postmortem.knowledge.base import KnowledgeBase, load
from postmortem.knowledge.engine import A_JOB, Budget
from postmortem.literals import Machine
from postmortem.metrics.points import MOST_POINTS
from postmortem.model.diagnosis import Attempt, Cause, Diagnosis, Excerpt, Framework, Source
from postmortem.model.findings import Finding
from postmortem.model.lines import NOWHERE, Where
from postmortem.model.said import Said, cut, labelled, listed, quote, say
from postmortem.reading.blocks import SIZE, Block, blocks
from postmortem.reading.decode import Text
from postmortem.reading.discover import candidates
from postmortem.reading.file_names import processes_of
from postmortem.reading.kinds import kind_of
from postmortem.reading.opener import open_log
from postmortem.reading.prefixes import carries_srun_labels
from postmortem.reading.readable import Counted, fill, lines_of
from postmortem.reading.sources import LogSource, Origin, is_file, name_of, origins_of

_ERROR_FILE_BYTES: Final = 16 << 20
"""An error file holds one message and its call stack, and is read whole."""
_ROW_BYTES: Final = 1 << 20
_MOST_MESSAGE: Final = 200


class Job(NamedTuple):
    """One job as it was read, to be judged."""

    gathered: Gathered
    sources: Sequence[Source]
    knowledge: KnowledgeBase
    warnings: Sequence[Said]
    notes: Mapping[int, Said]
    """What is to be said of a source, by its index."""
    given: Sequence[str] = ()
    """The paths that were asked for, and the names of streams."""
    origins: Sequence[Origin] = ()
    """Where each source comes from; bytes can be read again."""


def analyze(
    paths: LogSource | Sequence[LogSource], *, language: str = "en", **given: Any
) -> Diagnosis:
    """Read and diagnose one job.

    The arguments are those of `read` and the language (`en` or `zh`) of all texts.
    """
    return diagnose(read(paths, **given), language)


def read(
    paths: LogSource | Sequence[LogSource],
    *,
    env_files: Sequence[LogSource] = (),
    patterns: Sequence[str | Path] = (),
    facts: Mapping[str, str] = MappingProxyType({}),
    block_size: int = SIZE,
    progress: Callable[[str, int, int], None] | None = None,
) -> Job:
    """Read one job.

    Args:
        paths: files, folders, `-` (standard input), bytes or streams that together are the log of
            one job.
        env_files: environment dumps (collect_env, nvidia-smi, pip list ...) that are not in the
            log.
        patterns: further pattern folders, of the shape of the built-in one.
        facts: what the caller knows besides, by the names of patterns/README.md (env_exit_status,
            package_torch ...).
        block_size: how many bytes are looked at in one go; changes nothing in the result.
        progress: called with a source's path, its bytes and its lines read so far, after each
            block.

    Raises:
        InputError: nothing could be read.
        PatternError: a pattern folder is missing or invalid.
    """
    given = origins_of(paths)
    machine = machine_for(tuple(Path(folder) for folder in patterns))
    found = list(candidates(given))
    reader = _Reader(
        machine,
        block_size,
        processes_of([candidate.path for candidate in found if not candidate.skip]),
        progress,
    )
    for candidate in found:
        if candidate.skip:
            reader.ignore(candidate.origin, candidate.skip)
        else:
            reader.read(candidate.origin, is_alone=given == [candidate.origin])
    names = [name_of(origin) for origin in given]
    reader.require_something(names)
    for origin in origins_of(env_files):
        reader.read(origin, is_alone=True, kind="environment")
    for name, value in facts.items():
        reader.gathered.facts.add(name, value, env.TOLD, 0, 0)
    return Job(
        reader.gathered,
        reader.sources,
        machine.knowledge,
        reader.warnings,
        reader.notes,
        names,
        reader.origins,
    )


@functools.lru_cache(maxsize=4)
def machine_for(patterns: tuple[Path, ...]) -> Machine:
    """Build the matching machine once per set of pattern folders."""
    return Machine(load(patterns))


class _Reader:
    """Reads the sources of a job, one after the other, into one `Gathered`."""

    def __init__(
        self,
        machine: Machine,
        block_size: int,
        processes: Mapping[str, Where],
        progress: Callable[[str, int, int], None] | None,
    ) -> None:
        self.machine, self.block_size = machine, block_size
        self.processes, self.progress = processes, progress
        self.gathered = Gathered()
        self.points = 0
        """Kept points of all sources."""
        self.budget = Budget(A_JOB)
        self.sources: list[Source] = []
        self.origins: list[Origin] = []
        self.warnings: list[Said] = []
        self.notes: dict[int, Said] = {}

    def ignore(self, origin: Origin, why: Said) -> None:
        """List a file that is no part of the job's log."""
        self.notes[len(self.sources)] = why
        self.origins.append(origin)
        self.sources.append(
            Source(name_of(origin), 0, 0, "", None, NOWHERE, "ignored", is_file=is_file(origin))
        )

    def read(self, origin: Origin, *, is_alone: bool, kind: str = "log") -> None:
        """Read one file; of several, one that cannot be read is listed with the reason, and so is one on which this program fails."""
        path = name_of(origin)
        try:
            self._read(origin, kind)
        except InputError as error:
            if is_alone:
                raise
            self.ignore(
                origin, error.what if isinstance(error.what, Said) else quote(str(error.what))
            )
        except PatternError:
            raise
        except Exception as error:
            if os.environ.get("POSTMORTEM_DEBUG"):
                raise
            why = _failed(error)
            if is_alone and kind == "log":
                raise InputError(
                    why, path, "set POSTMORTEM_DEBUG=1 for the traceback and report it"
                ) from error
            self.warnings.append(labelled(path, why))
            self.ignore(origin, why)

    def require_something(self, given: Sequence[str]) -> None:
        """Refuse a job none of whose files could be read.

        Raises:
            InputError: all files were ignored.
        """
        if not any(source.kind != "ignored" for source in self.sources):
            why = self.notes.get(0, "nothing given")
            raise InputError(
                f"no log could be read: {why}", ", ".join(given), "name the text log of the run"
            )

    def _read(self, origin: Origin, kind: str) -> None:
        opened, path = open_log(origin), name_of(origin)
        try:
            text = Text(opened)
            head = text.head.decode("utf-8", "replace")
            index, notes = len(self.sources), list[Said]()
            where = self.processes.get(path, NOWHERE) if kind == "log" else NOWHERE
            counted = Counted(text)
            if trainer_state.claims(head):
                records = trainer_state.records(blocks(counted, self.block_size))
                kind = "metrics"
                part = self._metrics_file(counted, index, records, "transformers-trainer")
            elif csv_metrics.claims(head):
                records = csv_metrics.records(lines_of(counted, _ROW_BYTES))
                kind = "metrics"
                part = self._metrics_file(counted, index, records, csv_metrics.PRODUCER)
            elif error_file.claims(head):
                part = self._error_file(text, index, where)
                notes += [error_file.NOTE, *([_CUT] if text.read(1) else [])]
            else:
                part = self._gather(
                    text, index, where, path, srun=carries_srun_labels(head[:65536])
                )
            self._merge(part)
        finally:
            opened.close()
        kind = "notebook" if text.printed is not None and kind == "log" else kind
        if text.breaks_by_return:
            notes = [
                say(
                    "its only line breaks are carriage returns: lines count its frames",
                    "文件只用回车符换行：行号按进度条的帧计数",
                )
            ]
        if text.printed is not None and text.printed.passed_over:
            notes.append(
                say(
                    "{count} printed texts of more than 16 MiB were passed over",
                    "有 {count} 段超过 16 MiB 的输出文本已跳过",
                    count=text.printed.passed_over,
                )
            )
        if opened.fault is not None:
            self.warnings.append(labelled(path, opened.fault))
            notes.append(opened.fault)
        if notes:
            self.notes[index] = listed(notes, "; ", "；")
        if kind == "log" and not part.records.get(index) and not part.findings and part.facts.facts:
            kind = "environment"
        elif kind == "log" and not part.records.get(index):
            kind = kind_of(head[:65536]) or kind
        self.origins.append(origin)
        self.sources.append(
            Source(
                path,
                opened.bytes_read,
                part.lines.get(index, 0),
                text.encoding,
                opened.compression,
                where,
                kind,
                digest=opened.digest,
                is_file=is_file(origin),
            )
        )

    def _merge(self, part: Gathered) -> None:
        """Take in what one source holds; many sources together keep no more points than one may."""
        self.points += sum(len(series.values) for series in part.series.values())
        self.gathered.merge(part)
        if self.points > MOST_POINTS:
            self.points = bounded(self.gathered.series.values(), MOST_POINTS)

    def _gather(self, text: Text, index: int, where: Where, path: str, *, srun: bool) -> Gathered:
        gathering = Gathering(
            self.machine,
            index,
            where,
            srun=srun,
            breaks_by_return=text.breaks_by_return,
            budget=self.budget,
        )
        for block in blocks(text, self.block_size):
            gathering.feed(block)
            if self.progress is not None:
                self.progress(path, block.offset + block.hi, gathering.line)
        return gathering.snapshot()

    def _error_file(self, text: Text, index: int, where: Where) -> Gathered:
        """Read an error file: its one line holds a whole traceback, and all that is found in it stands on that line."""
        raw = fill(text, _ERROR_FILE_BYTES).decode("utf-8", "replace")
        data = (error_file.text(raw) or raw).encode(
            "utf-8", "replace"
        )  # JSON may hold half a character
        gathering = Gathering(self.machine, index, where, breaks_by_return=True, budget=self.budget)
        gathering.feed(Block(data, 0, len(data), 0))
        result = gathering.snapshot()
        result.lines[index] = raw.count("\n") + (not raw.endswith("\n"))
        result.error_files.add(index)
        result.tracebacks = [
            (dataclasses.replace(one, line=1, end_line=1, exception_line=1), before)
            for one, before in result.tracebacks
        ]
        return result

    def _metrics_file(
        self, text: Counted, index: int, records: Iterable[tuple[Record, int]], producer: str
    ) -> Gathered:
        """Read a trainer_state.json or a table."""
        gathering = Gathering(self.machine, index)
        gathering.take_state(records, producer)
        gathering.feed(Block(b"", 0, 0, 0))
        result = gathering.snapshot()
        result.lines[index] = text.lines
        return result


_CUT: Final = say("only its beginning was read", "只读取了开头部分")


def _failed(error: Exception) -> Said:
    """Say that this program failed on a file."""
    message = cut(" ".join(str(error).split()), _MOST_MESSAGE)
    return say(
        "reading it failed with {kind}",
        "读取时出错：{kind}",
        kind=f"{type(error).__name__}: {message}" if message else type(error).__name__,
    )


def diagnose(job: Job, language: str, excerpt: Excerpt | None = None) -> Diagnosis:
    """Judge what was read; without the lines around the failure, which another language's diagnosis has, these may be read again."""
    gathered, sources, knowledge = job.gathered, job.sources, job.knowledge
    rules = knowledge.by_id
    seen = sorted(gathered.seen(), key=lambda one: (one.finding.source, one.finding.offset))
    starts = [
        one.finding
        for one in seen
        if one.finding.signature.startswith((attempts.START, attempts.COMMAND))
    ]
    begins = attempts.last_attempts(
        gathered, starts, _fatal_lines(gathered, [one.finding for one in seen]), sources
    )
    current = [one for one in seen if one.finding.line >= begins.get(one.finding.source, 0)]
    tracebacks = [
        (one, before)
        for one, before in gathered.tracebacks
        if one.line >= begins.get(one.source, 0)
    ]
    apart = _skews(gathered, begins)
    clock = _clock(gathered, seen, order.candidates_in(current, tracebacks, rules), apart)
    dumps = frozenset(index for index, source in enumerate(sources) if source.kind == "environment")
    in_logs = [one for one in current if one.finding.source not in dumps]
    failures = order.failures(
        in_logs, tracebacks, gathered, rules, clock, sources
    ) or order.failures(current, tracebacks, gathered, rules, clock, sources)
    spoken = None if failures else _last_words(gathered, current, sources, begins)
    failures = failures or ([order.of_traceback(spoken.said)] if spoken is not None else [])
    first = failures[0] if failures else None
    alone = ranks.shapes(gathered.series.values())
    found = (
        *alone,
        *shapes.shapes(gathered.series.values(), gathered.facts, next(iter(alone), None)),
        *ranks.uneven(_ends(gathered, sources, begins)),
        *memory.shapes(
            ((one.finding, one.records_before) for one in current),
            gathered.facts.cards.largest_gib(),
        ),
        *collectives.shapes(one.finding for one in current),
        *(
            one
            for source, (line, _) in gathered.last_record.items()
            if source in gathered.tails
            and (one := silence.shape(gathered.tails[source], source, line)) is not None
        ),
    )
    found_shapes = {
        one.id: one
        for one in (*found, ending.shape(gathered.series.values(), gathered.total_steps))
        if one is not None
    }
    outcome = (
        views.outcome(gathered, current, failures, found_shapes)
        if spoken is None or spoken.is_end
        else "unknown"
    )
    for shape in views.outcome_shapes(gathered, outcome, current, found_shapes):
        found_shapes.setdefault(shape.id, shape)
    case = Case(
        events=tuple(events.events(seen, rules, first, gathered, begins, clock, dumps)),
        tracebacks=tuple(
            one
            for one, before in tracebacks
            if gathered.records_beside(one.source, one.where) - before < order.BUFFERED_RECORDS
        ),
        shapes=found_shapes,
        environment=env.environment(gathered.facts, knowledge.gpus),
        settings=gathered.facts.settings(),
        frameworks=views.frameworks(gathered),
        outcome=outcome,
    )
    ranked = judging.rank(score(case, knowledge, language), case, first, knowledge, language)
    return _assemble(case, ranked, first, job, language, begins, apart, excerpt)


def _skews(gathered: Gathered, begins: Mapping[int, int]) -> dict[int, float]:
    """Find clocks that stand apart among the files of the last attempt."""
    current = [source for source, count in gathered.lines.items() if begins.get(source, 0) <= count]
    if len(current) <= 1:
        return {}
    return skews(
        {
            source: (gathered.heads.get(source, ""), gathered.tails.get(source, (0, ""))[1])
            for source in current
        }
    )


def _ends(
    gathered: Gathered, sources: Sequence[Source], begins: Mapping[int, int]
) -> Iterator[tuple[int, Where, int, str]]:
    """Give the last lines of each source of the last attempt."""
    for source, (line, text) in gathered.tails.items():
        if begins.get(source, 0) <= gathered.lines.get(source, 0):
            yield source, sources[source].where if source < len(sources) else NOWHERE, line, text


def _last_words(
    gathered: Gathered, seen: Iterable[Seen], sources: Sequence[Source], begins: Mapping[int, int]
) -> last_words.LastWords | None:
    """Give what ends the log of a run that was training, where no rule and no traceback tells of a failure."""
    if not any(gathered.records.values()):
        return None
    known: dict[int, set[int]] = {}
    for one in seen:
        if one.finding.role != "context":
            known.setdefault(one.finding.source, set()).update(
                range(one.finding.line, one.finding.end_line + 1)
            )
    for traceback, _ in gathered.tracebacks:
        known.setdefault(traceback.source, set()).update(
            range(traceback.line, traceback.end_line + 1)
        )
    for source, tail in gathered.tails.items():
        if (
            source < len(sources)
            and sources[source].kind in {"log", "notebook"}
            and begins.get(source, 0) <= gathered.lines.get(source, 0)
        ):
            head = gathered.heads.get(source, "")
            found = last_words.last_words(
                tail,
                source,
                gathered.last_record.get(source, (0, 0))[0],
                known.get(source, ()),
                srun=carries_srun_labels(head),
            )
            if found is not None:
                return found._replace(
                    said=dataclasses.replace(
                        found.said, where=found.said.where.filled(sources[source].where)
                    )
                )
    return None


def _clock(
    gathered: Gathered, seen: Iterable[Seen], needed: Iterable[int], apart: Mapping[int, float]
) -> Clock:
    """Build the job's clock from every time that stands beside a finding, a traceback or a possible failure."""
    times: list[tuple[int, int, str | None]] = [
        (one.finding.source, one.finding.offset, one.finding.time) for one in seen
    ]
    times += [(one.source, one.offset, one.time) for one, _ in gathered.tracebacks]
    times += [
        (source, offset, time)
        for source, stamps in gathered.stamps.items()
        for offset, time in stamps
    ]
    return Clock(times, apart, needed)


def _assemble(
    case: Case,
    ranked: Sequence[judging.Ranked],
    first: order.Failure | None,
    job: Job,
    language: str,
    begins: dict[int, int],
    apart: Mapping[int, float],
    excerpt: Excerpt | None,
) -> Diagnosis:
    gathered, sources, knowledge, warnings, notes, given, _ = job
    series: list[Series] = sorted(
        gathered.series.values(),
        key=lambda one: (one.source, one.name, one.where.rank or 0, one.producer),
    )
    failure = views.first_failure(
        first, case, knowledge, language, is_numeric=ranked[0].id.startswith("numerics.")
    )
    excerpt = excerpt or views.excerpt(gathered, job.origins, failure, case)
    logs = [
        index
        for index, source in enumerate(sources)
        if source.kind not in {"environment", "ignored"}
    ]
    clocks = progress.clocks(gathered, failure, excerpt)
    failure = progress.dated(failure, clocks)
    done = progress.progress(gathered, case, failure, ranked[0].id, clocks, logs)
    known = views.known_numbers(gathered, sources, done)
    answer = judging.verdict(ranked, case, knowledge, language)
    told = {
        (item.source, item.line) for one in ranked[:2] for item in one.evidence if item.weight > 0
    }
    happened, left = timeline.timeline(
        case,
        gathered,
        failure,
        done,
        language,
        logs,
        apart,
        lambda name: knowledge.by_id[name].title(language),
        told,
    )
    return Diagnosis(
        knowledge_base=knowledge.version,
        sources=tuple(
            dataclasses.replace(one, note=notes[index].text(language)) if index in notes else one
            for index, one in enumerate(sources)
        ),
        attempts=_attempts(sources, begins, case.outcome),
        outcome=case.outcome,
        frameworks=tuple(
            Framework(name, version, gathered.facts.framework_lines.get(name, 0))
            for name, version in case.frameworks.items()
        ),
        verdict=answer,
        causes=tuple(
            Cause(
                one.id,
                one.id.split(".")[0],
                knowledge.title(one.id, language),
                one.probability,
                knowledge.causes.get(one.id, {}).get("explanation", {}).get(language, ""),
                one.evidence,
                fixes(
                    one.id,
                    case,
                    knowledge,
                    language,
                    is_proved=answer.status == "established" and one.id == answer.cause,
                    extra=known | views.captures_of(one.evidence, case),
                ),
                one.score,
                judging.separated(ranked[0].id, one.id, knowledge, language),
            )
            for one in ranked
        ),
        signatures=views.signature_hits(case, gathered, knowledge, language),
        first_failure=failure,
        timeline=happened,
        series=tuple(views.series_view(one, failure, len(series)) for one in series if one.points),
        environment=case.environment,
        settings=dict(case.settings),
        progress=done,
        warnings=tuple(
            one.text(language) for one in (*warnings, *_remarks(gathered, sources, apart))
        ),
        excerpt=excerpt,
        marks=marks.marks(case, gathered, failure),
        events_left=left,
        given=tuple(given),
        language=language,
    )


def _remarks(
    gathered: Gathered, sources: Sequence[Source], apart: Mapping[int, float]
) -> Iterator[Said]:
    """Say what of the reading a reader of the report should know."""
    for source, ahead in apart.items():
        yield say(
            "the clock of {path} is {ahead:+.0f} s off the others' (the same steps stand in them);"
            " corrected for the order",
            "{path} 的时钟与其他文件相差 {ahead:+.0f} 秒（它们记录了相同的步）；排序时已修正",
            path=sources[source].path,
            ahead=ahead,
        )
    if gathered.timeouts:
        yield say(
            "{count} searches for a pattern took too long, or came when the time for slow ones was"
            " spent, and were passed over",
            "有 {count} 次模式匹配超时，或因慢速匹配的时限已用完，已跳过",
            count=gathered.timeouts,
        )
    if gathered.passed_over:
        yield say(
            "{count} looks at very long lines or tracebacks were passed over: no training log holds"
            " so many in so little text",
            "有 {count} 处超长行或调用栈未细看：正常的训练日志不会在这么短的文本里出现这么多",
            count=gathered.passed_over,
        )
    if gathered.crowded_out:
        yield say(
            "{count} looks at lines were passed over: the log names more processes or metrics than"
            " can be kept, and where it does it is read in part",
            "有 {count} 处内容未细看：日志中的进程或指标名称多于可保留的数量，此后仅读取一部分",
            count=gathered.crowded_out,
        )
    if crowd := sum(
        kept.count for (_, _, where), kept in gathered.findings.items() if where == CROWD
    ):
        yield say(
            "{count} findings of processes that are too many to be told apart are counted together:"
            " the first and the last of each kind are listed",
            "有 {count} 处发现来自过多的进程，无法逐一区分，已合并计数：每种只列出首次与末次",
            count=crowd,
        )
    if gathered.unkept:
        yield say(
            "{count} values were left out: their metrics have more names than can be kept",
            "已略去 {count} 个数值：指标名称过多，无法全部保留",
            count=gathered.unkept,
        )


def _attempts(
    sources: Sequence[Source], begins: dict[int, int], outcome: str
) -> tuple[Attempt, ...]:
    found = []
    for index, source in enumerate(sources):
        if source.kind not in {"log", "notebook"} or not source.lines:
            continue
        begin = begins.get(index, 1)
        if begin > 1:
            found.append(Attempt(index, 1, min(begin - 1, source.lines), "failed"))
        if begin <= source.lines:
            found.append(Attempt(index, begin, source.lines, outcome))
    return tuple(found)


def _fatal_lines(gathered: Gathered, findings: Sequence[Finding]) -> dict[int, list[int]]:
    lines: dict[int, list[int]] = {}
    for finding in findings:
        if finding.role in {"cause", "consequence"}:
            lines.setdefault(finding.source, []).append(finding.line)
    for traceback, _ in gathered.tracebacks:
        lines.setdefault(traceback.source, []).append(traceback.line)
    return lines
