"""Convert texts and hours to values of `postmortem.triage/1`.

In: a sentence, hours. Out: plain values, None where there is nothing. Not here: which figures there
are.
"""

from postmortem.core.message import Message


def build_translations(message: Message) -> dict[str, str] | None:
    """Give a sentence in both languages; None if there is none."""
    return {"en": message.text("en"), "zh": message.text("zh")} if message else None


def normalize_hours(hours: float | None) -> float | None:
    """Give hours to a third of a second; None, never 0, if they are not known."""
    return None if hours is None else round(hours, 4)
