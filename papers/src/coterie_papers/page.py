"""A page about a paper: Markdown with tables and figures, the raw numbers beside it, and what holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie import __version__
from coterie_papers.bench.markdown import Raw, escaped, table
from coterie_papers.bench.results import Results
from coterie_papers.verdicts import MEANINGS, Claim, Verdict, counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Where the claims come, among the parts of a page.
_CLAIMS = "(claims)"


class Page:
    """The page NAME.md in a folder, its figures and numbers in NAME/; nothing is written before `write`.

    Below the title stands a summary: the headline, how many claims have which verdict, and how the page came
    about. A page may begin with what the method is and how to use it, and then say with `claims_here` that
    the claims follow; else they are its end. Claims may be added before and after.
    """

    def __init__(self, folder: Path, name: str, title: str):
        self.folder = folder
        self.name = name
        self._parts = [f"# {title}"]
        self._headline = ""
        self._claims: list[Claim] = []
        self._figures: dict[str, Figure] = {}

    @property
    def claims(self) -> list[Claim]:
        """What the paper said, what was measured, and what that makes of it."""
        return list(self._claims)

    def headline(self, text: str) -> None:
        """What a reader should keep, from the data that is the paper's own, without a full stop."""
        self._headline = text

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

    def claims_here(self) -> None:
        """The claims stand here, also those that are added later."""
        self._parts.append(_CLAIMS)

    def claim(self, group: str, said: str, measured: str, verdict: Verdict, reason: str) -> None:
        """What the paper said, what was measured, and what that makes of it, with the reason in a few words.

        Claims of a group stand in one table, groups in the order in which they first appear.
        """
        if not reason:
            raise ValueError(f"the verdict of {said!r} needs its reason")
        self._claims.append(Claim(group, said, measured, verdict, reason))

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
        if _CLAIMS not in rest:
            rest.append(_CLAIMS)
        at = rest.index(_CLAIMS)
        rest[at : at + 1] = self._verdicts() if self._claims else []
        raw = f"Raw numbers: [CSV]({self.name}/results.csv), [Parquet]({self.name}/results.parquet)."
        return "\n\n".join([title, self._summary(results), *rest, raw]) + "\n"

    def _summary(self, results: Results) -> str:
        """The headline, what became of the claims, and how the page came about."""
        minutes = sum(outcome.seconds for outcome in results.outcomes) / 60
        return (
            (f"**{self._headline}.** " if self._headline else "")
            + (f"[What holds](#what-holds), {counted(self._claims)}. " if self._claims else "")
            + f"Written by `coterie reproduce {self.name}`, coterie {__version__}: "
            + f"{len(results.outcomes):,} trials, {minutes:,.1f} CPU minutes."
        )

    def _verdicts(self) -> list[str]:
        """The claims in their groups."""
        given = {claim.verdict for claim in self._claims}
        meanings = [f"*{verdict}*: {meaning}" for verdict, meaning in MEANINGS.items() if verdict in given]
        parts = ["## What holds", "; ".join(meanings) + "."] if meanings else ["## What holds"]
        for group in dict.fromkeys(claim.group for claim in self._claims):
            rows = [
                (claim.said, claim.measured, _cell(claim)) for claim in self._claims if claim.group == group
            ]
            parts += [f"### {group}", table(["the paper said", "measured here", "verdict"], rows)]
        return parts


def _cell(claim: Claim) -> Raw:
    return Raw(f"**{claim.verdict}**: {escaped(claim.reason)}")
