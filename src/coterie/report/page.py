"""The page: scripts and styles put into one file, and the content as JSON that cannot end its own element.

Files in `shared` are those of the live page too, files in `templates` are the report's own.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from coterie.map.groups import Group
from coterie.map.picture import Topic, draw_map
from coterie.report.wording import many, share

#: The element that holds the content.
_CONTENT = '<script type="application/json" id="content">'
#: Modules, each after those it imports from. No name is in both folders.
_SHARED = ("dom.js", "numbers.js", "charts.js", "map-view.js", "map-layout.js", "map-shade.js", "map-save.js")
_OWN = ("content.js", "levels.js", "pictures.js", "map.js", "sections.js", "page.js")
_MODULE_LINE = re.compile(r"\s*(import|export)\b|.*\bimport\s*[(.]")
_IMPORT = re.compile(r'import \{ (\w+(?:, \w+)*) \} from "\./([\w-]+\.js)";')
_EXPORT = re.compile(r"export ((?:const|function|class) (\w+)\b.*)")
#: What could end a script element or a line of script, as JSON may spell it.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def page(content: Mapping[str, Any]) -> str:
    """The page as a string; nothing of the content becomes markup."""
    parts = {
        "policy": policy(),
        "title": html.escape(f"Topics of {content['title']}" if content["title"] else "Topics"),
        "style": _style(),
        "plain": _plain(content),
        "content": embedded({**content, "picture": _picture(content)}),
        "script": _script(),
    }
    pieces = _file("templates", "page.html").split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:  # one pass: what is put in is never looked at again
        name, rest = piece.split("}}", 1)
        filled += [parts[name], rest]
    return "".join(filled)


@cache
def policy() -> str:
    """What a page may do: run the script and use the style that `page` puts into it, and nothing else."""
    return (
        f"default-src 'none'; script-src '{_digest(_script())}'; style-src '{_digest(_style())}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def content_of(text: str) -> dict[str, Any]:
    """The content of a page that `page` made.

    >>> content_of(f'<script type="application/json" id="content">{embedded({"a": "</script>"})}</script>')
    {'a': '</script>'}
    """
    begin = text.index(_CONTENT) + len(_CONTENT)
    content: dict[str, Any] = json.loads(text[begin : text.index("</script>", begin)])
    return content


def joined(modules: Mapping[str, str]) -> str:
    """ES modules as one plain script: each keeps its own scope and imports from those before it.

    Only `import { a, b } from "./file.js";` and `export` before const, function or class are understood, each
    on a line of its own; anything else, and a name that no earlier module exports, is a ValueError.

    >>> print(joined({"a.js": "export const one = 1;", "b.js": 'import { one } from "./a.js";'}))
    "use strict";
    const modules = {};
    modules["a.js"] = (() => {
    const one = 1;
    return { one };
    })();
    modules["b.js"] = (() => {
    const { one } = modules["a.js"];
    return {  };
    })();
    """
    exported: dict[str, list[str]] = {}
    lines = ['"use strict";', "const modules = {};"]
    for name, source in modules.items():
        lines.append(f'modules["{name}"] = (() => {{')
        own: list[str] = []
        for line in source.splitlines():
            if not _MODULE_LINE.match(line):
                lines.append(line)
            elif match := _EXPORT.fullmatch(line):
                lines.append(match[1])
                own.append(match[2])
            elif (match := _IMPORT.fullmatch(line)) and {*match[1].split(", ")} <= {
                *exported.get(match[2], ())
            }:
                lines.append(f'const {{ {match[1]} }} = modules["{match[2]}"];')
            else:
                raise ValueError(f"{name} cannot be put into the page for its line {line!r}")
        lines += [f"return {{ {', '.join(own)} }};", "})();"]
        exported[name] = own
    return "\n".join(lines)


def embedded(content: Any) -> str:
    """JSON for a script element.

    >>> embedded({"a": "</script>"})
    '{"a":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_ESCAPES)


def _picture(content: Mapping[str, Any]) -> str:
    """The map as an SVG, of what the page shows: labels may have changed since."""
    points, facts = content["map"], content["facts"]
    at = np.column_stack([points["x"], points["y"]]).astype(np.float64).reshape(-1, 2)
    named = [Topic(one["label"], one["size"], one["colour"], tuple(one["at"])) for one in content["topics"]]
    areas = points.get("groups", [])  # older reports have none
    groups = [Group(one["label"], (), tuple(one["at"])) for one in areas]
    note = f"{many(facts['texts'], 'text')} in {many(facts['topics'], 'topic')}"
    topics = np.array(points["topic"], dtype=np.int64)
    return draw_map(at, topics, named, content["title"], note, groups=groups)


def _plain(content: Mapping[str, Any]) -> str:
    """The topics as a table, for readers that run no scripts."""
    texts = content["facts"]["texts"]
    rows = "".join(
        f"<tr><td>{topic['id']}</td><td>{topic['size']:,}</td>"
        f"<td>{html.escape(share(topic['size'], texts))}</td>"
        f"<td><bdi>{html.escape(topic['label'])}</bdi></td>"
        f"<td><bdi>{html.escape(', '.join(term for term, _ in topic['terms']))}</bdi></td></tr>"
        for topic in content["topics"]
    )
    said = f"{many(texts, 'text')}, {many(len(content['topics']), 'topic')}."
    head = "<tr><th>topic</th><th>texts</th><th>share</th><th>label</th><th>words</th></tr>"
    return (
        f"<h1>Topics of <bdi>{html.escape(content['title'])}</bdi></h1><p>{said} The rest of this page needs "
        f"JavaScript, which is disabled.</p><table><thead>{head}</thead><tbody>{rows}</tbody></table>"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _script() -> str:
    shared = {name: _file("shared", name) for name in _SHARED}
    return joined(shared | {name: _file("templates", name) for name in _OWN})


@cache
def _style() -> str:
    return _file("shared", "palette.css") + _file("templates", "page.css")


@cache
def _file(folder: str, name: str) -> str:
    return files("coterie.report").joinpath(folder, name).read_text(encoding="utf-8").replace("\r\n", "\n")
