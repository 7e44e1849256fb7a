"""Logs that are attached: what is fetched, what is not, and what becomes of hostile ones."""

import gzip
from collections.abc import Callable

import pytest

from postmortem.interfaces.bots.issue_text import build_log_label, collect_logs
from postmortem.interfaces.trackers.github_tracker import iter_attachments
from postmortem.interfaces.trackers.tracker_protocol import ISSUE, IssuePlace, LinkedFile
from tests.interfaces.bots.conftest import Bot
from tests.interfaces.bots.deliveries import MISSING, OOM, commented, fenced, opened
from tests.interfaces.bots.standin_github import MAX, PROJECT, StandIn
from tests.interfaces.bots.test_answers import is_oom
from tests.made_archives import zipped

WEB = "https://github.com"


def attach(standin: StandIn, name: str, content: bytes) -> str:
    """Put a file on the server, behind a redirect as GitHub has it; gives its link."""
    identity = next(standin.numbers)
    path = f"/user-attachments/files/{identity}/{name}"
    standin.files[path] = (302, {"Location": f"{standin.url}/objects/{identity}"}, b"")
    standin.files[f"/objects/{identity}"] = (200, {}, content)
    return f"{standin.url}{path}"


def asked(bot: Bot, standin: StandIn, text: str) -> str:
    """What a member is told who asks about an issue."""
    number = standin.open_issue(text)
    comment = standin.write(number, "@postmortem analyze", MAX)
    bot.told("issue_comment", commented(standin, number, comment))
    (answer,) = standin.own(number)
    return answer


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("run.log", OOM.encode()),
        ("run.log.gz", gzip.compress(OOM.encode())),
        ("logs.zip", zipped({"0_train.txt": OOM.encode(), "train/1_Set up.txt": b"ok\n"})),
        ("run.txt", OOM.encode("utf-16")),
    ],
)
def test_an_attached_log_is_judged(bot: Bot, standin: StandIn, name: str, content: bytes) -> None:
    """Plain or packed; a picture beside it is not fetched."""
    link, picture = attach(standin, name, content), attach(standin, "screen.png", b"png")
    number = standin.open_issue(f"It fails: [{name}]({link}) ![screen]({picture})")
    bot.told("issues", opened(standin, number))
    assert [is_oom(text) for text in standin.own(number)] == [True]
    assert standin.count("GET", "screen.png") == 0


def test_a_link_in_code_or_a_quote_is_not_followed(bot: Bot, standin: StandIn) -> None:
    """Nor one in a comment of somebody else."""
    link = attach(standin, "run.log", OOM.encode())
    text = asked(bot, standin, f"```\n{link}\n```\n\n> {link}\n")
    assert "`memory.cuda-oom`" not in text
    assert standin.count("GET", "run.log") == 0


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1:1/latest",
        "http://169.254.169.254/latest/meta-data/",
        "https://169.254.169.254/latest/meta-data/",
        "https://localhost/",
        "https://evil.example/run.log",
        "file:///etc/passwd",
    ],
)
def test_a_redirect_elsewhere_is_told_and_not_followed(
    bot: Bot, standin: StandIn, target: str
) -> None:
    """The file counts as not read."""
    link = attach(standin, "run.log", b"")
    path = link.removeprefix(standin.url)
    standin.files[path] = (302, {"Location": target}, b"")
    text = asked(bot, standin, f"see {link}")
    assert "There is no log here" in text
    assert "run.log: leads to a host that is not allowed" in text


