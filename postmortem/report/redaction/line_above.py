"""Where a text holds secrets whose name stands on the line above.

In: text of several lines. Out: the rules of kind `secret` for the value of a field named above
(pydantic, `name:` and `value:` of Kubernetes) and for the values that loguru and its like draw
under a line of code. Not here: names before values on one line (`assignments`), values that go on
in the next line (`continued`).

A launcher or a logger may have put anything before each of the lines.
"""

from collections.abc import Iterator
from typing import Any, Final

from postmortem.core.printed_words import join_words
from postmortem.report.redaction.assignments import REFUSED, find_secret_at
from postmortem.report.redaction.calls import Takes, call_before
from postmortem.report.redaction.hiding import (
    HidingPattern,
    HidingRule,
    Span,
    build_linear_pattern,
    build_rule,
)
from postmortem.report.redaction.people import COMMON_USERS
from postmortem.report.redaction.secret_names import (
    NAME,
    NAME_HINT,
    Named,
    evaluate_name,
    is_placeholder,
    is_secret,
)

_COMMENT: Final = r"(?:[ \t]{1,40}#[^\n]{0,160})?"
_NAME_AT_END: Final = build_linear_pattern(
    rf"(?im)(?P<n>{NAME})\\{{0,3}}['\"]?[ \t]*[,:]?{_COMMENT}[ \t]*$"
)
_VALUE_BELOW: Final = HidingPattern(
    r"(?:\n[^\n]{0,80}?[ \t]#[^\n]{0,160})?"  # a comment by itself
    r"\n[^\n]{0,120}?(?:(?<!\w)\\{0,3}['\"]?value\\{0,3}['\"]?[ \t]*[:=][ \t]*"
    rf"|[ \t]{REFUSED})"
)
_NAME_BELOW: Final = build_linear_pattern(
    r"(?im)-[ \t]{1,8}value:[ \t]{1,8}(?P<q>['\"]?)(?P<v>[^\s'\"]{4,512})['\"]?"
    rf"{_COMMENT}[ \t]*\n(?:[^\n]{{0,120}}[^\n\t -])?[ \t]{{1,40}}name:[ \t]{{1,8}}['\"]?"
    rf"(?P<n>{NAME})['\"]?{_COMMENT}[ \t]*$"
)
"""A pair of YAML whose value comes first."""
_ARROW: Final = HidingPattern(r"(?P<s>└ ?[─>]{0,3} ?)(?P<v>[^\n]{1,512})")
_QUOTED: Final = HidingPattern(r"b?(?:'([^'\n]{1,500})'|\"([^\"\n]{1,500})\")")
_ATTRIBUTE: Final = HidingPattern(r"\w{1,80}")
_WIDEST: Final = 2000
"""Characters of a line of code."""
_MOST_ARROWS: Final = 24
"""Lines of values under a line of code."""


def _find_values_below_names(text: str) -> Iterator[Span]:
    """Give the values of fields whose name ends the line above."""
    for match in _NAME_AT_END.finditer(text):
        below = _VALUE_BELOW.match(text, match.end())
        if below is not None:
            found = find_secret_at(text, match.span(1), below.end())
            if found is not None:
                yield found


def _is_named_below(match: Any) -> bool:
    is_quoted = bool(match["q"])
    return is_secret(evaluate_name(match["n"]), match["v"], is_quoted=is_quoted, is_prose=False)


def _find_values_under_code(text: str) -> Iterator[Span]:
    """Give the values that are drawn under the names of a line of code."""
    for arrow in _ARROW.finditer(text):
        begin = text.rfind("\n", max(0, arrow.start() - _WIDEST), arrow.start()) + 1
        code = _find_code_above(text, begin)
        quoted = _QUOTED.match(arrow["v"])
        if code is None or quoted is None:
            continue
        group = quoted.lastindex or 1
        if _is_secret_at(code, arrow.start() - begin, quoted[group]):
            start = arrow.start("v") + quoted.start(group)
            yield start, start + len(quoted[group])


def _find_code_above(text: str, begin: int) -> str | None:
    """Give the line of code that values are drawn under."""
    for _ in range(_MOST_ARROWS):
        if begin == 0:
            return None
        before = text.rfind("\n", max(0, begin - _WIDEST), begin - 1) + 1
        line = text[before : begin - 1]
        if "└" not in line and line.strip(" │|"):
            return line
        begin = before
    return None


def _is_secret_at(code: str, column: int, value: str) -> bool:
    """Say whether a value is a secret by the name that stands above it, or by its call."""
    if is_placeholder(value):
        return False
    name = _ATTRIBUTE.match(code, column)
    strength = evaluate_name(name[0]) if name else Named.NOTHING
    if name and name[0].lower() in {"pw", "pswd", "passw"}:
        return True
    if is_secret(strength, value, is_quoted=True, is_prose=False):
        return True
    takes = call_before(code[:column])
    if takes is None or takes is Takes.ANYTHING or value.lower() in COMMON_USERS:
        return False
    return takes is Takes.SECRETS or not code[column + len(name[0] if name else "") :].strip(" )")


_PASSWORD: Final = "password|passphrase|passcode|" + join_words("password")
_ANSWERED: Final = build_linear_pattern(
    rf"(?im)\b(?:{_PASSWORD})(?: for [^\n]{{1,120}})?[ \t]?[:：]"
    r"[ \t]*\n(?:[^\n]{0,80}[ \t\]:>])?(?P<v>[^\s]{6,128})[ \t]*$"
)
"""A prompt that ends its line, and what was typed there."""


def _is_typed(match: Any) -> bool:
    value = match["v"]
    kinds = (str.islower, str.isupper, str.isdigit, lambda char: not char.isalnum())
    return sum(any(map(kind, value)) for kind in kinds) > 2 and not value.endswith((":", ">", ")"))


LINES_ABOVE: Final = (
    build_rule("secret", f"(?i:{_PASSWORD})", _ANSWERED, _is_typed),
    HidingRule("secret", NAME_HINT, _find_values_below_names),
    build_rule("secret", "(?i)value:", _NAME_BELOW, _is_named_below),
    HidingRule("secret", "└", _find_values_under_code),
)
