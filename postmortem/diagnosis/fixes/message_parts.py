"""What the message of an exception asks for in its own words, whoever raised it.

In: a message. Out: its instruction, what was needed and what came, the value it rejects and the
ones it lists, under the names that texts use. Not here: the texts (`patterns/exceptions`), the
wordings of known libraries.
"""

import difflib
import re
from collections.abc import Iterator
from typing import Final

from postmortem.core.lazy_regex import compile_lazily

_LONGEST: Final = 3000
_MOST_SENTENCES: Final = 12
_LONGEST_SENTENCE: Final = 240
_CLOSE: Final = 0.6
_IGNORECASE: Final = 2

_SENTENCES: Final = compile_lazily(r"(?<=[.;!?])\s+|\n\s*")
_INSTRUCTION: Final = compile_lazily(
    r"(?:^|(?P<mark>[,:(\"]) ?)(?:(?:please|use|try|consider|pass|call|run|make sure"
    r"|ensure|specify|provide"
    r"|reshape|wrap|convert|install|perhaps you|maybe you|did you|do you need|if you want)\b"
    r"|set (?!changed|size|of|is)|you (?:could|should|must|need|have to|may|might|probably)\b"
    r"|you can\b(?! only|'t))"
    r"|\b(?:use|try|call|set|pass|do|add) [^,]{1,80} instead|\binstead(?: use| of [^,]{1,60} use)"
    r"|\b(?:must|should) (?:be called|call)\b|\bneeds? to be\b|\bconsider \w+ing\b"
    r"|\brequires you to\b",
    _IGNORECASE,
)
_NO_HELP: Final = compile_lazily(
    r"\b(?:report|bug|issue|refer to|more (?:information|details)|documentation"
    r"|stack ?trace|HYDRA_FULL_ERROR|TRACEBACK_FILTERING|https?://)",
    _IGNORECASE,
)
_NEEDED: Final = compile_lazily(
    r"(?:^|\b)(?:expect(?:ed|s|ing)?(?: an?)?|requires?|needs?|(?:must|should|has to"
    r"|have to|can only) be"
    r"|should have|only (?:accepts?|supports?|takes?))(?: to be)?(?: an?"
    r"| of)? (?P<needed>[^\n]{1,36}?)"
    r"(?:,? but|,? and|[,;:.(]|,? instead)? ?(?:i?t? ?(?:got|gets|received|found|saw"
    r"|was given|given|not|was|is|had|has)\b)"
    r":? (?:(?:an?|of|input|type|object|value) ){0,2}(?P<received>[^\n]{1,100})",
    _IGNORECASE,
)
_NEEDED_AND_WAS: Final = compile_lazily(
    r"(?:expect(?:ed|s|ing)?|requires?"
    r"|takes?) (?P<needed>[^\n]{1,100}?),? but (?P<received>[^\n]{1,80}?)"
    r" (?:was|were) (?:given|found|passed|received)",
    _IGNORECASE,
)
_RECEIVED_FIRST: Final = compile_lazily(
    r"(?:\bgot|\bfound|\breceived|\bgiven):? (?P<received>[^\n]{1,40}?)[,;:]? (?:but )?"
    r"(?:(?:is |was )?expected|needs?|wanted|should be"
    r"|required)(?: to be)?:? (?P<needed>[^\n]{1,80})"
    r"|\bgot (?P<came>[^\n]{1,40}?),? but (?P<due>[^\n]{1,40}?) (?:is|are|was"
    r"|were) (?:expected|required|needed)",
    _IGNORECASE,
)
_REJECTED: Final = (
    compile_lazily(
        r"(?:^|[^\w'])['\"](?P<value>[\w./+-]{1,60})['\"] (?:is "
        r"|was )?(?:not (?:an? )?(?:valid|supported|known|found"
        r"|recogni[sz]ed|available|understood|in|one of|registered|allowed|implemented|defined)"
        r"|not an? \w+|unknown|does(?:n't| not) exist)\b",
        _IGNORECASE,
    ),
    compile_lazily(
        r"\b(?:unknown|unsupported|unrecogni[sz]ed|invalid|illegal|undefined|unexpected"
        r"|no such|bad)"
        r"(?: [A-Za-z_]{1,30}){0,4}?(?: for [\w ]{1,30})?[:=]? ['\"](?P<value>[\w./+-]{1,60})['\"]",
        _IGNORECASE,
    ),
    compile_lazily(
        r"^(?:unknown|unsupported|unrecogni[sz]ed|invalid|illegal|undefined|no such)"
        r"(?: [A-Za-z_]{1,30}){1,3}?:? (?P<value>[\w./+-]{1,60})(?=[.,;]?$|[.,;] |:? [\[(])",
        _IGNORECASE,
    ),
    compile_lazily(r"\bgot:? (?:\w{1,30}=)?['\"](?P<value>[\w./+-]{1,60})['\"]", _IGNORECASE),
)
_OFFERED: Final = compile_lazily(
    r"\b(?:(?:one of|among|choose from|choose between|available|valid|supported|allowed"
    r"|accepted|options?|choices"
    r"|possible|known|registered|must be in|should be in"
    r"|pick)\b[^\n\[({'\"]{0,60}?(?:[\[({]{1,2}|: ?|\bare |(?=['\"]))"
    r"|(?:one of|either|between|choose from|must be|should be) )"
    r"(?P<offered>(?:['\"]?[\w./+-]{1,40}['\"]?(?:, and |, or |, ?| ?\| ?|/| or | and )){1,80}"
    r"['\"]?[\w./+-]{1,40}['\"]?)",
    _IGNORECASE,
)
_ITEM: Final = compile_lazily(r"[\w./+-]{1,40}")
_NO_CHOICE: Final = frozenset({"a", "an", "and", "of", "or", "the", "but", "not", "got"})
_NO_VALUE: Final = frozenset(
    {"argument", "character", "data", "escape", "format", "index", "input", "key", "literal"}
    | {"name", "option", "sequence", "shape", "size", "state", "syntax", "type", "value", "values"}
)
"""Words that say what kind of thing is wrong, not which."""


