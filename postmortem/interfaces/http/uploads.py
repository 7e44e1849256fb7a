"""Read the upload of a request: a log as its body, or several files and fields of a form.

In: a request. Out: files in a folder of its own, under numbers; their names are labels and nothing
else. Not here: how large and how slow a body may be (`http.request_guard`).
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException

from postmortem.core.message import say
from postmortem.interfaces.http.api_errors import Refusal
from postmortem.interfaces.http.request_worker import Received
from postmortem.interfaces.http.service_settings import ServiceLimits
from postmortem.reading.bundles import make_plain_path

_FIELDS: Final = 32
_MIB: Final = 2**20
_ENVIRONMENT: Final = frozenset({"env", "env_text"})
"""Names of parts of a form that are environment dumps; any other file is a log."""
_TEXTS: Final = {"text": "pasted.log", "env_text": "environment.txt"}
"""Fields whose value is a file, and what it is called."""


@dataclass(frozen=True, slots=True)
class Upload:
    """What was received."""

    files: tuple[Received, ...]
    fields: Mapping[str, str]
    """Of a form, what is no file."""


@asynccontextmanager
async def open_upload(request: Request, limits: ServiceLimits, name: str) -> AsyncIterator[Upload]:
    """Take what a request brings, and keep it as long as it is worked on.

    Args:
        request: its body has not been read.
        limits: how many files there may be.
        name: of a log that is the body itself.

    Raises:
        Refusal: there is nothing in it, there are too many files, or it is no form.
    """
    with TemporaryDirectory(prefix="postmortem-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        is_form = request.headers.get("content-type", "").lower().startswith("multipart/form-data")
        upload = (
            await _read_form(request, folder, limits)
            if is_form
            else await _read_body(request, folder, make_plain_path(name))
        )
        if not any(not file.is_environment for file in upload.files):
            raise Refusal(
                422,
                say("there is no log in the request"),
                "body",
                say("send the text of a log, or files"),
            )
        yield upload


async def _read_body(request: Request, folder: Path, name: str) -> Upload:
    path, size = folder / "0", 0
    with path.open("wb") as file:
        async for piece in request.stream():
            size += len(piece)
            await asyncio.to_thread(file.write, piece)
    return Upload((Received(name, str(path)),) if size else (), {})


async def _read_form(request: Request, folder: Path, limits: ServiceLimits) -> Upload:
    try:
        form = await request.form(
            max_files=limits.files,
            max_fields=_FIELDS,
            max_part_size=int(limits.body_mib * _MIB),
        )
    except HTTPException as error:  # as Starlette tells what is wrong with a form
        raise _build_form_refusal(error.detail, limits) from error
    try:
        return await _save_form_files(form, folder)
    finally:
        await form.close()


async def _save_form_files(form: FormData, folder: Path) -> Upload:
    """Write the files of a form, and the texts that stand for files."""
    files: list[Received] = []
    fields: dict[str, str] = {}
    for part, value in form.multi_items():
        path, name = folder / str(len(files)), _TEXTS.get(part)
        if isinstance(value, UploadFile):
            if not value.filename and not value.size:  # a field of a page that was left empty
                continue
            await asyncio.to_thread(_copy, value.file, path)
            name = make_plain_path(value.filename or "")
        elif name is None:
            fields[part] = value
            continue
        elif value.strip():
            await asyncio.to_thread(path.write_bytes, value.encode("utf-8", "replace"))
        else:
            continue
        files.append(Received(name, str(path), part in _ENVIRONMENT))
    return Upload(tuple(files), fields)


def _copy(source: BinaryIO, path: Path) -> None:
    with path.open("wb") as target:
        shutil.copyfileobj(source, target)


def _build_form_refusal(why: str, limits: ServiceLimits) -> Refusal:
    if why.startswith("Too many files"):
        return Refusal(
            413,
            say("more than {most} files", most=limits.files),
            "limits.files",
            say("pack them, or send fewer"),
        )
    return Refusal(400, say("the form cannot be read: {why}", why=why), "body")
