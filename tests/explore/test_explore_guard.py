"""Who is answered: names, sites, tokens, sizes; and what every answer carries."""

import base64
import hashlib
import json
import re

import pytest
from explore_runs import client_of

from coterie.explore.guard import POLICY, is_loopback, served_names

ALLOWED = ["127.0.0.1", "127.0.0.1:8765", "localhost:1", "LOCALHOST", "[::1]", "[::1]:80"]
FOREIGN = [
    "evil.example",
    "evil.example:8765",
    "127.0.0.1.evil.example",
    "localhost.",
    "localhost@evil.example",
    "127.0.0.1:8765:1",
    "127.0.0.2",
    "2130706433",
    "[::2]",
    "",
    "127.0.0.1 evil",
    "127.0.0.1:port",
]


@pytest.mark.parametrize("host", ALLOWED)
def test_names_of_this_machine_are_served(reader, host):
    assert reader.get("/api/about", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", FOREIGN)
def test_other_names_are_not(reader, host):
    answer = reader.get("/api/about", headers={"host": host})
    assert answer.status_code == 421
    assert "does not serve" in answer.json()["error"]


def test_the_given_name_is_served_and_all_addresses_where_all_are_listened_on(folder):
    with client_of(folder, host="192.168.0.7") as client:
        assert client.get("/api/about", headers={"host": "192.168.0.7:80"}).status_code == 200
        assert client.get("/api/about", headers={"host": "192.168.0.8"}).status_code == 421
    with client_of(folder, host="0.0.0.0") as client:
        assert client.get("/api/about", headers={"host": "10.1.2.3:8765"}).status_code == 200
        assert client.get("/api/about", headers={"host": "evil.example"}).status_code == 421


def test_two_hosts_are_no_host(reader):
    request = reader.build_request("GET", "/api/about")
    request.headers = type(request.headers)([("host", "127.0.0.1"), ("host", "evil.example")])
    assert reader.send(request).status_code == 421


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://127.0.0.1:8765"}, 200),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}, 200),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}, 403),
        (
            {
                "origin": "http://evil.example",
                "sec-fetch-site": "cross-site",
                "sec-fetch-mode": "navigate",
                "sec-fetch-dest": "document",
            },
            403,
        ),
    ],
)
def test_other_sites_may_link_here_and_nothing_else(reader, headers, status):
    assert reader.get("/api/about", headers=headers).status_code == status


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_changes_need_the_header(reader, method):
    assert reader.request(method, "/api/jobs/x", headers={"x-coterie": ""}).status_code == 403
    assert reader.request(method, "/api/jobs/x").status_code in (404, 405)


def test_a_navigation_of_another_site_changes_nothing(reader):
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert reader.post("/api/runs/run/undo", json={}, headers=headers).status_code == 403


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/static/main.js", "/static/dom.js", "/api/about", "/api/none", "/openapi.json"]
)
def test_headers_are_on_every_answer(reader, path):
    headers = reader.get(path).headers
    assert headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == ("no-store" if path.startswith("/api") else "no-cache")


@pytest.mark.parametrize(
    "name", ["main.js", "dom.js", "palette.css"]
)  # the latter two are the report's as well
def test_files_of_the_page_are_asked_for_again_only_if_they_changed(reader, name):
    first = reader.get(f"/static/{name}")
    assert first.status_code == 200
    again = reader.get(f"/static/{name}", headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static/..%2fserver.py",
        "/static/%00",
        "/static",
        "/static/..%2fpage.py",
        "/static/..%2ftemplates/page.js",
        "/static/page.py",
        "/static/sections.js",
    ],
)
def test_nothing_but_files_of_the_page(reader, path):
    answer = reader.get(path)
    assert answer.status_code == 404
    assert set(answer.json()) == {"error"}


