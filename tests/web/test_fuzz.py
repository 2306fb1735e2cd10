"""The API under requests made of its own description: never a 5xx, always a known shape."""

import pytest

pytest.importorskip("schemathesis", reason="schemathesis is not installed")

import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from served import visiting

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def described(index):
    import ot  # noqa: F401  (which takes seconds where PyTorch is installed)

    # Small limits, so that the fuzz meets them.
    with visiting(index, request_bytes=4000, words=30, k=20, milliseconds=2000) as client:
        yield schemathesis.openapi.from_asgi(
            "/openapi.json", client.app, headers={"Host": "localhost"}
        )


def operations(schema):
    return {found.ok().label: found.ok() for found in schema.get_all_operations()}


@pytest.mark.parametrize(
    "label",
    [
        "POST /api/search",
        "POST /api/distance",
        "POST /api/explain",
        "GET /api/index",
        "GET /healthz",
        "GET /metrics",
    ],
)
def test_no_request_breaks_the_server(described, label):
    # What breaks the description is sent too: the server must refuse it, not fall over it.
    modes = list(schemathesis.GenerationMode)
    strategies = [operations(described)[label].as_strategy(generation_mode=mode) for mode in modes]
    seen = set()

    @settings(
        max_examples=50 if label.startswith("POST") else 5,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.one_of(strategies))
    def fuzz(case):
        answer = case.call(headers={"Host": "localhost", **dict(case.headers or {})})
        seen.add(answer.status_code)
        case.validate_response(answer, checks=CHECKS)

    fuzz()
    if label.startswith("POST"):
        assert 422 in seen
        assert 200 in seen


def test_every_path_is_fuzzed(described):
    assert set(operations(described)) == {
        mark for mark in test_no_request_breaks_the_server.pytestmark[0].args[1]
    }
