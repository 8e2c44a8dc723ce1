"""What a run says first: the biggest topic, and with dates what grew, is new and fell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coterie.cli.shared import safe

if TYPE_CHECKING:
    from rich.text import Text

    from coterie.runs import Run

_QUOTE = 88


def in_short(run: Run) -> Text | None:
    """The lines that the report begins with; None for a run without dates. The run has just been fitted."""
    from rich.text import Text

    from coterie.report.facts import Facts
    from coterie.report.findings import findings
    from coterie.report.groups import Columns, changes_of, usable_dates

    data, facts = run.info["data"], Facts(run.model)
    name = data.get("date")
    if name is None:
        return None
    columns = Columns(run.input()[name], name, day_first=data.get("day_first"))
    dates, reason = usable_dates(columns, len(facts.topics))
    if dates is None:
        return Text(reason)
    topics = [run.model.topics[at] for at in facts.order]
    found = findings(topics, facts.topics, dates, changes_of(columns, facts.topics, len(topics)))
    labels = {topic.id: topic.label for topic in topics}
    lines = Text("In short\n", style="bold")
    for item in found["items"]:
        said = f"  {item['kind']:<8} {safe(labels[item['topic']])}: {item['text']}\n"
        lines.append(said, style="not bold")
        if item["quote"]:
            lines.append(f"           “{safe(item['quote'], _QUOTE)}”\n", style="not bold dim")
    lines.append(found["note"].partition(".")[0] + ".", style="not bold")
    return lines
