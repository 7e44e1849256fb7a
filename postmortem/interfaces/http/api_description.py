"""The description of the API (OpenAPI), with the schema of the report and of a triage in it.

In: an application. Out: the same, whose description holds them. Not here: the schemas
(`report/*.schema.json`).
"""

import json
from typing import Any, Final

from fastapi import FastAPI

from postmortem.report.wire import read_schema

_WITHIN: Final = "#/$defs/"
_SCHEMA_PREFIX: Final = "#/components/schemas/"
_SCHEMAS: Final = {"Report": "report", "Triage": "triage"}


def add_report_schemas(app: FastAPI) -> None:
    """Put the schemas where the routes refer to them."""
    describe = app.openapi

    def described_with_reports() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = describe()
            schemas = found.setdefault("components", {}).setdefault("schemas", {})
            for name, file in _SCHEMAS.items():
                schemas |= _extract_components(json.loads(read_schema(file)), name)
        return app.openapi_schema or describe()

    app.openapi = described_with_reports  # type: ignore[method-assign]  # as FastAPI's manual does


def _extract_components(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """Give a schema and its definitions as components: `Report`, `Report_cause`."""
    parts = {f"{name}_{key}": part for key, part in schema.pop("$defs", {}).items()}
    for key in ("$schema", "$id"):
        schema.pop(key, None)
    return {key: _rename_references(part, name) for key, part in {name: schema, **parts}.items()}


def _rename_references(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return {
            key: f"{_SCHEMA_PREFIX}{name}_{item.removeprefix(_WITHIN)}"
            if key == "$ref" and isinstance(item, str)
            else _rename_references(item, name)
            for key, item in value.items()
        }
    return [_rename_references(item, name) for item in value] if isinstance(value, list) else value
