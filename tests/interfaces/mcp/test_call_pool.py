"""Whatever a call meets, the processes go on with the next one."""

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest

from postmortem.core.errors import InputError, UsageError
from postmortem.interfaces.mcp.call_worker import CallSettings
from postmortem.interfaces.mcp.server import CallPool
from tests.assistant_work import behave

Answer = TypeVar("Answer")


def run(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Run it in a thread of its own: a browser that is still open keeps a loop running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@pytest.fixture(scope="module")
def pool() -> Iterator[CallPool]:
    """One process."""
    made = CallPool(CallSettings(), workers=1, seconds=60)
    yield made
    made.close()


def test_a_call_is_done(pool: CallPool) -> None:
    """Its answer comes back."""
    assert run(pool.reply(behave, "well")).text == "WELL"


@pytest.mark.parametrize("how", ["exit", "killed"])
def test_a_call_that_crashes_ends_alone(pool: CallPool, how: str) -> None:
    """A crash is a refusal, and the next call is done."""
    with pytest.raises(UsageError, match="ended in the middle"):
        run(pool.reply(behave, how))
    assert run(pool.reply(behave, "well")).text == "WELL"


def test_a_call_without_end_is_ended() -> None:
    """After the time that a call may take."""
    pool = CallPool(CallSettings(), workers=1, seconds=0.1)
    with pytest.raises(UsageError, match="--timeout"):
        run(pool.reply(behave, "for ever"))
    pool.close()


def test_errors_come_back_as_they_are(pool: CallPool) -> None:
    """With their parts; a lack of memory is one of ours."""
    with pytest.raises(InputError) as raised:
        run(pool.reply(behave, "refuse"))
    assert (raised.value.what, raised.value.mend) == ("no log", "name another")
    with pytest.raises(UsageError, match="memory"):
        run(pool.reply(behave, "out of memory"))


def test_a_cancelled_call_makes_room(pool: CallPool) -> None:
    """There is one process: what follows is done only because the call without end is gone."""

    async def cancelled_and_next() -> str:
        call = asyncio.ensure_future(pool.reply(behave, "for ever"))
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert call.cancelled()
        return (await pool.reply(behave, "well")).text

    assert run(cancelled_and_next()) == "WELL"


def test_too_many_calls_are_refused(pool: CallPool) -> None:
    """Some wait for their turn, more are told to come again; then all is as before."""

    async def many() -> list[object]:
        return await asyncio.gather(
            *(pool.reply(behave, f"call {number}") for number in range(6)), return_exceptions=True
        )

    done = run(many())
    refused = [one for one in done if isinstance(one, UsageError)]
    assert [getattr(one, "text", None) for one in done[:4]] == [f"CALL {n}" for n in range(4)]
    assert len(refused) == 2
    assert "wait" in refused[0].mend
    assert run(pool.reply(behave, "well")).text == "WELL"


def test_a_pool_that_broke_is_made_anew() -> None:
    """If the processes themselves are lost for good, others take their place."""
    pool = CallPool(CallSettings(), workers=1, seconds=30)
    assert run(pool.reply(behave, "one")).text == "ONE"
    pool.close()
    assert run(pool.reply(behave, "two")).text == "TWO"
    pool.close()
