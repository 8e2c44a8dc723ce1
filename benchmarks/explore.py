"""How fast the live page is answered, and whether it stays so: writes docs/explore.md.

`python explore.py` makes the runs it needs; `python explore.py FOLDER` takes that folder as the large run.
50 clients at once come from wrk, which must be installed. Memory is read from /proc.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import http.client
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import quote

from coterie_papers.bench.markdown import table

PAGE = Path(__file__).parents[1] / "docs" / "explore.md"
COMMAND = str(Path(sys.executable).with_name("coterie"))
CLIENTS, SECONDS, WARM = 50, 60, 20
HEADERS = {"X-Coterie": "1", "Content-Type": "application/json"}
TEXT = "How do I read a file line by line and keep the connection to the database open?"


class Server:
    """`coterie explore` on a folder, in a process of its own."""

    def __init__(self, run):
        self.run = quote(run.name)
        begun = time.perf_counter()
        self.process = subprocess.Popen(
            [COMMAND, "explore", "--folder", str(run.parent), "--port", "0", "--no-browser", "--no-token"],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.address = self.process.stdout.readline().split()[0].rstrip("/")
        self.started = time.perf_counter() - begun

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def ask(self, path, method="GET", body=None):
        """The body of an answer, and the seconds it took."""
        begun = time.perf_counter()
        wire = http.client.HTTPConnection(self.address.removeprefix("http://"), timeout=600)
        with contextlib.closing(wire):
            wire.request(method, f"/api{path}", None if body is None else json.dumps(body), HEADERS)
            answer = wire.getresponse()
            content = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:300]!r}")
        return content, time.perf_counter() - begun

    def get(self, path):
        return json.loads(self.ask(path)[0])

    def change(self, what, **body):
        """Seconds from the request to the end of its job."""
        begun = time.perf_counter()
        wanted = {"version": self.get(f"/runs/{self.run}")["version"], **body}
        job = json.loads(self.ask(f"/runs/{self.run}/{what}", "POST", wanted)[0])
        while job["state"] in ("waiting", "running"):
            time.sleep(0.01)
            job = self.get(f"/jobs/{job['id']}")
        if job["state"] != "done":
            raise RuntimeError(f"{what}: {job['error']}")
        return time.perf_counter() - begun

    def ready(self):
        """Wait until texts are counted; seconds since the server began to run."""
        begun = time.perf_counter()
        while not self.get(f"/runs/{self.run}")["ready"]:
            time.sleep(0.05)
        return time.perf_counter() - begun

    def memory(self):
        """Megabytes of the process: what is its own, and with files that are mapped."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = {
            line.split(":")[0]: line.split()[1] for line in status.splitlines() if line.startswith("Rss")
        }
        own, mapped = int(found["RssAnon"]) / 1024, int(found["RssFile"]) / 1024
        return own, own + mapped


def questions(run, topic, word):
    """What a page asks, by name."""
    return {
        "overview": (f"/runs/{run}",),
        "map, 20,000 points": (f"/runs/{run}/map",),
        "texts, first page": (f"/runs/{run}/texts",),
        "texts, sorted by confidence, far down": (f"/runs/{run}/texts?sort=confidence&offset=15000",),
        "topic panel": (f"/runs/{run}/topics/{topic}",),
        "one text": (f"/runs/{run}/texts/1234",),
        "a text that is tried": (f"/runs/{run}/assign", "POST", {"texts": [TEXT]}),
        "search by words": (f"/runs/{run}/texts?q={word}",),
        "search by meaning": (f"/runs/{run}/texts?q={word}&mode=meaning",),
    }


def answers(server, words, repeats):
    """Rows of a table: each question for the first time, and again; a query is never the same twice."""
    run = server.run
    topic = server.get(f"/runs/{run}")["topics"][0]["id"]
    rows, first = [], {}
    for name in questions(run, topic, "x"):
        times = []
        for number in range(repeats + 1):
            times.append(server.ask(*questions(run, topic, words[number % len(words)])[name])[1])
        first[name] = times[0]
        rows.append([name, f"{1000 * times[0]:,.0f}", f"{1000 * statistics.median(times[1:]):,.0f}"])
    return rows