def test_links_elsewhere_are_no_attachments() -> None:
    """Only what GitHub keeps, by its own forms of address."""
    good = [
        f"{WEB}/user-attachments/files/12/run.log",
        f"{WEB}/{PROJECT}/files/12/run.log",
        "https://gist.github.com/ada/0123456789abcdef0123456789abcdef",
    ]
    bad = [
        "https://evil.example/user-attachments/files/12/run.log",
        f"{WEB}.evil.example/user-attachments/files/12/run.log",
        f"{WEB}@evil.example/user-attachments/files/12/run.log",
        "http://github.com/user-attachments/files/12/run.log",
        f"{WEB}/user-attachments/files/12/../../x/run.log",
        f"{WEB}/login?return_to=https://evil.example",
        f"{WEB}/user-attachments/files/12/run.log?x=1",
        f"{WEB}/user-attachments/files/12/SHOT.PNG",
        "https://gist.github.com/ada/../evil",
    ]
    text = "\n".join([*good, *(f"[a]({one})" for one in bad), f"<{good[0]}>", f"see {good[1]}."])
    found = list(dict.fromkeys(iter_attachments(text, WEB)))
    assert found == [
        LinkedFile("run.log", good[0]),
        LinkedFile("run.log", good[1]),
        LinkedFile("gist", f"{good[2]}/raw"),
    ]


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("../../etc/passwd", "passwd"),
        ("..", "log"),
        ("a\\..\\b.log", "b.log"),
        ("run.log\n@ada", "run.log ⏎ @ada"),
        ("x" * 500, "x" * 99 + "…"),
        ("\x1b[31mred\u202e.log", None),
        ("", "log"),
    ],
)
def test_a_name_is_a_label(name: str, label: str | None) -> None:
    """One line, one part, nothing that a terminal or a reader could be fooled by."""
    made = build_log_label(name)
    assert label is None or made == label
    assert "/" not in made
    assert not {"\n", "\x1b", "\u202e"} & set(made)


BOMB = zipped({"bomb.log": bytes(40 << 20)})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bomb.zip", BOMB),
        ("bomb.gz", gzip.compress(bytes(40 << 20))),
        ("nested.zip", zipped({"inner.zip": BOMB, "again.gz": gzip.compress(bytes(40 << 20))})),
        ("traversal.zip", zipped({"../../../tmp/postmortem-was-here": b"x", "/etc/x": b"y"})),
        ("broken.zip", b"PK\x03\x04" + b"x" * 99),
        ("broken.gz", b"\x1f\x8b" + b"x" * 99),
        ("empty.log", b""),
        ("zeros.log", bytes(1 << 20)),
        ("many.zip", zipped({f"{n}.log": b"x\n" for n in range(3000)})),
    ],
)
def test_a_hostile_file_ends_in_an_answer(
    bot: Bot, standin: StandIn, name: str, content: bytes
) -> None:
    """Judged as in the service, with its bounds; the log beside it counts, or is told of."""
    text = asked(bot, standin, fenced(MISSING) + f"\n{attach(standin, name, content)}\n")
    assert "`environment.missing-package`" in text or "could not be judged" in text
    if "bomb" in name:
        assert "could not be judged" in text


def test_too_many_and_too_large_files_are_told(
    new_bot: Callable[..., Bot], standin: StandIn
) -> None:
    """With what was not read."""
    bot = new_bot(files=2, file_mib=0.01)
    links = [attach(standin, f"{n}.log", OOM.encode()) for n in range(3)]
    links[0] = attach(standin, "large.log", b"x" * 20_000)
    text = asked(bot, standin, " ".join(links))
    assert "`memory.cuda-oom`" in text
    assert "large.log: has more than 10,485 bytes" in text
    assert "2\u200b.log: too many files" in text


def test_of_very_long_comments_the_newest_count(bot: Bot, standin: StandIn) -> None:
    """The bound is on all of them together, so that nobody has the bot read for hours."""
    number = standin.open_issue("It fails")
    for _ in range(20):
        standin.write(number, fenced(MISSING) + "* a\n" * 15_000)
    standin.write(number, fenced(OOM))
    gathered = collect_logs(
        bot.tracker,
        bot.settings,
        bot.tracker.thread(IssuePlace(PROJECT, ISSUE, number)),
        list(bot.tracker.comments(IssuePlace(PROJECT, ISSUE, number))),
        [],
    )
    assert gathered.logs[-1].content.decode() + "\n" == OOM
    assert 10 < len(gathered.logs) < 20
