"""The watch as a whole, under a clock that the test moves: nothing is waited for."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from postmortem.core.diagnosis import Ended, Noted, Warned, WatchEvent
from postmortem.core.errors import InputError, UsageError
from postmortem.interfaces.watch.watcher import Settings, Watcher

TRACEBACK = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    step()\nValueError: the batch is odd\n'


class Over(Exception):  # noqa: N818 -- the story is told
    """The test has nothing more to do."""


def steps(first: int, last: int, loss: str = "2.5") -> str:
    """Lines of sound training."""
    return "".join(
        f"step {number} loss {loss}{number % 7} lr 0.001\n" for number in range(first, last + 1)
    )


def watched(
    paths: Sequence[Path],
    story: Iterator[float],
    settings: Settings | None = None,
    found: list[WatchEvent] | None = None,
) -> list[WatchEvent]:
    """What is told while a story goes on.

    It does something to the files, and yields how many seconds pass until the next look. `found` is
    filled as it comes.
    """
    clock = [1e9]  # earlier than any file's own time: what is there has just been written

    def sleep(_: float) -> None:
        passed = next(story, None)
        if passed is None:
            raise Over
        clock[0] += passed

    found = [] if found is None else found
    with contextlib.suppress(Over):
        found.extend(
            Watcher(
                [str(path) for path in paths], settings or Settings(), lambda: clock[0], sleep
            ).iter_events()
        )
    return found


def kinds(events: Sequence[WatchEvent]) -> list[str]:
    """What was told, in a word each."""
    return [
        f"{event.kind}" if isinstance(event, Warned | Noted) else f"end {event.how}"
        for event in events
    ]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The log of the run."""
    return tmp_path / "run.log"


def add(log: Path, text: str) -> None:
    """Write at the end."""
    with log.open("a") as out:
        out.write(text)


def test_a_run_is_followed_from_before_its_log_is_there(log: Path) -> None:
    """Waited for, found, warned of once.

    The warning has the line, the step, the raw line and the checkpoint to go back to.
    """

    def story() -> Iterator[float]:
        yield 2
        add(log, steps(1, 20) + "Saving model checkpoint to out/checkpoint-20\n")
        yield 2
        add(log, "step 21 loss nan lr 0.001\n")
        yield 2
        add(log, "step 22 loss nan lr 0.001\n")
        yield 2

    found = watched([log], story())
    assert kinds(found) == ["waiting", "found", "nan"]
    told = found[-1]
    assert isinstance(told, Warned)
    assert (told.line, told.step, told.evidence) == (22, 21, "step 21 loss nan lr 0.001")
    assert (told.checkpoint, told.checkpoint_standing) == ("out/checkpoint-20", "yes")


def test_an_unfinished_line_is_not_judged(log: Path) -> None:
    """`loss 2` may go on as `loss 2.5`; it counts once its end has come."""

    def story() -> Iterator[float]:
        add(log, steps(1, 10) + "step 11 loss na")
        yield 2
        add(log, "n lr 0.001")
        yield 2
        judged.append(len(found))
        add(log, "\n")
        yield 2

    judged: list[int] = []
    found: list[WatchEvent] = []
    log.touch()
    watched([log], story(), found=found)
    assert judged == [0]
    assert kinds(found) == ["nan"]


def test_a_rotation_does_not_interrupt_a_run(log: Path) -> None:
    """The steps go on in the new file: what was seen in the old one still counts.

    Lines count anew.
    """

    def story() -> Iterator[float]:
        add(log, steps(1, 30))
        yield 2
        log.rename(log.with_suffix(".1"))
        add(log, steps(31, 33, "9."))
        yield 2
        add(log, steps(34, 35, "9."))
        yield 2

    log.touch()
    found = watched([log], story())
    assert kinds(found) == ["rotated", "divergence"]
    assert isinstance(found[-1], Warned)
    assert found[-1].line == 5


@pytest.mark.parametrize("rotate", [True, False])
def test_another_run_under_the_same_name_begins_anew(log: Path, rotate: bool) -> None:  # noqa: FBT001 -- of a table
    """Its high first loss is no divergence of the old one.

    What was told of that is told again.
    """

    def story() -> Iterator[float]:
        add(log, steps(1, 30, "0.1") + "step 31 loss nan lr 0.001\n")
        yield 2
        if rotate:
            log.unlink()
        else:
            log.write_text("")
        add(log, steps(1, 20, "9."))
        yield 2
        add(log, "step 21 loss nan lr 0.001\n")
        yield 2

    log.touch()
    assert kinds(watched([log], story())) == ["nan", "rotated" if rotate else "truncated", "nan"]


def test_an_earlier_attempt_in_the_same_file_is_past(log: Path) -> None:
    """When the watch begins, a run has failed and another one goes well."""
    begin = "***** Running training *****\n  Num examples = 100\n"
    log.write_text(
        begin + steps(1, 5) + "step 6 loss nan lr 0.001\n" + TRACEBACK + begin + steps(1, 40)
    )
    assert kinds(watched([log], iter([2.0]))) == []


