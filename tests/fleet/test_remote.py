"""Jobs that lie elsewhere: listed and read through fsspec, without a copy and without secrets."""

import gzip
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from postmortem.core.errors import InputError, MissingExtra
from postmortem.fleet.search import remote_files
from postmortem.fleet.search.finding import find_jobs
from postmortem.fleet.search.job_content import compute_digest, open_job_file, place_job_files
from postmortem.fleet.search.listing import is_remote, remove_location_secrets
from postmortem.pipeline import run_pipeline

FAILED = b"step 1 loss 2.0\nRuntimeError: CUDA error: device-side assert triggered\n"


@pytest.fixture
def memory() -> Iterator[Any]:
    """A storage that lies in memory, empty."""
    files = fsspec.filesystem("memory")
    files.store.clear()
    yield files
    files.store.clear()


def put(files: Any, *names: str, content: bytes = FAILED) -> None:
    """Files in a bucket."""
    for name in names:
        files.pipe(f"/bucket/{name}", content)


def test_a_bucket_is_read_as_a_folder_is(memory: Any) -> None:
    """The same rules, with URLs in place of paths."""
    put(
        memory,
        "a.log",
        "b.log",
        "j/rank0.log",
        "j/rank1.log",
        "slurm-48213.out",
        "w.pt",
        ".h/x.log",
    )
    found = find_jobs(["memory://bucket"])
    assert {job.identity: [file.name for file in job.files] for job in found.jobs} == {
        "48213.1": ["log.txt"],
        "memory://bucket/a.log": ["log.txt"],
        "memory://bucket/b.log": ["log.txt"],
        "memory://bucket/j": ["job/rank0.log", "job/rank1.log"],
    }
    assert [(one.location, one.why_en) for one in found.left_out] == [
        ("memory://bucket/.h/x.log", "hidden"),
        ("memory://bucket/w.pt", ".pt files are not logs"),
    ]
    assert all(file.size == len(FAILED) and file.stamp for job in found.jobs for file in job.files)


def test_overlapping_urls_are_one(memory: Any) -> None:
    """A file within a named bucket, a pattern, a slash more: each job once."""
    put(memory, "x/a.log", "x/b.log")
    whole = find_jobs(["memory://bucket"])
    assert len(whole.jobs) == 2
    assert find_jobs(["memory://bucket/x/a.log", "memory://bucket/", "memory://bucket"]) == whole
    assert find_jobs(["memory://bucket/x/*.log"]).jobs == whole.jobs


def test_a_pattern_that_fits_nothing_is_an_error(memory: Any) -> None:
    """As is a file that is not there."""
    put(memory, "a.log")
    for url in ("memory://bucket/*.out", "memory://bucket/gone.log"):
        with pytest.raises(InputError, match="not found"):
            find_jobs([url])


def test_a_file_elsewhere_is_read_in_blocks(memory: Any, tmp_path: Path) -> None:
    """It is hashed and analysed as it comes, and quoted by reading it again; nothing is copied."""
    put(memory, "j/rank0.log", "j/rank1.log.gz", content=b"")
    memory.pipe("/bucket/j/rank0.log", FAILED)
    memory.pipe("/bucket/j/rank1.log.gz", gzip.compress(FAILED))
    (job,) = find_jobs(["memory://bucket"]).jobs
    with open_job_file(job.files[0]) as stream:
        assert (stream.read(4), stream.read(4)) == (b"step", b" 1 l")
    assert compute_digest(job) == compute_digest(job)
    found = run_pipeline(place_job_files(job, tmp_path), model=None)
    assert [source.path for source in found.sources] == ["job/rank0.log", "job/rank1.log.gz"]
    assert [source.where.rank for source in found.sources] == [0, 1]
    assert any("device-side assert" in line for quote in found.quotes for line in quote.lines)
    assert [*tmp_path.iterdir()] == []


def test_equal_content_elsewhere_has_one_digest(memory: Any) -> None:
    """Wherever it lies, as long as all of it is read as streams."""
    put(memory, "x/exp.log", "y/other.log")
    one, other = find_jobs(["memory://bucket"]).jobs
    assert compute_digest(one) == compute_digest(other)


def test_an_archive_of_logs_is_read(tmp_path: Path) -> None:
    """URLs may stand one within the other."""
    with zipfile.ZipFile(tmp_path / "logs.zip", "w") as archive:
        archive.writestr("j/a.log", FAILED)
        archive.writestr("j/b.log", FAILED)
    url = f"zip://j::file://{tmp_path}/logs.zip"
    jobs = find_jobs([url]).jobs
    assert [job.title for job in jobs] == ["a.log", "b.log"]
    with open_job_file(jobs[0].files[0]) as stream:
        assert stream.read() == FAILED


def test_a_file_that_vanishes_is_told(memory: Any) -> None:
    """Between finding and reading."""
    put(memory, "a.log")
    (job,) = find_jobs(["memory://bucket"]).jobs
    memory.rm("/bucket/a.log")
    with pytest.raises(InputError, match="not found"):
        compute_digest(job)


@pytest.mark.parametrize("package", ["fsspec", "s3fs"])
def test_a_missing_package_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither fsspec nor the driver of a protocol is there unless somebody wants it."""
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"\.\[triage\]"):
        find_jobs(["s3://bucket/logs"])


def test_an_unknown_protocol_is_an_error() -> None:
    """And not a missing file."""
    with pytest.raises(InputError, match="ValueError"):
        find_jobs(["nonsense://bucket/logs"])


@pytest.mark.parametrize("kind", [PermissionError, RuntimeError, ConnectionError])
def test_no_error_holds_a_login_or_a_query(
    kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drivers put the whole URL into their messages."""
    url = "https://anneliese:geheim@host:8443/logs/a.log?X-Signature=verborgen"

    def refuse(_: str) -> Any:
        """As a driver does."""
        raise kind(f"cannot get {url}")

    monkeypatch.setattr(remote_files, "_open_file_system", refuse)
    with pytest.raises(InputError) as caught:
        find_jobs([url])
    assert "https://host:8443/logs/a.log" in str(caught.value)
    assert not any(word in str(caught.value) for word in ("geheim", "verborgen", "anneliese"))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("s3://bucket/a b/c#1?.log", "s3://bucket/a b/c#1?.log"),
        ("sftp://ann:pw@host:22/x.log", "sftp://host:22/x.log"),
        ("ftp://ann:p@w@host/x.log", "ftp://host/x.log"),
        ("https://h/x.log?sig=1#f", "https://h/x.log"),
        ("zip://a.log::https://ann:pw@h/x.zip?sig=1", "zip://a.log::https://h/x.zip"),
        ("abfs://logs@account.dfs.core/x.log", "abfs://logs@account.dfs.core/x.log"),
        ("/logs/a@b?c.log", "/logs/a@b?c.log"),
    ],
)
def test_a_location_is_shown_without_what_gives_access(location: str, shown: str) -> None:
    """A path is not touched: it may hold any character."""
    assert remove_location_secrets(location) == shown


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("s3://b/x", True),
        ("zip::s3://b/x.zip", True),
        ("C:/logs", False),
        ("a:b.log", False),
        ("./s3", False),
    ],
)
def test_a_url_is_told_from_a_path(place: str, expected: bool) -> None:  # noqa: FBT001
    """By its scheme."""
    assert is_remote(place) is expected
