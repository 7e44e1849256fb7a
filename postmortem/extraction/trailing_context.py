"""Judge by the lines around an error who reported it, and whether the program went on.

In: the line with which a traceback begins, the lines of its process behind it, a line that quotes
an error. Out: whether it is told aside, how many lines of ordinary output follow, the level at
which a line is to be read. Not here: what follows for the run (`case.survived_errors`).
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Final

from postmortem.core.log_text import compile_lazily, compile_lazily_with_words
from postmortem.core.printed_words import join_words
from postmortem.extraction.frames import Row, is_exception_line
from postmortem.reading.prefixes import LOUD, Cleaned
from postmortem.reading.windows import View, is_same_process

EXIT: Final = "exit"
THREAD: Final = "thread"
ASIDE: Final = frozenset({EXIT, THREAD})
"""Who tells of an error beside the run, which may go on."""
TEST: Final = "test"
LOGGED: Final = "logged"
"""The program's logger tells of it, and writes on."""
REPORTED: Final = "reported"
"""The program itself announces it; whether more follows is not known."""
BETWEEN: Final = "between"
"""Lines that count stand before it, and the next ones behind it."""
CAUGHT: Final = "CAUGHT"
"""Stands for a level: the line says itself that the error it quotes was caught."""
_AT_EXIT: Final = compile_lazily(
    r"Exception ignored (?:in|on|while)\b|Error in atexit\._run_exitfuncs|--- Logging error ---"
    r"|Exception in callback\b|Call stack:$"
)
_IN_THREAD: Final = compile_lazily(
    r"Exception in thread\b|Exception in threading\.excepthook"
    r"|(?:Task|Future) exception was never retrieved"
)
_REPORTING: Final = frozenset({"ERROR", "WARNING", "WARN", "EXCEPTION"})
_BY_LETTER: Final = {"D": "DEBUG", "I": "INFO", "W": "WARNING", "E": "ERROR", "C": "CRITICAL"}
_LAST_WORDS: Final = frozenset({"CRITICAL", "FATAL"})
_LINES_BEFORE: Final = 3
_BYTES_BEFORE: Final = 600
MOST_BEHIND: Final = 16
"""Lines behind a traceback that are looked at."""
_HEAD: Final = compile_lazily(r"Traceback \(most recent|The above exception|During handling of")
_NOT_ORDINARY: Final = compile_lazily(
    r"error|exception|fail|abort|exit|terminat|kill|shut|clos|clean|interrupt|signal|crash|dump"
    r"|leak|destroy|warn|emergency|sav(?:e|ing)|stop|sync|upload|finish|elapsed|total time|help"
    r"|https?:|report|raise |return |except|assert|fatal|panic|\bsee\b|oom|memory|cannot|could not"
    r"|compile with|for debugging|unable|invalid|not found|refused|timed? ?out|hint|\bnote\b"
    r"|\bnode\b|\brank\b"
    r"|^(?:real|user|sys)\s|^(?:wandb|srun|slurm\w*|mpi\w*|make|bash|sh|pdsh|ssh)\b.{0,40}:"
    r"|^[\W_]*$|^[#*`>|{}()\[\]-]|[?？]$|\b(?:I|my|me|we|you|your)\b"
    r"|^[^\s@]{1,64}@[^\s:~]{1,64}[:~]|[$#] ",
    re.IGNORECASE,
)
_LEVEL: Final = compile_lazily(
    r"[\d\W_]{0,40}(?:[A-Za-z][\w.]{0,30}[\W_]{1,4})?"
    r"(?P<level>TRACE|DEBUG|INFO|NOTICE|SUCCESS|WARN(?:ING)?|ERROR|CRITICAL|FATAL"
    r"|(?<=\[)(?:debug|info|warning|error|critical|[DIWEC])(?= {0,8}\])"
    r"|(?<=\[)[DIWEC](?= \d{4}-\d\d-\d\d ))\b {0,8}(?:[])>|:-] ?){0,3}"
)
"""A logger's level near the beginning of a line that is of no known form."""
_COUNT: Final = compile_lazily(
    r"(?:^[\[(]?(?=\d{1,9}(?:/| of ))|(?<=[A-Za-z\u4e00-\u9fff])[\s_:=#\[(-]{0,3})"
    r"(?P<count>\d{1,9})(?![\d.])"
)
"""A number behind a word, or at the beginning as one of several."""
_FIRST_WORD: Final = compile_lazily(r"[A-Za-z\u4e00-\u9fff]{4,30}(?= )")
_TAG: Final = compile_lazily(r"\[[\w./-]{1,40}\]:? ")
"""What is put before each line, in brackets."""
_BAR: Final = compile_lazily(r"\d%\|")
_WORD: Final = compile_lazily(r"[A-Za-z\u4e00-\u9fff]{2}")
_PYTHON_WARNING: Final = compile_lazily(
    r"\.py:\d{1,6}: (?:[A-Za-z_]\w{0,60}\.){0,6}\w{0,60}Warning: "
)
_SAYS_CAUGHT: Final = compile_lazily_with_words(
    "caught ignore fall not optional non-fatal",
    r"\berror caught was\b|\b(?:can|may|could) (?:be )?(?:safely )?ignored?\b"
    r"|\bfalling back (?:to|on)\b"
    r"|\bfall back to\b|\bwill not be (?:enabled|available|used)\b|\(optional\b|\bnon-fatal\b",
    re.IGNORECASE,
)
_GOES_ON: Final = compile_lazily(
    r"\bskip(?:s|ped|ping)?\b|\bcontinu(?:e|es|ing)\b|\bignor(?:ed|ing)\b|\bleft out\b"
    r"|\bretry(?:ing)?\b|\bretries\b|\b(?:try|trying) (?:again|an?|the|another|with|next)\b"
    r"|\bfall(?:s|ing)? ?back\b|\binstead\b|" + join_words("goes-on"),
    re.IGNORECASE,
)
"""What a program says of an error with which it does not end."""
_GIVES_UP: Final = compile_lazily(
    r"\b(?:train\w*|fit|run|main|job|experiment|script|program)\b.{0,30}"
    r"\b(?:fail\w*|crash\w*|abort\w*|stop\w*|died|interrupt\w*|terminat\w*)"
    r"|\b(?:fail\w*|crash\w*|abort\w*|error|exception) (?:in|during|while) (?:the )?"
    r"(?:main|train\w*|fit|run)\b",
    re.IGNORECASE,
)
"""What it says of one with which it does, unless it also says how it goes on."""
_ENDS: Final = compile_lazily(
    r"\b(?:un(?:handled|caught|expected|recoverable)|fatal|giving up|gave up|exit(?:ing)?"
    r"|abort(?:ed|ing)?|crash(?:ed)?|refus\w*|exceeded)\b"
    r"|caught in function '(?:main|<module>|train\w*|run|fit)'|"
    + join_words("training-fails", "exits"),
    re.IGNORECASE,
)
"""What it says of one with which it does."""