def test_a_run_that_is_started_again_behind_its_failure_is_another(log: Path) -> None:
    """Appended to the same file: its first loss is high, and its NaN is told again."""

    def story() -> Iterator[float]:
        add(log, steps(1, 30, "0.1") + "step 31 loss nan lr 0.001\n" + TRACEBACK)
        yield 2
        add(log, steps(1, 20, "9."))
        yield 2
        add(log, "step 21 loss nan lr 0.001\n")
        yield 2

    log.touch()
    assert kinds(watched([log], story())) == ["nan", "nan"]


def test_a_run_that_failed_is_over_after_some_quiet(log: Path) -> None:
    """The verdict is that of an analysis; a line alone ends nothing."""

    def story() -> Iterator[float]:
        add(log, steps(1, 20) + TRACEBACK)
        yield 10
        yield 10
        yield 30
        yield 2

    log.touch()
    found = watched([log], story())
    assert kinds(found) == ["end failed"]
    end = found[0]
    assert isinstance(end, Ended)
    assert end.is_bad
    assert end.time >= 1e9 + 30


def test_an_exception_that_is_survived_ends_nothing(log: Path) -> None:
    """The run goes on behind it; its silence afterwards is judged as any other."""

    def story() -> Iterator[float]:
        add(log, steps(1, 20) + TRACEBACK)
        for number in range(21, 40):
            yield 5
            add(log, steps(number, number))
        yield 60
        add(log, steps(40, 50))
        yield 60

    log.touch()
    assert kinds(watched([log], story())) == []


def test_a_completed_run_is_over(log: Path) -> None:
    """With no warning, which is the exit status 0."""

    def story() -> Iterator[float]:
        add(
            log,
            steps(1, 20)
            + "{'train_runtime': 12.5, 'train_samples_per_second': 8.0, 'train_steps_per_second': 2.0, 'train_loss': 2.5, 'epoch': 1.0}\n",
        )
        yield 2
        yield 40

    log.touch()
    found = watched([log], story())
    assert kinds(found) == ["end completed"]
    assert isinstance(found[0], Ended)
    assert not found[0].is_bad


def test_a_silent_run_is_warned_of_once_and_may_go_on(log: Path) -> None:
    """Behind the pace of a step in ten seconds, eight minutes are too many.

    After a longer silence, so much is usual.
    """

    def story() -> Iterator[float]:
        for number in range(1, 20):
            add(log, steps(number, number))
            yield 10
        yield 400
        yield 100
        yield 100
        add(log, steps(20, 20))
        yield 10
        yield 1000
        yield 1000

    log.touch()
    found = watched([log], story())
    assert kinds(found) == ["stall", "goes-on", "stall"]
    assert isinstance(found[0], Warned)
    assert "records had come every 10 s" in found[0].message.text("en")
    assert found[0].evidence == "step 19 loss 2.55 lr 0.001"


@pytest.mark.parametrize(("stall", "expected"), [(30.0, ["stall"]), (0.0, [])])
def test_the_user_says_what_silence_is_too_long(
    log: Path, stall: float, expected: list[str]
) -> None:
    """Seconds, or none at all."""

    def story() -> Iterator[float]:
        add(log, steps(1, 5))
        yield 2
        yield 40
        yield 10000

    log.touch()
    assert kinds(watched([log], story(), Settings(stall=stall))) == expected


def test_lines_that_name_the_same_step_are_no_progress(log: Path) -> None:
    """A heartbeat behind a step that does not end, by the printed clock."""

    def at(second: int, text: str) -> str:
        return f"2026-01-01 {10 + second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d} {text}\n"

    def story() -> Iterator[float]:
        for number in range(1, 20):
            add(log, at(10 * number, f"step {number} loss 2.5{number % 7}"))
            yield 10
        for beat in range(1, 60):
            add(log, at(200 + 60 * beat, "still in step 20"))
            yield 60

    log.touch()
    found = watched([log], story())
    assert kinds(found) == ["same-step"]


def test_the_first_warning_can_be_the_last(log: Path) -> None:
    """For a script that stops the job then."""
    log.write_text(steps(1, 5) + "step 6 loss nan lr 0.001\n")
    found = watched([log], iter([2.0]), Settings(stops_at_warning=True))
    assert kinds(found) == ["nan", "end warned"]


def test_once_judges_what_is_there(log: Path) -> None:
    """An unfinished line counts then; a missing file is an error."""
    log.write_text(steps(1, 5) + "step 6 loss nan")
    found = watched([log], iter([]), Settings(is_once=True))
    assert kinds(found) == ["nan", "end once"]
    with pytest.raises(InputError, match="no such file"):
        watched([log.with_name("absent.log")], iter([]), Settings(is_once=True))


