"""The JSON report against DESIGN.md section 4 and its own schema."""

import json
from dataclasses import replace
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from postmortem.core.diagnosis import Diagnosis
from postmortem.core.findings import Setting
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.wire import dump_json, read_schema, render_json, to_wire
from tests.report.samples import HOSTILE, TOKEN, abstaining, hostile, rich

# Section 4 of DESIGN.md, the keys in its order.
CONTRACT = {
    "": "schema tool sources attempts outcome frameworks verdict causes signatures first_failure timeline series environment settings progress redactions warnings",
    "tool": "name version knowledge_base classifier",
    "sources": "path bytes lines encoding compression where kind note",
    "attempts": "source first_line last_line outcome",
    "frameworks": "name version lines",
    "verdict": "cause probability status summary whose retry not_checked would_change need",
    "causes": "id category title probability explanation evidence fixes",
    "causes.evidence": "kind id group text weight source where line end_line references",
    "causes.fixes": "id kind title why snippet language safety references",
    "signatures": "id role because source where line end_line time time_basis count text captures",
    "first_failure": "source where line time why frame",
    "timeline": "source where line time step role text",
    "series": "name producer source where attempt unit points nonfinite first last min max first_nonfinite interleaved samples",
    "series.where": "rank local_rank node pid",
    "environment": "packages python os cuda driver gpus precision world_size launcher exit_status signal",
    "environment.gpus": "name count memory_gib compute_capability",
    "progress": "last_good_step last_checkpoint checkpoint_before_first_bad seconds_after_failure resume_from first_bad last_step planned_steps epoch planned_epochs best",
    "redactions": "count kinds",
}


def loads(text: str) -> dict[str, Any]:
    """Read strict JSON: NaN and Infinity are errors."""
    parsed: dict[str, Any] = json.loads(
        text, parse_constant=lambda name: pytest.fail(f"not strict JSON: {name}")
    )
    return parsed


@pytest.mark.parametrize("path", sorted(CONTRACT))
def test_the_fields_are_those_of_the_contract(path: str) -> None:
    """Every object has exactly the keys that DESIGN.md names."""
    value: Any = to_wire(rich())
    for step in path.split(".") if path else ():
        value = value[step][0] if isinstance(value[step], list) else value[step]
    assert set(value) == set(CONTRACT[path].split())


@pytest.mark.parametrize(
    "diagnosis",
    [
        pytest.param(rich(), id="rich"),
        pytest.param(rich("zh"), id="Chinese"),
        pytest.param(abstaining(), id="minimal"),
        pytest.param(hostile(), id="hostile"),
    ],
)
@pytest.mark.parametrize("redact", [True, False])
def test_a_report_is_valid(diagnosis: Diagnosis, *, redact: bool) -> None:
    """What is written is strict JSON and meets the schema."""
    validator = Draft202012Validator(json.loads(read_schema()))
    errors = [
        f"{list(error.path)}: {error.message}"
        for error in validator.iter_errors(loads(render_json(diagnosis, redact=redact)))
    ]
    assert errors == []


@pytest.mark.parametrize(
    ("change", "where"),
    [
        pytest.param({"extra": 1}, [], id="a key too many"),
        pytest.param({"outcome": "exploded"}, ["outcome"], id="an unknown outcome"),
        pytest.param({"first_failure": {"source": 0}}, ["first_failure"], id="a part missing"),
        pytest.param({"schema": "postmortem.report/2"}, ["schema"], id="another schema"),
    ],
)
def test_the_schema_refuses(change: dict[str, Any], where: list[str]) -> None:
    """The schema is strict at the fixed places."""
    wire = to_wire(abstaining()) | change
    errors = list(Draft202012Validator(json.loads(read_schema())).iter_errors(wire))
    assert [list(error.path) for error in errors] == [where]


def test_the_schema_is_a_schema() -> None:
    """The schema itself is valid, and abstaining goes with status unknown only."""
    schema = json.loads(read_schema())
    Draft202012Validator.check_schema(schema)
    wire = to_wire(abstaining())
    wire["verdict"]["status"] = "established"
    assert not Draft202012Validator(schema).is_valid(wire)


