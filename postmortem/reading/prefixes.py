"""Strip what wraps a line: colours, container stamps, rank labels, logger prefixes.

In: one raw line (or one frame of it) as text. Out: the text that the program printed, `ProcessId`
and the printed time as ISO 8601. Not here: which line to look at (`extraction.cursor`), what it
means.

Forms after the sources named beside them. The peeling repeats, since wrappers nest: a kubectl stamp
around an `srun -l` label around a `[rank3]:` label around a logger prefix is common.
"""

import datetime as dt
import functools
import math
import re
from typing import Final, NamedTuple

from postmortem.core.findings import NOWHERE, ProcessId
from postmortem.core.log_text import ANSI, compile_lazily

_DATE = r"(?P<date>\d{4}[-/]\d\d[-/]\d\d)"
_CLOCK = r"(?P<clock>\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)(?P<zone>Z|[+-]\d\d:?\d\d)?"
_STAMP = rf"{_DATE}[T _]{_CLOCK}"
_LEVEL = r"(?P<level>TRACE|DEBUG|INFO|SUCCESS|WARN(?:ING)?|ERROR|CRITICAL|FATAL)"

LOUD: Final = frozenset({"ERROR", "FATAL", "CRITICAL"})
"""Levels of what a logger calls an error."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

# Each form: first characters that can start it, and its pattern. Order matters: narrow before
# broad.
_FORMS: Final = (
    # kubectl logs --timestamps, CRI files, and any other line that begins with a stamp
    ("12", rf"{_STAMP}\s(?:std(?:out|err) [FP] )"),
    # OpenMMLab, mmcv, torchtitan, LLaMA-Factory: "date time - name - LEVEL - "
    ("12", rf"{_STAMP} - [\w.<>/-]{{1,80}} - {_LEVEL} - (?:\S{{1,200}} - \S{{1,80}} - \d+ - )?"),
    (
        "01",
        (
            rf"(?P<monthday>\d\d/\d\d) {_CLOCK} - [\w.-]{{1,80}} - {_LEVEL} - (?:\S{{1,200}} -"
            r" \S{1,80} - \d+ - )?"
        ),
    ),
    ("01", rf"(?P<usdate>\d\d/\d\d/\d{{4}}) {_CLOCK} - {_LEVEL} - [\w.-]{{1,80}} - +"),
    # fairseq: "date time | INFO | name | "
    ("12", rf"{_STAMP} \| {_LEVEL}\s*\| (?:[\w.]{{1,60}}(?::[\w<>]{{1,60}}:\d+)? (?:\||-) )?"),
    ("12", rf"{_STAMP}\s*(?:[|:,-]\s*)?\[?{_LEVEL}(?:\]|\b)\s*(?:[:|-]\s*)?"),
    (
        "12",
        rf"{_DATE}T{_CLOCK} (?= )",
    ),  # kubectl before an indented line: the indentation is the line's own
    ("12", rf"{_STAMP}(?:\s*[|:,-]\s+|\s+|$)"),
    # DeepSpeed: "[date time] [INFO] [file.py:1:func] "; axolotl adds PID and RANK
    (
        "[",
        (
            rf"\[{_STAMP}\] \[{_LEVEL}\] (?:\[[^\]\s]{{1,120}}\] )?(?:\[PID:(?P<pid3>\d{{1,18}})\]"
            r" )?(?:\[RANK:(?P<rank3>\d{1,9})\] )?"
        ),
    ),
    # torch 2.1-2.2: "[date time] torch.distributed...: [WARNING] "
    ("[", rf"\[{_STAMP}\] [\w.]{{1,120}}: \[{_LEVEL}\] "),
    # XTuner 1.x (loguru): "[XTuner][RANK 0][date time][INFO] "
    ("[", rf"\[[A-Za-z]\w{{0,30}}\](?:\[RANK (?P<rank2>\d{{1,9}})\])?\[{_STAMP}\]\[{_LEVEL}\]\s?"),
    # Hydra: "[date time][name][LEVEL] - "
    ("[", rf"\[{_STAMP}\]\[[\w.<>-]{{1,80}}\]\[{_LEVEL}\] - "),
    (
        "[",
        rf"\[{_STAMP}\](?:\[{_LEVEL}\])?(?::\s?|\s(?:- )?)",
    ),  # more blanks are the line's own indentation
    # Tornado, Jupyter, Optuna: "[W 2024-05-01 12:00:00,123] text", with a module before the bracket
    ("[", rf"\[[DIWEC] {_STAMP}(?: [\w.:-]{{1,80}})?\] "),
    ("[", r"\[titan\] "),
    # a clock without a day, with a level or a rank behind it: "[10:00:00][I] ", "10:00:00.123 rank
    # 3 ", "10:00:00 | INFO | "
    ("[", rf"\[(?P<clock6>\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?)\](?:\[(?:{_LEVEL}|[DIWEC])\])?:? ?"),
    (
        "012",
        (
            r"(?P<clock7>\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)(?: +(?:\| ?)?|\|)"
            rf"\[?(?:{_LEVEL}|[DIWEC])\b ?\]?:? *(?:\| ?)?"
        ),
    ),
    ("012", r"(?P<clock8>\d\d:\d\d:\d\d(?:[.,]\d{1,9})?) \[?[Rr]ank[ =]?(?P<rank5>\d{1,5})\]?:? ?"),
    ("012", r"(?P<clock9>\d\d:\d\d:\d\d(?:[.,]\d{1,9})?) (?=[ \t^A-Za-z\[(<{])"),
    (
        "Rr",
        (
            r"[Rr]ank[ =]?(?P<rank6>\d{1,5})(?:: | \| |,?"
            r" (?=step|epoch|iter|batch|INFO|ERROR|WARN|DEBUG))"
        ),
    ),
    # transformers explicit format; LLaMA-Factory
    ("[", rf"\[{_LEVEL}\|(?:[\w./-]+:\d+\]? ?)?{_STAMP}\]?(?: [\w./:-]{{1,120}})? >> "),
    ("[", rf"\[{_LEVEL}\|[\w./-]{{1,120}}:\d+\] {_STAMP} >> "),
    # torch --tee and the rank label of sys.excepthook and of the C++ logger
    ("[", r"\[rank ?(?P<rank>\d{1,9})\]:? ?"),
    ("[", r"\[(?!epoch|step|iter|layer|block|stage|fold|batch)[a-z]{3,12}(?P<local>\d{1,9})\]:\s?"),
    # mpirun --tag-output
    ("[", r"\[\d+,(?P<rank4>\d{1,9})\]<std(?:out|err)>:\s?"),
    # c10 logger: "[E1111 17:01:37.06 file.cpp:683] " and older "[E file.cpp:577] "
    (
        "[",
        (
            r"\[[IWEF](?:\d{3,4} (?P<clock2>\d\d:\d\d:\d\d)\.\d+)?"
            r" (?=[\w/.]+\.(?:cpp|h|hpp|cc):\d+\])[\w/.]+:\d+\] "
        ),
    ),
    # torch._logging: "W0301 12:00:00.123000 1234 torch/x.py:12] "
    (
        "IWEFV",
        (
            r"(?:[IWEV]|(?P<fatal>F))\d{3,4} (?P<clock3>\d\d:\d\d:\d\d)\.\d+ +(?P<pid2>\d{1,18})"
            r" [\w/.<>-]+:\d+\] "
        ),
    ),
    ("IWECD", rf"{_LEVEL}:[\w.]{{3,120}}:(?=\S)"),
    ("IWECD", rf"{_LEVEL}:{_STAMP}: ?"),
    # vLLM: "WARNING 12-18 11:27:11 [tokenizer.py:284] "
    (
        "IWECD",
        (
            rf"{_LEVEL} \d\d-\d\d (?P<clock>\d\d:\d\d:\d\d)"
            r" \[?[\w./]{1,80}:\d{1,5}\] "
        ),
    ),
    # "%(levelname)-8s %(message)s"
    ("IWED", rf"{_LEVEL} {{2,5}}(?=\S)"),
    # Ray: "(TaskRunner pid=12, ip=10.0.0.1) "
    ("(", r"\((?:[\w.<>:\[\]-]{1,80} )?pid=(?P<pid>\d{1,18})(?:, ip=(?P<ip>[\d.]+))?\)\s?"),
    # DeepSpeed over pdsh, docker compose
    ("wnhg", r"(?P<node>(?:worker|node|host|gpu)-?\d{1,5})(?:: |:$| +\| )"),
    # docker compose: "trainer-1  | text"
    (
        _LETTERS,
        (
            r"(?!(?:epoch|step|iter|layer|block|stage|fold|batch)-)[a-z][\w.-]{0,40}[-_]\d{1,3}"
            r" {1,20}\| "
        ),
    ),
    # syslog and dmesg
    (
        "JFMASOND",
        (
            r"[A-Z][a-z]{2} {1,2}\d{1,2} (?P<clock4>\d\d:\d\d:\d\d) (?P<host>[\w.-]+)"
            r" (?:kernel|[\w.-]+\[\d+\]): (?:\[ *(?P<uptime2>\d{1,9}\.\d{1,9})\] )?"
        ),
    ),
    # `ts` of moreutils, journalctl -o short without a unit: "May  3 10:00:00 text"
    ("JFMASOND", r"[A-Z][a-z]{2} {1,2}\d{1,2} (?P<clock10>\d\d:\d\d:\d\d) "),
    ("[", r"\[ *(?P<uptime>\d{1,9}\.\d{3,6})\] "),
    ("[", r"\[[A-Z][a-z]{2} [A-Z][a-z]{2} {1,2}\d{1,2} (?P<clock5>\d\d:\d\d:\d\d) \d{4}\] "),
    # a day without a year, in brackets, as many scripts print: "[11/04 10:00:00] "
    ("[", r"\[(?P<monthday2>\d\d[-/]\d\d) (?P<clock11>\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)\](?:: ?|\s)"),
    # what pytest prints was raised: "E       KeyError: 'lr'"
    (
        "E",
        r"E {3,9}(?=(?:[A-Za-z_]\w{0,60}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception|Warning|Exit)\b)",
    ),
    # a member of an exception group: "    | KeyError: 'lr'"
    (
        " ",
        (
            r" {2,20}\| (?=(?:[A-Za-z_]\w{0,60}\.){0,6}"
            r"[A-Z]\w{0,60}(?:Error|Exception|Group|Exit|Interrupt)\b)"
        ),
    ),
    # Megatron core >= 0.7
    (" ", rf" \[{_STAMP}\] "),
    # pm2 logs: "0|train    | text"
    ("0123", r"\d{1,3}\|[A-Za-z][\w.-]{0,30} {0,20}\| "),
    # quoted in Markdown or a mail
    (">", r">(?: |$)"),
    # program output in the comments of a script or a notebook
    (
        "#\t",
        (
            r"\t?# (?=Traceback \(most|  File \"|    \S"
            r"|(?:[\w.]{1,80}\.)?\w{1,60}(?:Error|Exception)\b"
            r"|slurmstepd: |srun: |\[rank|\d{4}-\d\d-\d\d[T ]\d\d:)"
        ),
    ),
)
_NCCL: Final = compile_lazily(
    r"(?P<node2>[A-Za-z][\w.-]{0,62}):(?P<pid4>\d{1,7}):\d{1,7} \[\d{1,3}\] (?=(?:[\w./]{1,60}:\d+"
    r" )?NCCL )"
)
"""NCCL_DEBUG: "node1:4242:4300 [0] NCCL INFO text": host, process, thread, CUDA device."""
_BEHIND_SECONDS: Final = compile_lazily(r"(?<=:\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)?\Z")
_CLOCKS: Final = ("clock", *(f"clock{number}" for number in range(2, 12)))
_GROUP: Final = compile_lazily(r"\(\?P<(\w+)>")


class _PrefixForms(NamedTuple):
    """The forms that one first character can start, as one pattern.

    A line is tried against all of them in one go.
    """

    pattern: re.Pattern[str]
    groups: dict[str, tuple[tuple[str, int], ...]]
    """By the empty group that ends a form: what its own groups hold, and their numbers."""

    @classmethod
    def starting_with(cls, start: str) -> "_PrefixForms":
        """Join patterns in their order; groups of the same name are kept apart."""
        joined, names, groups = [], list[str](), {}
        for form in (pattern for starts, pattern in _FORMS if start in starts):
            own = _GROUP.findall(form)
            first = len(names) + 1
            groups[f"form{first}"] = tuple((name, first + index) for index, name in enumerate(own))
            joined.append(_GROUP.sub(rf"(?P<\g<1>_{first}>", form) + f"(?P<form{first}>)")
            names += [*own, "form"]
        return cls(compile_lazily("|".join(joined)), groups)


_BY_START: Final = {
    start: _PrefixForms.starting_with(start) for start in f"0123[IWEFVCD(JMASON R>#\t{_LETTERS}"
}
_RANKS: Final = ("rank", "rank2", "rank3", "rank4", "rank5", "rank6", "task")
_PIDS: Final = ("pid", "pid2", "pid3", "pid4")
_NODES: Final = ("node", "node2", "host", "ip")
_PROCESS_GROUPS: Final = frozenset({*_RANKS, *_PIDS, *_NODES, "local"})
_SRUN: Final = compile_lazily(r" {0,5}(?!\d\d:\d\d:\d\d)(?P<rank>\d{1,5}): ?")


class Cleaned(NamedTuple):
    """A line without its wrappers."""

    text: str
    where: ProcessId
    time: str | None
    level: str = ""
    """The logger's level as printed, or an empty string."""


