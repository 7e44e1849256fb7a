"""The GitHub Action: its file is sound, and its steps are run as a runner runs them."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.github_action.stand_in_runner import Run, Runner, commands_in
from tests.interfaces.bots import standin_github

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / "action.yml"
SCRIPTS = sorted((ROOT / "tools" / "github_action").glob("*.sh"))
LOG = ROOT / "sample_logs" / "deepspeed" / "scale-exhausted-yi.log"
HEALTHY = ROOT / "sample_logs" / "accelerate" / "healthy-loop-0.log"
CAUSE = "numerics.loss-scale-exhausted"
HOSTILE = """step 1 loss 2.0
::set-output name=cause::pwned
::add-mask::a
::stop-commands::x
::error file=a,line=1::pwned
##[error]pwned
cause<<EOF
pwned
EOF
$(touch pwned) `touch pwned` ${{ github.token }}
Traceback (most recent call last):
  File "/x::error::y.py", line 1, in <module>
RuntimeError: ::error::pwned\r::warning::pwned %0A::error::pwned $(touch pwned)
"""


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A runner whose workspace holds the sample."""
    found = Runner(ACTION, tmp_path, {"POSTMORTEM_MODEL": "none", "PYTHONPATH": str(ROOT)})
    shutil.copy(LOG, found.workspace / "run.log")
    shutil.copy(LOG.with_suffix(".env"), found.workspace / "run.env")
    shutil.copy(HEALTHY, found.workspace / "healthy.log")
    return found


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, dict[str, str]]:
    """The step that installs, taken as done: the package of this checkout."""
    command = tmp_path / "postmortem"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m postmortem "$@"\n')
    command.chmod(0o755)
    return {"install": {"python": sys.executable, "command": str(command)}}


