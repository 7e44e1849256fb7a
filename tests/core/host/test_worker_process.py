"""Tests for setting up a worker process."""

import pytest

from postmortem.core.errors import PostmortemError
from postmortem.core.host import helper_process
from postmortem.core.host.helper_process import is_lack_of_memory


def _wrap(cause: Exception) -> PostmortemError:
    error = PostmortemError("reading it failed")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize("is_restricted", [True, False])
def test_lack_of_memory(monkeypatch: pytest.MonkeyPatch, *, is_restricted: bool) -> None:
    """A `SystemError` counts only within a limit; an error counts for the one behind it."""
    monkeypatch.setattr(helper_process, "_is_memory_restricted", lambda: is_restricted)
    assert is_lack_of_memory(MemoryError())
    assert is_lack_of_memory(_wrap(MemoryError()))
    assert is_lack_of_memory(_wrap(SystemError("error return"))) is is_restricted
    assert not is_lack_of_memory(_wrap(ValueError("no number")))