def clean(raw: str, *, srun: bool = False) -> Cleaned:
    """Peel colours, rank labels and logger prefixes off one line.

    Args:
        raw: a line without its line break.
        srun: the file carries `srun --label` task numbers ("3: text"); decided per file by
            `has_srun_labels`.
    """
    found: dict[str, str] = {}
    text = _strip_prefixes(raw, found, srun=srun)
    if not found:
        return Cleaned(text, NOWHERE, None)
    level = found.get("level") or ("FATAL" if "fatal" in found else "")
    return Cleaned(text, _build_process(found), _format_time(found), level)


_EMPHASIS: Final = compile_lazily(
    r"\*\*(?P<text>(?:[A-Za-z][\w ./-]{0,40}[:=]\s{0,4})?[-+]?"
    r"(?:\d[\d.,]{0,30}(?:[eE][-+]?\d{1,3})?|nan|inf)"
    r"|[A-Za-z][\w ./-]{0,40}[:=]?(?=\*\*\s{0,4}[:=]?\s{0,4}[-+]?\d))\*\*",
    re.IGNORECASE,
)
"""Figures, and names before figures, in the bold type of whoever pasted the log."""


def has_gaps(data: bytes, start: int, end: int) -> bool:
    """Say whether cleaning may take something from the midst of a line, where words then meet."""
    return any(data.find(sign, start, end) >= 0 for sign in (b"\x1b", b"\x00", b"**"))


