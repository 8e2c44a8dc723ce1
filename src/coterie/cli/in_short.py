"""What a run says first: the biggest topic, and with dates what grew, is new and fell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie.cli.shared import safe

if TYPE_CHECKING:
    from rich.text import Text

    from coterie.runs import Run

_QUOTE = 88


def dated_findings(run: Run) -> dict[str, Any] | None:
    """What the report begins with; None without dates, or if they could not be read."""
    from coterie.report.page import content_of
    from coterie.runs.record import REPORT

    shown = content_of((run.folder / REPORT).read_text(encoding="utf-8"))
    findings: dict[str, Any] = shown["findings"]
    return None if shown["time"] is None or shown["time"]["note"] else findings


def in_short(run: Run) -> Text | None:
    """The lines that the report begins with; None without dates. The run has just been fitted."""
    from rich.text import Text

    found = dated_findings(run)
    if found is None:
        return None
    labels = {topic.id: topic.label for topic in run.model.topics}
    lines = Text("In short\n", style="bold")
    for item in found["items"]:
        said = f"  {item['kind']:<8} {safe(labels[item['topic']])}: {item['text']}\n"
        lines.append(said, style="not bold")
        if item["quote"]:
            lines.append(f"           “{safe(item['quote'], _QUOTE)}”\n", style="not bold dim")
    lines.append(found["note"].partition(".")[0] + ".", style="not bold")
    return lines
