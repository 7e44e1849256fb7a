"""Translate an analysis into one language; every form of the report starts from that.

In: an `Analysis`, a language. Out: a `Diagnosis`. Not here: labels of the reports (`report.words`).
This is the one place where a language is chosen.
"""

from dataclasses import replace

from postmortem.core.diagnosis import Analysis, Diagnosis
from postmortem.core.wording import convert_texts


def translate_analysis(analysis: Analysis, language: str) -> Diagnosis:
    """Give the same with all texts in `en` or `zh`."""
    diagnosis: Diagnosis = convert_texts(analysis, lambda message: message.text(language))
    return replace(diagnosis, language=language)
