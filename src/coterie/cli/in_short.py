"""What a run says first: the biggest topic, and with dates what grew, is new and fell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coterie.cli.shared import safe

if TYPE_CHECKING:
    import polars as pl
    from rich.text import Text

    from coterie.runs import Run

_QUOTE = 88


def dates_of(run: Run) -> pl.Series | None:
    """The dates of the texts; None if there are none, or if the report could not read them."""
    from coterie.report.groups import Columns, usable_dates

    data = run.info["data"]
    if (name := data.get("date")) is None:
        return None
    columns = Columns(run.input()[name], name, day_first=data.get("day_first"))
    return usable_dates(columns, run.model.n_texts_)[0]


def in_short(run: Run) -> Text | None:
    """The lines that the report begins with; None without dates. The run has just been fitted."""
    from rich.text import Text

    from coterie.report.facts import Facts
    from coterie.report.findings import findings
    from coterie.topics.changes import changes

    dates = dates_of(run)
    if dates is None:
        return None
    facts = Facts(run.model)
    topics = [run.model.topics[at] for at in facts.order]
    found = findings(topics, facts.topics, dates, changes(facts.topics, len(topics), dates))
    labels = {topic.id: topic.label for topic in topics}
    lines = Text("In short\n", style="bold")
    for item in found["items"]:
        said = f"  {item['kind']:<8} {safe(labels[item['topic']])}: {item['text']}\n"
        lines.append(said, style="not bold")
        if item["quote"]:
            lines.append(f"           “{safe(item['quote'], _QUOTE)}”\n", style="not bold dim")
    lines.append(found["note"].partition(".")[0] + ".", style="not bold")
    return lines
