"""A diagnosis without secrets."""

from dataclasses import replace

from postmortem.core.answer import Event, Verdict
from postmortem.core.findings import NOWHERE, ProcessId, Setting
from postmortem.report.redacted import redact_report
from postmortem.report.redaction.redactor import Redactor
from tests.report.samples import rich


def test_the_shape_of_a_diagnosis_is_kept() -> None:
    """Numbers, ids and the number of excerpt lines do not change."""
    one = rich()
    hidden = redact_report(one, Redactor())
    assert hidden.series[0].samples == one.series[0].samples
    assert [cause.id for cause in hidden.causes] == [cause.id for cause in one.causes]
    assert one.excerpt is not None
    assert hidden.excerpt is not None
    assert len(hidden.excerpt.lines) == len(one.excerpt.lines)
    assert hidden.environment.packages == one.environment.packages


def test_a_host_known_from_one_place_is_hidden_in_all() -> None:
    """The host of a process is hidden in a text that stands before it."""
    event = Event(0, ProcessId(node="quark"), 1, None, None, "context", "x")
    one = replace(
        rich(),
        timeline=(event,),
        verdict=Verdict(None, 0.1, "unknown", "quark died", "unknown", "unknown"),
    )
    hidden = redact_report(one, Redactor())
    assert hidden.timeline[0].where.node == "host-2"
    assert hidden.verdict.summary == "host-2 died"


def test_a_user_known_from_one_place_is_hidden_in_paths_before_it() -> None:
    """A home directory in the last field tells the user of another path in the first."""
    one = rich()
    one = replace(
        one,
        sources=(replace(one.sources[0], path="/fast/carol/x.log", where=NOWHERE),),
        warnings=("see /home/carol/y",),
    )
    assert redact_report(one, Redactor()).sources[0].path == "/fast/user-2/x.log"


def test_secrets_deep_in_a_setting_are_hidden() -> None:
    """A nested setting is hidden by its own name."""
    one = replace(
        rich(), settings={"hub": Setting({"token": "abc", "list": ["/home/carol/x"], "n": 3}, 0, 1)}
    )
    assert redact_report(one, Redactor()).settings["hub"].value == {
        "token": "secret-1",
        "list": ["/home/user-2/x"],
        "n": 3,
    }


class _Counting(Redactor):
    """Notes the texts that are looked through."""

    def __init__(self) -> None:
        super().__init__()
        self.looked: list[str] = []

    def _hide(self, text: str, *, addresses: bool) -> str:
        self.looked.append(text)
        return super()._hide(text, addresses=addresses)


def test_no_text_is_looked_through_twice() -> None:
    """A report says the same in many places.

    Each text is looked through once before the names are known, and once after.
    """
    redactor = _Counting()
    one = rich()
    redact_report(replace(one, warnings=("see /home/carol/y",) * 50), redactor)
    assert redactor.looked.count("see /home/carol/y") == 2
    assert all(redactor.looked.count(text) <= 4 for text in redactor.looked)


def test_many_texts_are_hidden_as_each_alone() -> None:
    """The names of many curves are looked through together, which hides no less."""
    names = [f"part_{number:04d}" for number in range(300)]
    names[70], names[150] = "/home/carol/runs/loss", "eval/10.1.2.3/loss"
    curves = tuple(replace(rich().series[0], name=name) for name in names)
    hidden = [one.name for one in redact_report(replace(rich(), series=curves), Redactor()).series]
    assert hidden[:70] == names[:70]
    assert hidden[70] == "/home/user-2/runs/loss"
    assert hidden[150].startswith("eval/ip-")
    assert hidden[151:] == names[151:]
