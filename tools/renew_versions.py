"""Renew `patterns/versions.json`: what the released versions of some packages ask of each other.

In: the packages named below, a package index with the JSON form of the simple API; the file as it
stands, of which what is known is not asked again. Out: the file. Not here: finding what does not
fit in an environment (`postmortem/extraction/facts/version_needs.py`).

    python tools/renew_versions.py [--index URL] [--anew]

The metadata are read off the wheels without downloading them: their last bytes, by range requests.
Patch releases between two of one minor release that ask the same are taken to ask the same.
"""

import argparse
import datetime as dt
import email.parser
import functools
import io
import itertools
import json
import re
import tarfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

FILE: Final = Path(__file__).resolve().parent.parent / "patterns" / "versions.json"
INDEX: Final = "https://pypi.org/simple"
_SINCE_2023: Final = """
accelerate auto-gptq autoawq bitsandbytes datasets deepspeed diffusers evaluate
fsspec huggingface-hub lightning liger-kernel llamafactory lmdeploy mmengine
ms-swift numba numpy opencv-python opencv-python-headless optimum pandas peft
protobuf pyarrow pydantic pytorch-lightning ray safetensors scikit-learn scipy
sentence-transformers tensorboard timm tokenizers torch-npu torchao torchmetrics
torchtune transformers triton trl unsloth unsloth-zoo vllm wandb xformers xtuner
"""
SINCE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("torch", "torchvision", "torchaudio"), "2021-03"),
    **dict.fromkeys(
        _SINCE_2023.split(),
        "2023-01",
    ),
}
"""Packages, and the month from which on their releases count."""
_STATED: Final[Mapping[str, Callable[[Version], str]]] = {
    "torch-npu": lambda version: f"torch=={version.base_version}"
}
"""What a package's own page says that its metadata do not: Ascend/pytorch, COMPATIBILITY.md."""
_PYTHONS: Final = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
_LINUX: Final = {
    "os_name": "posix",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "implementation_name": "cpython",
    "extra": "",
}
_BUILD: Final = re.compile(r"\+[\w.]+")
"""Which build of a version is asked for (`+cpu`) tells nothing of the version."""
_CHUNK: Final = 1 << 16


class Row(NamedTuple):
    """What a release asks: of Python, and of the packages of the list."""

    python: str
    needs: tuple[str, ...]
    is_withdrawn: bool = False
    """Nobody should install it any more, and yet it may be installed."""


class Release(NamedTuple):
    """A version and the file that its metadata are read from."""

    version: Version
    file: Mapping[str, Any]


class Remote(io.RawIOBase):
    """A file on a server, of which only the parts that are read are fetched."""

    def __init__(self, url: str, size: int) -> None:
        """Stand at its beginning."""
        self._url, self._size, self._at = url, size, 0

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def seekable(self) -> bool:
        """Say that any place of it can be read."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place."""
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def tell(self) -> int:
        """Give the place."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fetch as much as there is room for."""
        end = min(self._at + len(buffer), self._size)
        if end <= self._at:
            return 0
        got = _get(self._url, {"Range": f"bytes={self._at}-{end - 1}"})
        buffer[: len(got)] = got
        self._at += len(got)
        return len(got)


