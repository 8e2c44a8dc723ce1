"""`coterie verify`: compute a run again and say whether it comes out the same."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli.engines import EngineChoice, engine_options
from coterie.cli.shared import console, json_option, print_json, safe
from coterie.progress import shown

if TYPE_CHECKING:
    from coterie.runs.verifying import Verification

#: The exit code of a run that differs.
DIFFERS = 1
_SAID = {True: ("identical", "green"), False: ("differs", "bold red"), None: ("not compared", "dim")}


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--source", metavar="FILE", type=click.Path(path_type=Path),
    help="File with the texts, if it is no longer where it was.",
)  # fmt: skip
@engine_options
@json_option
@click.pass_context
def verify(ctx: click.Context, run: Path, source: Path | None, engine: EngineChoice, as_json: bool) -> None:
    """Compute RUN again from its source, parameters and edits, and compare it step by step.

    Each step of the fit was recorded as a digest of what it produced: the texts that were read, their counts,
    vectors, topics, how these are described, and the assignments. A line for each says whether it came out
    the same to the last bit, and if not, by how much; the first that differs is where results parted. Nothing
    in RUN is changed.

    The exit code is 0 if everything is identical, 1 if something differs, and 2 if RUN cannot be computed
    again.

    \b
    Examples:
      coterie verify run
      coterie verify run --source tickets.csv --json
      coterie verify run --engine processes --workers 2
    """
    from coterie.runs.verifying import verify as computed_again

    with shown(as_json), ExitStack() as stack:
        workers = stack.enter_context(engine.open()) if engine.chosen else None
        found = computed_again(run, source=source, workers=workers)
    if as_json:
        print_json(_plain(found))
    else:
        _show(found)
    if not found.identical:
        ctx.exit(DIFFERS)


def _plain(found: Verification) -> dict[str, Any]:
    return {
        "folder": str(found.folder),
        "source": found.source,
        "identical": found.identical,
        "first": None if found.first is None else found.first.name,
        "notes": list(found.notes),
        "steps": [{"step": step.name, "same": step.same, "about": step.about} for step in found.steps],
    }


def _show(found: Verification) -> None:
    from rich.text import Text

    out = console()
    out.print(Text(safe(f"{found.folder}, computed again from {found.source}")), soft_wrap=True)
    for note in found.notes:
        out.print(Text(safe(f"{note[:1].upper()}{note[1:]}.")), soft_wrap=True)
    width = max(len(step.name) for step in found.steps)
    for step in found.steps:
        word, style = _SAID[step.same]
        about = f": {safe(step.about)}" if step.about else ""
        out.print(Text.assemble(f"  {step.name:<{width}}  ", (word, style), about), soft_wrap=True)
    if found.first is not None:
        out.print(Text.assemble(("Differs", "bold red"), f" from {found.first.name} on."))
    elif found.identical:
        out.print(Text.assemble(("Identical", "green"), "."))
    else:
        out.print("Nothing could be compared.")