def test_the_files_of_a_folder_are_one_job(tmp_path: Path) -> None:
    """They may come one after the other; a kind is told once for the job.

    A file that is no log is left out.
    """

    def story() -> Iterator[float]:
        yield 2
        add(tmp_path / "rank0.log", steps(1, 10))
        yield 2
        add(tmp_path / "rank1.log", steps(1, 10) + "step 11 loss nan lr 0.001\n")
        (tmp_path / "events.dat").write_bytes(bytes(range(256)) * 4)
        yield 2
        add(tmp_path / "rank0.log", "step 12 loss nan lr 0.001\n")
        yield 2

    found = watched([tmp_path], story())
    assert sorted(kinds(found)) == ["nan", "unreadable", "waiting"]
    told = next(event for event in found if isinstance(event, Warned))
    assert (Path(told.path).name, told.where.rank) == ("rank1.log", 1)


@pytest.mark.parametrize(
    ("paths", "settings"),
    [
        (["-"], Settings()),
        (["run.log"], Settings(interval=0.0)),
        (["run.log"], Settings(stall=-1.0)),
    ],
)
def test_what_makes_no_sense_is_refused(paths: list[str], settings: Settings) -> None:
    """Standard input cannot be followed; time does not run backwards."""
    with pytest.raises(UsageError) as caught:
        Watcher(paths, settings, lambda: 0.0, lambda _: None)
    assert caught.value.mend


def test_a_packed_log_is_refused(log: Path) -> None:
    """It is named by the user, so it is an error."""
    log.write_bytes(b"\x1f\x8b0123456789")
    with pytest.raises(InputError, match="archive"):
        watched([log], iter([]))


def _as_folder(path: Path) -> None:
    path.mkdir()


def _as_full_folder(path: Path) -> None:
    path.mkdir()
    (path / "other.log").write_text(TRACEBACK)


def _as_loop(path: Path) -> None:
    path.symlink_to(path.name)


def _as_nothing(path: Path) -> None:
    assert not path.exists()


def _put_away(path: Path) -> None:
    """Remove whatever stands there."""
    if path.is_dir() and not path.is_symlink():
        for inner in path.iterdir():
            inner.unlink()
        path.rmdir()
    elif path.is_symlink():
        path.unlink()


UNREADABLE = [
    pytest.param(_as_folder, id="a folder"),
    pytest.param(_as_full_folder, id="a folder with a log"),
    pytest.param(_as_loop, id="a loop of links"),
    pytest.param(_as_nothing, id="nothing"),
]


@pytest.mark.parametrize("is_same", [True, False], ids=["the same file", "another file"])
@pytest.mark.parametrize("become", UNREADABLE)
def test_a_log_that_is_no_file_for_a_second(
    tmp_path: Path, become: Callable[[Path], None], *, is_same: bool
) -> None:
    """The watch goes on; what it had read counts once, and what comes then is read."""
    log, aside = tmp_path / "run.log", tmp_path / "aside"
    log.write_text(steps(1, 40))

    def story() -> Iterator[float]:
        yield 1
        log.rename(aside)
        become(log)
        yield 1
        yield 1
        _put_away(log)
        if is_same:
            aside.rename(log)
        with log.open("a") as stream:
            stream.write(steps(41, 60) + "step 61 loss nan lr 0.001\n")
        yield 1

    found = watched([log], story())
    assert [kind for kind in kinds(found) if kind != "rotated"] == ["nan"]
    (warned,) = [event for event in found if isinstance(event, Warned)]
    assert warned.line == (61 if is_same else 21)


@pytest.mark.parametrize("become", UNREADABLE[::2])
def test_a_log_that_stays_no_file_is_an_error(
    tmp_path: Path, become: Callable[[Path], None]
) -> None:
    """After a while; at once where nothing is waited for."""
    log = tmp_path / "run.log"
    log.write_text(steps(1, 40))

    def story() -> Iterator[float]:
        yield 1
        log.unlink()
        become(log)
        yield from [2] * 20
        raise AssertionError("the watch goes on")

    with pytest.raises(InputError, match=r"run\.log"):
        watched([log], story())


def test_a_log_whose_disk_fails_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read that fails (a server of files restarts) ends no watch."""
    log = tmp_path / "run.log"
    log.write_text(steps(1, 40))

    def fail(*_: object) -> Iterator[bytes]:
        raise OSError(116, "Stale file handle")

    def story() -> Iterator[float]:
        yield 1
        with monkeypatch.context() as patched:
            patched.setattr("postmortem.reading.follow.FollowedFile._read_added", fail)
            yield 1
        with log.open("a") as stream:
            stream.write(steps(41, 60) + "step 61 loss nan lr 0.001\n")
        yield 1

    assert "nan" in kinds(watched([log], story()))
