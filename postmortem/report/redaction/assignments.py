"""Where a text holds secrets by the name before them: assignments, options, fields, sentences.

In: text. Out: the rules of kind `secret` for values behind names. Not here: which names say secret
(`secret_names`), values told by their own shape (`tokens`), pseudonyms (`pseudonyms`).
"""

from collections.abc import Iterator
from typing import Any, Final

from postmortem.core.printed_words import join_words
from postmortem.report.redaction.hiding import (
    HidingPattern,
    HidingRule,
    Span,
    build_linear_pattern,
    build_rule,
    parse_words,
)
from postmortem.report.redaction.secret_names import (
    CHINESE,
    NAME,
    NAME_HINT,
    Named,
    evaluate_name,
    is_opener,
    is_placeholder,
    is_random,
    is_secret,
)
from postmortem.report.redaction.tokens import is_basic

# What stands between a name and its value.
_IS: Final = (
    f"(?:{join_words('is-now')}){{0,3}}(?:{join_words('is-set-to')}){join_words('is-set-to-ends')}"
)
_SIGN: Final = f"(?:=>|->|:=|==?|[:：＝]|(?:[，,][ \t]?{join_words('was-set-to')}|{_IS})[:：=＝]?)"
_SET: Final = (
    r"(?:\\{0,3}['\"`”」』】]?\]?(?:[（(][^（）()\n]{1,12}[)）])?[ \t]*"
    rf"{_SIGN}[ \t]*|(?:%22)?%3[AD](?:%20|\+)?(?:%22)?)"
)
REFUSED: Final = (
    r"(?:[^\n\[(]{1,160} )?[\[(](?:type=)?[\w.]{1,60}[;,][^\n]{0,120}?(?:given|input_value|input)="
)
"""What pydantic writes between the name of a field and the value that it refuses."""
_ROW: Final = (
    r"\\{0,3}['\"],\s{0,24}\\{0,3}['\"]value\\{0,3}['\"][ \t]*:[ \t]*"
    r"|['\"]?[ \t]*(?:\.{3,}|[│┃|])[ \t]*|[ \t]{2,}|\t|\\{0,3}['\"][ \t]{1,4}value="
    r"|['\"]?,?(?:[ \t]?['\"]type['\"][ \t]?:[ \t]?['\"]\w{1,40}['\"],)?"
    r"\s{1,24}['\"]?value['\"]?[ \t]*[:=][ \t]*"
    r"|\\{0,3}['\"][ \t]{0,2},\s{0,24}|(?:</\w{1,12}>\s{0,24}<\w{1,12})?>"
    rf"|\s{{1,24}}{REFUSED}"
)
_ASSIGNED: Final = build_linear_pattern(rf"(?i)(?P<n>{NAME})(?P<s>{_SET}|{_ROW})")
_OPTION: Final = build_linear_pattern(
    rf"(?i)(?:^|[\s'\"(\[,])(?P<n>--?{NAME})(?P<s>[ \t]{{1,4}}|=)"
)
_TOLD: Final = build_linear_pattern(
    r"(?i)(?:\b(?:setenv|ENV|configure set|config set|password|secret set|setx|set-?env|addenv"
    r"|(?:set|export|declare|typeset|--?e|--env)(?:[ \t]+--?[a-zA-Z]+){0,3})[ \t]{1,4}"
    r"|(?:^|[ \t])(?:-e|--env)[ \t]{1,4}"
    r"|\bmachine[ \t]+\S+[ \t]+login[ \t]+\S+[ \t]+"
    rf"|\b(?:login|user(?:name)?)[ \t]+\S+[ \t]+)(?P<n>{NAME})"
    r"(?P<s>[ \t]{1,4}(?:to[ \t]{1,4})?)"
)
_CHINESE_SAID: Final = build_linear_pattern(
    rf"(?P<n>{CHINESE})[”」』】]?[ \t]{{0,4}}"
    rf"(?:[“「『‘【（'\"](?P<v>[!-~ ]{{4,128}}?)[”」』’】）'\"]"
    r"|(?P<w>[!-~]{4,128}))"
)
"""A Chinese name with its value right behind it: in quotes, or of letters and digits."""
_ACCOUNT_HINT: Final = (
    rf"(?i){join_words('account-and-password')}|(?:{join_words('account')}|account|user(?:name)?|login)"
    rf"[ \t]?(?:[/、{join_words('and')}&+|][ \t]?)?(?:{join_words('password')}|password|passwd|pwd)"
)
_ACCOUNT_AND_PASSWORD: Final = build_linear_pattern(
    rf"(?:{_ACCOUNT_HINT})[ \t]?(?:[:：=＝]|{join_words('are')})*[ \t]?"
    r"[\w.@-]{1,64}[ \t]?[/、,，|:： ][ \t]?(?P<v>[!-~]{4,128})"
)
"""A name and its password behind the words for both."""
_SAID: Final = build_linear_pattern(
    r"(?i)(?P<n>(?:[\w-]+ )?\b[\w-]*(?:token|key|password|passphrase|secret|[_-](?:[as]k|pat)))"
    r"(?: is| was| of| provided| given| used| set to)?(?P<s>:?)[ \t]"
    r"['\"(`]?(?P<v>[^\s'\"`<>()0-9]*[0-9][^\s'\"`<>()]*|[A-Za-z]{24,512})"
)
_GIVEN: Final = build_linear_pattern(
    rf"(?i)(?P<n>{NAME})\\{{0,3}}['\"`]?[^\n'\"]{{0,80}}?\b(?:given|got|input|received|value|actual)"
    r"(?:[ \t]*[=:][ \t]*|[ \t])\\{0,3}(?:'(?P<a>[^'\n\\]{4,512})|\"(?P<b>[^\"\n\\]{4,512}))"
)
"""A value in quotes that a sentence about a name tells: `DB_PASSWORD must be ..., got 'x'`."""
_VALUE_FIRST: Final = build_linear_pattern(
    r"(?i)\\{0,3}['\"]value\\{0,3}['\"] ?: ?\\{0,3}['\"]"
    r"(?P<v>[^'\"\n\\]{4,512})\\{0,3}['\"],\s{0,24}"
    rf"\\{{0,3}}['\"](?:name|key)\\{{0,3}}['\"] ?: ?\\{{0,3}}['\"](?P<n>{NAME})\\{{0,3}}['\"]"
)
"""A pair whose value comes first: `{"value": "...", "name": "DB_PASSWORD"}`."""
_FLOW_VALUE_FIRST: Final = build_linear_pattern(
    r"(?i)[{,][ \t]?value: (?P<v>[^\s'\"{},]{4,512}), (?:name|key): "
    rf"(?P<n>{NAME})(?:[ \t,}}]|$)"
)
"""The same in YAML: `{value: ..., name: DB_PASSWORD}`."""
_SHORTEST_CODE: Final = 4
_SHORTEST_SAID: Final = 6
_SHORTEST_TOKEN_SAID: Final = 20
_SHORTEST_KEY_SAID: Final = 16
_ARTICLES: Final = parse_words("the a an this your my our with using invalid incorrect wrong")
"""Words of a sentence that say nothing about the token or key behind them."""
_SHORT_FOR_PASSWORD: Final = parse_words("pw pswd passw")
_BARE: Final = parse_words("token key auth secret")
_BARE_CHARACTER: Final = r"[^\s'\"`<>\\，。；：！？、“”‘’「」『』【】（）《》]"
_VALUE: Final = HidingPattern(
    r"(?:[rbufRBUF]{0,2}(?=\\{0,3}['\"]))"
    r"(?:\\{0,3}'(?P<a>[^'\n]{0,512})|\\{0,3}\"(?P<b>[^\"\n]{0,512})|`(?P<c>[^`\n]{0,512}))"
    r"|[“「『‘【《](?P<e>[^”」』’】》\n]{0,512})"
    rf"|(?P<d>{_BARE_CHARACTER}(?:{_BARE_CHARACTER}|(?<=\w)'(?=\w)){{0,511}})"
)
_SHORTEST: Final = {
    Named.LONG: 24,
    Named.ISSUED: 15,
    Named.PERHAPS: 8,
    Named.KEY: 4,
    Named.PASSWORD: 1,
}
"""Characters of a value under which nothing of it needs a look."""
_LOOKED_AT: Final = 512
"""Characters of a value that tell whether it is a secret; one that is goes on as it goes on."""
_REST: Final = {
    "a": HidingPattern(r"[^'\n]*"),
    "b": HidingPattern(r"[^\"\n]*"),
    "c": HidingPattern(r"[^`\n]*"),
    "e": HidingPattern(r"[^”」』’】》\n]*"),
    "d": HidingPattern(rf"(?:{_BARE_CHARACTER}|(?<=\w)'(?=\w))*"),
}
_BARE_GROUP: Final = "d"
_BLOCK: Final = HidingPattern(
    r"(?:[|>][+-]?[ \t]{0,4}\n[ \t]{1,40}|\n[ \t]{0,40}- (?=[^\s:]{4,512}(?:\n|$)))"
    r"(?P<d>[^\s'\"`]{4,512})"
)  # of YAML, on the next line
_OPENING: Final = HidingPattern(
    # a class around it, a bracket
    r"(?:[A-Z]\w{0,40}\(|[\[({])[ \t]*(?=[rbufRBUF]?\\{0,3}['\"])"
    r"(?!\\{0,3}['\"]\w{1,40}\\{0,3}['\"][ \t]*:)"
    r"|\{\s{0,24}\\{0,3}['\"]value\\{0,3}['\"][ \t]*:[ \t]*"
    # a type
    r"|[A-Za-z_][\w.]{0,40}(?:\[[\w., |]{1,40}\])?(?: \| [\w.]{1,40}){0,3} ?= ?"
    r"(?=[rbufRBUF]?['\"])"
    # the words of argparse, tags and anchors of YAML
    r"|invalid [\w ]{1,40}: (?=['\"])|!!?[\w/:.-]{1,40}[ \t]+|&[\w-]{1,40}[ \t]+"
    # a line `value:`
    r"|\n[ \t]{1,40}(?:desc(?:ription)?:[^\n]{0,80}\n[ \t]{1,40})?value:[ \t]*"
)
"""What may stand between a name and its value."""
_WORD_BEFORE: Final = HidingPattern(r"(?<![^\W_])[A-Za-z]+ $")
_USER_BEFORE: Final = HidingPattern(r"(?i)user(?:name)?=[^\s,;&]{1,64}[,;&]$")
_IS_SAID: Final = HidingPattern(_IS)
_GOES_ON: Final = HidingPattern(r" ?[^\W_]")
_CHINESE_BEHIND: Final = HidingPattern(r"(?<=[!-~])[\u4e00-\u9fff].*")
"""Words of a sentence that stand behind a value without a blank."""
_QUOTED_SIGN: Final = HidingPattern(r"%2[26]")
_NEXT: Final = HidingPattern(r"[,;&|](?=[\w. -]{1,60}[=:])|[,;](?=$)")
_CLOSING: Final = HidingPattern(r"[)\]}]")
_PAIR: Final = ("('", '("')
_PAIRED: Final = ("')", '")')
_LEFT_OPEN: Final = {")": "(", "]": "[", "}": "{"}


