"""The API: the numbers of the library, in its shape; and one shape for every error."""

import json
import math
import random
import re
from pathlib import Path

import pytest
from served import HOSTILE, build, visiting

import wayfare as wf
from wayfare.web import Limits
from wayfare.web.answers import Served
from wayfare.web.guard import HEADERS

A, B = "Obama speaks to the media in Illinois", "The president greets the press in Chicago"
QUERY = "interest rates go up again, says the bank"


def asked(client, path, body, status=200):
    answer = client.post(path, json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def refused(answer, status, code):
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert set(answer.json()) == {"error"}
    assert set(error) == {"code", "message", "limit"}
    assert error["code"] == code
    return error


# -- answers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("eta", [None, 0.25, 1.0])
def test_search_gives_what_the_index_gives(client, index, eta):
    told = asked(client, "/api/search", {"query": QUERY, "k": 7, "eta": eta})
    hits = index.search(QUERY, k=7, eta=eta)
    assert (told["exact"], told["tied"]) == (hits.exact, hits.tied)
    assert [hit["id"] for hit in told["hits"]] == hits.ids
    for hit, expected in zip(told["hits"], hits, strict=True):
        assert hit["text"] == expected.text
        assert hit["lower"] <= hit["distance"] <= hit["upper"]
        assert hit["distance"] == pytest.approx(expected.distance, rel=1e-3)
    assert told["work"]["documents"] == len(index)
    assert {word["word"] for word in told["words"]} == {"interest", "rates", "go", "says", "bank"}


def test_search_within_and_where(client, index):
    told = asked(client, "/api/search", {"query": QUERY, "where": {"label": ["space", "health"]}})
    assert len(told["hits"]) == 10
    assert {hit["label"] for hit in told["hits"]} == {"space", "health"}
    told = asked(client, "/api/search", {"query": QUERY, "within": 0.8})
    assert [hit["id"] for hit in told["hits"]] == index.search(QUERY, within=0.8).ids


@pytest.mark.parametrize("metric", ["wfr", "wmd", "hellinger"])
def test_distances_are_those_of_the_library(client, metric):
    told = asked(client, "/api/distance", {"a": A, "b": B, "eta": 0.4, "metric": metric})
    expected = wf.distance(A, B, eta=0.4, metric=metric)
    assert told["value"] == pytest.approx(expected.value, rel=1e-9)
    assert (told["lower"], told["upper"]) == pytest.approx(expected.bounds, rel=1e-9)
    truth = wf.distance(A, B, eta=0.4, metric=metric, tol=1e-9).value
    assert told["lower"] * (1 - 1e-9) <= truth <= told["upper"] * (1 + 1e-9)
    assert told["exact"] is True


def test_an_explanation_adds_up(client, index):
    told = asked(client, "/api/explain", {"a": A, "b": B, "eta": 0.4})
    ledger = told["ledger"]
    total = math.fsum(word["price"] for word in ledger["first"]["words"])
    assert total + ledger["second"]["created"] == pytest.approx(ledger["objective"], abs=1e-12)
    assert told["value"] == pytest.approx(0.4 * math.sqrt(2 * ledger["objective"]))
    assert {bar["name"] for bar in told["drawing"]["left"]} == {
        "obama",
        "speaks",
        "media",
        "illinois",
    }


def test_a_hit_is_explained_by_its_own_distance(client):
    hit = asked(client, "/api/search", {"query": QUERY, "k": 1, "tol": 1e-6})["hits"][0]
    told = asked(client, "/api/explain", {"a": QUERY, "id": hit["id"], "tol": 1e-6})
    assert told["value"] == pytest.approx(hit["distance"], rel=1e-5)


def test_shades_stand_where_the_words_stand(client):
    told = asked(client, "/api/search", {"query": QUERY, "k": 5, "shade": True})
    for hit in told["hits"]:
        assert hit["spans"]
        for span in hit["spans"]:
            assert hit["text"][span["start"] : span["end"]].lower() == span["word"]
            assert 0 < span["carried"] <= 1
    best = max(told["hits"][0]["spans"], key=lambda span: span["carried"])
    assert best["word"] in {"bank", "rate", "interest"}


def test_ids_that_are_integers_may_come_as_strings(tmp_path):
    big = 2**60 + 1  # JavaScript would round it
    with (
        wf.Index.build(tmp_path / "i", ["rain", "snow"], ids=[7, big]) as index,
        visiting(index) as c,
    ):
        for id in (big, str(big)):
            assert asked(c, "/api/explain", {"a": "rain", "id": id})["value"] > 0
        refused(c.post("/api/explain", json={"a": "rain", "id": "9" * 30}), 404, "not_found")


def test_texts_without_words_are_no_error(client):
    told = asked(client, "/api/search", {"query": "\x00\x07 ... 🦜", "k": 2, "shade": True})
    assert told["words"] == []
    told = asked(client, "/api/distance", {"a": "", "b": ""})
    assert (told["value"], told["exact"]) == (0.0, True)
    asked(client, "/api/explain", {"a": "", "b": B})
    assert asked(client, "/api/distance", {"a": "", "b": B, "metric": "wmd"})["value"] is None


def test_what_would_do_harm_comes_back_as_text(client):
    answer = client.post("/api/search", json={"query": "fishing", "k": 10, "shade": True})
    hits = {hit["id"]: hit for hit in answer.json()["hits"]}
    assert hits["script"]["text"] == HOSTILE["script"]
    assert hits["control"]["text"] == HOSTILE["control"]
    assert hits["surrogate"]["text"] == HOSTILE["surrogate"].replace("\ud800", "\ufffd")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_index_describes_itself(client, index):
    told = client.get("/api/index").json()
    assert told["documents"] == len(index)
    assert told["name"] == "news.index"
    assert told["limits"]["k"] == 100


def test_what_others_write_is_served_before_long(tmp_path):
    with build(tmp_path / "i") as writer, wf.Index.open(tmp_path / "i", read_only=True) as index:
        served = Served(index, Limits())
        assert not served.refresh()
        index.search(QUERY)
        assert not served.refresh(), "reading is no writing"
        writer.add(["A heron waits in the reeds"], ids=["heron"])
        assert served.refresh()
        assert "heron" in index
        assert served.info.documents == len(writer)


# -- refusals ---------------------------------------------------------------------------------

TEXT = '{"query": "rain", %s}'
BAD = {
    "no JSON": "query=rain",
    "nothing": "",
    "half": '{"query": "rain"',
    "another type": '["rain"]',
    "no UTF-8": b'{"query": "\xff"}',
    "NaN": TEXT % '"eta": NaN',
    "infinity": TEXT % '"eta": 1e999',
    "minus infinity": TEXT % '"within": -Infinity',
    "a huge integer": TEXT % f'"k": {"9" * 5000}',
    "a huge number": TEXT % f'"eta": {"9" * 5000}',
    "an id beyond 64 bits": '{"a": "rain", "id": 99999999999999999999}',
    "half of a surrogate pair": '{"query": "rain \\ud800"}',
    "such a key": '{"query": "rain", "\\udc00": 1}',
    "a control character": '{"query": "rain \x07"}',
    "a null character": '{"query": "rain \x00"}',
    "an unknown key": TEXT % '"limit": 3',
    "a number as a string": TEXT % '"k": "3"',
    "a boolean as a number": TEXT % '"k": true',
    "zero": TEXT % '"k": 0',
    "a small eta": TEXT % '"eta": 1e-300',
    "no text": '{"query": null}',
    "deep": "[" * 100_000,
    "deep inside": TEXT % f'"where": {{"x": {"[" * 5000}',
    "an unknown facet": TEXT % '"where": {"colour": "red"}',
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_used_is_422(client, name):
    body = BAD[name]
    path = "/api/explain" if '"a":' in str(body) else "/api/search"
    raw = body if isinstance(body, bytes) else body.encode()
    answer = client.post(path, content=raw, headers={"Content-Type": "application/json"})
    error = refused(answer, 422, "invalid")
    assert error["message"]
    assert len(answer.content) < 2000


def test_limits_are_stated_in_the_errors(index):
    words = " ".join(list(_words(index))[:40])
    with visiting(index, request_bytes=2000, words=20, k=5) as client:
        long = client.post("/api/search", json={"query": "x" * 3000})
        assert refused(long, 413, "too_large")["limit"] == 2000
        streamed = client.post(
            "/api/search",
            content=iter([b" " * 1500] * 3),
            headers={"Content-Type": "application/json"},
        )
        refused(streamed, 413, "too_large")
        for path, body in (
            ("/api/search", {"query": words}),
            ("/api/distance", {"a": "rain", "b": words}),
            ("/api/explain", {"a": words, "b": "rain"}),
        ):
            error = refused(client.post(path, json=body), 422, "too_many_words")
            assert error["limit"] == 20
            assert "20" in error["message"]
        assert (
            refused(client.post("/api/search", json={"query": "x", "k": 6}), 422, "too_many")[
                "limit"
            ]
            == 5
        )


def _words(index):
    return dict.fromkeys(word for document in index for word in document.measure.words)


def test_a_request_that_takes_too_long_answers_with_what_is_proven(index):
    rng = random.Random(7)
    words = list(_words(index))
    a, b = (" ".join(rng.sample(words, 420)) for _ in range(2))
    truth = wf.distance(a, b, tol=1e-6).value
    with visiting(index, milliseconds=1) as client:
        for path in ("/api/distance", "/api/explain"):
            told = asked(client, path, {"a": a, "b": b, "eta": 0.5, "tol": 1e-9})
            assert told["exact"] is False
            assert told["lower"] <= truth <= told["upper"]
            assert told["tol"] == 1e-9


def test_a_search_that_takes_too_long_does_not_claim_to_be_exact(index):
    served = Served(index, Limits(milliseconds=1))
    from wayfare.web.gate import Turn
    from wayfare.web.schema import SearchRequest

    late = Turn(0.0)
    told = served.search(SearchRequest(query=QUERY, k=5, tol=1e-9, shade=True), late)
    if not told["exact"]:
        for hit in told["hits"]:
            truth = wf.distance(QUERY, hit["text"], tol=1e-6).value
            assert hit["lower"] <= truth * (1 + 1e-6)
            assert truth <= hit["upper"] * (1 + 1e-6)
    assert all(hit["spans"] is None for hit in told["hits"]), "no time is left for shades"


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "not_found"),
        ("GET", "/static/../app.py", 404, "not_found"),
        ("GET", "/static/%2e%2e/app.py", 404, "not_found"),
        ("GET", "/api/search", 405, "method"),
        ("DELETE", "/", 405, "method"),
    ],
)
def test_paths_that_are_not_there(client, method, path, status, code):
    refused(client.request(method, path), status, code)