def main() -> None:
    """Write the file anew."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--index", default=INDEX, help="a package index")
    parser.add_argument("--anew", action="store_true", help="ask for what is known as well")
    options = parser.parse_args()
    known = {} if options.anew else read_known(FILE)
    with ThreadPoolExecutor(4) as pool:
        found = dict(
            zip(
                SINCE,
                pool.map(lambda name: rows_of(name, options.index, known.get(name, {})), SINCE),
                strict=True,
            )
        )
    FILE.write_text(written(found), encoding="utf-8")


def read_known(file: Path) -> dict[str, dict[Version, Row]]:
    """Give what a file holds, by package and version."""
    if not file.is_file():
        return {}
    packages = json.loads(file.read_text(encoding="utf-8"))["packages"]
    return {
        name: {
            Version(version): Row(row["python"], tuple(row["needs"]), row.get("withdrawn", False))
            for row in rows
            for version in row["versions"]
        }
        for name, rows in packages.items()
    }


def rows_of(name: str, index: str, known: Mapping[Version, Row]) -> dict[Version, Row]:
    """Give what each release of a package asks, in the order of the versions."""
    releases = sorted(
        (
            release
            for release in _releases(name, index)
            if release.file["upload-time"] >= SINCE[name]
        ),
        key=lambda one: one.version,
    )
    files = {release.version: release.file for release in releases}

    @functools.cache
    def ask(version: Version) -> Row:
        row = known.get(version) or _fetch_row(files[version])
        stated = _STATED.get(name)
        needs = row.needs if stated is None or row.needs else (stated(version),)
        return Row(row.python, needs)

    rows: dict[Version, Row] = {}
    for _, group in itertools.groupby(releases, key=lambda one: one.version.release[:2]):
        rows |= _between([release.version for release in group], ask)
    rows = {
        version: row._replace(is_withdrawn=bool(files[version].get("yanked")))
        for version, row in rows.items()
    }
    print(f"{name}: {len(rows)} versions")
    return rows


def _between(versions: Sequence[Version], ask: Any) -> dict[Version, Row]:
    """Ask for the ends of a run of versions, and for what is between them where these differ."""
    first, last = ask(versions[0]), ask(versions[-1])
    if first == last or len(versions) <= 2:
        return {version: last if version == versions[-1] else first for version in versions}
    middle = len(versions) // 2
    return _between(versions[: middle + 1], ask) | _between(versions[middle:], ask)


def _releases(name: str, index: str) -> Iterator[Release]:
    """Give the final releases of a package, each with its best file."""
    listing = json.loads(
        _get(f"{index}/{name}/", {"Accept": "application/vnd.pypi.simple.v1+json"})
    )
    best: dict[Version, tuple[int, Mapping[str, Any]]] = {}
    for file in listing["files"]:
        version, rank = _ranked(file["filename"])
        if version is None or version.is_prerelease or version.local:
            continue
        if version not in best or rank < best[version][0]:
            best[version] = (rank, file)
    return (Release(version, file) for version, (_, file) in best.items())


def _ranked(filename: str) -> tuple[Version | None, int]:
    """Give the version of a file and how good it is to read: wheels for Linux first."""
    try:
        if filename.endswith(".whl"):
            _, version, _, tags = parse_wheel_filename(filename)
            platforms = {tag.platform for tag in tags}
            if "any" in platforms:
                return version, 0
            return version, 1 if any(
                "linux" in platform and "x86_64" in platform for platform in platforms
            ) else 3
        if filename.endswith(".tar.gz"):
            return parse_sdist_filename(filename)[1], 2
    except ValueError:
        pass
    return None, 9


def _fetch_row(file: Mapping[str, Any]) -> Row:
    """Read what a release asks off the metadata of its file."""
    message = email.parser.Parser().parsestr(_metadata(file))
    needs = sorted(
        {
            text
            for requirement in message.get_all("Requires-Dist", ())
            if (text := _kept(requirement))
        }
    )
    return Row(message.get("Requires-Python", file.get("requires-python") or ""), tuple(needs))


def _metadata(file: Mapping[str, Any]) -> str:
    url = file["url"]
    if file.get("core-metadata"):
        return _get(f"{url}.metadata").decode()
    if url.endswith(".whl"):
        remote = io.BufferedReader(Remote(url, file["size"]), _CHUNK)
        with zipfile.ZipFile(remote) as wheel:
            name = next(
                entry for entry in wheel.namelist() if entry.endswith(".dist-info/METADATA")
            )
            return wheel.read(name).decode()
    with (
        urllib.request.urlopen(url, timeout=120) as answer,  # noqa: S310 -- named by the index
        tarfile.open(fileobj=answer, mode="r|gz") as archive,
    ):
        for member in archive:
            if member.name.count("/") == 1 and member.name.endswith("/PKG-INFO"):
                content = archive.extractfile(member)
                return content.read().decode() if content else ""
    return ""


def _kept(text: str) -> str:
    """Give a requirement as it is kept, or nothing.

    It stays if it asks for a version of a package of the list, for every use on Linux. A marker
    that tells Pythons apart stays with it.
    """
    requirement = Requirement(text)
    name = canonicalize_name(requirement.name)
    if name not in SINCE or not requirement.specifier:
        return ""
    bare = f"{name}{_BUILD.sub('', str(requirement.specifier))}"
    marker = requirement.marker
    if marker is None:
        return bare
    holds = {
        marker.evaluate({**_LINUX, "python_version": python, "python_full_version": f"{python}.1"})
        for python in _PYTHONS
    }
    return f"{bare}; {marker}" if len(holds) == 2 else bare if holds == {True} else ""


def _get(url: str, headers: Mapping[str, str] | None = None) -> bytes:
    request = urllib.request.Request(url, headers=dict(headers or {}))  # noqa: S310 -- as above
    with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310
        content: bytes = answer.read()
    return content


def written(found: Mapping[str, Mapping[Version, Row]]) -> str:
    """Write the file: neighbouring versions that ask the same share a row, each row a line."""
    blocks = []
    for name in sorted(found):
        rows = [
            json.dumps(
                {
                    "versions": [str(version) for version, _ in group],
                    "python": row.python,
                    "needs": list(row.needs),
                    **({"withdrawn": True} if row.is_withdrawn else {}),
                },
                ensure_ascii=False,
            )
            for row, group in itertools.groupby(found[name].items(), key=lambda item: item[1])
        ]
        blocks.append(f'  "{name}": [\n   ' + ",\n   ".join(rows) + "\n  ]")
    today = dt.datetime.now(tz=dt.timezone.utc).date()
    return f'{{"date": "{today}",\n "packages": {{\n' + ",\n".join(blocks) + "\n }}\n"


if __name__ == "__main__":
    main()