def parse_message(message: str) -> dict[str, str]:
    """Name the parts of a message; what it does not say is absent."""
    text = message[:_LONGEST].strip()
    sentences = [one.strip() for one in _SENTENCES.split(text)][:_MOST_SENTENCES]
    sentences = [one for one in sentences if one]
    found = next(_asked(sentences), {}) | next(_compared(sentences), {})
    rejected = next(_rejected(sentences), "")
    if rejected:
        found["rejected"] = rejected
    return found | _offered(text, rejected)


def _asked(sentences: list[str]) -> Iterator[dict[str, str]]:
    """Yield what a sentence tells the reader to do; of one with a colon what stands behind it."""
    for one in sentences:
        match = _INSTRUCTION.search(one)
        if match is None or len(one) > _LONGEST_SENTENCE or _NO_HELP.search(one):
            continue
        begin = match.start() + 1 if match["mark"] == ":" else 0
        yield {"asked": one[begin:].strip(" .;\"'")}


def _compared(sentences: list[str]) -> Iterator[dict[str, str]]:
    """Yield what was needed and what came instead."""
    for one in sentences:
        for pattern in (_NEEDED_AND_WAS, _NEEDED, _RECEIVED_FIRST):
            match = pattern.search(one)
            if match is not None:
                parts = match.groupdict()
                yield {
                    "needed": _trimmed(parts["needed"] or parts.get("due") or ""),
                    "received": _trimmed(parts["received"] or parts.get("came") or ""),
                }


def _rejected(sentences: list[str]) -> Iterator[str]:
    """Yield values that are called unknown or not valid."""
    for one in sentences:
        for pattern in _REJECTED:
            match = pattern.search(one)
            value = match["value"].rstrip(".") if match is not None else ""
            if value and value.lower() not in _NO_VALUE:
                yield value


def _offered(text: str, rejected: str) -> dict[str, str]:
    """Give the values that are accepted, and the one that is close to the rejected one."""
    for match in _OFFERED.finditer(text):
        items = [one.rstrip(".") for one in _ITEM.findall(match["offered"])]
        is_plain = not any(one.lower() in _NO_CHOICE - {"and", "or"} for one in items)
        items = [one for one in items if one.lower() not in {"and", "or", rejected.lower()}]
        if not is_plain or len(items) < 2 or all(one.lstrip("-").isdigit() for one in items):
            continue
        found = {"offered": ", ".join(dict.fromkeys(items))}
        nearest = difflib.get_close_matches(rejected, items, 1, _CLOSE) if rejected else []
        return found | ({"nearest": nearest[0]} if nearest else {})
    return {}


def _trimmed(value: str) -> str:
    """Drop what ends the sentence, and a bracket that was opened before."""
    text = re.sub(r"\.?\] \(at /.*$", "", value.strip())  # the place in Paddle's own sources
    text = re.sub(r"[\s.,;:]+$", "", text).removesuffix(" instead")
    return text.removesuffix(")") if "(" not in text else text
