"""Opening a job's files, hashing them, and laying them out for an analysis."""

import os
from pathlib import Path

import pytest

from postmortem.core.errors import InputError
from postmortem.fleet.search import job_content
from postmortem.fleet.search.finding import find_jobs
from postmortem.fleet.search.job_content import compute_digest, open_job_file, place_job_files
from postmortem.fleet.store.stored_rows import FileRow, JobRow
from postmortem.pipeline import run_pipeline
from postmortem.report.lossless import to_json

FAILED = b"""step 1 loss 2.0
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    main()
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
"""


def job_at(folder: Path, **files: bytes) -> JobRow:
    """The one job of a new folder with such files."""
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / f"{name}.log").write_bytes(content)
    (job,) = find_jobs([str(folder)]).jobs
    return job


def analysed(job: JobRow, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Its analysis as JSON, made as a worker makes it."""
    folder.mkdir()
    given = place_job_files(job, folder)
    monkeypatch.chdir(folder)
    return to_json(run_pipeline(given, model=None))


@pytest.mark.parametrize("names", [("exp",), ("rank0", "rank1")])
def test_equal_jobs_in_different_places_have_one_analysis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    """Byte for byte, and nothing of where they lay is in it."""
    content = dict.fromkeys(names, FAILED)
    one = job_at(tmp_path / "users" / "quentin" / "here", **content)
    other = job_at(tmp_path / "projects" / "elsewhere", **content)
    assert one.identity != other.identity
    assert compute_digest(one) == compute_digest(other)
    told = analysed(one, tmp_path / "w1", monkeypatch)
    assert told == analysed(other, tmp_path / "w2", monkeypatch)
    assert "OutOfMemory" in told
    assert not any(word in told for word in ("quentin", "elsewhere", str(tmp_path)))


def test_what_is_laid_out_is_found_as_files_of_the_job(tmp_path: Path) -> None:
    """Links in a folder of their own: nothing is copied, and the names are neutral."""
    job = job_at(tmp_path / "j", rank0=b"x\n", rank1=b"y\n")
    (tmp_path / "w").mkdir()
    assert place_job_files(job, tmp_path / "w") == ["job"]
    links = sorted((tmp_path / "w" / "job").iterdir())
    assert [one.name for one in links] == ["rank0.log", "rank1.log"]
    assert [one.readlink().name for one in links] == ["rank0.log", "rank1.log"]


def test_a_digest_tells_names_and_borders_apart(tmp_path: Path) -> None:
    """The same bytes parted otherwise, or in another process, are another content."""
    jobs = [
        job_at(tmp_path / "a", rank0=b"ab", rank1=b"c"),
        job_at(tmp_path / "b", rank0=b"a", rank1=b"bc"),
        job_at(tmp_path / "c", rank0=b"ab", rank2=b"c"),
        job_at(tmp_path / "d", rank0=b"abc"),
    ]
    digests = [compute_digest(job) for job in jobs]
    assert len({*digests}) == len(jobs)
    assert all(len(digest) == 32 for digest in digests)


def test_a_file_that_changes_while_it_is_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A digest of half of one state and half of another is none."""
    job = job_at(tmp_path / "j", exp=b"x" * 64)
    monkeypatch.setattr(job_content, "_BLOCK", 16)
    path = Path(job.files[0].location)
    state = job_content._state

    def growing(*given: object) -> object:
        """The log grows once its size was noted."""
        found = state(*given)  # type: ignore[arg-type]
        with path.open("ab") as file:
            file.write(b"more")
        return found

    monkeypatch.setattr(job_content, "_state", growing)
    with pytest.raises(InputError, match="changed while it was read"):
        compute_digest(job)


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    """Between finding and reading."""
    job = job_at(tmp_path / "j", exp=b"x")
    Path(job.files[0].location).unlink()
    with pytest.raises(InputError, match="No such file"), open_job_file(job.files[0]):
        pass
    with pytest.raises(InputError, match="No such file"):
        compute_digest(job)


def test_a_local_file_needs_no_fsspec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has his logs on a disk installs nothing for other storages."""
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    job = job_at(tmp_path / "j", exp=b"loss 1\n")
    with open_job_file(job.files[0]) as stream:
        assert stream.read() == b"loss 1\n"
    assert compute_digest(job)


def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    """Names come from elsewhere; none is written beside the folder."""
    (tmp_path / "w").mkdir()
    file = FileRow("../out.txt", os.devnull, 0, "")
    with pytest.raises(InputError):
        place_job_files(JobRow("x", "x", (file,)), tmp_path / "w")
    assert not (tmp_path / "out.txt").is_symlink()
