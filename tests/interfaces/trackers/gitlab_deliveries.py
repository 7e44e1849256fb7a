"""Deliveries of GitLab's webhooks, as docs.gitlab.com shows them.

In: what differs from the page. Out: headers in lower case, and a body. Not here: checking them.
"""

import json
from datetime import datetime, timezone
from typing import Any

import standardwebhooks

from tests.interfaces.trackers.gitlab_server import ADA, PROJECT

SIGNING = "whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3Q="
TOKEN = "the-secret-of-the-hook"  # noqa: S105 -- of a stand-in
USER = {**ADA, "avatar_url": "https://www.gravatar.com/avatar/x", "email": "[REDACTED]"}
REPOSITORY = {"name": "training", "url": "git@example.com:ml/team/training.git"}


def delivery(event: str, value: dict[str, Any], **headers: str) -> tuple[dict[str, str], bytes]:
    """Give a delivery with its secret token."""
    named = {
        "content-type": "application/json",
        "user-agent": "GitLab/18.6.0",
        "idempotency-key": "f5e5f430-f57b-4e6e-9fac-d9128cd7232f",
        "x-gitlab-event": event,
        "x-gitlab-event-uuid": "13792a34-cac6-4fda-95a8-c58e00a3954e",
        "x-gitlab-webhook-uuid": "02affd2d-2cba-4033-917d-ec22d5dc4b38",
        "x-gitlab-instance": "https://example.com",
        "x-gitlab-token": TOKEN,
    }
    return {**named, **headers}, json.dumps(value).encode()


def signed(headers: dict[str, str], body: bytes, moment: datetime | None = None) -> dict[str, str]:
    """Add the headers of a delivery that is signed."""
    moment = moment or datetime.now(timezone.utc)
    number = headers["idempotency-key"]
    signature = standardwebhooks.Webhook(SIGNING).sign(number, moment, body.decode())
    stamp = str(int(moment.timestamp()))
    return {
        **headers,
        "webhook-id": number,
        "webhook-timestamp": stamp,
        "webhook-signature": signature,
    }


def project() -> dict[str, Any]:
    """What each delivery says of its project."""
    return {
        "id": 5,
        "name": "training",
        "web_url": f"https://example.com/{PROJECT}",
        "path_with_namespace": PROJECT,
        "default_branch": "main",
        "visibility_level": 20,
    }


def issue(**attributes: Any) -> dict[str, Any]:
    """An issue that was opened."""
    found = {
        "id": 301,
        "iid": 4,
        "title": "It fails",
        "description": "```\nRuntimeError\n```",
        "author_id": 3,
        "created_at": "2013-12-03T17:15:43Z",
        "confidential": False,
        "type": "Issue",
        "state": "opened",
        "action": "open",
        "url": f"https://example.com/{PROJECT}/-/issues/4",
    }
    return {
        "object_kind": "issue",
        "event_type": "issue",
        "user": USER,
        "project": project(),
        "object_attributes": found | attributes,
        "repository": REPOSITORY,
        "labels": [{"id": 206, "title": "API", "type": "ProjectLabel"}],
        "changes": {"updated_by_id": {"previous": None, "current": 1}},
    }


def note(kind: str = "Issue", **more: Any) -> dict[str, Any]:
    """A comment under an issue or a merge request."""
    key = "issue" if kind == "Issue" else "merge_request"
    found = {
        "id": 1241,
        "note": "@postmortem analyze",
        "noteable_type": kind,
        "author_id": 3,
        "created_at": "2015-05-17 17:06:40 UTC",
        "updated_at": "2015-05-17 17:06:40 UTC",
        "project_id": 5,
        "attachment": None,
        "commit_id": "",
        "noteable_id": 92,
        "system": False,
        "action": "create",
        "url": f"https://example.com/{PROJECT}/-/issues/17#note_1241",
    }
    return {
        "object_kind": "note",
        "event_type": "note",
        "user": USER,
        "project_id": 5,
        "project": project(),
        "repository": REPOSITORY,
        "object_attributes": found,
        key: {"id": 92, "iid": 17, "title": "test", "state": "opened", "confidential": False},
    } | more


def job(**more: Any) -> dict[str, Any]:
    """A job that failed."""
    return {
        "object_kind": "build",
        "ref": "larger-batches",
        "sha": "2293ada6b400935a1378653304eaf6221e0fdb8f",
        "build_id": 1977,
        "build_name": "train",
        "build_stage": "test",
        "build_status": "failed",
        "build_failure_reason": "script_failure",
        "build_allow_failure": False,
        "pipeline_id": 2366,
        "project_id": 5,
        "project_name": "ml / team / training",
        "user": USER,
        "commit": {"id": 2366, "status": "running"},
        "project": project(),
    } | more


def pipeline(**attributes: Any) -> dict[str, Any]:
    """A pipeline that failed."""
    found = {
        "id": 2366,
        "iid": 3,
        "ref": "larger-batches",
        "sha": "2293ada6b400935a1378653304eaf6221e0fdb8f",
        "source": "merge_request_event",
        "status": "failed",
        "created_at": "2016-08-12 15:23:28 UTC",
    }
    return {
        "object_kind": "pipeline",
        "object_attributes": found | attributes,
        "merge_request": {"id": 1, "iid": 5, "state": "opened"},
        "user": USER,
        "project": project(),
        "builds": [],
    }