def test_the_file_is_as_the_published_schema_asks() -> None:
    """That of schemastore.org, which the tool brings along; its own workflow too."""
    for schema, file in (
        ("vendor.github-actions", ACTION),
        ("vendor.github-workflows", ROOT / ".github" / "workflows" / "ci.yml"),
    ):
        command = ["check_jsonschema", "--builtin-schema", schema, str(file)]
        done = subprocess.run(
            [sys.executable, "-m", *command], capture_output=True, check=False, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr


def steps() -> list[dict[str, Any]]:
    """The steps of the action."""
    found: list[dict[str, Any]] = yaml.safe_load(ACTION.read_text("utf-8"))["runs"]["steps"]
    return found


def test_no_script_holds_an_expression() -> None:
    """What a workflow gives reaches a shell in variables alone."""
    for step in steps():
        assert "${{" not in step.get("run", "")
    for script in SCRIPTS:
        assert "${{" not in script.read_text("utf-8")


def test_the_actions_of_others_are_pinned() -> None:
    """By a whole commit."""
    used = [step["uses"] for step in steps() if "uses" in step]
    assert used
    assert [one for one in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", one)] == []


def test_every_input_is_used_and_every_output_is_made(
    runner: Runner, installed: dict[str, dict[str, str]]
) -> None:
    """None is a promise without a step."""
    text = ACTION.read_text("utf-8")
    value = yaml.safe_load(text)
    assert [name for name in value["inputs"] if f"inputs.{name}" not in text] == []
    done = runner.run({"paths": "run.log"}, done=installed).outputs
    done["upload"] = {"artifact-url": ""}
    for name, output in value["outputs"].items():
        match = re.fullmatch(r"\$\{\{ steps\.(\w+)\.outputs\.([\w-]+) \}\}", output["value"])
        assert match, name
        assert match[2] in done[match[1]], name


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_the_scripts_are_clean(script: Path) -> None:
    """So says ShellCheck."""
    command = [str(Path(sys.executable).parent / "shellcheck"), str(script)]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stdout


def test_a_failed_run_is_told_in_every_way(
    runner: Runner, installed: dict[str, dict[str, str]]
) -> None:
    """Outputs, annotations, summary, report, artifact; the step itself does not fail."""
    found = runner.run({"paths": "run.log", "env": "run.env"}, done=installed)
    assert found.status == 0, found.said
    told = found.outputs["analyse"]
    assert (told["cause"], told["status"], told["outcome"]) == (CAUSE, "established", "failed")
    assert (told["failed"], 0.5 < float(told["probability"]) <= 1) == ("true", True)
    assert told["title"]
    assert Path(told["report"]).read_text("utf-8").startswith("<!DOCTYPE html>")
    assert Path(told["summary"]).read_text("utf-8").strip() == found.summary.strip()
    assert (
        json.loads(Path(told["analysis"]).read_text("utf-8"))["schema"] == "postmortem.analysis/1"
    )
    assert CAUSE in found.summary
    assert found.commands[0][0] == "error"
    assert "file=run.log,line=19" in found.commands[0][1]
    ((action, given),) = found.used
    assert action.startswith("actions/upload-artifact@")
    assert (given["name"], given["path"]) == ("postmortem", told["report"])


def test_inputs_choose(runner: Runner, installed: dict[str, dict[str, str]]) -> None:
    """Language, form, patterns, no artifact, no annotation, and a step that fails."""
    found = runner.run(
        {"paths": "\n  r*n.log\n\n", "lang": "zh", "format": "sarif", "artifact": "",
         "annotations": "false", "fail-on": "failure"},
        done=installed,
    )  # fmt: skip
    assert (found.status, found.used, found.commands) == (1, [], [])
    assert "失败" in found.summary
    report = Path(found.outputs["analyse"]["report"])
    assert json.loads(report.read_text("utf-8"))["version"] == "2.1.0"
    healthy = runner.run({"paths": "healthy.log", "fail-on": "failure"}, done=installed)
    assert (healthy.status, healthy.outputs["analyse"]["failed"]) == (0, "false")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"paths": ""}, "no log is named"),
        ({"paths": "nowhere.log"}, "nowhere.log"),
        ({"paths": "run.log", "lang": "de"}, "one of en, zh"),
        ({"paths": "run.log", "format": "pdf"}, "one of html"),
        ({"paths": "run.log", "annotations": "yes"}, "one of true, false"),
        ({"paths": "run.log", "fail-on": "always"}, "fail-on is"),
        ({"paths": "run.log", "comment": "yes"}, "comment is"),
        ({"paths": "run.log\n::error::pwned"}, "pwned"),
    ],
)
def test_a_wrong_input_is_told(
    runner: Runner, installed: dict[str, dict[str, str]], given: dict[str, str], said: str
) -> None:
    """In a line, and the step fails."""
    found = runner.run(given, done=installed)
    assert found.status == 2
    assert said in found.said
    assert "Traceback" not in found.said
    assert not [one for one in found.commands if "pwned" in str(one)]


def is_quiet(found: Run) -> bool:
    """Whether the log has made the runner do nothing: each command is one of the action's own."""
    own = {"error", "warning", "notice"}
    return {name for name, _, _ in found.commands} <= own and not any(
        message.startswith("pwned") or "file=a" in properties
        for _, properties, message in found.commands
    )


def test_a_hostile_log_commands_nothing(
    runner: Runner, installed: dict[str, dict[str, str]]
) -> None:
    """Neither the runner, nor its files, nor a shell; the names of files neither."""
    name = "$(touch pwned)`touch pwned`;touch pwned\r::error::pwned.log"
    (runner.workspace / name).write_text(HOSTILE)
    found = runner.run({"paths": "*pwned.log"}, done=installed)
    assert found.status == 0, found.said
    assert is_quiet(found), found.commands
    assert "pwned" not in "".join(found.outputs["analyse"].values())
    assert [path.name for path in runner.workspace.iterdir() if path.name == "pwned"] == []
    assert len(found.commands) <= 3


def test_the_runner_obeys_nothing_while_a_log_is_read(
    runner: Runner, installed: dict[str, dict[str, str]]
) -> None:
    """Until a mark that no log can know; then come the annotations."""
    said = [runner.run({"paths": "run.log"}, done=installed).said for _ in range(2)]
    begin = [re.match(r"::stop-commands::([0-9a-f]{32})\n", one) for one in said]
    marks = [one[1] for one in begin if one is not None]
    assert len({*marks}) == 2
    for mark, one in zip(marks, said, strict=True):
        assert one.index(f"\n::{mark}::\n") < one.index("::error ")


