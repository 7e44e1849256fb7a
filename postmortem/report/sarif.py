"""SARIF 2.1.0, for code-scanning pages, editors and other programs that take results in one form.

In: a `Diagnosis`. Out: strict JSON. Not here: judging. The verdict is one result of kind `fail` (a
healthy run: `pass`; an abstention: `open`), the other candidates are `open`; a cause is a rule with
its explanation and fixes. A result points to the first failure with the real log line, and its
evidence stands as related places. The fingerprint holds cause and signatures, no line numbers: the
same failure in another run has the same one. Source: OASIS Static Analysis Results Interchange
Format 2.1.0, Errata 01.
"""

import hashlib
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import quote

from postmortem.core import names
from postmortem.core.answer import Cause, Evidence
from postmortem.core.diagnosis import Diagnosis
from postmortem.core.log_text import compile_lazily, escape_control_characters, format_one_line
from postmortem.report import parts
from postmortem.report.display import detect_input_type, iter_kept_lines
from postmortem.report.redacted import prepare_redacted
from postmortem.report.redaction.redactor import Redactor
from postmortem.report.wire import convert_to_json_value, dump_json, get_tool_version
from postmortem.report.words import Words
from postmortem.rules.vocabulary import Trait, has_trait

SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
FINGERPRINT: Final = "postmortem/cause/v1"
_PLACEHOLDER: Final = compile_lazily(r"\{(\d+)\}")
_CANDIDATES: Final = 5
_PLACES: Final = 20
_LONGEST: Final = 1000


def render_sarif(diagnosis: Diagnosis, *, redact: bool = True) -> str:
    """Write the report as a SARIF log with one run."""
    shown = prepare_redacted(diagnosis, Redactor() if redact else None)
    return dump_json(convert_to_json_value(_log(shown, Words(shown.language))))


def compute_fingerprint(diagnosis: Diagnosis, cause: str) -> str:
    """Compute what stays the same for the same failure in another run.

    It covers the cause and the signatures that suggest it.
    """
    named = next((candidate for candidate in diagnosis.causes if candidate.id == cause), None)
    parts = (
        sorted({item.id for item in named.evidence if item.weight > 0}) if named is not None else []
    )
    return hashlib.sha256("\n".join([cause, *parts]).encode()).hexdigest()


def _log(diagnosis: Diagnosis, words: Words) -> dict[str, Any]:
    causes = diagnosis.causes[: 1 if detect_input_type(diagnosis) else _CANDIDATES]
    driver = {
        "name": "postmortem",
        "version": get_tool_version(),
        "semanticVersion": _format_semver(get_tool_version()),
        "language": "zh-CN" if words.language == "zh" else "en-US",
        "rules": [_build_rule(cause) for cause in causes],
    }
    exit_status = diagnosis.environment.exit_status
    invocation = {"executionSuccessful": diagnosis.outcome not in names.ALARMING} | (
        {"exitCode": exit_status} if isinstance(exit_status, int) else {}
    )
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "artifacts": [
            {
                "location": {"uri": _format_uri(source.path)},
                "length": source.bytes,
                "mimeType": "text/plain",
            }
            for source in diagnosis.sources
        ],
        "columnKind": "unicodeCodePoints",
        "results": [
            _build_result(diagnosis, cause, index, words) for index, cause in enumerate(causes)
        ],
        "properties": {"outcome": diagnosis.outcome, "knowledgeBase": diagnosis.knowledge_base},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _format_semver(version: str) -> str:
    """Write a Python version as SemVer, which a local part or a development release is not."""
    numbers = (
        [*version.split("+", maxsplit=1)[0].split(".dev", maxsplit=1)[0].split("."), "0", "0"]
    )[:3]
    return ".".join(number if number.isdigit() else "0" for number in numbers)


def _build_rule(cause: Cause) -> dict[str, Any]:
    steps = [
        f"{index}. {escape_control_characters(fix.title)}"
        for index, fix in enumerate(cause.fixes, 1)
    ]
    rule: dict[str, Any] = {
        "id": cause.id,
        "name": "".join(part.capitalize() for part in cause.id.replace("-", ".").split(".")),
        "shortDescription": {"text": format_one_line(cause.title, 300) or cause.id},
        "properties": {"tags": [cause.category]},
    }
    if cause.explanation:
        rule["fullDescription"] = {"text": escape_control_characters(cause.explanation)}
    if steps:
        rule["help"] = {"text": "\n".join(steps)}
    return rule


