"""Whatever a page tells people to type can be typed.

The blocks of commands in both READMEs and in all pages of `docs/` are run, in the order of their
page, in a folder that holds what they speak of. What is not run has one of the reasons below in
the source of the page. A page and its Chinese twin share a folder: of the twin only what differs
is run again.
"""

import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

import postmortem
from tests.documented_commands import SHELL, CodeBlock, list_code_blocks, without_remarks
from tests.loopback_http import Reply, free_port, serving

ROOT: Final = Path(__file__).resolve().parents[2]
SAMPLES: Final = ROOT / "sample_logs"
GENERATED: Final = {"causes", "messages", "replay-table"}
PAGES: Final = sorted(
    path
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    if not path.name.endswith(".zh.md") and path.stem not in GENERATED
)
FORKED: Final = ROOT / "tests" / "forked_program.py"
PATIENCE: Final = 120

REASONS: Final = {
    "installs": "asks a package index; tests/contracts/test_wheel.py installs the built wheel",
    "ci": "is what runs this test",
    "token": "needs an account elsewhere; stand-ins answer in tests/cli, tests/bots, tests/notices",
    "cluster": "needs a cluster or its database; tests/triage and tests/cluster run what they can",
    "root": "sets up a machine as root",
    "container": "needs a container engine and a base image",
    "assistant": "needs the assistant's own program; a client asks in tests/assistant",
    "capsule": "needs torch and a capsule; tests/recorder and tests/replay make and replay some",
    "shell": "is for zsh or fish; that for bash is run",
    "measures": "is a measurement of many minutes, with other programs installed",
    "never-ends": "goes on until it is stopped; tests/watch and tests/test_watch.py follow runs",
}
"""Why a command is not run, and who runs it instead."""

PRINTS_THE_RUN: Final = 'cat "$HERE/run.log"'
PLAYED: Final = {
    "torchrun": f"{PRINTS_THE_RUN}; exit 1",
    "srun": 'exec "$@"',
    "sbatch": 'while [ $# -gt 0 ]; do [ "$1" = --wrap ] && exec bash -c "$2" >&2; shift; done; echo 4711',
    "scancel": "exit 0",
    "sacct": 'cat "$HERE/sacct.txt"',
    "kubectl": f"{PRINTS_THE_RUN} | sed 's/^/[pod\\/train-0\\/main] /'",
    "py-spy": """printf 'Process 7: python train.py\\nThread 7 (idle): "MainThread"\\n    read (data.py:44)\\n'""",
    "uvx": 'shift 2; exec "$@"',
    "pipx": 'shift 3; exec "$@"',
}
"""What stands in for programs that a machine need not have: what they would print or run."""

POSTMORTEM: Final = r"""#!/bin/bash
postmortem() {
  case "$1" in  # what starts processes of its own is started anew, all else is forked
    serve|run|triage|evaluate) "$PYTHON" -m postmortem "$@" ;;
    *) "$PYTHON" -I -S "$FORKED" "$SOCKET" call "$@" ;;
  esac
}
# The program; what would go on for ever goes on in the background, or looks once; the attack on
# regexes, which takes seconds, is left to tests/test_hostile.py and tests/knowledge.
more=()
case "${1-}" in
  watch) more=(--once) ;;
  patterns) [ "${2-}" = check ] && more=(--no-attack) ;;
  serve)
    [ -f "$STATE/server" ] && { kill "$(cat "$STATE/server")"; while kill -0 "$(cat "$STATE/server")" 2>/dev/null; do sleep 0.05; done; }
    postmortem "$@" --port "$PORT" 2>"$STATE/serve.err" &
    echo $! >"$STATE/server"
    for _ in $(seq 600); do
      curl -s -o "$STATE/health" "http://127.0.0.1:$PORT/health" && exit 0
      kill -0 $! 2>/dev/null || break
      sleep 0.1
    done
    cat "$STATE/serve.err" >&2
    echo "postmortem $*" >>"$STATE/refused"
    exit 2 ;;
esac
postmortem "$@" "${more[@]}"
status=$?
[ $status -gt 1 ] && echo "postmortem $*: $status" >>"$STATE/refused"
exit $status
"""
SACCT: Final = """\
JobID|JobIDRaw|Cluster|User|State|ExitCode|Start|End|ElapsedRaw|NodeList|AllocTRES|JobName
4711|4711|one|ada|FAILED|1:0|2026-11-20T10:00:00|2026-11-20T11:00:00|3600|node1|gres/gpu=8|a
"""
MAY_END_WITH_ONE: Final = re.compile(r"postmortem (?:run|watch)\b|--exit-code|\bexit\b")
"""Whose status speaks of the run."""
SHELL_OPTIONS: Final = r"""set -u -o pipefail
[ -f "$STATE/exported" ] && . "$STATE/exported"
trap 'export -p >"$STATE/exported"' EXIT
trap 'echo "$BASH_COMMAND" >>"$STATE/failed"' ERR
"""
"""A block sees what those before it have exported, and notes what fails."""


