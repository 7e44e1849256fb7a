"""The pages on the bot show settings that hold, and name every one of them."""

import re
from pathlib import Path

import pytest
import yaml

from postmortem.interfaces.bots.bot_settings import BotSettings, TrackerEntry
from postmortem.interfaces.http.service_settings import ServiceSettings
from postmortem.interfaces.trackers.github_api import GithubSettings

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = pytest.mark.parametrize("name", ["bots.md", "bots.zh.md"])


@PAGES
def test_the_settings_shown_are_valid(name: str) -> None:
    """As they stand there, of the service and of its tracker."""
    shown = re.search(r"```yaml\n(.*?)```", (DOCS / name).read_text("utf-8"), re.DOTALL)
    assert shown is not None
    settings = ServiceSettings.model_validate(yaml.safe_load(shown[1]))
    assert settings.bots is not None
    GithubSettings.model_validate(settings.bots.trackers["github"].own())


@PAGES
def test_every_setting_is_named(name: str) -> None:
    """And those of the bot with their defaults."""
    text = (DOCS / name).read_text("utf-8")
    for model in (BotSettings, TrackerEntry, GithubSettings):
        assert [field for field in model.model_fields if f"`{field}`" not in text] == []
    for field, told in BotSettings.model_fields.items():
        if isinstance(told.default, (str, int, float)):
            assert re.search(rf"\| `{field}` \| `?{re.escape(f'{told.default:}')}`? \|", text), (
                field
            )


def test_both_pages_have_the_same_parts() -> None:
    """Headings, tables and blocks of code, one by one."""
    english, chinese = (
        re.findall(r"^(#+|\||```\w*)", (DOCS / name).read_text("utf-8"), re.MULTILINE)
        for name in ("bots.md", "bots.zh.md")
    )
    assert english == chinese
