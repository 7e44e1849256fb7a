"""What a caller may name as a log, and what it is then called."""

import io
from pathlib import Path

import pytest

from postmortem.reading.sources import Stream, is_file, list_origins, name_of


@pytest.mark.parametrize(
    ("given", "names"),
    [
        pytest.param("run.log", ["run.log"], id="a path"),
        pytest.param(Path("logs/run.log"), ["logs/run.log"], id="a path that is no text"),
        pytest.param(b"RuntimeError: x\n", ["log"], id="bytes"),
        pytest.param(b"", ["log"], id="no bytes"),
        pytest.param(Stream("rank3.log", b"x"), ["rank3.log"], id="bytes with a name"),
        pytest.param(io.BytesIO(b"a\nb\n"), ["log"], id="a stream"),
        pytest.param([], [], id="nothing"),
        pytest.param(["a.log", "b.log"], ["a.log", "b.log"], id="paths"),
        pytest.param(("a.log", b"x", b"x"), ["a.log", "log-2", "log-3"], id="paths and bytes"),
        pytest.param([b"x"], ["log"], id="bytes in a list"),
    ],
)
def test_every_source_has_a_name(given: object, names: list[str]) -> None:
    """Bytes are one log, not a list of numbers, and a stream is not a list of its lines."""
    assert [name_of(origin) for origin in list_origins(given)] == names  # type: ignore[arg-type]


def test_an_open_file_has_the_name_it_was_opened_by(tmp_path: Path) -> None:
    """A descriptor has a number for a name, which tells nobody anything."""
    path = tmp_path / "run.log"
    path.write_bytes(b"x\n")
    with path.open("rb") as file, open(file.fileno(), "rb", closefd=False) as bare:
        named, nameless = list_origins([file, bare])
    assert (name_of(named), name_of(nameless)) == (str(path), "log-2")
    assert not is_file(named)


@pytest.mark.parametrize("given", [[17], [None], [["run.log"]]], ids=["a number", "none", "a list"])
def test_anything_else_is_a_mistake_of_the_caller(given: object) -> None:
    """It is told before anything is read."""
    with pytest.raises(TypeError):
        list_origins(given)  # type: ignore[arg-type]


def test_a_stream_shows_its_name_and_not_the_log() -> None:
    """What is printed while a fault is looked for holds no megabytes, and no secrets."""
    assert repr(Stream("run.log", b"password: x")) == "Stream(name='run.log')"


@pytest.mark.parametrize(
    ("origin", "expected"),
    [("run.log", True), ("-", False), (Stream("run.log", b""), False)],
    ids=["a path", "standard input", "a stream"],
)
def test_only_a_path_leads_to_a_file(origin: str | Stream, *, expected: bool) -> None:
    """The name of a stream is for people."""
    assert is_file(origin) is expected
