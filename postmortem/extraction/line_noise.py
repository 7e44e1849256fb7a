"""Mask what differs between any two runs, and recognise lines that say nothing.

In: lines of a log, cleaned. Out: their wording without what is a run's own (numbers, paths, times,
ids), and whether a line is a banner, a drawing, a bar, the voice of a launcher or of an import.
Not here: reading logs, which wordings another run has (`interfaces.compare`).
"""

import re
from typing import Final

from postmortem.core.log_text import compile_lazily
from postmortem.extraction.frames import is_exception_line, is_library, match_frame

_DAY: Final = (
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
)
_OWN: Final = compile_lazily(
    # paths, addresses
    r"(?<![\w.@%+=:~-])(?:[A-Za-z]{1,9}:)?(?:[\w.@%+=:~-]{0,120}[/\\]){1,40}[\w.@%+=:~-]{0,120}"
    r"|(?<![\w.])[\w-]{1,80}\.(?:py|sh|ya?ml|json|toml|log|txt|pth?|ckpt|bin|safetensors)\b"
    r"|\b[\w.-]{0,60}\d{8}[-_]?\d{4,6}[\w.-]{0,60}"  # named after its time
    r"|0x[0-9a-fA-F]+|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{8,}\b"
    rf"|\b{_DAY}(?= +\d| +{_DAY})|(?<=\d )[AP]M\b|(?<=\d )UTC\b"
    r"|(?<![A-Za-z])[-+]?(?:nan|inf(?:inity)?)(?![A-Za-z])"
    r"|[-+]?\d[\d.,:/e+-]*",
    re.IGNORECASE,
)
_TOKEN: Final = compile_lazily(r"(?<![\w+-])[\w+-]{8,}={0,2}(?![\w+-])")
_TURNS: Final = compile_lazily(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_TURNS_OF_AN_ID: Final = 4
_LIST: Final = compile_lazily(r"#(?:['\"]?[\s,;x×%]{1,4}['\"]?#){1,200}")
_SPACE: Final = compile_lazily(r"\s+")
_WORD: Final = compile_lazily(r"[^\W\d_]{3}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_BAR: Final = compile_lazily(
    r"\d%\s?\||\b(?:it|step|sample|example|batch|file)s?/s\b|\bs/(?:it|step|batch)\b"
    r"|\[\d{1,4}:\d\d(?::\d\d)?<|[━╸╺█▏▎▍▌▋▊▉]{3}|\[[=#]{1,80}>?[. -]{0,80}\]"
)
_DRAWN: Final = compile_lazily(
    r"[^|]{0,200}\|[^|]{0,300}\|\s{0,9}\d{1,12}/\d{1,12} \[[^\]]{0,300}\](?=.)"
)
_FRAMED: Final = compile_lazily(
    r"([=*#~_+-])\1{2,}\s*(?P<text>[^=*#~_+]*[^=*#~_+\s-])?\s*[=*#~_+|-]*"
)
_WORDS_OF_A_BANNER: Final = 5
_LEAST_LETTERS: Final = 0.45
"""Share of letters and figures below which a line is a drawing."""
_LAUNCHER: Final = compile_lazily(
    r"\[(?:launch|runner|multinode_runner|real_accelerator|comm)\.py:\d+:"
    r"|\btorch(?:/|\.)distributed(?:/|\.)(?:run|launcher|elastic)\b"
    r"|^\W{0,3}(?:Tip|HINT):|^\s*warn(?:ings\.warn)?\("
    r"|^\s*(?:time|host|rank|exitcode) {2,}: |^\s*(?:error_file|traceback ?): "
    r"|^(?:Failures|Root Cause \(first observed failure\)):|^\S{1,200}\.py FAILED$"
)
"""What stands below the first failure in torchrun's summary is told by the lines above it."""
_GRAVE: Final = compile_lazily(r"\b(?:ERROR|CRITICAL|FATAL)\b|\bexits? with\b|(?<!\w)E\d{4} ")
_WARNED: Final = compile_lazily(r"(?P<file>[^\s:][^:\n]{0,300}\.py):\d{1,7}: (?P<said>.*)")
_TO_COME: Final = compile_lazily(r"FutureWarning: |DeprecationWarning: |\bdeprecated\b")
"""What tells of a version to come, of no run."""


def normalize_line(text: str) -> str:
    """Give what stays of a line when its numbers, paths, times, ids and ornaments are gone."""
    bare = _LIST.sub("#", _OWN.sub("#", _TOKEN.sub(_mask_id_token, text)))
    return _SPACE.sub(" ", bare).strip(" *=~")


def _mask_id_token(match: re.Match[str]) -> str:
    """Take out a word that no one chose: it goes from letters to figures again and again."""
    token = match[0]
    is_id = len(_TURNS.findall(token)) >= _TURNS_OF_AN_ID or (
        len(token) >= 16
        and any(character.islower() for character in token)
        and sum(character.isupper() for character in token) > 4
        and any(character.isdigit() for character in token)
    )
    return "#" if is_id else token


def is_uninformative(text: str, worded: str) -> bool:
    """Say whether a line is a bar, a drawing, a heading, or holds only what is a run's own."""
    if not _WORD.search(worded) or _BAR.search(text):
        return True
    shown = [character for character in text if not character.isspace()]
    if sum(character.isalnum() for character in shown) < _LEAST_LETTERS * len(shown):
        return True
    banner = _FRAMED.fullmatch(text)
    return (
        banner is not None
        and len((banner["text"] or "").split()) <= _WORDS_OF_A_BANNER
        and not is_exception_line(banner["text"] or "")
    )


def is_surrounding(raw: str, text: str, *, is_before: bool) -> bool:
    """Say whether a launcher or an import printed the line, not the run.

    Args:
        raw: the line as printed.
        text: the line without what stands before it.
        is_before: nothing has been trained yet.
    """
    if _LAUNCHER.search(raw) and not _GRAVE.search(raw):
        return True
    warned = _WARNED.match(text)
    if warned is None:
        return False
    return bool(_TO_COME.search(warned["said"])) or (is_before and is_library(warned["file"]))


def strip_progress_bar(text: str) -> str:
    """Give what was printed behind a bar on its line; a line without a bar is given as it is."""
    return _DRAWN.sub("", text, count=1) if "[" in text and "/" in text else text


class FoldedLines:
    """Leaves of a traceback its last line, and of a warning its first.

    The frames of two failures are never the same, the code behind a warning is a library's.
    """

    def __init__(self) -> None:
        """Be outside of any."""
        self._inside: set[object] = set()
        self._warned: set[object] = set()

    def takes(self, process: object, text: str) -> bool:
        """Say whether a line, with its indentation, belongs to what is folded."""
        if text.lstrip(" |+").startswith("Traceback (most recent call last)"):
            self._inside.add(process)
            return True
        is_inner = text[:1].isspace() or bool(match_frame(text))
        if process in self._inside:
            if not is_inner:
                self._inside.discard(process)
            return is_inner
        if process in self._warned and text[:1].isspace():
            return True
        self._warned.discard(process)
        if _WARNED.match(text):
            self._warned.add(process)
        return False
