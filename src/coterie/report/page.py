"""The page: templates that lie beside this file, and the content as JSON that cannot end its own element."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from coterie.report.wording import many, share

#: Scripts, in the order they are joined.
_SCRIPTS = ("dom.js", "charts.js", "map.js", "sections.js", "page.js")
#: The element that holds the content.
_CONTENT = '<script type="application/json" id="content">'
#: What could end a script element or a line of script, as JSON may spell it.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def page(content: Mapping[str, Any]) -> str:
    """The page as a string; nothing of the content becomes markup."""
    style, script = _template("page.css"), "\n".join(map(_template, _SCRIPTS))
    policy = (
        "default-src 'none'; "
        f"script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "title": html.escape(f"Topics of {content['title']}" if content["title"] else "Topics"),
        "style": style,
        "plain": _plain(content),
        "content": embedded(content),
        "script": script,
    }
    pieces = _template("page.html").split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:  # one pass: what is put in is never looked at again
        name, rest = piece.split("}}", 1)
        filled += [parts[name], rest]
    return "".join(filled)


def content_of(text: str) -> dict[str, Any]:
    """The content of a page that `page` made.

    >>> content_of(f'<script type="application/json" id="content">{embedded({"a": "</script>"})}</script>')
    {'a': '</script>'}
    """
    begin = text.index(_CONTENT) + len(_CONTENT)
    content: dict[str, Any] = json.loads(text[begin : text.index("</script>", begin)])
    return content


def embedded(content: Any) -> str:
    """JSON for a script element.

    >>> embedded({"a": "</script>"})
    '{"a":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_ESCAPES)


def _plain(content: Mapping[str, Any]) -> str:
    """The topics as a table, for readers that run no scripts."""
    texts = content["facts"]["texts"]
    rows = "".join(
        f"<tr><td>{topic['id']}</td><td>{topic['size']:,}</td><td>{share(topic['size'], texts)}</td>"
        f"<td><bdi>{html.escape(topic['label'])}</bdi></td>"
        f"<td><bdi>{html.escape(', '.join(term for term, _ in topic['terms']))}</bdi></td></tr>"
        for topic in content["topics"]
    )
    said = f"{many(texts, 'text')}, {many(len(content['topics']), 'topic')}."
    head = "<tr><th>topic</th><th>texts</th><th>share</th><th>label</th><th>words</th></tr>"
    return (
        f"<h1>Topics of <bdi>{html.escape(content['title'])}</bdi></h1><p>{said} The rest of this page needs "
        f"scripts, which are switched off here.</p><table><thead>{head}</thead><tbody>{rows}</tbody></table>"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _template(name: str) -> str:
    return (
        files("coterie.report").joinpath("templates", name).read_text(encoding="utf-8").replace("\r\n", "\n")
    )
