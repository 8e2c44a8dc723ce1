"""`coterie search`: the texts of a run that fit a query best, and the words that are related to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coterie.cli.shared import console, json_option, print_json, safe, table
from coterie.progress import shown

if TYPE_CHECKING:
    from coterie.results import Found, Related
    from coterie.topics import TopicModel

#: As in `coterie.topics.search`, which takes a second to import.
_WAYS = ("vectors", "meaning", "kernel", "bm25", "tf-idf")
#: Characters of a text that are shown.
_SHOWN = 100


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("query")
@click.option(
    "--top", metavar="N", type=click.IntRange(1), default=10, show_default=True,
    help="Number of texts or terms to show.",
)  # fmt: skip
@click.option(
    "--by", type=click.Choice(_WAYS), default=_WAYS[0], show_default=True,
    help="How texts are scored: by the cosine of vectors, by the query's words and related ones, by a kernel "
    "of terms, or by the query's words alone (BM25, tf-idf).",
)  # fmt: skip
@click.option("--expand", is_flag=True, help="Show the terms related to QUERY instead of texts.")
@json_option
def search(run: Path, query: str, top: int, by: str, expand: bool, as_json: bool) -> None:
    """Find the texts of RUN that fit QUERY best.

    Texts need not contain a word of QUERY: words that are used alike count, too. The last column has the
    words through which a text was found: words of QUERY, then related ones. Of texts with the same words
    one is shown.

    \b
    Examples:
      coterie search run "late parcel"
      coterie search run "late parcel" --top 3 --by bm25
      coterie search run "late parcel" --expand
      coterie search run refund --json
    """
    from coterie.runs import open_run, with_run

    if expand:
        terms = open_run(run).model.expand(query, top)
        print_json(terms) if as_json else _show_terms(query, terms)
        return
    with shown(as_json):
        model = with_run(run, lambda opened: opened.with_texts())
        found = model.search(query, top, by=by)
    print_json(found) if as_json else _show_texts(query, found, model)


def _show_texts(query: str, found: Sequence[Found], model: TopicModel) -> None:
    from coterie.results import Reason
    from coterie.text.markup import readable

    if not found:
        console().print(f"no text found for {safe(query, _SHOWN)!r}", markup=False)
        return
    labels = {topic.id: topic.label for topic in model.topics}
    rows = [
        [
            f"{one.score:.3f}",
            labels.get(one.topic, ""),
            safe(readable(one.text), _SHOWN),
            one.copies,
            str(Reason(one.words, tuple(related.term for related in one.related))),
        ]
        for one in found
    ]
    console().print(table(["score", "topic", "text", "copies", "through"], rows, right=["score"]))


def _show_terms(text: str, terms: Sequence[Related]) -> None:
    if not terms:
        console().print(f"no related terms for {safe(text, _SHOWN)!r}", markup=False)
        return
    rows = [[one.term, one.weight, ", ".join(one.words)] for one in terms]
    console().print(table(["term", "weight", "related to"], rows))
