"""`POST /api/analyze`: logs in, a report out.

In: the body of a request. Out: a report in the form and language that is asked for. Not here: the
work (`http.request_worker`), what a request brings (`http.uploads`).
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from postmortem.core.message import say
from postmortem.interfaces.http.api_errors import Refusal, describe_error_responses
from postmortem.interfaces.http.authentication import Client, Service
from postmortem.interfaces.http.page_policies import get_report_policy
from postmortem.interfaces.http.request_guard import select_language
from postmortem.interfaces.http.request_worker import ReportOptions, handle_analyze_request
from postmortem.interfaces.http.uploads import open_upload

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