# --- many at once


def mix(server, path):
    """Write down what fifty pages ask: lists and panels most, files and tries now and then."""
    run, overview = server.run, server.get(f"/runs/{server.run}")
    topics = [topic["id"] for topic in overview["topics"]]
    words = [term for topic in overview["topics"] for term in topic["terms"][:4] if term.isalpha()]
    lines = []
    for number, word in enumerate(words):
        topic = topics[number % len(topics)]
        lines += [
            f"GET /api/runs/{run}",
            f"GET /api/runs/{run}/map?limit=5000&topic={topic}",
            f"GET /api/runs/{run}/texts?limit=50&topic={topic}",
            f"GET /api/runs/{run}/texts?q={word}",
            f"GET /api/runs/{run}/texts?q={word}&mode=meaning",
            f"GET /api/runs/{run}/texts?sort=confidence&offset={50 * number}",
            f"GET /api/runs/{run}/topics/{topic}",
            f"GET /api/runs/{run}/texts/{97 * number}",
            f"POST /api/runs/{run}/assign {json.dumps({'texts': [f'{word} and {TEXT}']})}",
            "GET /api/jobs",
            "GET /api/runs",
            "GET /static/main.js",
        ]
    path.write_text("\n".join(lines) + "\n")


def crowd(server, folder, seconds=SECONDS):
    """What wrk says, and megabytes before, after a third of the time and at the end."""
    mix(server, folder / "requests.txt")
    settings = {**os.environ, "COTERIE_REQUESTS": str(folder / "requests.txt")}
    script = Path(__file__).with_name("explore.lua")
    command = ["wrk", "-t2", f"-c{CLIENTS}", "-s", str(script), "--timeout", "30s"]
    subprocess.run([*command, f"-d{WARM}s", server.address], env=settings, capture_output=True, check=True)
    memory = [server.memory()]
    timer = threading.Timer(seconds / 3, lambda: memory.append(server.memory()))
    timer.start()
    out = subprocess.run(
        [*command, f"-d{seconds}s", server.address], env=settings, capture_output=True, text=True, check=True
    )
    timer.join()
    memory.append(server.memory())
    print(out.stdout.splitlines()[-1], memory, file=sys.stderr)
    return json.loads(out.stdout.splitlines()[-1]), memory


# --- the page


def _small_run(folder):
    import polars as pl

    from coterie import datasets

    data = datasets.load("stackoverflow")
    days = [str(dt.date(2020, 1, 1) + dt.timedelta(days=at % 900)) for at in range(len(data))]
    pl.DataFrame({"date": days, "class": data.labels, "text": data.texts}).write_csv(folder / "small.csv")
    return _fit(folder, "small", ["--topics", "20", "--date", "date", "--class-column", "class"])


def _large_run(folder):
    import polars as pl

    from coterie import datasets

    data = datasets.load("reddit")
    pl.DataFrame({"text": data.texts, "class": data.labels}).write_csv(folder / "large.csv")
    return _fit(folder, "large", ["--topics", "100", "--class-column", "class"])


def _fit(folder, name, options):
    (folder / "runs").mkdir(exist_ok=True)
    run = folder / "runs" / name
    subprocess.run(
        [COMMAND, "fit", str(folder / f"{name}.csv"), "--text", "text", "--out", str(run), *options],
        check=True,
        capture_output=True,
    )
    return run