@pytest.mark.slow
def test_bodies_have_limits(folder):
    with client_of(folder, upload_bytes=1000) as client:
        big = client.post(
            "/api/runs/run/undo", content=b" " * 8_000_001, headers={"content-type": "application/json"}
        )
        assert big.status_code == 413
        kind = {"content-type": "application/octet-stream"}
        assert client.put("/api/uploads?name=a.csv", content=b"a" * 1001, headers=kind).status_code == 413
        # without a length: counted as it comes
        pieces = (b"text\nwords\n" * 10 for _ in range(20))
        answer = client.put("/api/uploads?name=a.csv", content=pieces, headers=kind)
        assert answer.status_code == 413
        assert "1,000 bytes" in answer.json()["error"]
        assert (
            client.put("/api/uploads?name=a.csv", content=b"text\na word\n", headers=kind).status_code == 201
        )


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a", ""]
)
def test_forms_are_not_read(reader, kind):
    answer = reader.post("/api/runs/run/undo", content=b'{"version": "x"}', headers={"content-type": kind})
    assert answer.status_code == 415


def test_a_token_opens_the_door_once_and_becomes_a_cookie(folder):
    token = "a-long-token"
    with client_of(folder, token=token) as client:
        assert client.get("/api/about").status_code == 401
        assert "error" in client.get("/api/about").json()
        page = client.get("/", headers={"accept": "text/html"})
        assert page.status_code == 401
        assert page.headers["content-type"].startswith("text/html")
        assert client.get("/?token=wrong", follow_redirects=False).status_code == 401
        assert client.post(f"/api/runs/run/undo?token={token}", json={}).status_code == 401
        answer = client.get(f"/?run=a%26b&token={token}&topic=3", follow_redirects=False)
        assert answer.status_code == 303
        assert answer.headers["location"] == "/?run=a%26b&topic=3"
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert client.get("/api/about").status_code == 200


def test_the_redirect_stays_here(folder):
    with client_of(folder, token="a-long-token") as client:
        request = client.build_request("GET", "http://127.0.0.1:8765//evil.example/?token=a-long-token")
        answer = client.send(request, follow_redirects=False)
        assert answer.headers["location"].startswith("/evil.example")


def test_a_damaged_cookie_is_no_token(folder):
    with client_of(folder, token="a-long-token") as client:
        for cookie in (
            "coterie-8765",
            "coterie-8765=wrong",
            'coterie-8765="',
            "a=b; \x01=c",
            "coterie-8765=é",
        ):
            answer = client.get("/api/about", headers={"cookie": cookie.encode("latin-1")})
            assert answer.status_code == 401


def test_loopback():
    assert [is_loopback(h) for h in ("127.0.0.1", "localhost", "::1", "[::1]", "127.1.2.3")] == [True] * 5
    assert [is_loopback(h) for h in ("0.0.0.0", "::", "192.168.0.7", "example.org")] == [False] * 4
    assert served_names("::1") == ["127.0.0.1", "localhost", "[::1]"]


def test_a_report_may_run_its_own_script_and_no_other(reader):
    answer = reader.get("/api/runs/run/report")
    policy = answer.headers["content-security-policy"]
    assert "sandbox allow-scripts" in policy
    assert "unsafe" not in policy
    assert "allow-same-origin" not in policy
    assert policy.count("sha256-") == 2
    assert "cross-origin-opener-policy" not in answer.headers
    for digest in policy.split("'"):
        if digest.startswith("sha256-"):
            assert digest in answer.text.split("</head>")[0]


def test_a_script_of_somebody_else_does_not_run_in_a_report(client, folder):
    script = "document.title = 'mine'"
    digest = "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    ours = (folder / "run" / "report.html").read_text("utf-8")
    allowed = client.get("/api/runs/run/report").headers["content-security-policy"]
    page = re.sub("script-src '[^']*'", f"script-src '{digest}'", ours).replace(
        "<body>", f"<body><script>{script}</script>"
    )
    assert digest in page
    (folder / "run" / "report.html").write_text(page, "utf-8")
    info = json.loads((folder / "run" / "run.json").read_text())
    whole = page.encode()
    info["files"]["report.html"] = {"bytes": len(whole), "sha256": hashlib.sha256(whole).hexdigest()}
    (folder / "run" / "run.json").write_text(json.dumps(info))
    answer = client.get("/api/runs/run/report")
    assert script in answer.text
    assert answer.headers["content-security-policy"] == allowed
    assert digest not in allowed
