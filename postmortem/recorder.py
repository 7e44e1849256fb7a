"""The recorder, under the name by which training scripts import it."""

from typing import Any

from postmortem.replay import recorder

__all__ = [*recorder.__all__]  # noqa: PLE0604 -- names


def __getattr__(name: str) -> Any:
    """Import what is asked for, and its framework with it."""
    return getattr(recorder, name)