def twin(page: Path) -> Path:
    """The same page in Chinese, whether there is one or not."""
    return page.with_suffix(".zh.md")


def is_given_as_commands(block: CodeBlock) -> bool:
    """Whether a block tells to type something."""
    return bool(block.commands)


@contextmanager
def forked(path: Path, variables: dict[str, str]) -> Iterator[None]:
    """The program, started once."""
    with subprocess.Popen(
        [sys.executable, str(FORKED), str(path)], stdin=subprocess.PIPE, env=os.environ | variables
    ) as server:
        until = time.monotonic() + PATIENCE
        while not path.exists():
            assert server.poll() is None
            assert time.monotonic() < until
            time.sleep(0.02)
        yield


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The variables that all scripts see: no token, no folder and no address of this machine."""
    folder = tmp_path_factory.mktemp("told")
    inherited = {"PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    with (
        serving(lambda _: Reply.of({"ok": True, "code": 0, "errcode": 0})) as hook,
        forked(folder / "socket", inherited),
    ):
        yield inherited | {
            "FORKED": str(FORKED),
            "SOCKET": str(folder / "socket"),
            "HOME": str(folder),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "LANG": "C.UTF-8",
            "COLUMNS": "100",
            "POSTMORTEM_WEBHOOK": hook.url,
        }


@pytest.fixture(scope="module")
def analysis() -> str:
    """What `analyze --format analysis` has kept."""
    log = SAMPLES / "deepspeed" / "scale-exhausted-yi.log"
    return postmortem.analyze(str(log)).render("analysis")


@pytest.fixture
def here(tmp_path: Path, analysis: str) -> Path:
    """A folder with the logs and folders that the pages speak of."""
    folder = tmp_path / "here"
    folder.mkdir()
    yi = SAMPLES / "deepspeed" / "scale-exhausted-yi"
    for name in ("run.log", "train.log", "bad.log", "slurm-4711.out", "job07.log", "job20.log"):
        shutil.copy(yi.with_suffix(".log"), folder / name)
    for name in ("env.txt", "collect_env.txt"):
        shutil.copy(yi.with_suffix(".env"), folder / name)
    shutil.copy(SAMPLES / "accelerate" / "healthy-loop-0.log", folder / "good.log")
    job = SAMPLES / "pytorch" / "job-ranks-nan-shard-0"
    for name in ("logs", "run", "logs/week"):
        shutil.copytree(job, folder / name)
    for number, path in enumerate(sorted(job.glob("*.log"))[:2]):
        shutil.copy(path, folder / f"rank{number}.log")
        (folder / f"rank{number}.log.gz").write_bytes(gzip.compress(path.read_bytes()))
    with tarfile.open(ROOT / "tests" / "data" / "flight_recorder" / "collectives.tar.gz") as dumps:
        dumps.extractall(tmp_path, filter="data")
    shutil.copytree(tmp_path / "collectives" / "stuck-deep-in", folder / "hang" / "dumps")
    (folder / "job.json").write_text(analysis, encoding="utf-8")
    tracked = ROOT / "tests" / "data" / "run_folder" / "hydra_wandb"
    (folder / "wandb").mkdir()
    shutil.copytree(next((tracked / "wandb").iterdir()), folder / "wandb" / "latest-run")
    shutil.copytree(tracked, folder / "outputs" / "2026-11-20" / "14-03-11")
    for path in ("deepspeed/scale-exhausted-yi.log", "deepspeed/scale-exhausted-yi.env"):
        (folder / "sample_logs" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SAMPLES / path, folder / "sample_logs" / path)
    shutil.copytree(job, folder / "sample_logs" / "pytorch" / job.name)
    for name in ("data", "scratch", "labels"):
        (folder / name).mkdir()
    for name in ("one", "two"):
        shutil.copy(yi.with_suffix(".log"), folder / "labels" / f"{name}.log")
        (folder / "labels" / f"{name}.yaml").write_text("cause: numerics.loss-scale-exhausted\n")
    (folder / "train.py").write_text(
        'import sys\nsys.stderr.write(open("run.log").read())\nsys.exit(1)\n'
    )
    for name in ("jobs.txt", "sacct.txt"):
        (folder / name).write_text(SACCT)
    write_files(
        list_code_blocks(ROOT / "docs" / "recipes.md"), folder
    )  # rules that other pages speak of too
    return folder


def write_files(blocks: Iterable[CodeBlock], here: Path) -> None:
    """Write the blocks that are files."""
    for block in blocks:
        if block.file:
            (here / block.file).parent.mkdir(parents=True, exist_ok=True)
            (here / block.file).write_text(block.text, encoding="utf-8")


def programs(folder: Path, blocks: list[CodeBlock]) -> Path:
    """The folder of what the scripts find first on their path."""
    folder.mkdir()
    texts = {"postmortem": POSTMORTEM}
    texts |= dict.fromkeys(("python", "python3"), '#!/bin/bash\nexec "$PYTHON" "$@"\n')
    for block in blocks:
        texts |= {name: f"#!/bin/bash\n{PLAYED[name]}\n" for name in block.played}
    for name, text in texts.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def placed(script: str, here: Path, port: int) -> str:
    """The script with the folders of a server below the own one, and on a free port."""
    script = re.sub(r"(?<![\w.:/])/(?=(?:logs|data|scratch)\b)", f"{here}/", script)
    return re.sub(r"[\w.]+:8765", f"127.0.0.1:{port}", script)


def without_lines(script: str, done: set[str]) -> str:
    """Leave out the calls that the twin of a page has made, word for word."""
    calls = [(line, without_remarks(line).strip()) for line in script.splitlines()]
    return "\n".join(
        line
        for line, call in calls
        if call not in done or not call.startswith("postmortem ") or "serve" in call
    )


def stop(state: Path) -> None:
    """End the server that a script has started."""
    with suppress(FileNotFoundError, ProcessLookupError):
        os.kill(int((state / "server").read_text()), signal.SIGTERM)


def run(script: str, here: Path, settings: dict[str, str]) -> str:
    """Run a script; gives the end of what it said on standard error."""
    state = Path(settings["STATE"])
    with (state / "said").open("w+b") as said:
        subprocess.run(
            ["bash", "-c", SHELL_OPTIONS + script],
            cwd=here,
            env=settings | {"XDG_DATA_HOME": str(state / "data")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            timeout=PATIENCE,
            check=False,
        )
        stop(state)
        said.seek(0)
        return said.read().decode(errors="replace")[-3000:]


def faults(state: Path) -> list[str]:
    """What failed: calls that the program refused, and others that ended with another status."""
    found = {name: state / name for name in ("refused", "failed")}
    lines = {
        name: path.read_text().splitlines() if path.exists() else [] for name, path in found.items()
    }
    return lines["refused"] + [
        line for line in lines["failed"] if not MAY_END_WITH_ONE.search(line)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_run(
    page: Path, here: Path, tmp_path: Path, surroundings: dict[str, str]
) -> None:
    """Each ends as it should: nothing is refused, nothing is missing, nothing else fails."""
    blocks = {path: [*list_code_blocks(path)] for path in (page, twin(page)) if path.is_file()}
    state = tmp_path / "state"
    state.mkdir()
    port = free_port()
    found = programs(tmp_path / "bin", [block for some in blocks.values() for block in some])
    settings = {"HERE": str(here), "STATE": str(state), "PORT": str(port)}
    settings["PATH"] = f"{found}:/usr/local/bin:/usr/bin:/bin"
    done: set[str] = set()
    for some in blocks.values():
        for block in some:
            write_files([block], here)
            if any(not part for _, part in block.reasons):
                continue
            script = placed(without_lines(block.script, done), here, port)
            said = run(script, here, surroundings | settings)
            assert faults(state) == [], f"{block.place}: {said}"
        done |= {without_remarks(x).strip() for one in some for x in one.script.splitlines()}


def list_all_code_blocks() -> Iterator[CodeBlock]:
    """All blocks of all pages, in both languages."""
    for page in PAGES:
        for path in (page, twin(page)):
            if path.is_file():
                yield from list_code_blocks(path)


def test_what_is_not_run_has_a_reason_that_is_known() -> None:
    """And that some line still needs; none of the list is idle."""
    used = [
        (block, reason, part) for block in list_all_code_blocks() for reason, part in block.reasons
    ]
    assert {reason for _, reason, _ in used} == {*REASONS}
    idle = [
        (block.place, part)
        for block, _, part in used
        if not any(line.startswith(part) for line in block.commands.splitlines())
    ]
    assert idle == []


def test_what_is_played_is_called() -> None:
    """And only what has a part."""
    played = [(block, name) for block in list_all_code_blocks() for name in block.played]
    assert {name for _, name in played} == {*PLAYED}
    assert [(block.place, name) for block, name in played if name not in block.commands] == []


def test_extras_that_are_named_exist() -> None:
    """What a page tells to install can be asked for."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = {
        *re.findall(r"^(\w+) = \[", text.split("[project.optional-dependencies]")[1], re.MULTILINE)
    }
    named = {
        (block.place, extra)
        for block in list_all_code_blocks()
        for found in re.findall(r"(?:['\s/.\w]\.|/src|/source|/postmortem)\[([\w,]+)\]", block.text)
        for extra in found.split(",")
    }
    assert named
    assert [(place, extra) for place, extra in sorted(named) if extra not in extras] == []


