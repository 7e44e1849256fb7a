"""Make control characters in log text visible, so that they steer no terminal, page or runner.

In: text from a log. Out: text in which every control character can be seen. Not here: the length
of what is shown (`report.plain`), escaping for HTML or Markdown, which each form does last.
"""

import re
from typing import Final

from postmortem.core.lazy_regex import compile_lazily

ANSI: Final = compile_lazily(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[]PX^_][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[()][A-Z0-9])"
)
"""What a terminal obeys and does not show: colours, movements, titles."""

# Bidirectional controls reorder what a reader sees (CVE-2021-42574); U+2028 and U+2029 break lines
# in some viewers; what cannot be seen at all hides the rest. A joiner is kept where it joins emoji.
_UNSEEN: Final = (
    "\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c"
    "\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    "\U000e0000-\U000e0fff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
)
UNSEEN: Final = compile_lazily(f"[{_UNSEEN}]|(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d")
_STEERING: Final = compile_lazily(f"[\x00-\x08\x0b-\x1f]|{UNSEEN.pattern}")
# A runner obeys the first at the start of a line, wherever a wrapped line starts, and the others
# anywhere (actions/runner, ActionCommand; Azure Pipelines; TeamCity).
_COMMANDS: Final = (
    "add-mask|add-matcher|add-path|debug|echo|endgroup|error|group|internal-set-repo-path|notice"
    "|remove-matcher|save-state|set-env|set-output|stop-commands|warning"
)
RUNNER: Final = compile_lazily(
    rf":(?=:(?:{_COMMANDS})(?: |::))|#(?=#(?:\[|vso\[|teamcity\[))", re.IGNORECASE
)
_CR_BEFORE_BREAK: Final = compile_lazily(r"\r+(?=\n|$)")


def get_last_draw(line: str) -> str:
    """Give what a terminal shows last of a line that is drawn again and again."""
    return line.rstrip("\r").rsplit("\r", 1)[-1]


def escape_control_characters(text: str) -> str:
    r"""Take colours out; show every other control character as a picture or an escape.

    So is what begins a runner's command; `\n` stays, a tab is four spaces.
    """
    bare = _CR_BEFORE_BREAK.sub("", ANSI.sub("", text)) if "\x1b" in text or "\r" in text else text
    seen = _STEERING.sub(_format_control_character, bare).replace("\t", "    ")
    return RUNNER.sub(escape_character, seen) if "::" in seen or "##" in seen else seen


def _format_control_character(match: "re.Match[str]") -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else escape_character(match)


def escape_character(match: "re.Match[str]") -> str:
    """Write a character as JSON and Python escape it."""
    code = ord(match[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