def test_numbers_that_are_not_finite_are_strings() -> None:
    """NaN and the infinities are named, whole steps are integers."""
    wire = to_wire(
        replace(rich(), settings={"x": Setting({"clip": inf, "betas": (0.9, -inf)}, 0, 1)})
    )
    loss, norm = wire["series"][0], wire["series"][1]
    assert loss["last"] == [430, "NaN"]
    assert norm["samples"][-1] == [430, "Infinity", 1850]
    assert norm["first_nonfinite"] == [420, 1840]
    assert isinstance(loss["last"][0], int)
    assert wire["settings"]["x"]["value"] == {"clip": "Infinity", "betas": [0.9, "-Infinity"]}


def test_a_place_is_an_object_with_all_parts() -> None:
    """What was not printed is null, not absent."""
    wire = to_wire(rich())
    assert wire["first_failure"]["where"] == {
        "rank": 3,
        "local_rank": None,
        "node": "gpu-a17.hpc.uni-example.org",
        "pid": None,
    }
    assert to_wire(abstaining())["first_failure"] is None


def test_redaction_is_counted_and_complete() -> None:
    """No token, user, host or address is left, versions are, and the counts say what was hidden."""
    text = render_json(rich())
    wire = loads(text)
    for secret in (TOKEN, "alice", "gpu-a17", "uni-example", "10.0.0.5"):
        assert secret not in text
    assert wire["sources"][0]["path"] == "/home/user-1/runs/glm4/train-3.log"
    assert wire["first_failure"]["where"]["node"] == "host-1"
    assert wire["settings"]["hub_token"]["value"] == "secret-1"
    assert wire["environment"]["packages"]["opencv-python"] == "4.8.1.78"
    assert wire["signatures"][2]["captures"] == {"version": "2.5.0.1"}
    assert wire["redactions"] == {"count": 4, "kinds": {"host": 1, "ip": 1, "secret": 1, "user": 1}}


def test_without_redaction_nothing_is_hidden() -> None:
    """The plain report says so by a count of 0."""
    wire = loads(render_json(rich(), redact=False))
    assert wire["settings"]["hub_token"]["value"] == TOKEN
    assert wire["redactions"] == {"count": 0, "kinds": {}}


def test_a_redactor_of_the_caller_is_used() -> None:
    """Reports of one folder can share pseudonyms."""
    redactor = Redactor()
    to_wire(rich(), redactor)
    assert redactor.node("gpu-a17.hpc.uni-example.org") == "host-1"


def test_hostile_text_stays_data() -> None:
    """The text comes back as it was.

    No byte of the file steers a terminal or reorders a line.
    """
    text = render_json(hostile(), redact=False)
    assert loads(text)["verdict"]["summary"] == HOSTILE
    assert [
        char
        for char in text
        if (ord(char) < 0x20 and char != "\n")
        or 0x7F <= ord(char) <= 0x9F
        or 0x202A <= ord(char) <= 0x202E
    ] == []


def test_bytes_that_are_no_text_do_not_break_the_file() -> None:
    """A path with an undecodable byte can be written as UTF-8."""
    one = abstaining()
    text = render_json(replace(one, sources=(replace(one.sources[0], path="a\udc80b"),)))
    assert loads(text.encode("utf-8").decode("utf-8"))["sources"][0]["path"] == "a\ufffdb"


LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
WORDS = st.text(
    st.characters(codec="ascii", categories=("L", "N", "P", "Zs"), exclude_characters=":#")
)


@given(st.recursive(LEAVES | WORDS, lambda one: st.lists(one) | st.dictionaries(WORDS, one)))
def test_the_report_is_laid_out_as_the_standard_library_does(value: Any) -> None:
    """An entry a line, whatever stands in it."""
    assert dump_json(value) == json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def test_a_number_that_is_not_finite_is_refused() -> None:
    """It is no JSON: `plain_json` words it before."""
    with pytest.raises(ValueError, match="JSON compliant"):
        dump_json({"value": [inf]})


@pytest.mark.parametrize("diagnosis", [rich(), abstaining(), hostile()])
def test_the_text_is_that_of_the_plain_values(diagnosis: Diagnosis) -> None:
    """What is written part by part is what the values of the whole are written as."""
    assert render_json(diagnosis) == dump_json(to_wire(diagnosis, Redactor()))
