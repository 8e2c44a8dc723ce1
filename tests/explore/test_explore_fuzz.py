"""Requests made up from the description of the API: no fault, and nothing that the description does not say."""

import json
import shutil
import warnings
from itertools import count
from urllib.parse import quote, urlencode

import pytest
from explore_runs import client_of, finished, version

from fuzzing import SEED, cases

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of the packages that the fuzzer is made of
    import schemathesis
    from hypothesis import HealthCheck, Phase, assume, given, seed, settings
    from hypothesis import strategies as st
    from hypothesis.errors import Unsatisfiable
    from schemathesis import GenerationMode, checks

pytestmark = pytest.mark.fuzz
CONFORMING = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
FILE = b"text,id\n" + b"late parcel,1\nrefund card,2\n" * 9
BYTES = {"content-type": "application/octet-stream"}


class Fuzzed:
    """A server, and names of what is there, which are put into some of the requests."""

    def __init__(self, client):
        self.client = client
        self.statuses = {}
        self.numbers = count()  # of runs that are fitted
        client.workspace.get("sample").counted.wait()
        self.job = self._edit(kind="rename", topics=[0], label="a name")["id"]
        self.upload = ""

    def _edit(self, **body):
        wanted = {"version": version(self.client, "sample"), **body}
        return finished(self.client, self.client.post("/api/runs/sample/edits", json=wanted))

    def real(self, case):
        """The same request about things that are there."""
        path, body = case.path_parameters or {}, case.body
        if "/uploads/" in case.path:
            answer = self.client.put("/api/uploads?name=a.csv", content=FILE, headers=BYTES)
            self.upload = answer.json()["id"]
        if "run" in path:
            path["run"] = "sample"
        if "id" in path:
            path["id"] = self.upload if "/uploads/" in case.path else self.job if "/jobs/" in case.path else 0
        if "row" in path:
            path["row"] = path["row"] % 300
        for name in {"a", "b"} & set(case.query or {}):
            case.query[name] = "sample"
        if "version" in (body if isinstance(body, dict) else ()):
            body["version"] = version(self.client, "sample")
        if case.path.endswith("/edits"):
            topics = [topic["id"] for topic in self.client.get("/api/runs/sample").json()["topics"]]
            case.body = {
                "version": body["version"],
                "kind": body["kind"],
                **{
                    "rename": {"topics": topics[-1:], "label": body.get("label") or "a name"},
                    "merge": {"topics": topics[:2]},
                    "split": {"topics": topics[:1], "parts": body.get("parts") or 2},
                    "ban": {"terms": ["parcel", *(body.get("terms") or [])]},
                    "pin": {"topics": topics[:1], "texts": body.get("texts") or ["a late parcel"]},
                }[body["kind"]],
            }
        if case.path.endswith("/refit"):
            body["name"] = None  # a name that is free and allowed is rarely guessed
        if case.path.endswith("/assign") and "/uploads/" in case.path:
            case.body = {"run": "sample", "text": "text"}
        if case.path.endswith("/assigned"):
            wanted = {"run": "sample", "text": "text"}
            self.client.post(f"/api/uploads/{case.path_parameters['id']}/assign", json=wanted)
        if case.path.endswith("/fit"):
            body |= {"text": "text", "date": None, "label": None, "language": "english"}
            body["name"] = f"run {next(self.numbers)}"

    def ask(self, case):
        """Send a request and compare the answer with the description."""
        answer = self._send(case)
        told = (case.method, case.path, case.path_parameters, answer.status_code, answer.text[:300])
        self.statuses.setdefault((case.method, case.path), set()).add(answer.status_code)
        assert answer.status_code < 500 or (answer.status_code == 503 and answer.json()["retry"]), told
        if answer.status_code >= 400:
            assert isinstance(answer.json()["error"], str), told
        if answer.status_code == 202:
            self.client.delete(f"/api/jobs/{answer.json()['id']}")
            finished(self.client, answer)
        case.validate_response(answer, checks=CONFORMING)
        return answer

    def _send(self, case):
        path = case.path
        for name, value in (case.path_parameters or {}).items():
            path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
        body = {} if type(case.body).__name__ == "NotSet" else {"content": _written(case.body)}
        given = {"X-Coterie": "", **(case.headers or {})}  # else the client sends its own
        headers = {name: str(value).encode("utf-8") for name, value in given.items()}
        if case.media_type:
            headers["content-type"] = case.media_type
        query = _parameters(case.query)
        assume(len(urlencode(query)) < 60_000)  # no client sends more
        return self.client.request(case.method, path, params=query, headers=headers, **body)


def _written(body):
    return body if isinstance(body, bytes) else json.dumps(body).encode()


def _parameters(query):
    return [
        (name, str(value).lower() if isinstance(value, bool) else str(value))
        for name, given in (query or {}).items()
        for value in (given if isinstance(given, list) else [given])
        if value is not None
    ]


@pytest.fixture(scope="module")
def fuzzed(sample, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzzed") / "runs"
    shutil.copytree(sample, folder)
    with client_of(folder) as client:
        yield Fuzzed(client)


def each_operation(client, check, mode, examples):
    """Check requests for every operation, the same ones for the same seed."""
    schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    for result in schema.get_all_operations():
        operation = result.ok()

        @seed(SEED)
        @given(case=operation.as_strategy(generation_mode=mode), real=st.booleans())
        @settings(
            max_examples=cases(examples), deadline=None, database=None,
            suppress_health_check=list(HealthCheck), phases=[Phase.generate],
        )  # fmt: skip
        def holds(case, real):
            check(case, real)

        try:
            holds()
        except Unsatisfiable:  # nothing can be asked wrongly where nothing can be said
            assert not operation.definition.raw.get("parameters")


def test_the_api_does_what_it_describes(fuzzed, tried):
    def check(case, real):
        tried()
        if real:
            fuzzed.real(case)
        fuzzed.ask(case)

    fuzzed.statuses.clear()
    each_operation(fuzzed.client, check, GenerationMode.POSITIVE, 30)
    # it came further than to the doors
    assert len(fuzzed.statuses) == 28
    shut = [place for place, found in fuzzed.statuses.items() if not found & {200, 201, 202, 204}]
    assert shut == []


def test_what_the_description_forbids_is_refused(fuzzed, tried):
    def check(case, real):
        tried()
        wrong = {place.name for place, part in case.meta.components.items() if part.mode.is_negative}
        if real and "PATH" not in wrong and "run" in (case.path_parameters or {}):
            case.path_parameters["run"] = "sample"
        answer = fuzzed.ask(case)
        case.validate_response(answer, checks=[checks.negative_data_rejection])

    each_operation(fuzzed.client, check, GenerationMode.NEGATIVE, 20)
