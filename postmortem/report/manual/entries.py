"""Look an id up among all rules: causes, signatures, conditions, anomalies, fixes, stacks.

In: compiled rules, an id. Out: `Explained`; the headings of its page, as `Message`s by name. Not
here: what its page says (`manual.articles`), what the rules themselves say (`patterns/`).
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from postmortem.core.errors import UsageError
from postmortem.core.message import Message, quote, say, say_in

HEADINGS: Final[Mapping[str, Message]] = {
    "signatures": say("What it looks like in a log"),
    "for": say("What speaks for it"),
    "against": say("What speaks against it"),
    "separates": say("What tells it from its neighbours"),
    "precedence": say("Which of two is named"),
    "need": say("What would decide"),
    "fixes": say("What to do"),
    "advisories": say("Versions known for it"),
    "suggests": say("What it suggests"),
    "match": say("How it is recognised"),
    "examples": say("Examples"),
    "source": say("Who prints it"),
    "references": say("References"),
    "used": say("Who asks for it"),
    "holds": say("When it holds"),
    "over": say("On what it stands"),
    "causes": say("For which causes"),
    "asked": say("When it applies"),
    "fixed": say("What mends it"),
}
LEVELS: Final[Mapping[str, Message]] = {
    "decisive": say("decisive"),
    "strong": say("strong"),
    "moderate": say("moderate"),
    "weak": say("weak"),
}
WORDS: Final[Mapping[str, Message]] = {
    "causes": say("Causes"),
    "cause": say("cause"),
    "signature": say("message in a log"),
    "condition": say("condition"),
    "shape": say("shape of curves or of a job"),
    "classifier": say("evidence of the text classifier"),
    "fix": say("fix"),
    "exception": say("exception"),
    "stack": say("stack: framework, trainer or engine"),
    "advisory": say("known defect of a version"),
    "not": say("not"),
    "if": say("if"),
    "before": say("goes before"),
    "behind": say("yields to"),
    "check": say("check"),
    "change": say("change"),
    "prevent": say("prevent"),
    "safe": say("safe"),
    "changes-results": say("changes the results"),
    "costly": say("costs time or memory"),
    "whose": say("To be mended in"),
    "user": say("the user's code or settings"),
    "data": say("the data"),
    "library": say("a library"),
    "platform": say("the platform"),
    "hardware": say("the hardware"),
    "unknown": say_in("manual", "unknown"),
    "retry as-is": say("A retry as it is may succeed"),
    "retry after-fix": say("Retry after the fix"),
    "retry no": say("There is nothing to retry"),
    "retry unknown": say("Whether a retry helps is not known"),
    "labelled": say("{label}: {text}"),
    "aside": say("{text} ({aside})"),
    "sentences": say("{first}. {second}"),
    "role cause": say("The line itself names what went wrong"),
    "role consequence": say("The line is printed because something else failed"),
    "role warning": say("Worth attention; it ends no run"),
    "role harmless": say("It frightens people and means nothing"),
    "role context": say("It tells what was going on"),
}
_SNIPPETS: Final[Mapping[str, Message]] = {
    "any": say("In any stack"),
    "model": say("On a PyTorch model in hand"),
    "pytorch": say("In a plain PyTorch loop"),
}


def get_stack_name(key: str) -> Message:
    """Name the stack under whose key a snippet stands."""
    return _SNIPPETS.get(key) or quote(key)


TEXT_MODEL: Final = say("The wording is that of such failures")
TEXT_MODEL_NOTES: Final = (
    say(
        "A linear model of hashed words and parts of words compares what the run says where it"
        " fails with runs whose cause is known. It sees no rule, no figure and no curve. It is"
        " heard only where the log does not prove its cause: beside causes that rules name it"
        " counts little, and where they abstain it may put forward one of its own, with a"
        " probability of 0.75 at most."
    ),
    say(
        "The report names the words that carry it, with their lines (`--full`, HTML, Markdown,"
        " `carried` in JSON). `--no-model` judges by the rules alone."
    ),
    say(
        "`postmortem label run.log CAUSE` records what a run really died of; `postmortem train"
        " --add FOLDER -o MODEL` learns from such labels, and `--model MODEL` uses it. See"
        " `docs/classifier.md`."
    ),
)


Rules = Mapping[str, Any]
"""Compiled rules, as `rules.compile` describes them."""
KINDS: Final = (
    "cause",
    "signature",
    "condition",
    "shape",
    "fix",
    "exception",
    "stack",
    "advisory",
    "classifier",
)
_PLURALS: Final[Mapping[str, str]] = {
    "signature": "signatures",
    "condition": "conditions",
    "shape": "anomalies",
    "fix": "fixes",
    "stack": "stacks",
    "advisory": "advisories",
}
_NEAR: Final = 5


class Explained(NamedTuple):
    """A rule with its kind; of a cause, what the taxonomy says is among its keys."""

    kind: str
    """One of KINDS."""
    id: str
    raw: Mapping[str, Any]


def iter_entries(rules: Rules) -> Iterator[Explained]:
    """Yield all that can be explained."""
    causes = {cause["id"]: cause for cause in rules["causes"]}
    for name, definition in rules["taxonomy"]["causes"].items():
        yield Explained("cause", name, {**causes.get(name, {}), **definition})
    for kind, plural in _PLURALS.items():
        for rule in rules[plural]:
            yield Explained(kind, rule["id"], rule)
    for rule in (
        *rules["exceptions"],
        *(rule for rule in rules["signatures"] if rule.get("fixes")),
    ):
        yield from _iter_advice(rule)
    yield Explained("classifier", "text-model", {"title": TEXT_MODEL.by_language()})


def _iter_advice(rule: Mapping[str, Any]) -> Iterator[Explained]:
    """Yield the rule of an exception and each of its fixes; a signature stands for itself."""
    if "exception" in rule or "suggests" not in rule:
        title = rule.get("meaning") or rule["fixes"][0]["title"]
        yield Explained("exception", rule["id"], {**rule, "title": title})
    defaults = {"kind": "change", "safety": "safe", "why": rule.get("meaning")}
    causes = tuple(rule.get("causes") or rule.get("suggests") or ())
    for number, fix in enumerate(rule.get("fixes") or (), 1):
        own = {"snippets": {"python": fix["snippet"]}} if fix.get("snippet") else {}
        raw = {**defaults, "causes": causes, "rule": rule["id"], **fix, **own}
        yield Explained("fix", f"{rule['id']}.fix-{number}", raw)


def find_entry(rules: Rules, name: str) -> Explained:
    """Find the entry with an id; causes are searched first.

    Raises:
        UsageError: nothing has it; similar ids are listed.
    """
    all_of_it = list(iter_entries(rules))
    found = next((entry for entry in all_of_it if entry.id == name), None)
    if found is None:
        raise UsageError(f"nothing has the id {name!r}", "", _format_hint(all_of_it, name))
    return found


def _format_hint(all_of_it: Sequence[Explained], name: str) -> str:
    """Say which ids were meant, or where they are listed."""
    ids = [entry.id for entry in all_of_it]
    within = [id_ for id_ in ids if name.lower() in id_][:_NEAR] if len(name) > 2 else []
    near = within or difflib.get_close_matches(name.lower(), ids, _NEAR, 0.6)
    return f"did you mean {', '.join(near)}?" if near else "see: postmortem patterns list"
