"""Run work on a store for a request, under the limits that all work has.

In: a request, a function of `http.store_worker`. Out: the text that it gives. Not here: the work.
"""

from collections.abc import Callable
from typing import Any

from fastapi import Request

from postmortem.interfaces.http.service_state import ServiceState
from postmortem.interfaces.http.triage_answers import store_of


async def run_store_work(
    request: Request, service: ServiceState, client: str, work: Callable[..., str], *args: Any
) -> str:
    """Do it in a process of its own.

    Raises:
        Refusal: there is no store, no place, or the work refuses.
    """
    store_of(service)
    async with service.place(client):
        return await service.run(request, work, *args)
