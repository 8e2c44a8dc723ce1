"""A server of its own, hostile texts, and how the live page is looked at."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import urllib.parse
import urllib.request

import numpy as np
import polars as pl

#: What Chromium itself says about WebGL without a graphics card when a picture of the page is taken; nothing else may
#: be said.
ALLOWED = re.compile(
    r"\[\.WebGL-0x[0-9a-f]+\]GL Driver Message \(OpenGL, Performance, GL_CLOSE_PATH_NV, High\): "
    r"GPU stall due to ReadPixels( \(this message will no longer repeat\))?"
)

#: Texts that would do something if they were not only text. `hacked` tells whether one did.
HOSTILE = [
    "<script>window.hacked=1</script> parcel late depot",
    "</script><script>window.hacked=2</script> parcel late courier",
    "<img src=x onerror='window.hacked=3'> refund card invoice",
    '"><svg onload=window.hacked=4> card refund payment',
    "[x](javascript:window.hacked=5) javascript:window.hacked=5 card refund",
    "\u202eparcel\u202c depot late \u2066courier",
    "W" * 100_000 + " parcel late depot",
    "🧙‍♀️ 👍 parcel 🎉 late depot",
    "{{constructor.constructor('window.hacked=6')()}} refund card invoice",
    "${window.hacked=7} `${window.hacked=7}` refund card payment",
    "&lt;b&gt; &amp; &#60;img src=x onerror=window.hacked=8&#62; card refund",
    "<!-- card --> refund ]]> <iframe srcdoc='<script>parent.hacked=9</script>'></iframe> payment",
]
LABEL = "</script><img src=x onerror='window.hacked=10'>\u202e & {{7*7}}"
CLASSES = ["<u onclick=window.hacked=11>a</u>", "</option><img src=x onerror='window.hacked=12'>"]
FILE = "<img src=x onerror=window.hacked=13> & ${1}.csv"
BAD_RUN = "&lt;img& ${run} {{7}} 'x'"  # the name of a folder; < and > are refused in it
COLUMN = "<b onmouseover=window.hacked=14>words"


class Served:
    """`coterie explore` as people run it, in a process of its own."""

    token = "of-the-tests"

    def __init__(self, folder, port=0, options=()):
        self.folder, self.port, self.options = folder, port, options
        self.start()

    def start(self):
        """Start it, on the same port as before."""
        command = [sys.executable, "-m", "coterie", "explore", "--folder", str(self.folder)]
        self.process = subprocess.Popen(
            [*command, "--no-browser", "--port", str(self.port), "--token", self.token, *self.options],
            stdout=subprocess.PIPE, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip
        said = re.match(r"(http://127\.0\.0\.1:\d+)/", self.process.stdout.readline())
        if said is None:
            self.stop()
            raise RuntimeError("coterie explore did not start")
        self.origin = said[1]
        self.port = int(self.origin.rpartition(":")[2])
        self.cookie = f"coterie-{self.port}"

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def api(self, path, **query):
        """What the API answers, as the page would ask."""
        address = f"{self.origin}/api{path}?{urllib.parse.urlencode(query, doseq=True)}"
        request = urllib.request.Request(address, headers={"Cookie": f"{self.cookie}={self.token}"})
        with urllib.request.urlopen(request) as answer:
            body = answer.read()
            return json.loads(body) if answer.headers["content-type"] == "application/json" else body

    def texts(self, run, **query):
        """Texts of a run by the API."""
        return self.api(f"/runs/{urllib.parse.quote(run)}/texts", **query)

    def points(self, run, **query):
        """Points of the map: x, y and row."""
        body = self.api(f"/runs/{urllib.parse.quote(run)}/map", **query)
        n = int(np.frombuffer(body, "<u4", 1)[0])
        columns = np.frombuffer(body, "<u4", 3 * n, 16).reshape(3, n)
        return columns[0].view("<f4"), columns[1].view("<f4"), columns[2]


def until(page, expression, arg=None):
    """Wait until an expression is true; what it asks of an element that is not there yet is not true yet.

    As a function, for the policy of the page allows no other code.
    """
    page.wait_for_function(
        f"(arg) => {{ try {{ return {expression}; }} catch (error) {{ if (error instanceof TypeError) return false; throw error; }} }}",
        arg=arg,
    )


def drawn(page):
    """Wait until what the page has to draw now is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def settled(page):
    """Wait until everything that was asked for is drawn."""
    page.wait_for_function(
        """() => {
          const by = (id) => document.getElementById(id), map = by("map");
          return !by("explore").hasAttribute("aria-busy") && !by("texts-list").hasAttribute("aria-busy")
            && !document.querySelector(".skeleton") && map.querySelector("canvas")
            && !map.classList.contains("waiting") && !map.classList.contains("nothing")
            && !map.querySelector("[aria-busy]");
        }"""
    )
    drawn(page)
    return page


def rows(page):
    """Lines of the table as [row of the file, words of each cell …]."""
    return page.eval_on_selector_all(
        "#texts-list tbody tr",
        "all => all.map(line => [Number(line.dataset.row), ...[...line.cells].map(cell => cell.textContent)])",
    )


