"""Every message that a program prints when it fails is known to a rule.

Or it is left out for a reason that still holds.
"""

import functools
import os

import messages as checklist
import pytest

MESSAGES = checklist.messages()
judged = functools.lru_cache(maxsize=None)(checklist.judged)


def named(*, wanted: bool) -> list[object]:
    """The messages that are left out, or those that are not."""
    return [
        pytest.param(message, id=f"{message.program}: {message.text[:60]}")
        for message in MESSAGES
        if bool(message.left_out) == wanted
    ]


@pytest.mark.parametrize("message", named(wanted=False))
def test_a_message_is_known(message: checklist.Message) -> None:
    """A rule of the right role fires on it."""
    found = judged(message).signatures
    assert message.roles & set(found.values()), f"fires {found or 'nothing'}"


@pytest.mark.parametrize("message", named(wanted=True))
def test_an_excuse_still_holds(message: checklist.Message) -> None:
    """What is left out is known to no rule that names a cause; else the excuse is stale."""
    assert "cause" not in judged(message).signatures.values()


def test_no_message_stands_twice() -> None:
    """A program's list holds each text once."""
    texts = [(message.program, message.text) for message in MESSAGES]
    assert sorted(set(texts)) == sorted(texts)


def test_the_page_is_up_to_date() -> None:
    """docs/messages.md says what the rules make of the messages now.

    UPDATE_MESSAGES=1 writes it.
    """
    if os.environ.get("UPDATE_MESSAGES"):
        checklist.main()
    assert checklist.PAGE.read_text(encoding="utf-8") == checklist.page()
