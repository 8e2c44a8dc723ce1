"""Topics and assignments as tables for notebooks; texts are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coterie.figures.figure import STYLE
from coterie.figures.svg import many, percent
from coterie.map.svg import safe
from coterie.results import Assignments, Topic

#: Assignments that are shown, and letters of a text.
_ROWS, _LETTERS = 10, 120


def topics_table(topics: Sequence[Topic]) -> str:
    """Sizes as bars, names, terms and a typical text of each topic."""
    most = max((topic.size for topic in topics), default=1)
    rows = (
        [
            f"<td>{topic.id}</td>",
            f'<td class="number">{topic.size:,}</td>',
            f"<td>{_bar(topic.size / max(most, 1), percent(topic.share))}</td>",
            f"<td><b>{_text(topic.label)}</b></td>",
            f"<td>{_text(', '.join(topic.terms[:6]))}</td>",
            f"<td>{_text(topic.examples[0]) if topic.examples else ''}</td>",
        ]
        for topic in topics
    )
    return _table(("topic", "texts", "", "label", "terms", "a typical text"), rows)


def assignments_table(assigned: Assignments) -> str:
    """The first assignments, with confidence as a bar."""
    rows = (
        [
            f"<td>{number}</td>",
            f"<td>{'' if one.topic is None else one.topic}</td>",
            f"<td><b>{_text(one.label or '')}</b></td>",
            f'<td class="number">{one.confidence:.2f}</td>',
            f"<td>{_bar(one.confidence, f'{one.confidence:.2f}')}</td>",
            f"<td>{'' if one.second is None else _text(assigned.labels.get(one.second, ''))}</td>",
            f"<td>{_text(str(one.reason))}</td>",
        ]
        for number, one in enumerate(assigned[:_ROWS])
    )
    heads = ("text", "topic", "label", "confidence", "", "second best", "reason")
    rest = len(assigned) - _ROWS
    after = f"<p>and {many(rest, 'other')}; <code>.frame()</code> is a table of all</p>" if rest > 0 else ""
    return _table(heads, rows, after)


def _text(text: str) -> str:
    cut = text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…"
    return f"<bdi>{safe(cut)}</bdi>"


def _bar(part: float, said: str) -> str:
    return f'<span class="bar" style="width:{6 * part:.2f}em" title="{safe(said)}"></span>'


def _table(heads: Iterable[str], rows: Iterable[list[str]], after: str = "") -> str:
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        f'<div class="coterie-figure">{STYLE}<div class="rows"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{after}</div>"
    )
