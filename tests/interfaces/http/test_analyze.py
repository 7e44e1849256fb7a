"""`POST /api/analyze`: what a log is given as, what a report is asked for as, what is refused."""

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from typing import Any, get_args

import httpx
import jsonschema
import pytest
import zstandard

from postmortem.core.names import LANGUAGES
from postmortem.interfaces.http.analyze_routes import KINDS, ShownForm
from postmortem.interfaces.http.triage_routes import LanguageQuery
from postmortem.report import SHOWN_FORMS
from postmortem.report.wire import read_schema
from tests.interfaces.http.conftest import CAUSE, LOG, PATIENCE, Serve, Served
from tests.made_archives import tarred, zipped

TEXT = LOG.read_bytes()
NOTHING = bytes(80 << 20)


def asked(service: Served, **given: Any) -> httpx.Response:
    """What the service answers."""
    return httpx.post(f"{service.url}/api/analyze", timeout=PATIENCE, **given)


def error_of(answer: httpx.Response) -> dict[str, str]:
    """What an answer that is an error says, which has one shape."""
    (name, error), *others = answer.json().items()
    assert (name, others, set(error)) == ("error", [], {"what", "where", "mend"})
    return dict(error)


def test_a_log_as_the_body_is_judged(service: Served) -> None:
    """The answer is the public report, by its schema."""
    answer = asked(service, content=TEXT, params={"name": "run.log"})
    assert answer.status_code == 200
    report = answer.json()
    jsonschema.Draft202012Validator(json.loads(read_schema())).validate(report)
    assert report["verdict"]["cause"] == CAUSE
    assert [one["path"] for one in report["sources"]] == ["run.log"]


@pytest.mark.parametrize(
    "pack",
    [
        pytest.param(gzip.compress, id="gz"),
        pytest.param(bz2.compress, id="bz2"),
        pytest.param(lzma.compress, id="xz"),
        pytest.param(zstandard.ZstdCompressor().compress, id="zst"),
        pytest.param(lambda data: zipped({"job/run.log": data}), id="zip"),
        pytest.param(lambda data: zipped({"job/run.log.gz": gzip.compress(data)}), id="gz in zip"),
        pytest.param(lambda data: tarred({"job/run.log": data}, "w:gz"), id="tar.gz"),
        pytest.param(lambda data: tarred({"job/run.log": data}), id="tar"),
    ],
)
def test_a_packed_log_is_judged(service: Served, pack: Callable[[bytes], bytes]) -> None:
    """However it is packed."""
    assert asked(service, content=pack(TEXT)).json()["verdict"]["cause"] == CAUSE


@pytest.mark.parametrize("form", SHOWN_FORMS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_form_is_given_in_every_language(service: Served, form: str, language: str) -> None:
    """With its content type; Chinese is Chinese."""
    answer = asked(service, content=TEXT, params={"format": form, "lang": language})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == KINDS[form]
    assert ("降到下限" in answer.text) is (language == "zh" or form == "html")


def test_what_can_be_asked_for_is_what_there_is() -> None:
    """The arguments that are written out name all forms and languages."""
    assert set(get_args(ShownForm)) == set(SHOWN_FORMS) == set(KINDS)
    (spoken, _) = get_args(LanguageQuery.model_fields["lang"].annotation)
    assert set(get_args(spoken)) == set(LANGUAGES)


def test_several_files_are_one_job(service: Served) -> None:
    """Logs, an environment dump and pasted text, with what is asked for as fields of the form."""
    answer = asked(
        service,
        files=[
            ("log", ("node0/rank0.log", TEXT)),
            ("log", ("node0/rank1.log", b"waiting\n")),
            ("env", ("dump.txt", b"torch==2.3.1\n")),
        ],
        data={"text": "a line that was pasted\n", "format": "json", "lang": "zh"},
    )
    report = answer.json()
    kinds = {one["path"]: one["kind"] for one in report["sources"]}
    assert sorted(kinds) == ["dump.txt", "node0/rank0.log", "node0/rank1.log", "pasted.log"]
    assert kinds["dump.txt"] == "environment"
    assert report["environment"]["packages"]["torch"] == "2.3.1"
    assert report["verdict"]["cause"] == CAUSE


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        pytest.param("../../../etc/passwd", "etc/passwd", id="up"),
        pytest.param("/etc/passwd", "etc/passwd", id="absolute"),
        pytest.param("..\\..\\windows\\win.ini", "windows/win.ini", id="backslashes"),
        pytest.param("a/./../b.log", "a/b.log", id="within"),
        pytest.param("-", "-", id="standard input"),
        pytest.param("r\r\nun\x1b[2J.log", "r__un_[2J.log", id="what steers"),
        pytest.param("....", "log", id="dots"),
        pytest.param("训练/日志.log", "训练/日志.log", id="Chinese"),
    ],
)
def test_a_name_is_a_label_and_nothing_else(service: Served, name: str, shown: str) -> None:
    """It leads nowhere, and steers nobody who reads it."""
    answer = asked(service, content=TEXT, params={"name": name})
    (source,) = answer.json()["sources"]
    assert source["path"].replace("[", "_") == shown.replace("[", "_")
    assert source["bytes"] == len(TEXT)