def _find_named_secrets(pattern: HidingPattern, text: str) -> Iterator[Span]:
    """Give the values behind names that say secret."""
    done = 0
    for match in pattern.finditer(text):
        begin, behind = match.span(1)
        found = _find_secret_after(text, begin, behind, match.end()) if begin >= done else None
        if found is not None:
            done = found[1]
            yield found


def _find_secret_after(text: str, begin: int, behind: int, after: int) -> Span | None:
    """Find the secret that a name promises.

    Args:
        text: where it stands.
        begin: where the name begins.
        behind: where it ends, and what parts it from its value begins.
        after: where that ends.
    """
    name, mark = text[begin:behind], text[behind:after]
    strength = _evaluate_words(text, begin, name)
    value = _match_value(text, after, is_listed=_is_listed(mark)) if strength else None
    if value is None or (
        value.end() - value.start() < _SHORTEST[strength] and not name.startswith("-")
    ):
        return None
    group = value.lastgroup or _BARE_GROUP
    start, shown = value.start(group), _trim_value(value, group, mark)
    if group == _BARE_GROUP and (
        _is_another_name(text, start, shown)
        or _is_word_of_chinese(mark, shown, text[start + len(shown) :][:2])
    ):
        return None
    mark = "=" if _is_pair(text, begin, value.end(), shown) else mark
    if not _is_secret_value(name, strength, mark, shown, is_quoted=group != _BARE_GROUP):
        return None
    end: int = start + len(shown)
    return start, _REST[group].match(text, end).end() if len(shown) >= _LOOKED_AT - 1 else end


