"""Topics over time and by class as tables: counts, and what grew or fell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import polars as pl

from coterie.cli.shared import console, report_note, safe, table
from coterie.errors import InputError
from coterie.report.wording import points, share
from coterie.text.dates import read_dates
from coterie.text.inputs import choose_column
from coterie.topics.trends import as_classes

if TYPE_CHECKING:
    from rich.table import Table

    from coterie.runs import Run

#: Most periods or classes shown side by side. Of more classes, the first of each topic, and the topics of the
#: largest.
_MOST_COLUMNS, _FIRST, _MOST_ROWS = 13, 3, 40
_ARROWS = {"new": "↑ new", "grew": "↑", "fell": "↓", "": ""}


@dataclass(frozen=True)
class Tables:
    """Counts by period or class, and the changes where there are dates. `group` names what is in rows."""

    counts: pl.DataFrame
    changes: pl.DataFrame | None
    group: list[str]

    def chosen(self, changes: bool) -> pl.DataFrame:
        """The table to write."""
        return self.changes if changes and self.changes is not None else self.counts

    def show(self, only_changes: bool) -> None:
        """Print the tables."""
        from rich.text import Text

        if not only_changes:
            for one in _count_tables(self.counts, self.group):
                console().print(one)
        if self.changes is None:
            return
        if not len(self.changes):
            console().print(
                Text("There is no more than one period with texts, so there is nothing to compare.")
            )
            return
        console().print(_changes_table(self.changes, self.group))


def grouped(
    run: Run, by: str | None, over_time: str | None, every: Any, sort: str, day_first: bool | None = None
) -> Tables:
    """The tables of a run, in the order asked for."""
    rows = run.input()

    def column(name: str) -> pl.Series:
        return rows[choose_column(rows.columns, name, f"the input of {run.folder}")]

    model, classes = run.with_texts(), None if by is None else as_classes(column(by))
    if classes is not None:
        _say_missing(classes, "class")
    if over_time is None:
        return Tables(model.by_class(classes), None, ["topic", "label"])
    group, dates = (
        ["class"] if by is not None else ["topic", "label"],
        _dates(run, column(over_time), day_first),
    )
    counts, changes = model.over_time(dates, every, classes), model.changes(dates, every, classes)
    if sort == "growth":
        order = changes.select(group[0], by=pl.col("change")).unique(group[0], keep="last")
    elif by is not None:
        order = counts.group_by(group[0]).agg(by=pl.col("texts").sum())
    else:
        return Tables(counts, changes, group)
    return Tables(_sorted(counts, order), _sorted(changes, order), group)


def _dates(run: Run, dates: pl.Series, wanted: bool | None) -> pl.Series:
    """The dates of the texts; the day comes first as asked, as it did in the run, or as they show."""
    data = run.info["data"]
    if wanted is None and dates.name == data.get("date"):
        wanted = data.get("day_first")
    read = read_dates(dates, wanted)
    if sentence := read.order.sentence(dates.name):
        report_note(
            sentence, f"{'--month-first' if read.order.day_first else '--day-first'} reads them otherwise"
        )
    if read.unread is not None and read.unread.count > len(dates) / 2:
        raise InputError(read.unread.sentence)
    _say_missing(read.days, "date that can be read")
    return read.days


def _say_missing(column: pl.Series, what: str) -> None:
    if missing := column.null_count():
        texts = "1 text has" if missing == 1 else f"{missing:,} texts have"
        click.echo(f"{texts} no {what}; counts leave them out.", err=True)


def _sorted(frame: pl.DataFrame, order: pl.DataFrame) -> pl.DataFrame:
    """The rows of groups with the largest value of `by` first; rows of a group keep their order."""
    joined = frame.join(order, on=order.columns[0], how="left", maintain_order="left")
    return joined.sort("by", descending=True, nulls_last=True, maintain_order=True).drop("by")


def _count_tables(frame: pl.DataFrame, group: list[str]) -> list[Table]:
    """Groups × periods or classes if that is narrow enough; of more periods the last ones, of more classes
    the largest of each topic, and the largest topics of each class."""
    column = next(name for name in frame.columns if name not in group)
    values = frame[column].unique().sort().to_list()
    if len(values) > _MOST_COLUMNS and column == "class":
        return [_largest(frame, "class", "topic"), _largest(frame, "topic", "class")]
    shown = values[-_MOST_COLUMNS:]
    counts = {(*row[: len(group)], row[len(group)]): row[len(group) + 1] for row in frame.iter_rows()}
    names = list(frame.select(group).unique(maintain_order=True).iter_rows())
    wide = [[*name, *(counts[(*name, value)] for value in shown)] for name in names]
    left = f", the last {len(shown)} of {len(values)}" if len(shown) < len(values) else ""
    terms = f" and the terms of each topic and {column}" if "terms" in frame.columns else ""
    title = f"texts by {column}{left}; --json and --out also give shares{terms}"
    return [table([*group, *(_short(value, shown) for value in shown)], wide, title=title, most=40)]


def _largest(frame: pl.DataFrame, of: str, by: str) -> Table:
    """For each topic its largest classes, or for each class its largest topics."""
    plural = {"class": "classes", "topic": "topics"}
    total = frame.group_by(of, maintain_order=True).agg(pl.col("texts").sum().alias("all"))
    total = total.sort("all", descending=True, maintain_order=True)
    best = frame.filter(pl.col("texts") > 0).sort("texts", descending=True, maintain_order=True)
    names = {"topic": "label", "class": "class"}
    rows = []
    for key, texts in total.head(_MOST_ROWS).iter_rows():
        first = best.filter(pl.col(of) == key).head(_FIRST)
        said = [f"{safe(name, 40)} {share(n, texts)}" for name, n in first.select(names[by], "texts").rows()]
        rows.append([first[names[of]][0] if len(first) else key, texts, "; ".join(said)])
    left = f" (the largest {_MOST_ROWS} of {len(total):,})" if len(total) > _MOST_ROWS else ""
    title = f"the largest {plural[by]} of each {of}{left}; --json and --out give all"
    return table([of, "texts", f"largest {plural[by]}"], rows, title=title, most=160)


def _changes_table(frame: pl.DataFrame, group: list[str]) -> Table:
    """For each group its share in the last period, and the change against earlier ones with its interval."""
    compared = frame.select("against", "period_before").unique(maintain_order=True).rows()
    parts = [frame.filter(pl.col("against") == name) for name, _ in compared]
    rows = []
    for number in range(len(parts[0])):
        row = parts[0].row(number, named=True)
        cells: list[Any] = [*(row[name] for name in group), row["texts"], f"{row['share']:.1%}"]
        for part in parts:
            one = part.row(number, named=True)
            cells += [_ARROWS[one["trend"]], points(one["change"], one["low"], one["high"])]
        rows.append(cells)
    period = frame["period"][0]
    headings = [
        *group,
        "texts",
        "share",
        *(cell for name, _ in compared for cell in ("", f"against the {name}")),
    ]
    title = f"{period} against " + " and ".join(f"{before} ({name})" for name, before in compared)
    caption = (
        "Changes of the share in percentage points. The intervals hold for all rows and columns at once, "
        "with a probability of 95 %; an arrow marks those without 0."
    )
    return table(headings, rows, title=title, caption=caption, right=headings[len(group) + 1 :: 2], most=40)


def _short(group: Any, groups: Sequence[Any]) -> str:
    """A group as a heading: dates are cut to the month or year if all are first days of one."""
    if not hasattr(group, "isoformat"):
        return str(group)
    if all(day.day == 1 for day in groups):
        return f"{group:%Y}" if all(day.month == 1 for day in groups) else f"{group:%Y-%m}"
    return str(group)
