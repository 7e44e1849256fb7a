"""`POST /api/analyze`: logs in, a report out.

In: a request with a log as its body, or several files and fields of a form. Out: a report in the
form and language that is asked for. Not here: the work (`http.request_worker`), how large and how
slow a body may be (`http.request_guard`).

Files are kept in a folder of their own, under numbers; their names are labels and nothing else.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, BinaryIO, Final, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException

from postmortem.core.message import say
from postmortem.fleet.one_job_worker import Received
from postmortem.interfaces.http.api_errors import Refusal, describe_error_responses
from postmortem.interfaces.http.request_guard import get_report_policy, select_language
from postmortem.interfaces.http.request_worker import ReportOptions, handle_analyze_request
from postmortem.interfaces.http.service_settings import ServiceLimits
from postmortem.interfaces.http.service_state import Client, Service
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


router = APIRouter(tags=["reports"])
ShownForm = Literal["terminal", "html", "json", "jsonl", "sarif", "github", "markdown"]
KINDS: Final = {
    "terminal": "text/plain; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "sarif": "application/sarif+json",
    "github": "text/plain; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
}
"""What a report in each form is, as a content type."""


class AnalyzeQuery(BaseModel):
    """How the report is to be."""

    model_config = ConfigDict(extra="forbid")

    format: ShownForm = "json"
    lang: Literal["en", "zh"] | None = Field(
        None, description="Language of the report; else the one that Accept-Language prefers."
    )
    redact: bool = Field(
        True,
        description="Replace secrets, host and user names; false only where the service allows.",
    )
    name: str = Field("log", max_length=200, description="What a log that is the body is called.")


REPORT: Final[dict[str, Any]] = {
    "description": "The report, in the form that is asked for.",
    "content": {
        "application/json": {"schema": {"$ref": "#/components/schemas/Report"}},
        **{
            kind.partition(";")[0]: {"schema": {"type": "string"}}
            for form, kind in KINDS.items()
            if form != "json"
        },
    },
}
"""How a report is described."""
_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "description": "A log (plain, gz, bz2, xz or zst), or a form with files.",
        "content": {
            "text/plain": {"schema": {"type": "string", "minLength": 1}},
            "application/octet-stream": {
                "schema": {"type": "string", "format": "binary", "minLength": 1}
            },
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "log": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                            "description": "Files of one job.",
                        },
                        "env": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                            "description": "Environment dumps.",
                        },
                        "text": {"type": "string", "description": "A log as text."},
                        "env_text": {"type": "string"},
                        "format": {"type": "string"},
                        "lang": {"type": "string"},
                        "redact": {"type": "string"},
                    },
                }
            },
        },
    }
}


@router.post(
    "/api/analyze",
    summary="Name the cause of a failed training run",
    response_class=Response,
    openapi_extra=_BODY,
    responses={
        200: REPORT,
        **describe_error_responses(401, 403, 408, 413, 422, 429, 504),
    },
)
async def analyze_logs(
    request: Request,
    service: Service,
    client: Client,
    query: Annotated[AnalyzeQuery, Query()],
) -> Response:
    """Judge the logs of one job.

    The body is the log itself, or a form: files under `log`, environment dumps under `env`, pasted
    text under `text`; `format`, `lang` and `redact` may be fields of the form as well.
    """
    async with (
        service.place(client),
        open_upload(request, service.settings.limits, query.name) as upload,
    ):
        chosen = _merge_form_fields(query, upload.fields)
        if not chosen.redact and not service.settings.allow_unredacted:
            raise Refusal(
                403,
                say("this service hides names and secrets"),
                "redact",
                say("leave redact out"),
            )
        options = ReportOptions(
            chosen.format, chosen.lang or select_language(request.scope), chosen.redact
        )
        text = await service.run(request, handle_analyze_request, upload.files, options)
    return report_answer(text, chosen.format)


def report_answer(text: str, form: str) -> Response:
    """Send a report."""
    answer = Response(text.encode("utf-8", "replace"), media_type=KINDS[form])
    if form == "html":
        answer.headers["content-security-policy"] = get_report_policy()
    return answer


def _merge_form_fields(query: AnalyzeQuery, fields: Mapping[str, str]) -> AnalyzeQuery:
    """Let the fields of a form outweigh the address.

    Raises:
        Refusal: one is not known, or its value is not.
    """
    if not fields:
        return query
    try:
        return AnalyzeQuery.model_validate({**query.model_dump(), **fields})
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False)[0]
        raise Refusal(
            422,
            say("not valid: {why}", why=fault["msg"]),
            ".".join(map(str, fault["loc"])),
        ) from error