def _evaluate_words(text: str, begin: int, name: str) -> Named:
    """Say what a name says, with the word before it: `api key` opens something."""
    strength = evaluate_name(name)
    if name.lower() == "pass" and _USER_BEFORE.search(text[max(0, begin - 80) : begin]):
        return Named.KEY
    if Named.NOTHING < strength < Named.KEY and text[begin - 1 : begin] == " ":
        word = _WORD_BEFORE.search(text[max(0, begin - 24) : begin])
        if word and is_opener(word[0].strip()):
            return max(strength, evaluate_name(f"{word[0].strip()}_{name}"))
    return strength


def find_secret_at(text: str, name: Span, start: int) -> Span | None:
    """Find the secret at a place that a name elsewhere promises."""
    strength, value = evaluate_name(text[slice(*name)]), _VALUE.match(text, start)
    if value is None:
        return None
    group = value.lastgroup or _BARE_GROUP
    shown = _trim_value(value, group, "=")
    if not is_secret(strength, shown, is_quoted=group != _BARE_GROUP, is_prose=False):
        return None
    return value.start(group), value.start(group) + len(shown)


def _match_value(text: str, start: int, *, is_listed: bool) -> Any:
    """Match the value that stands at a place or behind what opens it."""
    opened = _OPENING.match(text, start)
    if opened and is_listed and opened[0].rstrip().endswith("="):  # the next argument of a call
        return None
    return _BLOCK.match(text, start) or _VALUE.match(text, opened.end() if opened else start)