PROMPT: Final = compile_lazily(
    r"(?:\([\w.+-]{1,60}\) ?){0,2}\[?[\w.-]{1,40}@[\w.-]{1,80}(?::[~/]|[: ][^\n]{0,120}[#$%>\]] )"
)
"""How a line begins that a shell prints when a program has ended."""
_SCRIPT: Final = compile_lazily(
    r"#!|#(?:SBATCH|PBS|BSUB|COBALT|\$) |#+ ?[^\W\d_]|\+{1,4} [A-Za-z_./\[]"
    r"|(?:trap|echo|printf|export|grep|egrep|sed|awk|if|elif|while|until|for|case)\b[^\n]{0,400}"
    r"(?:[$;|&]|\bthen\b|\bdo\b|['\"]$)"
    r"|(?:trap|echo|printf) ['\"]"
    r"|[^\n]{0,400}\|\| ?(?:echo|exit|true|die|return|printf|\{)"
)


def is_script(text: str) -> bool:
    """Say whether a line is the text of a batch script or the trace of a shell, no output.

    What it quotes has not happened.
    """
    return _SCRIPT.match(text.lstrip()) is not None


def identify_reporter(view: View) -> str:
    """Identify who printed the traceback that begins on a line, if not the run itself."""
    for text in itertools.islice(_iter_lines_before(view), _LINES_BEFORE):
        if _AT_EXIT.match(text):
            return EXIT
        if _IN_THREAD.match(text):
            return THREAD
    return ""


def is_logged(view: View) -> bool:
    """Say whether a logger reports an error right before the traceback that begins on a line."""
    before = _find_line_before(view)
    level = "" if before is None else split_level(before.text, before.level)[1]
    return level in LOUD and view.cleaned.level == ""


def is_reported(view: View) -> bool:
    """Say whether the line before a traceback announces an error with which the run may go on."""
    before = _find_line_before(view)
    return before is not None and is_handled(before.text, before.level)


