"""Show how to record a capsule: the lines that attach the recorder.

In: a log, or nothing; a language. Out: a text. Not here: recording (`replay.recorder`); the lines
themselves, which are the fix `numerics.record-window` of the rules.
"""

from typing import Final

from postmortem.core.errors import PatternError
from postmortem.core.message import say
from postmortem.diagnosis.case.build import build_case
from postmortem.diagnosis.fixes.select import select_fixes
from postmortem.extraction.job import read
from postmortem.pipeline import get_matcher
from postmortem.rules.base import KnowledgeBase
from postmortem.rules.causes import FixRule
from postmortem.rules.snippets import translate_comments
from postmortem.rules.traits import Trait, get_id

_FIX: Final = "numerics.record-window"
_ABOUT: Final = say(
    "Replay runs the steps before a failure again, from a capsule that the recorder writes"
    " while the training runs. These lines attach it; it writes a folder *.capsule when the"
    " loss or the gradients stop being finite, the loss scale collapses or an exception"
    " passes:"
)
_THEN: Final = say(
    "Then: postmortem replay NAME.capsule. A capsule holds training data: keep it as you"
    " keep those."
)


def describe_recording(log: str | None, language: str) -> str:
    """Tell how to get a capsule: for the framework that a log shows, else for each."""
    knowledge = get_matcher(()).knowledge
    lines = (
        _format_all_snippets(_find_recording_fix(knowledge), language)
        if log is None
        else _format_snippets_for_log(log, language)
    )
    return "\n".join([_ABOUT.text(language), "", lines, "", _THEN.text(language), ""])


def _find_recording_fix(knowledge: KnowledgeBase) -> FixRule:
    found = next((fix for fix in knowledge.fixes if fix.id == _FIX), None)
    if found is None:
        raise PatternError(f"the rules have no fix {_FIX}", "patterns/fixes/numerics.yaml")
    return found


def _format_all_snippets(fix: FixRule, language: str) -> str:
    blocks = [
        f"# {name}\n{translate_comments(snippet).text(language)}"
        for name, snippet in fix.snippets.items()
    ]
    return "\n\n".join(block.rstrip() for block in blocks)


def _format_snippets_for_log(log: str, language: str) -> str:
    """Give the lines for the framework of a log; of one without a recorder, those of all."""
    machine = get_matcher(())
    case = build_case(read([log], machine), machine.knowledge)
    fixes = select_fixes(get_id(Trait.NONFINITE_UNEXPLAINED), case, machine.knowledge)
    snippet = next((fix.snippet.text(language) for fix in fixes if fix.id == _FIX), "")
    return snippet.rstrip() or _format_all_snippets(
        _find_recording_fix(machine.knowledge), language
    )
