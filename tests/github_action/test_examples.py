"""What the pages show for CI is valid where it is pasted, and tells of every input."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from postmortem.interfaces.trackers.gitlab_api import GitlabSettings

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a page."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def is_valid(schema: str, text: str, folder: Path) -> bool:
    """Whether the published schema takes a file."""
    file = folder / "example.yml"
    file.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(file)]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.parametrize("page", ["github-action.md", "github-action.zh.md"])
def test_the_workflow_is_one(page: str, tmp_path: Path) -> None:
    """Its steps give the action inputs that it has; the second block is a step of it."""
    whole, step = blocks(page, "yaml")
    assert is_valid("vendor.github-workflows", whole + step, tmp_path)
    last = yaml.safe_load(whole)["jobs"]["train"]["steps"][-1]
    assert set(last["with"]) <= set(ACTION["inputs"])
    assert not is_valid("vendor.github-workflows", whole.replace("runs-on", "run-on"), tmp_path)


@pytest.mark.parametrize("page", ["github-action.md", "github-action.zh.md"])
def test_the_tables_tell_of_everything(page: str) -> None:
    """Each input with its default, each output."""
    rows = [
        row
        for row in (ROOT / "docs" / page).read_text("utf-8").splitlines()
        if row.startswith("| `")
    ]
    told = {name: row for row in rows for name in re.findall(r"`([\w-]+)`", row.split("|")[1])}
    assert set(told) == {*ACTION["inputs"], *ACTION["outputs"]}
    for name, value in ACTION["inputs"].items():
        default = str(value.get("default", ""))
        assert "${{" in default or not default or f"`{default}`" in told[name], name


@pytest.mark.parametrize("page", ["gitlab.md", "gitlab.zh.md"])
def test_the_pipeline_and_the_settings_are_ones(page: str, tmp_path: Path) -> None:
    """GitLab's schema takes the one, the tracker the other."""
    pipeline, settings = blocks(page, "yaml")
    assert is_valid("vendor.gitlab-ci", pipeline, tmp_path)
    tracker = yaml.safe_load(settings)["bots"]["trackers"]["gitlab"]
    assert tracker.pop("projects") == ["ml/*"]
    assert GitlabSettings.model_validate(tracker).signing == "env:GITLAB_HOOK_SIGNING"