def test_files_of_a_bundle_stay_below_it(service: Served) -> None:
    """Names that lead elsewhere lead below it, and two of one name are two."""
    bundle = zipped({"../../up.log": TEXT, "/root.log": b"x\n", "up.log": b"y\n"})
    report = asked(service, files={"log": ("all.zip", bundle)}).json()
    assert sorted(one["path"] for one in report["sources"]) == [
        "all.zip/root.log",
        "all.zip/up-2.log",
        "all.zip/up.log",
    ]


@pytest.mark.parametrize(
    "bomb",
    [
        pytest.param(lambda: gzip.compress(NOTHING), id="gz"),
        pytest.param(lambda: bz2.compress(NOTHING), id="bz2"),
        pytest.param(lambda: lzma.compress(NOTHING), id="xz"),
        pytest.param(lambda: zstandard.ZstdCompressor().compress(NOTHING), id="zst"),
        pytest.param(lambda: zipped({"a.log": NOTHING}), id="zip"),
        pytest.param(lambda: zipped({"a.gz": gzip.compress(NOTHING)}), id="gz in zip"),
        pytest.param(lambda: tarred({"a.log": NOTHING}, "w:gz"), id="tar.gz"),
    ],
)
def test_a_bomb_is_refused(service: Served, bomb: Callable[[], bytes]) -> None:
    """Dense as no log is; the service is well afterwards."""
    answer = asked(service, content=bomb())
    assert answer.status_code == 413
    assert error_of(answer)["where"] == "limits.unpacked_mib"
    assert service.health()["status"] == "ok"


def test_what_is_packed_is_counted_together(serve: Serve) -> None:
    """Two files that unpack to more than may be, each of which does not."""
    served = serve(limits={"workers": 1, "unpacked_mib": 3, "bundle_files": 2})
    half = gzip.compress(b"step 1 loss 2.5\n" * (2 << 16))
    assert asked(served, files=[("log", ("a.gz", half))]).status_code == 200
    both = asked(served, files=[("log", ("a.gz", half)), ("log", ("b.gz", half))])
    assert (both.status_code, error_of(both)["where"]) == (413, "limits.unpacked_mib")
    many = asked(served, content=zipped({f"{place}.log": TEXT for place in range(3)}))
    assert many.status_code == 422
    assert "more than 2 files" in error_of(many)["what"]


@pytest.mark.parametrize(
    ("given", "status", "what"),
    [
        pytest.param({"content": b""}, 422, "no log", id="empty"),
        pytest.param({"content": b"x", "params": {"lang": "xx"}}, 422, "'en' or 'zh'", id="lang"),
        pytest.param({"content": b"x", "params": {"format": "x"}}, 422, "'html'", id="form"),
        pytest.param({"content": b"x", "params": {"nix": "1"}}, 422, "Extra", id="unknown"),
        pytest.param(
            {"files": {"log": ("a", b"x")}, "data": {"nix": "1"}}, 422, "Extra", id="a field"
        ),
        pytest.param({"files": {"env": ("a", b"x")}}, 422, "no log", id="a dump alone"),
        pytest.param(
            {"content": b"x", "params": {"redact": "false"}}, 403, "hides", id="unredacted"
        ),
        pytest.param(
            {"content": b"x", "headers": {"Content-Type": "multipart/form-data"}},
            400,
            "boundary",
            id="no form",
        ),
        pytest.param(
            {"files": [("log", (str(n), b"x")) for n in range(65)]}, 413, "64 files", id="files"
        ),
        pytest.param({"content": zipped({"a.png": b"x"})}, 422, "no logs", id="no log in it"),
        pytest.param({"content": zipped({"a": TEXT})[:-40]}, 422, "archive", id="broken zip"),
    ],
)
def test_what_cannot_be_done_is_told(
    service: Served, given: dict[str, Any], status: int, what: str
) -> None:
    """With a status, and in one shape."""
    answer = asked(service, **given)
    assert (answer.status_code, what in error_of(answer)["what"]) == (status, True), answer.text


def test_errors_are_told_in_the_language_of_who_asks(service: Served) -> None:
    """As the address says, or as the browser prefers."""
    by_address = asked(service, content=b"", params={"lang": "zh"})
    by_browser = asked(service, content=b"", headers={"Accept-Language": "zh-CN,en;q=0.5"})
    assert error_of(by_address) == error_of(by_browser)
    assert error_of(by_address)["what"] == "请求中没有日志"


def test_secrets_are_hidden_unless_the_service_allows_otherwise(serve: Serve) -> None:
    """In every form."""
    secret = b"export HF_TOKEN=hf_" + b"abcDEF0123456789" * 2 + b"\n"
    served = serve(allow_unredacted=True, limits={"workers": 1})
    crash = b"Traceback (most recent call last):\nRuntimeError: " + secret
    hidden = asked(served, content=crash, params={"format": "html"}).text
    shown = asked(served, content=crash, params={"format": "html", "redact": "false"}).text
    assert "abcDEF0123456789" not in hidden
    assert "abcDEF0123456789" in shown


def test_a_log_cannot_write_into_the_page(service: Served) -> None:
    """Whatever it says is text, and the page may run nothing but what is our own."""
    hostile = TEXT + (
        b"</title></style></script><script>alert(1)</script><img src=x onerror=alert(2)>\n"
        b"RuntimeError: </pre><svg/onload=alert(3)>\n"
    )
    answer = asked(
        service,
        files={"log": ("<script>alert(4)</script>.log", hostile)},
        params={"format": "html"},
    )
    assert "<script>alert" not in answer.text
    assert "<img src=x" not in answer.text
    assert "<svg/onload" not in answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
