"""The page of one id, in Markdown.

In: an `Explained`, the rules, a language. Out: Markdown. Not here: looking it up
(`manual.entries`), terminal output (`cli`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from postmortem.report.manual.entries import (
    HEADINGS,
    LEVELS,
    TEXT_MODEL_NOTES,
    WORDS,
    Explained,
    Rules,
    get_stack_name,
)
from postmortem.rules.cause_rules import fill, parse_snippet, translate_comments
from postmortem.rules.vocabulary import load_snippets

_LEVEL_ORDER: Final = {"decisive": 0, "strong": 1, "moderate": 2, "weak": 3}


def render_article(entry: Explained, rules: Rules, language: str) -> str:
    """Write the page of an id."""
    page = _Sheet(rules, language)
    return "\n".join([*page.head(entry), *_BODIES[entry.kind](page, entry), ""])


def render_contents(rules: Rules, language: str) -> str:
    """List all causes."""
    page = _Sheet(rules, language)
    causes = rules["taxonomy"]["causes"].items()
    lines = (f"- `{name}`: {page.text(cause['title'])}" for name, cause in causes)
    return "\n".join([f"# {page.word('causes')}", "", *lines, ""])


class _Sheet:
    """A page in one language, with the rules it refers to."""

    def __init__(self, rules: Rules, language: str) -> None:
        self.rules, self.language = rules, language

    def text(self, value: Any) -> str:
        """Give a text of the rules in the language; one without languages as it is."""
        return fill(str(value[self.language] if isinstance(value, Mapping) else value or ""), {})

    def word(self, name: str) -> str:
        """Give a word of the page."""
        return WORDS[name].text(self.language)

    def joined(self, name: str, **parts: str) -> str:
        """Put texts together by the marks of the language."""
        return self.word(name).format(**parts)

    def labelled(self, label: str, text: str) -> str:
        """Put a label before a text."""
        return self.joined("labelled", label=label, text=text)

    def aside(self, text: str, aside: str) -> str:
        """Put something in brackets behind a text, if there is anything."""
        return self.joined("aside", text=text, aside=aside) if aside else text

    def head(self, entry: Explained) -> Iterator[str]:
        """Write the title."""
        title = entry.raw.get("title") or entry.raw.get("meaning") or entry.raw.get("symptom")
        yield from (f"# {self.text(title)}", "", f"`{entry.id}` · {self.word(entry.kind)}", "")

    def section(self, name: str, lines: Iterable[str]) -> Iterator[str]:
        """Write a section, if there is anything in it."""
        written = list(lines)
        if written:
            yield from (f"## {HEADINGS[name].text(self.language)}", "", *written, "")

    def level(self, name: str) -> str:
        """Give a level of evidence."""
        return LEVELS[name].text(self.language)

    def format_conditions(self, item: Mapping[str, Any]) -> str:
        """Name the conditions that an item asks for."""
        wanted = [f"`{name}`" for name in item.get("if") or ()]
        unwanted = [f"{self.word('not')} `{name}`" for name in item.get("not") or ()]
        return ", ".join([*wanted, *unwanted])


def _render_cause(page: _Sheet, entry: Explained) -> Iterator[str]:
    raw = entry.raw
    yield from (page.text(raw["definition"]), "")
    if raw.get("explanation"):
        yield from (page.text(raw["explanation"]), "")
        whose = page.labelled(page.word("whose"), page.word(raw["whose"]))
        yield page.joined("sentences", first=whose, second=page.word(f"retry {raw['retry']}"))
        yield ""
    yield from page.section("signatures", _list_suggesting_signatures(page, entry.id))
    yield from page.section("for", _render_items(page, raw.get("for") or ()))
    yield from page.section("against", _render_items(page, raw.get("against") or ()))
    yield from page.section(
        "separates",
        (
            f"- `{separation['from']}`: {page.text(separation['by'])}"
            for separation in raw.get("separates") or ()
        ),
    )
    yield from page.section("precedence", _render_precedence(page, entry.id))
    yield from page.section("need", _needs(page, raw.get("need") or ()))
    yield from page.section("fixes", _list_fixes(page, entry.id))
    yield from page.section("advisories", _list_advisories(page, entry.id))


def _list_suggesting_signatures(page: _Sheet, cause: str) -> Iterator[str]:
    """List the signatures that suggest a cause, strongest first."""
    found = [
        (_LEVEL_ORDER[signature["suggests"][cause]], signature["id"], signature)
        for signature in page.rules["signatures"]
        if cause in (signature.get("suggests") or {})
    ]
    for _, name, entry in sorted(found, key=lambda item: item[:2]):
        line = page.aside(page.text(entry["title"]), f"`{name}`")
        yield f"- {page.labelled(page.level(entry['suggests'][cause]), line)}"


def _render_items(page: _Sheet, items: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for item in items:
        line = page.aside(page.text(item["text"]), page.format_conditions(item))
        yield f"- {page.labelled(page.level(item['level']), line)}"


def _render_precedence(page: _Sheet, cause: str) -> Iterator[str]:
    for rule in page.rules["taxonomy"]["precedence"]:
        if rule["winner"] == cause:
            yield f"- {page.word('before')} `{rule['loser']}`"
        elif rule["loser"] == cause:
            yield f"- {page.word('behind')} `{rule['winner']}`"


def _needs(page: _Sheet, needs: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for need in needs:
        yield f"- {page.labelled(page.text(need['what']), page.text(need['why']))}"
        if need.get("command"):
            yield from ("", "  ```bash", f"  {need['command']}", "  ```", "")


def _list_fixes(page: _Sheet, cause: str) -> Iterator[str]:
    """List the fixes of a cause in the order in which a report would show them."""
    found = [rule for rule in page.rules["fixes"] if cause in rule["causes"]]
    order = {"check": 0, "change": 1, "prevent": 2}
    for entry in sorted(found, key=lambda fix: (order[fix["kind"]], fix.get("order", 50))):
        conditions = page.format_conditions(entry)
        name = f"`{entry['id']}`" + (f", {page.word('if')} {conditions}" if conditions else "")
        head = page.aside(f"**{page.text(entry['title'])}**", name)
        line = page.joined("sentences", first=head, second=page.text(entry["why"]))
        yield f"- {page.labelled(page.word(entry['kind']), line)}"


def _list_advisories(page: _Sheet, cause: str) -> Iterator[str]:
    for advisory in page.rules["advisories"]:
        if cause in advisory["causes"]:
            line = page.aside(page.text(advisory["symptom"]), f"`{advisory['id']}`")
            yield f"- {page.labelled(' '.join((advisory['package'], advisory['range'])), line)}"


def _render_signature(page: _Sheet, entry: Explained) -> Iterator[str]:
    raw = entry.raw
    yield from (page.word(f"role {raw['role']}"), "")
    suggested = raw.get("suggests") or {}
    yield from page.section(
        "suggests",
        (
            f"- {page.level(level)}: `{cause}`, {_get_title(page, cause)}"
            for cause, level in suggested.items()
        ),
    )
    yield from page.section("match", _format_code_block("regex", raw["match"]))
    examples = (raw.get("examples") or {}).get("fires") or ()
    yield from page.section(
        "examples",
        (line for example in examples for line in _format_code_block("text", example["text"])),
    )
    yield from page.section("source", [raw["source"]] if raw.get("source") else [])
    yield from page.section("references", _format_references(raw))
    yield from page.section("used", _list_users(page, entry.id))


def _render_condition(page: _Sheet, entry: Explained) -> Iterator[str]:
    yield from page.section(
        "holds",
        _format_code_block("yaml", _dump_yaml(entry.raw["holds"])) if "holds" in entry.raw else [],
    )
    yield from page.section("used", _list_users(page, entry.id))


def _render_fix(page: _Sheet, entry: Explained) -> Iterator[str]:
    raw = entry.raw
    yield from (
        page.text(raw["why"]),
        "",
        f"{page.word(raw['kind'])}; {page.word(raw['safety'])}",
        "",
    )
    yield from page.section(
        "causes", (f"- `{cause}`: {_get_title(page, cause)}" for cause in raw["causes"])
    )
    conditions = page.format_conditions(raw)
    yield from page.section("asked", [conditions] if conditions else [])
    snippets = dict(raw.get("snippets") or {})
    for stack in page.rules["stacks"]:
        own = load_snippets(stack)
        name = stack["id"]
        if found := own.get(entry.id) or snippets.get(name) or own.get(str(raw.get("snippets_of"))):
            snippets[name] = found
    for name, snippet in snippets.items():
        yield from (
            f"## {get_stack_name(name).text(page.language)}",
            "",
            *_render_snippet(page, snippet),
            "",
        )
    yield from page.section("references", _format_references(raw))


def _render_exception(page: _Sheet, entry: Explained) -> Iterator[str]:
    """Show the wording that a rule answers to, and what it then says to do."""
    raw = entry.raw
    yield from page.section(
        "causes", (f"- `{one}`: {_get_title(page, one)}" for one in raw.get("causes", ()))
    )
    told = [("regex", raw[name]) for name in ("message", "code", "frames") if raw.get(name)]
    yield from page.section("match", (line for one in told for line in _format_code_block(*one)))
    yield from page.section("fixes", (f"- {page.text(one['title'])}" for one in raw["fixes"]))
    fires = raw["examples"]["fires"]
    yield from page.section(
        "examples", (line for one in fires for line in _format_code_block("text", one["raised"]))
    )


def _render_snippet(page: _Sheet, raw: Mapping[str, Any]) -> Iterator[str]:
    taken = parse_snippet(raw)
    yield from _format_code_block(
        taken.language, page.text(translate_comments(taken).by_language())
    )


def _render_stack(page: _Sheet, entry: Explained) -> Iterator[str]:
    raw = entry.raw
    over = ", ".join(f"`{name}`" for name in raw.get("over") or ())
    yield from page.section("over", [over] if over else [])
    fixes = {fix["id"]: fix for fix in page.rules["fixes"]}
    for name, snippet in load_snippets(raw).items():
        title = page.text(fixes[name]["title"]) if name in fixes else name
        yield from (f"## {page.aside(title, f'`{name}`')}", "", *_render_snippet(page, snippet), "")
    yield from page.section("references", _format_references(raw))


def _render_advisory(page: _Sheet, entry: Explained) -> Iterator[str]:
    raw = entry.raw
    yield from (f"{raw['package']} {raw['range']}", "")
    conditions = page.format_conditions(raw)
    yield from page.section("asked", [conditions] if conditions else [])
    yield from page.section("fixed", [page.text(raw["fixed"])])
    yield from page.section(
        "suggests",
        (
            f"- {page.level(level)}: `{cause}`, {_get_title(page, cause)}"
            for cause, level in raw["causes"].items()
        ),
    )
    yield from page.section("references", _format_references(raw))


def _list_users(page: _Sheet, name: str) -> Iterator[str]:
    """List the causes, fixes, advisories and conditions that name a condition or signature."""
    for kind in ("causes", "fixes", "advisories"):
        for rule in page.rules[kind]:
            items = (rule, *(rule.get("for") or ()), *(rule.get("against") or ()))
            if any(name in (*(item.get("if") or ()), *(item.get("not") or ())) for item in items):
                yield f"- `{rule['id']}`"


def _get_title(page: _Sheet, cause: str) -> str:
    known = page.rules["taxonomy"]["causes"].get(cause)
    return page.text(known["title"]) if known else cause


def _format_references(raw: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"- <{reference}>" for reference in raw.get("references") or ())


def _format_code_block(language: str, text: str) -> Iterator[str]:
    yield from (f"```{language}", text.rstrip("\n"), "```")


def _dump_yaml(value: Any) -> str:
    import yaml  # noqa: PLC0415 -- a run has no need of it

    return str(yaml.safe_dump(value, allow_unicode=True, sort_keys=False))


def _render_classifier(page: _Sheet, _entry: Explained) -> Iterator[str]:
    for message in TEXT_MODEL_NOTES:
        yield from (message.text(page.language), "")


_BODIES: Final[Mapping[str, Callable[[_Sheet, Explained], Iterator[str]]]] = {
    "cause": _render_cause,
    "signature": _render_signature,
    "condition": _render_condition,
    "shape": _render_condition,
    "fix": _render_fix,
    "exception": _render_exception,
    "stack": _render_stack,
    "advisory": _render_advisory,
    "classifier": _render_classifier,
}
