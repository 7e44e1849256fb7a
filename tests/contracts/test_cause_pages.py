"""The reference of all causes misses none."""

import cause_pages
import pytest

from postmortem.rules.base import load_compiled_rules


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_cause_stands_in_the_reference(language: str) -> None:
    """With its title as it is now: `python tools/cause_pages.py` writes both pages."""
    page = cause_pages.PAGES[language].read_text(encoding="utf-8")
    missing = [
        name
        for name, told in load_compiled_rules()["taxonomy"]["causes"].items()
        if f"`{name}`" not in page or f"## {told['title'][language]}" not in page
    ]
    assert missing == []