def test_other_types_than_json_are_refused(client):
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = client.post(
            "/api/search", content=b'{"query": "x"}', headers={"Content-Type": kind}
        )
        refused(answer, 415, "content_type")


def test_a_fault_is_told_without_its_details(index, monkeypatch, caplog):
    def broken(*_):
        raise ZeroDivisionError("a secret")

    with visiting(index) as client:
        monkeypatch.setattr(type(index), "encode", broken)
        answer = client.post("/api/search", json={"query": "rain"})
    refused(answer, 500, "fault")
    assert "secret" not in answer.text
    assert "ZeroDivisionError: a secret" in caplog.text


def test_an_index_that_fails_is_503(index, monkeypatch):
    def gone(*_):
        raise wf.errors.IndexFailure("/home/someone/news.index: closed")

    with visiting(index) as client:
        monkeypatch.setattr(type(index), "encode", gone)
        answer = client.post("/api/search", json={"query": "rain"})
    refused(answer, 503, "index")
    assert "someone" not in answer.text


# -- who may ask ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/api/index", "/nothing", "/openapi.json"])
def test_every_answer_carries_the_headers(client, path):
    answer = client.get(path)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert "unsafe" not in answer.headers["Content-Security-Policy"]


def test_names_that_were_not_expected_are_refused(index):
    with visiting(index, hosts=["news.example"]) as client:
        for host in ("localhost", "LOCALHOST:80", "127.0.0.1:99", "[::1]", "news.example:8765"):
            assert client.get("/healthz", headers={"Host": host}).status_code == 200
        for host in (
            "evil.example",
            "localhost.evil.example",
            "",
            "a b",
            "127.0.0.1.evil.example",
            "[::1",
        ):
            refused(client.get("/healthz", headers={"Host": host}), 400, "host")