_NAMED = re.compile(r"train-postmortem(?:\[|==)|install\b[^\n]{0,200}\btrain-postmortem")


@pytest.mark.parametrize(
    "place",
    [
        *("postmortem", "patterns", "docs", "templates", "tools", "action.yml"),
        *sorted(path.name for path in ROOT.glob("*.md")),
    ],
)
def test_nothing_is_installed_by_a_name_that_is_not_registered(place: str) -> None:
    """Whoever registers the name would run code wherever a hint is followed."""
    path = ROOT / place
    files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    named = [
        (str(one.relative_to(ROOT)), found[0])
        for one in files
        if "__pycache__" not in one.parts
        for found in _NAMED.finditer(one.read_text(encoding="utf-8", errors="replace"))
    ]
    assert files
    assert named == []


def test_the_collector_reads_what_it_should(tmp_path: Path) -> None:
    """Blocks in lists, comments above each other, prompts, tables of commands, files."""
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- not run: ci -->\n<!-- played: kubectl -->\n```bash\nkubectl logs\n```\n"
        "1. a list\n   ```console\n   $ postmortem env\n   ```\n"
        "<!-- not run: token: postmortem comment -->\n"
        "```text\npostmortem env -o e    an environment\npostmortem comment x    words\n"
        "postmortem: said\n```\n```yaml\n# rules/a.yaml\na: 1\n```\n"
    )
    first, second, third, fourth = list_code_blocks(page)
    assert (first.reasons, first.played) == ([("ci", "")], {"kubectl"})
    assert (second.language in SHELL, second.script) == (True, "postmortem env\n")
    assert (third.commands, third.script) == (
        "postmortem env -o e\npostmortem comment x\n",
        "postmortem env -o e\n",
    )
    assert (fourth.file, is_given_as_commands(fourth)) == ("rules/a.yaml", False)


def test_a_command_that_is_not_there_is_noticed(
    here: Path, tmp_path: Path, surroundings: dict[str, str]
) -> None:
    """The mechanism can fail: an unknown option, a missing program, a failing command."""
    state = tmp_path / "state"
    state.mkdir()
    settings = {
        "PATH": f"{programs(tmp_path / 'bin', [])}:/usr/bin:/bin",
        "STATE": str(state),
        "HERE": str(here),
    }
    script = "postmortem analyze run.log --no-such-option\nno-such-program\nfalse\ntrue\n"
    run(script, here, surroundings | settings)
    assert [fault.split(":")[0] for fault in faults(state)] == [
        "postmortem analyze run.log --no-such-option",
        "postmortem analyze run.log --no-such-option",
        "no-such-program",
        "false",
    ]