def _strip_prefixes(raw: str, found: dict[str, str], *, srun: bool) -> str:
    text = ANSI.sub("", raw) if "\x1b" in raw else raw
    text = text.replace("\x00", "") if "\x00" in text else text
    text = _EMPHASIS.sub(r"\g<text>", text) if "**" in text else text
    text = _strip_backtick(text) if "`" in text else text
    if srun:
        text = _strip_task_label(text, found)
    for _ in range(6):
        shorter = _strip_one_prefix(text, found)
        if shorter is None:
            break
        text = _strip_task_label(shorter, found) if srun else shorter
    return text


def _strip_backtick(text: str) -> str:
    """Strip a lone backtick, as at either end of several pasted lines."""
    is_alone = text.count("`") == 1 and text.strip(" `") != ""
    return text.strip("`") if is_alone else text


def _strip_task_label(text: str, found: dict[str, str]) -> str:
    """Take off the one label of `srun`.

    It stands outside what the program's own logger prints, so behind a level there is none.
    """
    if "task" in found or "level" in found or (match := _SRUN.match(text)) is None:
        return text
    found["task"] = match["rank"]
    return text[match.end() :]


def _strip_one_prefix(text: str, found: dict[str, str]) -> str | None:
    forms = _BY_START.get(text[:1])
    match = forms.pattern.match(text) if forms is not None else None
    if match is not None and forms is not None and match.lastgroup is not None:
        names = forms.groups[match.lastgroup]
    elif " NCCL " in text and (match := _NCCL.match(text)):
        names = tuple(_NCCL.groupindex.items())
    else:
        return None
    for name, number in names:
        if name not in found and (value := match[number]) is not None:
            found[name] = value
    return text[match.end() :]


