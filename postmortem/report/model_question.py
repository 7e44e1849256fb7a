"""The question to a language model above an excerpt: the run, the verdict, what is unknown.

In: a `Diagnosis`, what hides names. Out: Markdown blocks in the language of the diagnosis. Not
here: the excerpt itself (`report.sharing`), asking anybody. Whatever may come from the log stands
in inline code that it cannot break out of.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from postmortem.core.diagnosis import Diagnosis
from postmortem.report import about_run, parts
from postmortem.report.markdown_text import format_inline_code
from postmortem.report.plain import format_one_line, format_percent, format_weight, place
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.words import Words
from postmortem.report.words.question_words import QUESTION

_EVIDENCE, _OTHERS, _FIXES, _SETTINGS, _OPEN = 8, 3, 4, 24, 6
"""How many of each are told."""
_LONGEST: Final = 300
_FROM_THE_LOG: Final = frozenset({"signature", "traceback", "setting"})


def render_question(diagnosis: Diagnosis, words: Words, redactor: Redactor | None) -> Iterator[str]:
    """Yield the blocks above the excerpt."""
    phrases = QUESTION[words.language]
    hide = _build_line_redactor(redactor)
    yield f"# {phrases['title']}"
    yield phrases["role"]
    yield f"**{phrases['data']}**"
    yield f"## {phrases['run']}"
    yield _format_bullets(_run(diagnosis, phrases, words, redactor), phrases["unknown-run"])
    yield f"## {phrases['thinks']}"
    yield _format_bullets(_render_diagnosis(diagnosis, phrases, words, hide), phrases["abstains"])
    yield f"## {phrases['open']}"
    yield _format_bullets(
        _list_open_questions(diagnosis, phrases, words, hide), phrases["nothing-open"]
    )
    yield f"## {phrases['asked']}"
    yield "\n".join(
        f"{index}. {text}" for index, text in enumerate(_list_requests(diagnosis, phrases), 1)
    )
    yield f"## {phrases['excerpt']}"


def _build_line_redactor(redactor: Redactor | None) -> Callable[[str], str]:
    """Make what writes a text on one line, with nothing given away."""
    if redactor is None:
        return lambda text: format_one_line(text, _LONGEST)
    return lambda text: format_one_line(redactor.text(text), _LONGEST)


def _format_bullets(items: Iterator[str], otherwise: str) -> str:
    return "\n".join(f"- {item}" for item in items) or otherwise


def _format_stack(diagnosis: Diagnosis, words: Words) -> str:
    """Name frameworks, versions and machines; a version may look like an address."""
    sentence = (
        about_run.format_frameworks(diagnosis),
        about_run.format_environment_line(diagnosis, words),
    )
    return "; ".join(part for part in sentence if part)


def _run(
    diagnosis: Diagnosis, phrases: Mapping[str, str], words: Words, redactor: Redactor | None
) -> Iterator[str]:
    """Yield what is known of the run."""
    hide, colon = _build_line_redactor(redactor), words("colon")
    stack = _format_stack(diagnosis, words)
    if stack:
        shown = stack if redactor is None else redactor.text(stack, addresses=False)
        yield phrases["stack"] + colon + format_inline_code(shown)
    if diagnosis.settings:
        pairs = [
            (name, setting.value if redactor is None else redactor.setting(name, setting.value))
            for name, setting in list(diagnosis.settings.items())[:_SETTINGS]
        ]
        yield (
            phrases["settings"]
            + colon
            + words("joint").join(
                format_inline_code(hide(f"{name}={about_run.format_setting_value(value)}"))
                for name, value in pairs
            )
        )
    yield phrases["outcome"] + colon + parts.format_outcome(diagnosis, diagnosis.outcome, words)
    for line in about_run.describe_progress(diagnosis, words):
        yield phrases["progress"] + colon + hide(line)


def _render_diagnosis(
    diagnosis: Diagnosis, phrases: Mapping[str, str], words: Words, hide: Callable[[str], str]
) -> Iterator[str]:
    """Yield the diagnosis with what it rests on; nothing where there is none."""
    cause, colon = parts.get_main_cause(diagnosis), words("colon")
    if cause is not None:
        named = f"{hide(parts.format_title(diagnosis, words))} ({cause.id})"
        yield f"{phrases['verdict']}{colon}{named} · {parts.format_confidence(diagnosis, words)}"
        for item in parts.select_strongest_evidence(cause, _EVIDENCE):
            text = hide(item.text)
            at = hide(place(diagnosis, item.source, (item.line, item.end_line), words))
            shown = format_inline_code(text) if item.kind in _FROM_THE_LOG else text
            yield (
                f"{phrases['evidence']}{colon}{format_weight(item.weight)} {shown}"
                + (words("bracketed", text=at) if at else "")
            )
        for fix in cause.fixes[:_FIXES]:
            yield phrases["fixes"] + colon + hide(fix.title)
    for other in parts.list_other_causes(diagnosis)[:_OTHERS]:
        share = format_percent(other.probability)
        yield f"{phrases['others']}{colon}{share} {other.title} ({other.id})"


def _list_open_questions(
    diagnosis: Diagnosis, phrases: Mapping[str, str], words: Words, hide: Callable[[str], str]
) -> Iterator[str]:
    """Yield what was not checked, what would decide, and what would change the verdict."""
    verdict = diagnosis.verdict
    for text in (*verdict.not_checked, *(need.what for need in verdict.need))[:_OPEN]:
        yield hide(text)
    for text in verdict.would_change[:_OPEN]:
        yield phrases["separates"] + words("colon") + hide(text)


def _list_requests(diagnosis: Diagnosis, phrases: Mapping[str, str]) -> Iterator[str]:
    """Yield what is asked; the stack by its names only."""
    yield phrases["find" if diagnosis.verdict.cause is None else "check"]
    yield phrases["contradict"]
    yield phrases["fix"].format(stack=about_run.format_frameworks(diagnosis) or phrases["no-stack"])
    yield phrases["missing"]