def test_a_token_is_asked_for_and_compared(index):
    token = "correct horse battery"
    with visiting(index, token=token) as client:
        assert client.get("/").status_code == 200
        assert client.get("/healthz").status_code == 200
        for path in ("/api/index", "/metrics"):
            answer = client.get(path)
            refused(answer, 401, "token")
            assert answer.headers["www-authenticate"].startswith("Bearer")
            for wrong in (
                "Bearer",
                "Bearer wrong",
                f"Basic {token}",
                f"Bearer {token}x",
                "Bearer \xff",
            ):
                given = {"Authorization": wrong.encode("latin-1")}
                refused(client.get(path, headers=given), 401, "token")
            assert client.get(path, headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_files_are_sent_once(client):
    first = client.get("/static/app.js")
    assert first.headers["content-type"].startswith("text/javascript")
    again = client.get("/static/app.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_page_names_no_other_place(client):
    for path in (Path(wf.__file__).parent / "web" / "static").iterdir():
        page = path.read_text(encoding="utf-8")
        assert client.get(f"/static/{path.name}").text == page
        outside = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+", page)) - {"http://www.w3.org"}
        assert not outside, path.name
        assert not re.search(r"<script>|\son\w+=|style=|javascript:|innerHTML", page), path.name


# -- numbers ----------------------------------------------------------------------------------


def test_metrics_are_in_the_format_of_prometheus(index):
    with visiting(index) as client:
        client.post("/api/search", json={"query": "rain", "k": 1})
        client.post("/api/search", json={"query": "rain", "k": 0})
        client.get('/"}%0A evil')
        text = client.get("/metrics").text
    line = re.compile(r'(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"\\\n]*",?)+\})? [0-9.e+-]+)')
    assert all(line.fullmatch(one) for one in text.splitlines())
    assert 'wayfare_requests_total{path="/api/search",method="POST",status="200"} 1' in text
    assert 'wayfare_requests_total{path="other",method="GET",status="404"} 1' in text
    assert 'wayfare_refusals_total{code="invalid"} 1' in text
    assert 'wayfare_answers_total{exact="true"} 1' in text
    assert f"wayfare_index_documents {len(index)}" in text
    assert 'wayfare_request_seconds_count{path="/api/search"} 2' in text


def test_openapi_describes_the_requests(client):
    told = client.get("/openapi.json").json()
    assert set(told["paths"]) == {
        "/api/search",
        "/api/distance",
        "/api/explain",
        "/api/index",
        "/healthz",
        "/metrics",
    }
    body = told["paths"]["/api/search"]["post"]["requestBody"]
    assert body["content"]["application/json"]["schema"]["required"] == ["query"]
    assert {"413", "422", "429", "503"} <= set(told["paths"]["/api/search"]["post"]["responses"])
    assert "$defs" not in json.dumps(told)


def test_every_field_says_what_it_is(client):
    schemas = client.get("/openapi.json").json()["components"]["schemas"]

    def says(field):
        return field.get("description") or any(says(one) for one in field.get("anyOf", []))

    silent = [
        f"{name}.{key}"
        for name, schema in schemas.items()
        for key, field in schema.get("properties", {}).items()
        if not says(field)
    ]
    assert not silent