def small(folder):
    """Sections about 20,000 texts."""
    with Server(_small_run(folder)) as server:
        cold = {path: server.ask(f"/runs/small{path}")[1] for path in ("", "/map", "/texts")}
        waited = server.ready()
        words = [term for topic in server.get("/runs/small")["topics"] for term in topic["terms"][:2]]
        rows = answers(server, words, 20)
        load = os.getloadavg()[0]
        found, memory = crowd(server, folder)
        changes = list(_changes(server))
    refit = changes[-1][1]
    first = ", ".join(
        f"{name} {1000 * seconds:,.0f} ms"
        for name, seconds in zip(("overview", "map", "texts"), cold.values(), strict=True)
    )
    return f"""## 20,000 texts

Question titles (stackoverflow, 20 topics). The server answers {server.started:.1f} s after the command was given, and
then, asked for the first time, in this order: {first}. Texts are counted for search by meaning
{waited + sum(cold.values()):.1f} s after the first question.

{table(["milliseconds", "first", "then, median of 20"], rows)}

### {CLIENTS} clients at once for {SECONDS} seconds

A mix of all of the above with other words and topics each time, on {os.cpu_count()} cores which wrk and the server share
(load before: {load:.1f}), after {WARM} seconds of the same that do not count: **{found["requests"] / found["seconds"]:,.0f} requests a second**, median {found["median"]:,.0f} ms, 99 % within
{found["p99"]:,.0f} ms, the slowest {found["most"]:,.0f} ms. **{found["errors"] + found["refused"]} errors** in {found["requests"]:,} requests,
{found["bytes"] / 1e6:,.0f} MB.

{table(["memory of the server, MB", "its own", "with mapped files"], [[when, f"{own:,.0f}", f"{everything:,.0f}"] for when, (own, everything) in zip(("before", f"after {SECONDS // 3} s", f"after {SECONDS} s"), memory, strict=True)])}

### Changes

From the request to the end of its job, the run written to disk.

{table(["", "seconds", "of a refit"], [[name, f"{seconds:.2f}", f"{seconds / refit:.0%}"] for name, seconds in changes])}
"""


def _changes(server):
    run = server.run
    topics = [topic["id"] for topic in server.get(f"/runs/{run}")["topics"]]
    yield "rename", server.change("edits", kind="rename", topics=topics[:1], label="A name")
    yield "merge two topics", server.change("edits", kind="merge", topics=topics[1:3])
    yield "split a topic", server.change("edits", kind="split", topics=topics[:1], parts=2)
    rows = [row["row"] for row in server.get(f"/runs/{run}/texts?topic={topics[4]}&limit=100")["rows"]]
    yield "move 100 texts", server.change("edits", kind="pin", topics=topics[5:6], rows=rows)
    yield "undo that", server.change("undo")
    yield "refit with the edits", server.change("refit")


def large(run):
    """The section about a million texts."""
    with Server(run) as server:
        before = server.memory()
        opening = server.ask(f"/runs/{server.run}")[1]
        others = {path: server.ask(f"/runs/{server.run}{path}")[1] for path in ("/map", "/texts")}
        waited = server.ready()
        overview = server.get(f"/runs/{server.run}")
        words = [term for topic in overview["topics"][:12] for term in topic["terms"][:1]]
        rows = answers(server, words, 8)
        own, everything = server.memory()
    return f"""## {overview["texts"]:,} texts

Titles (reddit, {len(overview["topics"])} topics). The first overview, for which the run is opened and its table unpacked, takes
{opening:.1f} s, the first map after it {1000 * others["/map"]:,.0f} ms, the first page of texts {1000 * others["/texts"]:,.0f} ms. Search by
meaning answers {waited + opening + sum(others.values()):.0f} s after the first question. Memory: {before[0]:,.0f} MB before, {own:,.0f} MB of its
own at the end, {everything:,.0f} MB with the mapped table.

{table(["milliseconds", "first", "then, median of 8"], rows)}
"""


def main(arguments):
    if shutil.which("wrk") is None:
        sys.exit("explore.py needs wrk to be fifty clients at once: install it (apt-get install wrk)")
    head = f"""# How fast the live page responds

Written by `python benchmarks/explore.py`; nothing here is typed by hand. A real server on the loopback address, asked one
request after another unless said otherwise. Read ratios, not seconds: the machine has {os.cpu_count()} cores and is noisy (load average
at the start: {os.getloadavg()[0]:.1f}). Python {platform.python_version()}, {dt.datetime.now(dt.UTC).date()}.
"""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        parts = [
            head,
            small(folder),
            large(Path(arguments[0]).resolve() if arguments else _large_run(folder)),
        ]
        PAGE.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