def _build_result(diagnosis: Diagnosis, cause: Cause, index: int, words: Words) -> dict[str, Any]:
    is_verdict = cause.id == diagnosis.verdict.cause
    kind = ("pass" if has_trait(cause.id, Trait.SOUND) else "fail") if is_verdict else "open"
    message = _format_result_message(diagnosis, cause, index, words)
    return {
        "ruleId": cause.id,
        "ruleIndex": index,
        "kind": kind,
        "level": "error" if kind == "fail" else "none",
        "message": {
            "text": _escape_message(escape_control_characters(message).strip()) or cause.id
        },
        "partialFingerprints": {FINGERPRINT: compute_fingerprint(diagnosis, cause.id)},
        "rank": round(100 * cause.probability, 1),
        "properties": {
            "probability": cause.probability,
            "status": diagnosis.verdict.status if is_verdict else "hypothesis",
        },
        **_build_locations(diagnosis, cause),
    }


def _format_result_message(diagnosis: Diagnosis, cause: Cause, index: int, words: Words) -> str:
    """Say the summary with the verdict, or with the first candidate of an abstention."""
    verdict = diagnosis.verdict
    if cause.id == verdict.cause:
        return verdict.summary
    if index == 0 and verdict.cause is None:
        return f"{parts.format_title(diagnosis, words)}{words('stop')}{verdict.summary}"
    group = words("others" if verdict.cause is not None else "candidates")
    return f"{group}{words('colon')}{cause.title}"


def _build_locations(diagnosis: Diagnosis, cause: Cause) -> dict[str, Any]:
    """Give the place of a result, and its evidence as related places, the strongest first."""
    evidence = [
        item
        for item in sorted(cause.evidence, key=lambda item: -abs(item.weight))
        if item.source is not None and item.line is not None
    ][:_PLACES]
    first, found = diagnosis.first_failure, {}
    if cause.id == diagnosis.verdict.cause and first is not None:
        text = _get_line(diagnosis, first.source, first.line) or first.why
        found["locations"] = [_place(diagnosis, first.source, first.line, first.line, text)]
    elif evidence:
        found["locations"] = [_build_evidence_location(diagnosis, evidence[0])]
    if evidence:
        found["relatedLocations"] = [
            _build_evidence_location(diagnosis, item) | _build_label(number, item)
            for number, item in enumerate(evidence)
        ]
    return found


def _build_label(number: int, item: Evidence) -> dict[str, Any]:
    return {
        "id": number,
        "message": {"text": _escape_message(format_one_line(item.text, _LONGEST)) or item.id},
    }


def _escape_message(text: str) -> str:
    """Part what a viewer would take for a link (3.11.6).

    The braces of what it would take for a placeholder (3.11.5) are doubled.
    """
    return _PLACEHOLDER.sub(r"{{\1}}", text.replace("](", "] ("))


def _build_evidence_location(diagnosis: Diagnosis, item: Evidence) -> dict[str, Any]:
    source, line = item.source or 0, item.line or 1
    return _place(
        diagnosis, source, line, item.end_line or line, _get_line(diagnosis, source, line)
    )


def _place(diagnosis: Diagnosis, source: int, line: int, end: int, text: str) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": max(1, line)} | (
        {"endLine": end} if end > line >= 1 else {}
    )
    if text:
        region["snippet"] = {"text": text}
    return {
        "physicalLocation": {
            "artifactLocation": {
                "uri": _format_uri(diagnosis.sources[source].path),
                "index": source,
            },
            "region": region,
        }
    }


def _get_line(diagnosis: Diagnosis, source: int, line: int) -> str:
    """Give the log's own line, if it was kept."""
    return next(
        (format_one_line(text, _LONGEST) for text in iter_kept_lines(diagnosis, source, line)), ""
    )


def _format_uri(path: str) -> str:
    """Write a path as a URI reference; standard input has a name of its own."""
    if path == "-":
        return "stdin"
    if "://" in path:
        return quote(_encode_path(path), safe=":/?&=%#@+,;~")
    posix = path.replace("\\", "/")
    return ("file://" if PurePosixPath(posix).is_absolute() else "") + quote(
        _encode_path(posix), safe="/~"
    )


def _encode_path(path: str) -> bytes:
    """Give the bytes of a name; Python keeps those that are no UTF-8 as lone surrogates."""
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return path.encode("utf-8", "replace")
