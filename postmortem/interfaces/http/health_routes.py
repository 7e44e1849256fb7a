"""The health check of the service.

In: nothing. Out: a few words and figures. Not here: anything about its users.
"""

import asyncio
from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from postmortem.core.errors import PostmortemError
from postmortem.interfaces.http.service_state import Service
from postmortem.report.wire import get_tool_version

router = APIRouter(tags=["service"])


class Health(BaseModel):
    """How the service is."""

    status: Literal["ok", "failing"]
    version: str
    pool: Literal["ok", "lost"] = Field(description="The processes that judge.")
    store: Literal["ok", "unreachable", "none"] = Field(description="What `--store` names.")
    under_way: int = Field(description="Requests that are worked on or wait.")
    places: int = Field(description="Requests that may be worked on or wait.")


@router.get(
    "/health",
    summary="Whether the service is well",
    responses={503: {"model": Health, "description": "The pool or the store is lost."}},
)
async def health(service: Service, response: Response) -> Health:
    """Look at the processes and at the store."""
    store = await asyncio.to_thread(_store, service)
    pool: Literal["ok", "lost"] = "ok" if service.pool.is_alive else "lost"
    is_well = pool == "ok" and store != "unreachable"
    response.status_code = 200 if is_well else 503
    return Health(
        status="ok" if is_well else "failing",
        version=get_tool_version(),
        pool=pool,
        store=store,
        under_way=service.places.taken,
        places=service.places.most,
    )


def _store(service: Service) -> Literal["ok", "unreachable", "none"]:
    if service.store is None:
        return "none"
    try:
        service.store.triages.get_row(0)
    except PostmortemError:
        return "unreachable"
    return "ok"