def is_handled(text: str, level: str) -> bool:
    """Say whether a line reports an error that the program handles."""
    words, stated = split_level(text, level)
    is_going_on = goes_on(words) and stated not in _LAST_WORDS and not _ENDS.search(words)
    is_report = is_going_on or (stated in _REPORTING and not gives_up(words, stated))
    return is_report and not is_exception_line(text)


def split_level(text: str, level: str = "") -> tuple[str, str]:
    """Give a line without the level that it states itself, and that level, or the logger's."""
    match = None if level else _LEVEL.match(text)
    return (text, level) if match is None else (text[match.end() :], _spell_out(match["level"]))


def _spell_out(level: str) -> str:
    """Give a level by its full name."""
    return _BY_LETTER.get(level, level.upper())


def goes_on(text: str) -> bool:
    """Say whether a line about an error says that the program does not end with it."""
    return _GOES_ON.search(text) is not None


def gives_up(text: str, level: str) -> bool:
    """Say whether a line about an error says that the run ends with it."""
    return level in _LAST_WORDS or bool(_GIVES_UP.search(text) or _ENDS.search(text))


def _find_line_before(view: View) -> Cleaned | None:
    """Give the line right before one, if the same process has printed it."""
    end = view.start - 1
    start = view.data.rfind(b"\n", max(0, view.start - _BYTES_BEFORE), max(0, end)) + 1
    before = view.clean_at(start, end) if start < end else None
    is_own = before is not None and is_same_process(before.where, view.cleaned.where)
    return before if is_own else None


def _iter_lines_before(view: View) -> Iterator[str]:
    """Yield the lines before one, of its process, the nearest first."""
    end, low = view.start - 1, max(0, view.start - _BYTES_BEFORE)
    where = view.cleaned.where
    while end > low:
        start = view.data.rfind(b"\n", low, end) + 1 or low
        cleaned = view.clean_at(start, end)
        if cleaned.text.strip() and is_same_process(cleaned.where, where):
            yield cleaned.text.strip()
        end = start - 1


def find_first_ordinary_line(rows: Iterable[Row]) -> Row | None:
    """Find a line of ordinary output among the next ones, before another traceback or a shell."""
    for row in itertools.islice(rows, MOST_BEHIND):
        if _HEAD.search(row.text) or PROMPT.match(row.text):
            break
        text, level = split_level(row.text, row.level)
        text, level = split_level(_strip_tag(text), level)
        if row.is_own and _is_ordinary(text, level):
            return row._replace(level=level)
    return None


def _strip_tag(text: str) -> str:
    match = _TAG.match(text)
    return text if match is None else text[match.end() :]


def is_continued(view: View, rows: Iterable[Row], ordinary: Row) -> bool:
    """Say whether output of the same kind stands before a traceback and goes on behind it.

    What ended the program would stand behind all that it had printed, or before all of it. What
    is printed once more is a new start.
    """
    before = list(itertools.islice(_iter_lines_before(view), _LINES_BEFORE))
    if any(_is_next(text, row.text.strip()) for row in rows for text in before):
        return True
    word = _FIRST_WORD.match(ordinary.text)
    if word is None or not before or ordinary.text.strip() in before:
        return False
    return before[0].startswith(word[0])


def _is_next(before: str, behind: str) -> bool:
    """Say whether two lines are alike up to a count, which has risen by one."""
    for old in _COUNT.finditer(before):
        new = _COUNT.match(behind, old.start())
        if before[: old.start("count")] != behind[: old.start("count")] or new is None:
            return False
        if old["count"] != new["count"]:
            return int(new["count"]) == int(old["count"]) + 1
    return False


def _is_ordinary(text: str, level: str) -> bool:
    """Say whether a line is what a program prints that goes on.

    No error text, nothing of a shutdown, no bar, which is drawn once more at the end, no other
    program, and no person who tells of it.
    """
    return (
        level not in LOUD
        and text[:1] not in " \t"
        and _BAR.search(text) is None
        and not is_script(text)
        and _WORD.search(text) is not None
        and _NOT_ORDINARY.search(text) is None
    )


def is_in_warning(view: View) -> bool:
    """Say whether a line is the text of a Python warning whose head stands right before it."""
    before = _find_line_before(view)
    return before is not None and _PYTHON_WARNING.search(before.text) is not None


def infer_level(cleaned: Cleaned) -> str:
    """Infer the level of a line: its logger's, or one that its text states."""
    if _SAYS_CAUGHT.search(cleaned.text) and not is_exception_line(cleaned.text):
        return CAUGHT
    return cleaned.level or ("WARNING" if _PYTHON_WARNING.search(cleaned.text) else "")
