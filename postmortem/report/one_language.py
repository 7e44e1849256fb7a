"""Translate an analysis into one language; every form of the report starts from that.

In: an `Analysis` or a `Replayed`, a language. Out: a `Diagnosis`, a `Replayed` in it. Not
here: labels of the reports (`report.words`). This is the one place where a language is chosen.
"""

from dataclasses import replace

from postmortem.core.diagnosis import Analysis, Diagnosis
from postmortem.core.message import Message
from postmortem.core.replayed import Replayed
from postmortem.core.wording import convert_texts


def translate_analysis(analysis: Analysis, language: str) -> Diagnosis:
    """Give the same with all texts in `en` or `zh`."""
    diagnosis: Diagnosis = convert_texts(analysis, lambda message: message.text(language))
    return replace(diagnosis, language=language)


def translate_replay(found: Replayed[Message], language: str) -> Replayed:
    """Give the same with all texts in `en` or `zh`."""
    chosen: Replayed = convert_texts(found, lambda said: said.text(language))
    return chosen
