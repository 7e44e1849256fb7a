"""Put text from a log between marks that the log cannot guess.

In: text that may hold anything. Out: the same, made visible, between two marks with a number drawn
for this answer alone, and before them the sentence that it is data. Not here: what is quoted
(`report.assistant_answer`).

A language model reads an answer as one text. Text from a log, a file name or a setting must not
read as text of the program or the user, so it appears between the marks and nowhere else.
"""

import secrets
from collections.abc import Mapping
from typing import Final

from postmortem.core.visible import escape_control_characters

_BYTES: Final = 8


def wrap_untrusted_text(text: str, phrases: Mapping[str, str]) -> str:
    """Put text between marks that do not occur in it, with the notice above.

    `phrases`: the texts `notice`, `begin` and `end` of a language.
    """
    seen = escape_control_characters(text)
    mark = secrets.token_hex(_BYTES)
    while mark in seen:
        mark = secrets.token_hex(_BYTES)
    begin, end = phrases["begin"].format(mark=mark), phrases["end"].format(mark=mark)
    return "\n".join((phrases["notice"].format(mark=mark), begin, seen, end))
