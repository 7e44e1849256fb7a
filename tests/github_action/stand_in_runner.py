"""A stand-in for GitHub's runner: it runs the scripts of an action's steps and reads what they say.

In: an action, inputs, the variables of a workflow. Out: outputs, summary, and the commands that the
runner would have obeyed. Not here: what they should be; steps that are other people's actions,
which are noted.

The formats are those of actions/runner: commands at the start of a line of either stream, held back
from `stop-commands` to the mark that it names; outputs as `name<<mark`, lines, `mark`.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")
_COMMAND = re.compile(r"::([a-z-]+)(?: ([^\n]*?))?::(.*)", re.IGNORECASE)
_OLD_COMMAND = re.compile(r"##\[([a-z-]+)[^\]]*\](.*)", re.IGNORECASE)
_CONDITION = re.compile(r"inputs\.([a-z-]+) != '([^']*)'")


@dataclass
class Run:
    """What became of an action."""

    status: int = 0
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    """By the id of the step."""
    commands: list[tuple[str, str, str]] = field(default_factory=list)
    """Name, properties, message."""
    used: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """Other people's actions, with what they were given."""
    summary: str = ""
    said: str = ""


class Runner:
    """Runs one action in one folder."""

    def __init__(self, action: Path, folder: Path, environment: Mapping[str, str]) -> None:
        """Take the action and where the job runs."""
        self.value: dict[str, Any] = yaml.safe_load(action.read_text("utf-8"))
        self._action, self._folder = action.parent, folder
        self._workspace, self._temporary = folder / "workspace", folder / "temporary"
        for one in (self._workspace, self._temporary):
            one.mkdir(exist_ok=True)
        self.environment = dict(environment)
        """What the runner's machine and GitHub set besides."""

    @property
    def workspace(self) -> Path:
        """Where the steps run."""
        return self._workspace

    def run(
        self,
        given_inputs: Mapping[str, str],
        event: Mapping[str, Any] | None = None,
        done: Mapping[str, dict[str, str]] | None = None,
    ) -> Run:
        """Run the steps in their order, until one fails.

        Args:
            given_inputs: by name.
            event: what `github.…` gives.
            done: outputs of steps that are not run, but taken as done.
        """
        github = {"action_path": str(self._action), **(event or {})}
        inputs = {
            name: given_inputs.get(name, _filled(str(one.get("default", "")), {"github": github}))
            for name, one in self.value["inputs"].items()
        }
        found = Run(outputs=dict(done or {}))
        contexts = {"github": github, "inputs": inputs, "steps": found.outputs}
        for number, step in enumerate(self.value["runs"]["steps"]):
            name = step.get("id", f"step-{number}")
            if name in (done or {}) or not _holds(step.get("if", ""), inputs):
                continue
            if "uses" in step:
                settings = {key: _filled(str(one), contexts) for key, one in step["with"].items()}
                found.used.append((step["uses"], settings))
                continue
            self._ran(step, name, contexts, found)
            if found.status:
                break
        return found

    def _ran(self, step: Any, name: str, contexts: Mapping[str, Any], found: Run) -> None:
        files = {
            key: self._folder / f"{name}-{key}" for key in ("output", "summary", "env", "path")
        }
        for file in files.values():
            file.touch()
        runner = {
            "GITHUB_OUTPUT": files["output"],
            "GITHUB_STEP_SUMMARY": files["summary"],
            "GITHUB_ENV": files["env"],
            "GITHUB_PATH": files["path"],
            "RUNNER_TEMP": self._temporary,
            "GITHUB_WORKSPACE": self._workspace,
            "GITHUB_REPOSITORY": "owner/name",
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_RUN_ID": "4711",
        }
        own = {key: _filled(str(one), contexts) for key, one in step.get("env", {}).items()}
        assert step["shell"] == "bash"
        script = self._folder / f"{name}.sh"
        script.write_text(step["run"], encoding="utf-8")
        ended = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self._workspace,
            env={
                **os.environ,
                **{key: str(value) for key, value in runner.items()},
                **self.environment,
                **own,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        text = ended.stdout.decode("utf-8", "replace")
        found.status = ended.returncode
        found.said += text
        found.commands += commands_in(text)
        found.summary += files["summary"].read_text("utf-8")
        found.outputs[name] = outputs_in(files["output"].read_text("utf-8"))
        assert not files["env"].read_text() + files["path"].read_text()


def _filled(text: str, contexts: Mapping[str, Any]) -> str:
    """Put in what expressions stand for; one that names nothing is empty, as on GitHub."""

    def value(match: "re.Match[str]") -> str:
        for way in match[1].split("||"):
            found: Any = contexts
            for part in way.strip().split("."):
                if part == "outputs":
                    continue
                found = found.get(part, {}) if isinstance(found, Mapping) else {}
            if found and not isinstance(found, Mapping):
                return str(found)
        return ""

    return _EXPRESSION.sub(value, text)


def _holds(condition: str, inputs: Mapping[str, str]) -> bool:
    if not condition:
        return True
    match = _CONDITION.fullmatch(condition)
    assert match, condition
    return inputs[match[1]] != match[2]


def commands_in(text: str) -> list[tuple[str, str, str]]:
    """Give the commands that a runner would obey."""
    found, mark = [], ""
    for line in re.split(r"\r\n|\n|\r", text):
        bare = line.strip()
        if mark:
            mark = "" if bare == f"::{mark}::" else mark
            continue
        match = _COMMAND.match(bare) or None
        if match is not None and match[1].lower() == "stop-commands":
            mark = match[3]
            continue
        if match is not None:
            found.append((match[1].lower(), match[2] or "", match[3]))
        elif old := _OLD_COMMAND.search(line):
            found.append((old[1].lower(), "", old[2]))
    assert not mark, "commands are never obeyed again"
    return found


def outputs_in(text: str) -> dict[str, str]:
    """Read a file of outputs as the runner does."""
    found, lines = {}, iter(text.split("\n"))
    for line in lines:
        name, is_long, mark = line.partition("<<")
        if is_long and "=" not in name:
            rows = []
            for row in lines:
                if row == mark:
                    break
                rows.append(row)
            else:
                raise AssertionError(f"no end of {name}")
            found[name] = "\n".join(rows)
        elif "=" in line:
            name, _, value = line.partition("=")
            found[name] = value
        else:
            assert not line, line
    return found
