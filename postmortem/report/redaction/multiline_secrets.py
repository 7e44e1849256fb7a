"""Where a text holds secrets whose name stands on another line: above, in a heading, in a manifest.

In: text of several lines, or a manifest in JSON on one line. Out: the rules of kind `secret` for
the value of a field named above (pydantic, `name:` and `value:` of Kubernetes), for the values that
loguru and its like draw under a line of code, for the cells of a table below a heading that names a
secret, for the values of a manifest of Kubernetes whose kind is Secret, whatever their keys are.
Not here: names before values on one line (`assignments`), values that go on in the next line
(`continued`), private keys (`private_keys`).

A launcher or a logger may have put anything before each of the lines. Columns are parted by bars,
tabs, commas or several blanks. The kind of a manifest may stand before or behind the values:
`kubectl` writes the fields by the alphabet.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from postmortem.core.printed_words import join_words
from postmortem.report.redaction.arguments import Takes, call_before
from postmortem.report.redaction.assignments import REFUSED, find_secret_at
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


_HEADING: Final = build_linear_pattern(
    rf"(?im)(?:^|[|│┃,;\t]|  |: |\] )[ \t]*(?P<n>{NAME})[ \t]*(?:[|│┃,;\t]|  |$)"
)
_PARTERS: Final = (
    HidingPattern("[|│┃]"),
    HidingPattern("\t"),
    HidingPattern(","),
    HidingPattern(";"),
    HidingPattern(" {2,}"),
)
_RULER: Final = HidingPattern(r"[^\n]{0,80}?[-=+:|│┃─━═┼╪╋├┤┝┥╞╡┠┨┡┩╇ \t]{5,}")
_TITLE: Final = HidingPattern(r"[^\W\d][\w ()./#-]{0,30}|#")
_FIGURE: Final = HidingPattern(r"[-+]?\d{1,5}|[-+]?[\d,]*\.\d+(?:e[-+]?\d+)?%?")
_MOST_ROWS: Final = 40
_LONGEST: Final = 2000


class _Cell(NamedTuple):
    start: int
    text: str


def _find_cells_below_names(text: str) -> Iterator[Span]:
    """Give the cells of the columns that a name of a secret heads."""
    done = 0
    for match in _HEADING.finditer(text):
        begin = text.rfind("\n", done, match.start(1)) + 1
        end = text.find("\n", match.end(1))
        if match.start(1) >= done and 0 < end - begin <= _LONGEST:
            done, found = _find_in_rows(text, begin, end)
            yield from found


def _find_in_rows(text: str, begin: int, end: int) -> tuple[int, list[Span]]:
    """Give the secrets in the rows of a table, of which the line of headings is given.

    And where its last row begins.
    """
    heading, found = text[begin:end].rstrip(), list[Span]()
    parter = next((one for one in _PARTERS if one.search(heading.strip())), None)
    if parter is None or not _are_titles(cells := _split(heading, parter)):
        return begin, found
    columns = [at for at, cell in enumerate(cells) if evaluate_name(cell.text)]
    for _ in range(_MOST_ROWS):
        begin = end + 1
        end = text.find("\n", begin)
        row = text[begin : end if end >= 0 else len(text)].rstrip()[: _LONGEST + 1]
        parts = _split(row, parter)
        if len(parts) == len(cells):
            found += _find_in_row(begin, parts, cells, columns)
        if end < 0 or not (len(parts) == len(cells) or _RULER.fullmatch(row)):
            break
    return begin, found


def _find_in_row(
    begin: int, parts: list[_Cell], titles: list[_Cell], columns: list[int]
) -> Iterator[Span]:
    """Yield the secrets of a row that begins at a place of the text."""
    for at in columns:
        if _is_secret_cell(titles[at].text, parts[at].text):
            start = begin + parts[at].start
            yield start, start + len(parts[at].text)


def _split(line: str, parter: HidingPattern) -> list[_Cell]:
    """Give the cells of a line, of the first one the last word: a launcher may stand before it."""
    cells, start = [], 0
    for end, following in [*(one.span() for one in parter.finditer(line)), (len(line), 0)]:
        part = line[start:end]
        cells.append(_Cell(start + len(part) - len(part.lstrip()), part.strip()))
        start = following
    first = cells[0].text.split(" ")[-1]
    cells[0] = _Cell(cells[0].start + len(cells[0].text) - len(first), first)
    return cells


def _are_titles(cells: list[_Cell]) -> bool:
    """Say whether all cells of a line are short names, at least two of them."""
    named = [cell.text for cell in cells if cell.text]
    return len(named) > 1 and all(map(_TITLE.fullmatch, named[1:]))


def _is_secret_cell(name: str, cell: str) -> bool:
    return (
        not _FIGURE.fullmatch(cell)
        and not evaluate_name(cell)
        and is_secret(evaluate_name(name), cell.strip("'\"`"), is_quoted=True, is_prose=False)
    )


TABLES: Final = (HidingRule("secret", NAME_HINT, _find_cells_below_names),)


_KIND: Final = build_linear_pattern(
    r"(?:^|[\s{,'\"\\])kind\\{0,3}['\"]?:[ \t]*\\{0,3}['\"]?Secret(?:\\{0,3}['\"]|[,\s}]|$)"
)
_HINT: Final = r"kind[\\]*['\"]?:[ \t]*[\\]*['\"]?Secret"
_FIELDS: Final = HidingPattern(
    r"(?m:^(?P<p>[^\n]{0,80}?)(?:data|stringData):[ \t]{0,8}$)"
    r"|['\"](?:data|stringData)\\{0,3}['\"]:\s{0,8}\{(?P<j>[^{}]{1,4000})\}"
)
_LINE: Final = HidingPattern(
    r"[\w.-]{1,253}:[ \t]{1,8}(?:['\"](?P<a>[^'\"\n]{1,4096})|(?P<b>[^\s'\"|>][^\n]{0,4096}))"
)
_BLOCK_OPENED: Final = HidingPattern(r"[\w.-]{1,253}:[ \t]{1,8}[|>][+-]?[ \t]*$")
_VALUE: Final = HidingPattern(
    r"\\{0,3}['\"][\w.-]{1,253}\\{0,3}['\"]\s{0,8}:\s{0,8}\\{0,3}['\"](?P<v>[^'\"\\\n]{1,4096})"
)
_AROUND: Final = 6000
"""Characters around the kind in which the values stand."""
_MOST_LINES: Final = 60


def _find_values(text: str) -> Iterator[Span]:
    """Give the values of every Secret, in the order of the text."""
    done = seen = 0
    for kind in _KIND.finditer(text):
        start = max(seen, kind.start() - _AROUND)
        start = max(start, text.rfind("\n---", start, kind.start()))
        seen = min(len(text), kind.end() + _AROUND)
        end = text.find("\n---", kind.end(), seen)
        seen = end if end >= 0 else seen
        for fields in _FIELDS.compiled.finditer(text, start, max(start, seen)):
            if fields.start() < done:
                continue
            for first, last in _iter_field_values(text, fields):
                if not is_placeholder(text[first:last]):
                    done = last
                    yield first, last


def _iter_field_values(text: str, fields: Any) -> Iterator[Span]:
    """Yield the values of a field, which stand below it or in braces."""
    if fields["j"] is None:
        return _iter_lines(text, fields.end() + 1, fields["p"])
    return (one.span("v") for one in _VALUE.compiled.finditer(text, *fields.span("j")))


def _iter_lines(text: str, start: int, before: str) -> Iterator[Span]:
    """Yield the values of the lines that are indented deeper than their field.

    Args:
        text: where they stand.
        start: where the first of them begins.
        before: what stands before the field in its line.
    """
    block = 0  # the indentation of the key whose value stands in the lines below it
    for _ in range(_MOST_LINES):
        end = text.find("\n", start)
        end = end if end >= 0 else len(text)
        behind = text[start + len(before) : end]
        indent = len(behind) - len(behind.lstrip(" "))
        if indent == 0 or not behind.strip():
            return
        first = start + len(before) + indent
        if block and indent > block:
            yield first, start + len(text[start:end].rstrip())
        else:
            block = indent if _BLOCK_OPENED.match(behind, indent) else 0
            yield from _iter_pair_values(text, first)
        start = end + 1


def _iter_pair_values(text: str, start: int) -> Iterator[Span]:
    """Yield the value of the pair that stands at a place on a line of a text."""
    value = _LINE.match(text, start)
    if value is not None:
        group = "a" if value["a"] is not None else "b"
        yield value.start(group), value.start(group) + len(value[group].rstrip())


MANIFESTS: Final = (HidingRule("secret", _HINT, _find_values),)