def _build_process(found: dict[str, str]) -> ProcessId:
    if _PROCESS_GROUPS.isdisjoint(found):
        return NOWHERE
    rank, pid = _get_first(found, _RANKS), _get_first(found, _PIDS)
    if "pid2" in found:  # the thread or process of a torch logger line: not a process label
        pid = None
    local, node = found.get("local"), _get_first(found, _NODES)
    if rank is None and local is None and node is None and pid is None:
        return NOWHERE
    return ProcessId(
        None if rank is None else int(rank),
        None if local is None else int(local),
        node,
        None if pid is None else int(pid),
    )


def _get_first(found: dict[str, str], names: tuple[str, ...]) -> str | None:
    for name in names:
        if name in found:
            return found[name]
    return None


def _format_time(found: dict[str, str]) -> str | None:
    clock = _get_first(found, _CLOCKS)
    if clock is None:
        uptime = found.get("uptime") or found.get("uptime2")
        return f"+{uptime}s" if uptime else None
    clock = clock.replace(",", ".")
    if "date" in found:
        return f"{found['date'].replace('/', '-')}T{clock}{found.get('zone', '')}"
    if "usdate" in found:
        month, day, year = found["usdate"].split("/")
        return f"{year}-{month}-{day}T{clock}"
    monthday = found.get("monthday") or found.get("monthday2")
    if monthday is not None:
        return f"--{monthday.replace('/', '-')}T{clock}"
    return f"T{clock}"


