"""A page about a paper: Markdown with tables and figures, the raw numbers beside it, and what holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie import __version__
from coterie_papers.bench.markdown import Raw, escaped, table
from coterie_papers.bench.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HOLDS = {True: "yes", False: "**no**", None: "not comparable"}


class Page:
    """The page NAME.md in a folder, its figures and numbers in NAME/; nothing is written before `write`."""

    def __init__(self, folder: Path, name: str, title: str):
        self.folder = folder
        self.name = name
        self._parts = [f"# {title}"]
        self._claims: list[tuple[str, str, bool | None]] = []
        self._figures: dict[str, Figure] = {}

    @property
    def claims(self) -> list[tuple[str, str, bool | None]]:
        """What the paper said, what was measured, and whether that is the same conclusion."""
        return list(self._claims)

    def text(self, markdown: str) -> None:
        """A heading, a paragraph, or several, as they are."""
        self._parts.append(markdown.strip())

    def table(self, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """A table; columns of numbers stand on the right, and cells mean themselves but for `Raw` ones."""
        self._parts.append(table(header, rows))

    def figure(self, name: str, caption: str, figure: Figure) -> None:
        """A figure with its caption."""
        self._figures[name] = figure
        self._parts.append(f"![{escaped(caption)}]({self.name}/{name}.svg)\n\n*{escaped(caption)}*")

    def claim(self, said: str, measured: str, holds: bool | None) -> None:
        """A line of the last table: what the paper said, what was measured, if they conclude the same."""
        self._claims.append((said, measured, None if holds is None else bool(holds)))

    def write(self, results: Results) -> Path:
        """Write the page, its figures and the raw numbers; returns the path of the page."""
        from coterie_papers.figures import save

        beside = self.folder / self.name
        beside.mkdir(parents=True, exist_ok=True)
        for name, figure in self._figures.items():
            save(figure, beside / name)
        frame = results.frame()
        frame.write_csv(beside / "results.csv")
        frame.write_parquet(beside / "results.parquet")
        path = self.folder / f"{self.name}.md"
        path.write_text(self.markdown(results), encoding="utf-8")
        return path

    def markdown(self, results: Results) -> str:
        """The page as it will be written."""
        title, *rest = self._parts
        parts = [title, self._summary(results), *rest]
        if self._claims:
            lines = [(said, measured, Raw(_HOLDS[holds])) for said, measured, holds in self._claims]
            parts += ["## What holds", table(["paper said", "we measured", "same conclusion?"], lines)]
        raw = f"Raw numbers: [CSV]({self.name}/results.csv), [Parquet]({self.name}/results.parquet)."
        return "\n\n".join([*parts, raw]) + "\n"

    def _summary(self, results: Results) -> str:
        """How the page came about, and how much of the paper holds."""
        minutes = sum(outcome.seconds for outcome in results.outcomes) / 60
        holds = [claim[2] for claim in self._claims]
        return (
            f"Written by `coterie reproduce {self.name}`, coterie {__version__}: {len(results.outcomes):,} "
            f"trials, {minutes:,.1f} CPU minutes. [The same conclusion](#what-holds) as the paper in "
            f"{holds.count(True)} of {len(holds)} cases, another in {holds.count(False)}."
        )
