"""`coterie evaluate`: quality of the topics of a run, with or without known classes."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli.shared import RenamedOption, console, json_option, print_json, safe, table
from coterie.errors import InputError
from coterie.progress import shown

if TYPE_CHECKING:
    import polars as pl

    from coterie.runs import Run

#: Lower ends of the confidence bands for which the share of right texts is shown.
_BANDS = (0.0, 0.2, 0.4, 0.6, 0.8)


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--class-column", cls=RenamedOption, former="--label", metavar="COLUMN",
    help="Column of the input with known classes.",
)  # fmt: skip
@click.option(
    "--svm", is_flag=True,
    help="With --class-column: train a linear classifier on four fifths of the texts, test it on the others.",
)  # fmt: skip
@click.option(
    "--stability", is_flag=True,
    help="Fit again with other random states and count how often each topic is found.",
)  # fmt: skip
@click.option(
    "--runs", metavar="N", type=click.IntRange(1, 1000), default=10, show_default=True,
    help="Number of fits for --stability.",
)  # fmt: skip
@json_option
def evaluate(
    run: Path, class_column: str | None, svm: bool, stability: bool, runs: int, as_json: bool
) -> None:
    """Measure the quality of the topics of RUN.

    With --class-column: purity, NMI, ARI and accuracy against the known classes; the largest class of each
    topic; and, by confidence, the share of texts that belong to the largest class of their topic. Without
    it: coherence (NPMI), distinctiveness and diversity of the top terms.

    With --svm also accuracy and macro-F1 of a linear support vector machine that sees a text as its
    memberships in the topics, as its vector, or as its words weighted by idf.

    With --stability also how often each topic is found by fits with other random states, and the mean part
    of its texts that the matched topics share. The report shows it from then on, until topics are edited.

    \b
    Examples:
      coterie evaluate run
      coterie evaluate run --class-column team
      coterie evaluate run --class-column team --svm
      coterie evaluate run --stability --runs 3
    """
    from coterie.runs import with_run

    if svm and class_column is None:
        raise InputError("--svm needs known classes: add --class-column COLUMN")
    result = with_run(
        run,
        lambda opened: (
            _alone(opened) if class_column is None else _against_classes(opened, class_column, svm)
        ),
    )
    if stability:
        from coterie.runs.stability import record_stability

        with shown(as_json):
            result["stability"] = asdict(record_stability(run, runs))
    if as_json:
        print_json(result)
        return
    out = console()
    out.print(table(["measure", "value"], list(result["scores"].items())))
    if class_column is not None:
        topics = [
            [t["topic"], safe(t["label"]), t["texts"], t["class"], f"{t['share']:.1%}"]
            for t in result["topics"]
        ]
        out.print(
            table(["topic", "label", "texts", "largest class", "share"], topics, right=["share"], most=50)
        )
        bands = [
            [
                f"{b['from']:.1f} to {b['to']:.1f}",
                b["texts"],
                "-" if b["share_in_largest_class"] is None else f"{b['share_in_largest_class']:.1%}",
            ]
            for b in result["confidence"]
        ]
        headings = ["confidence", "texts", "share in the largest class of their topic"]
        out.print(table(headings, bands, right=headings[1:]))
    if svm:
        rows = [[*one.values()] for one in result["svm"]]
        headings = ["features", "dimensions", "trained on", "tested on", "accuracy", "macro-F1"]
        out.print(table(headings, rows, title="linear support vector machine"))
    if stability:
        _show_stability(result["stability"])


def _show_stability(found: dict[str, Any]) -> None:
    runs = found["runs"]
    rows = [
        [one["topic"], safe(one["label"]), f"{one['found']} of {runs}", one["agreement"]]
        for one in sorted(found["topics"], key=lambda one: (one["agreement"], one["topic"]))
    ]
    title = f"stability: mean ARI {found['agreement']:.3f} with {runs} other fit{'s' if runs > 1 else ''}"
    headings = ["topic", "label", "found in", "agreement"]
    console().print(table(headings, rows, title=title, right=["found in"], most=50))


def _alone(run: Run) -> dict[str, Any]:
    from coterie.metrics import diversity

    topics = run.model.topics
    sizes = [max(topic.size, 0) for topic in topics]
    total = max(sum(sizes), 1)
    return {
        "scores": {
            "topics": len(topics),
            "coherence (NPMI)": sum(t.coherence for t in topics) / len(topics),
            "distinctiveness": sum(t.distinctiveness * t.size for t in topics) / total,
            "diversity": diversity([t.terms for t in topics], 10),
            "texts with a known word": run.model.n_known_ / max(run.model.n_texts_, 1),
        }
    }


def _against_classes(run: Run, class_column: str, svm: bool) -> dict[str, Any]:
    import polars as pl

    from coterie.metrics import clustering_scores
    from coterie.text.inputs import choose_column
    from coterie.topics.trends import as_classes

    rows = run.input()
    class_column = choose_column(rows.columns, class_column, f"the input of {run.folder}")
    names = run.columns
    frame = pl.DataFrame(
        {
            "topic": run.table[names["topic"]],
            "confidence": run.table[names["confidence"]],
            "class": (classes := as_classes(rows[class_column])),
        }
    ).drop_nulls("class")
    if frame.is_empty():
        raise InputError(
            f"column {class_column!r} of {run.folder} is empty, so there are no classes to compare with"
        )
    # texts without a topic are together in a cluster of their own, and in no topic
    scores = clustering_scores(frame["class"].to_list(), frame["topic"].fill_null(-1).to_list())
    largest = _largest_classes(frame.drop_nulls("topic"))
    right = frame.join(largest, on="topic", how="left").with_columns(
        right=(pl.col("class") == pl.col("largest")).fill_null(False)
    )
    labels = {topic.id: topic.label for topic in run.model.topics}
    return {
        "scores": {
            "texts with a class": len(frame),
            "texts without a topic": frame["topic"].null_count(),
            "classes": frame["class"].n_unique(),
            **_plain(scores),
        },
        "topics": [
            {"topic": topic, "label": labels[topic], "texts": texts, "class": name, "share": share}
            for topic, name, texts, share in largest.select("topic", "largest", "texts", "share").iter_rows()
        ],
        "confidence": [_band(right, low) for low in _BANDS],
        **({"svm": _classified(run, classes)} if svm else {}),
    }


def _classified(run: Run, classes: pl.Series) -> list[dict[str, Any]]:
    from coterie.runs.classifying import classified

    return [
        {"features": one.features, "dimensions": one.dimensions, **_plain(one.scores)}
        for one in classified(run, classes)
    ]


def _plain(scores: Any) -> dict[str, float]:
    from dataclasses import asdict, is_dataclass

    return dict(asdict(scores) if is_dataclass(scores) else scores)  # type: ignore[arg-type]


def _largest_classes(frame: pl.DataFrame) -> pl.DataFrame:
    """The most frequent class of each topic; ties are broken alphabetically."""
    import polars as pl

    counted = frame.group_by("topic", "class").agg(n=pl.len())
    ranked = counted.sort("topic", "n", "class", descending=[False, True, False])
    return (
        ranked.group_by("topic", maintain_order=True)
        .agg(largest=pl.col("class").first(), n=pl.col("n").first(), texts=pl.col("n").sum())
        .with_columns(share=pl.col("n") / pl.col("texts"))
    )


def _band(right: pl.DataFrame, low: float) -> dict[str, Any]:
    import polars as pl

    high = low + 0.2
    inside = right.filter(
        (pl.col("confidence") >= low) & ((pl.col("confidence") < high) | (low == _BANDS[-1]))
    )
    return {
        "from": low,
        "to": round(high, 1),
        "texts": len(inside),
        "share_in_largest_class": inside["right"].mean(),
    }