def get_time_basis(time: str | None) -> str | None:
    """Say how much of a printed time is there: full, no-year, no-date, uptime."""
    if time is None:
        return None
    if time.startswith("+"):
        return "uptime"
    if time.startswith("--"):
        return "no-year"
    return "no-date" if time.startswith("T") else "full"


def convert_to_seconds(time: str | None) -> float:
    """Give a printed time as seconds; NaN if it cannot be read.

    With a date they count from 1970 in UTC, a time without a zone taken as UTC; without a year from
    2000; without a day from midnight; an uptime from the boot.
    """
    if time is None:
        return math.nan
    if time.startswith("+"):
        return float(time[1:-1])
    text = (
        f"1970-01-01{time}"
        if time.startswith("T")
        else f"2000{time[1:]}"
        if time.startswith("--")
        else time
    )
    try:
        parsed = dt.datetime.fromisoformat(_normalise_iso_time(text))
    except ValueError:
        return math.nan
    return parsed.replace(tzinfo=parsed.tzinfo or dt.timezone.utc).timestamp()


def _normalise_iso_time(text: str) -> str:
    """Write fraction and zone as Python 3.10 reads them: six digits, a colon within the zone."""
    found = _BEHIND_SECONDS.search(text)
    if found is None:
        return text
    fraction, zone = found.groups("")
    fraction = fraction and fraction[:7].ljust(7, "0")
    zone = "+00:00" if zone == "Z" else zone
    zone = f"{zone[:3]}:{zone[-2:]}" if zone else ""
    return f"{text[: found.start()]}{fraction}{zone}"


@functools.lru_cache(maxsize=16)
def has_srun_labels(sample: str) -> bool:
    """Say whether most lines of the sample begin with `srun --label`'s task number.

    Lines of a server may be mixed in, and the number may stand behind a stamp or in colour. A
    single leading "12: " is data; only the same shape on many lines, with at least two task numbers
    or task 0, is a label. Behind a stamp, numbers that only rise are epochs or items.
    """
    lines = [line for line in sample.split("\n") if line.strip()][:400]
    if len(lines) < 8:
        return False
    tasks, is_bare = [], True
    for number, line in enumerate(lines):
        found: dict[str, str] = {}
        _strip_prefixes(line, found, srun=True)
        if "task" in found:
            tasks.append(int(found["task"]))
            is_bare = is_bare and _SRUN.match(line) is not None
        elif number + 1 - len(tasks) > 0.25 * len(lines):
            return False
    is_rising = tasks == sorted(tasks)
    return not (is_rising and len(set(tasks)) > (0.8 * len(tasks) if is_bare else 1))