def test_the_check_sees_commands() -> None:
    """The stand-in runner obeys what a real one would."""
    assert commands_in("::error::a\r::warning file=x::b\n##[debug]c") == [
        ("error", "", "a"),
        ("warning", "file=x", "b"),
        ("debug", "", "c"),
    ]
    assert commands_in("::stop-commands::m\n::error::a\n::m::\n::notice::b") == [
        ("notice", "", "b")
    ]


@pytest.fixture
def github() -> Iterator[standin_github.StandIn]:
    """A GitHub, where the token of a workflow writes."""
    with standin_github.serving() as found:
        found.account.update(id=41898282, login="github-actions[bot]")
        yield found


def at(github: standin_github.StandIn) -> dict[str, str]:
    """What the runner of that GitHub says of it."""
    return {"GITHUB_API_URL": github.url, "GITHUB_REPOSITORY": standin_github.PROJECT}


def test_one_comment_is_kept(
    runner: Runner, installed: dict[str, dict[str, str]], github: standin_github.StandIn
) -> None:
    """Under the event's pull request; a run that went well mends it and begins none."""
    number = github.open_issue("Larger batches")
    runner.environment |= at(github)
    given = {"paths": "run.log", "comment": "failed", "token": standin_github.TOKEN}
    event = {"event": {"pull_request": {"number": str(number)}}}
    well = {**given, "paths": "healthy.log"}
    runs = [runner.run(one, event, installed) for one in (well, given, given, well)]
    assert [one.status for one in runs] == [0] * 4, [one.said for one in runs]
    hows = [re.findall(r"comment (\w+)", one.said)[-1] for one in runs]
    assert hows == ["none", "posted", "kept", "edited"]
    (text,) = github.own(number)
    assert f"[Report](<https://github.com/{standin_github.PROJECT}/actions/runs/4711>)" in text
    assert standin_github.TOKEN not in "".join(one.said for one in runs)


def test_a_token_that_may_only_read_is_a_warning(
    runner: Runner, installed: dict[str, dict[str, str]], github: standin_github.StandIn
) -> None:
    """As that of a pull request from a fork; so is an event without a number."""
    number = github.open_issue("Larger batches")
    github.fail("POST", "/comments", status=403, message="Resource not accessible by integration")
    runner.environment |= at(github)
    given = {"paths": "run.log", "comment": "true", "token": standin_github.TOKEN}
    found = runner.run({**given, "number": str(number)}, done=installed)
    assert found.status == 0, found.said
    assert "the token needs" in found.commands[-1][2]
    found = runner.run({**given, "number": "12; touch pwned"}, done=installed)
    assert found.status == 0
    assert "number names none" in found.commands[-1][2]


def test_pip_is_asked_for_what_the_action_holds(runner: Runner, tmp_path: Path) -> None:
    """With what comments need, in an environment of the action's own, and by no name."""
    python = tmp_path / "python"
    python.write_text(
        '#!/bin/sh\nmkdir -p "$4/bin"\nprintf \'#!/bin/sh\\nprintf "%%s\\\\n" "$@" >>"%s"\\n\''
        f' "{tmp_path}/asked" >"$4/bin/python"\nchmod +x "$4/bin/python"\n'
    )
    python.chmod(0o755)
    found = runner.run({"paths": "run.log", "python": str(python), "artifact": ""})
    asked = (tmp_path / "asked").read_text().split("\n")
    assert asked[:4] == ["-I", "-m", "pip", "install"]
    assert f"{ROOT}[bots]" in asked
    assert found.outputs["install"]["command"].endswith("/bin/postmortem")


@pytest.mark.wheel
def test_all_of_it_for_real(tmp_path: Path) -> None:
    """Installed from this checkout into an environment of its own, from the first step on."""
    runner = Runner(ACTION, tmp_path, {"PYTHONPATH": "", "POSTMORTEM_MODEL": ""})
    shutil.copy(LOG, runner.workspace / "run.log")
    found = runner.run({"paths": "run.log", "python": sys.executable})
    assert found.status == 0, found.said
    assert found.outputs["analyse"]["cause"] == CAUSE
    command = found.outputs["install"]["command"]
    done = subprocess.run(
        [command, "notify", "slack", found.outputs["analyse"]["analysis"], "--dry-run"],
        capture_output=True,
        check=True,
    )
    assert CAUSE in done.stdout.decode()