def _is_listed(mark: str) -> bool:
    """Say whether a name stands in a list, with what may be its value behind it."""
    return "," in mark and "value" not in mark.lower()


def _trim_value(value: Any, group: str, mark: str) -> str:
    """Give the text of a value, without what belongs to the text around it."""
    shown: str = value[group].rstrip("\\")
    if group != _BARE_GROUP:
        return shown
    shown = _QUOTED_SIGN.compiled.split(shown)[0] if "%" in mark else shown
    return trim_bare_value(_CHINESE_BEHIND.compiled.sub("", shown))


def _is_another_name(text: str, start: int, shown: str) -> bool:
    """Say whether what looks like a value is a name, whose value this match has not seen."""
    return shown.endswith(("=", ":", "(")) and text[start + len(shown) :].startswith(("'", '"'))


def _is_word_of_chinese(mark: str, shown: str, behind: str) -> bool:
    """Say whether what follows a name goes on with a Chinese sentence: that it is encrypted."""
    if not _IS_SAID.search(mark):
        return False
    return not shown.isascii() or (shown.isalpha() and bool(_GOES_ON.match(behind)))


def _is_pair(text: str, begin: int, end: int, shown: str) -> bool:
    """Say whether a name stands alone with its value: `('token', '...')`."""
    return (
        text.startswith(_PAIR, max(begin - 2, 0))
        and text.startswith(_PAIRED, end)
        and not evaluate_name(shown)
    )


def _is_secret_value(name: str, strength: Named, mark: str, value: str, *, is_quoted: bool) -> bool:
    """Say whether a value is the secret that its name promises."""
    is_listed = _is_listed(mark)
    if is_listed and not is_quoted:
        return False
    strength = _evaluate_quoted_name(name, strength, is_quoted=is_quoted)
    if name.startswith("-"):
        if value.startswith("-"):
            return False
        strength, is_prose = _evaluate_option_name(name, strength), False
    else:
        if is_listed or not (mark.strip() or is_quoted):  # names in a list, a row of a table
            strength = min(strength, Named.PERHAPS)
        is_prose = not is_quoted and _is_of_prose(mark)
    is_no_code = is_quoted or (any(map(str.isdigit, value)) and bool(_IS_SAID.search(mark)))
    return is_secret(strength, value, is_quoted=is_no_code, is_prose=is_prose) or (
        name.lower().endswith(("auth", "authorization")) and is_basic(value)
    )


def _evaluate_quoted_name(name: str, strength: Named, *, is_quoted: bool) -> Named:
    """Take `pw = '...'` for a password; `pw: 0.3` is none."""
    return Named.KEY if is_quoted and name.lower() in _SHORT_FOR_PASSWORD else strength