def numbers(page):
    """Rows of the file that the table shows, in order."""
    return [line[0] for line in rows(page)]


def wait_total(page, words):
    """Wait until the line above the table says so."""
    until(page, "document.getElementById('texts-total').textContent === arg", words)
    settled(page)


def picture(page, selector="#map [role=application]"):
    """Pixels of an element as an array of height × width × 3; the page itself reads the PNG."""
    png = base64.b64encode(page.locator(selector).screenshot()).decode()
    width, height, pixels = page.evaluate(
        """async (png) => {
          const bytes = Uint8Array.from(atob(png), (sign) => sign.charCodeAt(0));
          const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
          const brush = new OffscreenCanvas(image.width, image.height).getContext("2d");
          brush.drawImage(image, 0, 0);
          const data = brush.getImageData(0, 0, image.width, image.height).data;
          let text = "";
          for (let at = 0; at < data.length; at += 8192) text += String.fromCharCode(...data.subarray(at, at + 8192));
          return [image.width, image.height, btoa(text)];
        }""",
        png,
    )
    return np.frombuffer(base64.b64decode(pixels), np.uint8).reshape(height, width, 4)[..., :3]


def like(pixels, colour, paper=(255, 255, 255)):
    """Where pixels have a colour, laid over the paper as strongly as points are (0.57 to 1)."""
    packed = pixels.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    shades, places = np.unique(packed, return_inverse=True)
    shades = np.stack([shades >> 16, shades >> 8 & 255, shades & 255], -1)[:, None]
    wanted = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)])
    alphas = np.linspace(0.55, 1, 10)[:, None]
    near = np.abs(shades - alphas * wanted - (1 - alphas) * np.array(paper)).max(-1).min(-1) < 9
    return near[places].reshape(packed.shape)


def place_of(page, colour):
    """A place on the screen where a point of this colour is, away from names: x and y."""
    found = like(picture(page), colour)
    box = page.locator("#map [role=application]").bounding_box()
    over = ".map-name, .map-tools, .map-small:not([hidden]), .map-said:not(:empty)"
    for taken in page.eval_on_selector_all(
        over, "all => all.map((one) => one.getBoundingClientRect().toJSON())"
    ):
        left, top = int(taken["x"] - box["x"]) - 6, int(taken["y"] - box["y"]) - 6
        found[
            max(top, 0) : top + int(taken["height"]) + 12, max(left, 0) : left + int(taken["width"]) + 12
        ] = False
    # the middle of a point has its colour all around
    inner = found[1:-1, 1:-1] & found[:-2, 1:-1] & found[2:, 1:-1] & found[1:-1, :-2] & found[1:-1, 2:]
    down, right = np.argwhere(inner)[len(np.argwhere(inner)) // 2] + 1
    return box["x"] + right + 0.5, box["y"] + down + 0.5


def log_of(page):
    """Sentences of the edit log, as its dialog shows them."""
    page.locator("#actions [data-do=edit]").click()
    dialog = page.get_by_role("dialog")
    dialog.wait_for()
    said = dialog.locator(".log li").all_inner_texts()
    dialog.get_by_role("button", name="close").click()
    dialog.wait_for(state="detached")
    return said


def kinds_of(folder, run):
    """Kinds of the edits on disk."""
    written = json.loads((folder / run / "edits.json").read_text("utf-8"))
    return [edit["kind"] for edit in written["edits"]]


def hostile_table(path):
    """A file whose texts, classes, columns and name try to be markup."""
    texts = HOSTILE * 4
    pl.DataFrame(
        {
            COLUMN: texts,
            "<i>class": [CLASSES[number % 2] for number in range(len(texts))],
            "date": [f"2024-{number % 12 + 1:02}-01" for number in range(len(texts))],
        }
    ).write_csv(path)
    return path


def nothing_ran(page):
    """Nothing of the hostile texts became an element or ran."""
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, iframe, object, embed, u, main b[onmouseover]").count() == 0
    assert page.locator("script:not([src^='/static/'])").count() == 0
    assert page.locator("a[href^='javascript' i]").count() == 0
    assert page.evaluate(
        "[...document.querySelectorAll('*')].every(one => [...one.attributes].every(a => !a.name.startsWith('on')))"
    )


def no_sideways(page):
    """Nothing is wider than the page, whatever scrolls inside its own box left out."""
    wide = page.evaluate(
        """() => {
          const width = document.documentElement.clientWidth, inside = (one) => {
            for (let up = one.parentElement; up; up = up.parentElement) {
              const style = getComputedStyle(up);
              if (style.overflowX !== "visible" && up !== document.body && up.getBoundingClientRect().right <= width + 1) return true;
            }
            return false;
          };
          if (document.scrollingElement.scrollWidth > width) return ["the page itself"];
          return [...document.body.querySelectorAll("*")].filter((one) => one.getClientRects().length
            && one.getBoundingClientRect().right > width + 1 && !inside(one) && !one.matches(".hidden, .hidden *"))
            .map((one) => one.outerHTML.slice(0, 120));
        }"""
    )
    assert wide == []
