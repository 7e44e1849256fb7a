"""The API is as it describes itself: requests made from the description find no gap in it."""

from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.interfaces.http.conftest import PATIENCE, Serve, Served

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)
EXAMPLES = 12
OTHERS = {("/health", "503"), ("/session", "401")}
SETTINGS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def described(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Served:
    """A service over a store that is empty; requests come faster than any client's."""
    store = tmp_path_factory.mktemp("store") / "store.sqlite"
    return serve("--store", str(store), rate={"per_minute": 600_000, "burst": 10_000})


@pytest.fixture(scope="module")
def api(described: Served) -> Any:
    """Its description."""
    return schemathesis.openapi.from_url(f"{described.url}/openapi.json")


def test_every_answer_is_as_it_is_described(api: Any) -> None:
    """No fault of the service, no status and no shape that the description does not name."""
    asked = 0
    for operation in api.get_all_operations():

        @given(case=operation.ok().as_strategy())
        @SETTINGS
        def answered(case: schemathesis.Case) -> None:
            nonlocal asked
            asked += 1
            case.call_and_validate(checks=CHECKS, timeout=PATIENCE)

        answered()
    assert asked > 5 * EXAMPLES


def test_every_route_and_every_refusal_is_described(described: Served) -> None:
    """Each error has the one shape, but for how health is told and what asks for a token again."""
    told = httpx.get(f"{described.url}/openapi.json").json()
    assert {
        "/",
        "/api/analyze",
        "/api/triages",
        "/api/triages/{number}",
        "/api/triages/{number}/groups/{name}",
        "/api/triages/{number}/jobs",
        "/api/triages/{number}/jobs/{job}",
        "/health",
        "/jobs/{job}",
        "/session",
        "/session/end",
        "/triages",
        "/triages/{number}",
        "/triages/{number}/groups/{name}",
        "/triages/{number}/jobs/{job}",
    } == set(told["paths"])
    for path, methods in told["paths"].items():
        for method, operation in methods.items():
            errors = {
                status: answer["content"]["application/json"]["schema"]["$ref"]
                for status, answer in operation["responses"].items()
                if status >= "400" and (path, status) not in OTHERS
            }
            assert set(errors.values()) == {"#/components/schemas/ErrorAnswer"}, (method, path)
            assert {"400", "421", "431", "500"} <= set(errors)
    analyze = told["paths"]["/api/analyze"]["post"]
    assert analyze["security"]
    assert set(analyze["requestBody"]["content"]) == {
        "text/plain",
        "application/octet-stream",
        "multipart/form-data",
    }