def _evaluate_option_name(name: str, strength: Named) -> Named:
    """Take the name of an option: nobody passes a `--token` of a tokenizer."""
    is_key = strength is Named.PERHAPS or name.lstrip("-").lower() in _BARE
    return Named.KEY if is_key else strength


def _is_of_prose(mark: str) -> bool:
    """Say whether a value may be a word of a sentence: `token: expired`."""
    return "value" not in mark.lower() and mark.lstrip(" \t")[:1] in {":", "："}


def trim_bare_value(value: str) -> str:
    """Cut from a value without quotes what belongs to the text around it.

    The next pair, a bracket that was opened before it, a full stop.
    """
    found = _NEXT.search(value)
    value = value[: found.start()] if found else value
    for index, char in enumerate(value) if _CLOSING.search(value) else ():
        if char in _LEFT_OPEN and value.count(_LEFT_OPEN[char], 0, index) < value.count(
            char, 0, index + 1
        ):
            value = value[:index]
            break
    return value.rstrip(",;:!?") if not value.endswith(".") else value.rstrip(",;:!?.")


def _is_secret_in_prose(match: Any) -> bool:
    """Say whether a sentence tells a secret: `using token SOvHcvTU...`, `the password is ...`."""
    named_by, value = match["n"].split(" ")[-2:], match["v"]
    strength = evaluate_name(
        "_".join(named_by[-1:] if named_by[0].lower() in _ARTICLES else named_by)
    )
    if match["s"] and strength < Named.KEY:  # behind a colon it is the value of a field
        return False
    if strength is Named.PASSWORD and not value.isalpha():
        return len(value) >= _SHORTEST_SAID and not value.isdigit() and not is_placeholder(value)
    shortest = _SHORTEST_TOKEN_SAID if strength is Named.PERHAPS else _SHORTEST_KEY_SAID
    return strength >= Named.PERHAPS and len(value) >= shortest and is_random(value)


def _is_named_behind(match: Any) -> bool:
    return is_secret(evaluate_name(match["n"]), match["v"], is_quoted=True, is_prose=False)


def _is_password_of_account(match: Any) -> bool:
    return any(map(str.isdigit, match["v"])) and not is_placeholder(match["v"])


def _find_given_secrets(text: str) -> Iterator[Span]:
    """Give the values that a sentence about a name tells."""
    for match in _GIVEN.finditer(text):
        group = "a" if match["a"] is not None else "b"
        if is_secret(evaluate_name(match["n"]), match[group], is_quoted=True, is_prose=False):
            yield match.span(_GIVEN.compiled.groupindex[group])


def _find_chinese_secrets(text: str) -> Iterator[Span]:
    """Give the values that stand right behind a Chinese name."""
    for match in _CHINESE_SAID.finditer(text):
        group = "v" if match["v"] else "w"
        shown = match[group] if group == "v" else trim_bare_value(match[group])
        has_letters, has_digits = any(map(str.isalpha, shown)), any(map(str.isdigit, shown))
        may_be_number = evaluate_name(match["n"]) is Named.PASSWORD
        is_code = (
            has_digits
            and (has_letters or (may_be_number and shown.isdigit()))
            and len(shown) >= _SHORTEST_CODE
        )
        if is_code if group == "w" else not is_placeholder(shown):
            start = match.start(_CHINESE_SAID.compiled.groupindex[group])
            yield start, start + len(shown)


def _build_named_rule(pattern: HidingPattern) -> HidingRule:
    return HidingRule("secret", NAME_HINT, lambda text: _find_named_secrets(pattern, text))


ASSIGNMENTS: Final = (
    *map(_build_named_rule, (_OPTION, _TOLD, _ASSIGNED)),
    build_rule("secret", NAME_HINT, _SAID, _is_secret_in_prose),
    build_rule("secret", NAME_HINT, _VALUE_FIRST, _is_named_behind),
    build_rule("secret", "(?i)value: ", _FLOW_VALUE_FIRST, _is_named_behind),
    build_rule("secret", _ACCOUNT_HINT, _ACCOUNT_AND_PASSWORD, _is_password_of_account),
    HidingRule("secret", CHINESE, _find_chinese_secrets),
    HidingRule("secret", NAME_HINT, _find_given_secrets),
)
