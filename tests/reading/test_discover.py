"""Which files of a folder are read, and why the others are not."""

import os
import socket
from pathlib import Path

import pytest

from postmortem.core.errors import InputError
from postmortem.reading import discover
from postmortem.reading.discover import Candidate, find_candidates


def make(folder: Path, *names: str) -> None:
    """Files with a line in each."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"" if name.startswith("empty") else b"x\n")


def test_a_folder_gives_its_logs_in_a_fixed_order(tmp_path: Path) -> None:
    """Files are sorted by path, also those below."""
    make(tmp_path, "b.log", "a.log", "sub/c.log", "run.out", "noext")
    found = list(find_candidates([str(tmp_path)]))
    assert found == [
        Candidate(str(tmp_path / name), None)
        for name in ("a.log", "b.log", "noext", "run.out", "sub/c.log")
    ]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        pytest.param("model.safetensors", ".safetensors files are not logs", id="weights"),
        pytest.param("pytorch_model.BIN", ".bin files are not logs", id="capital letters"),
        pytest.param("loss.png", ".png files are not logs", id="a picture"),
        pytest.param("train.py", "source code, not a log", id="code"),
        pytest.param("run.sh", "source code, not a log", id="a script"),
        pytest.param("empty.log", "empty", id="empty"),
        pytest.param("run.log.gz", "", id="a packed log is read"),
        pytest.param("trainer_state.json", "", id="JSON is read"),
        pytest.param("pip.txt", "", id="a dump is read"),
    ],
)
def test_what_is_no_log_is_listed_with_the_reason(tmp_path: Path, name: str, why: str) -> None:
    """Nothing of a folder is passed over in silence."""
    make(tmp_path, "a.log", name)
    assert {
        Path(one.path).name: str(one.skip or "") for one in find_candidates([str(tmp_path)])
    } == {
        "a.log": "",
        name: why,
    }


def test_hidden_files_and_folders_are_left_alone(tmp_path: Path) -> None:
    """`.git` and its like are nobody's log."""
    make(tmp_path, "a.log", ".git/HEAD.log", ".hidden.log")
    assert [Path(one.path).name for one in find_candidates([str(tmp_path)])] == ["a.log"]


def test_a_hidden_folder_that_is_named_is_read(tmp_path: Path) -> None:
    """Only what is hidden below the named folder is hidden."""
    make(tmp_path, ".runs/a.log")
    assert [Path(one.path).name for one in find_candidates([str(tmp_path / ".runs")])] == ["a.log"]


def test_a_named_file_is_taken_whatever_it_is(tmp_path: Path) -> None:
    """What a user names is read; standard input needs no file."""
    make(tmp_path, "train.py")
    given = [str(tmp_path / "train.py"), "-"]
    assert list(find_candidates(given)) == [Candidate(path, None) for path in given]


def test_several_paths_keep_their_order(tmp_path: Path) -> None:
    """Files and folders come in the order in which they were given."""
    make(tmp_path, "b/2.log", "b/1.log", "a.log")
    found = find_candidates([str(tmp_path / "b"), str(tmp_path / "a.log")])
    assert [Path(one.path).name for one in found] == ["1.log", "2.log", "a.log"]


@pytest.mark.parametrize(
    ("names", "path", "what"),
    [
        pytest.param([], "missing.log", "no such file", id="missing"),
        pytest.param([], ".", "holds no logs", id="an empty folder"),
        pytest.param(["model.bin", "a.py"], ".", "holds no logs", id="a folder without logs"),
    ],
)
def test_a_path_without_a_log_is_an_error(
    tmp_path: Path, names: list[str], path: str, what: str
) -> None:
    """The error says what to name instead."""
    make(tmp_path, *names)
    with pytest.raises(InputError, match=what) as caught:
        list(find_candidates([str(tmp_path / path)]))
    assert caught.value.mend


def test_a_job_of_too_many_files_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the bound files are listed, not read."""
    monkeypatch.setattr(discover, "_MOST_FILES", 3)
    make(tmp_path, *(f"{number}.log" for number in range(5)))
    assert [bool(one.skip) for one in find_candidates([str(tmp_path)])] == [
        False,
        False,
        False,
        True,
        True,
    ]


def test_what_is_no_file_is_listed_with_the_reason(tmp_path: Path) -> None:
    """Pipes, sockets and links that lead nowhere or in a circle; nothing is opened."""
    make(tmp_path, "a.log")
    os.mkfifo(tmp_path / "pipe.log")
    (tmp_path / "gone.log").symlink_to("nowhere")
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    (tmp_path / "folder").symlink_to(tmp_path)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tmp_path / "socket"))
        found = {
            Path(one.path).name: str(one.skip or "") for one in find_candidates([str(tmp_path)])
        }
    circle = "cannot be opened: Too many levels of symbolic links"
    assert found == {
        "a.log": "",
        "pipe.log": "a pipe, not a file",
        "gone.log": "cannot be opened: No such file or directory",
        "one": circle,
        "two": circle,
        "socket": "a socket, not a file",
    }


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(b"run\xff\xfe.log", id="not UTF-8"),
        pytest.param("run².log".encode(), id="a digit that is no decimal"),
        pytest.param("²".encode(), id="nothing else"),
        pytest.param(b"9" * 250, id="many digits"),
    ],
)
def test_names_of_every_kind_are_sorted(tmp_path: Path, name: bytes) -> None:
    """A name is not to blame for anything."""
    make(tmp_path, "a.log")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(b"x\n")
    assert len(list(find_candidates([str(tmp_path)]))) == 2


def test_what_is_no_log_takes_no_place_of_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what is read counts towards the most that is read.

    Of many others some are listed and the rest counted.
    """
    monkeypatch.setattr(discover, "_MOST_FILES", 2)
    monkeypatch.setattr(discover, "_MOST_LISTED", 3)
    make(tmp_path, *(f"a{number}.py" for number in range(5)), "x.log", "y.log", "z.log")
    found = [(Path(one.path).name, str(one.skip or "")) for one in find_candidates([str(tmp_path)])]
    code = "source code, not a log"
    assert found == [
        ("a0.py", code),
        ("a1.py", code),
        ("a2.py", code),
        ("x.log", ""),
        ("y.log", ""),
        (tmp_path.name, "3 more files that are not read"),
    ]
