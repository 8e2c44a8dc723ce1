"""Passes and fits on a graphics card beside the processor of the same machine.

    python benchmarks/gpu.py run OUTCOMES.json
    python benchmarks/gpu.py page              # writes docs/gpu.md from docs/gpu/outcomes.json

Counts are made up on the card: eight terms a text, drawn by Zipf's law from 50,000. Texts take part as counts;
what it takes to read and tokenise them is in docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

OUTCOMES = Path(__file__).parents[1] / "docs" / "gpu" / "outcomes.json"
PAGE = OUTCOMES.parents[1] / "gpu.md"
MARKS = "<!-- written by benchmarks/gpu.py -->", "<!-- end of gpu -->"
TERMS, A_TEXT, TOPICS, ITERATIONS = 50_000, 8, 100, 100
#: Rows of a made-up block, and how often a pass is measured.
ROWS, ROUNDS = 1 << 21, 3
ON_CARD, ON_PROCESSOR = (1_000_000, 10_000_000, 100_000_000), (1_000_000, 10_000_000)


def counts(n_texts: int) -> Any:
    """Made-up counts as blocks on the card."""
    import cupy

    from coterie.engines import Block
    from coterie.engines.device import DeviceRows, Uploads
    from coterie.engines.gpu import DeviceBlocks

    random, uploads, blocks = cupy.random.RandomState(0), Uploads(), []
    for start in range(0, n_texts, ROWS):
        n = min(ROWS, n_texts - start)
        terms = cupy.minimum(TERMS ** random.random_sample(n * A_TEXT) - 1.0, TERMS - 1).astype(np.int32)
        starts = cupy.arange(0, n * A_TEXT + 1, A_TEXT, dtype=np.int32)
        ones = cupy.ones(n * A_TEXT, dtype=np.float32)
        rows: Any = DeviceRows.from_arrays(starts, terms, ones, (n, TERMS), uploads)
        blocks.append(Block(rows, cupy.ones(n, dtype=np.float32), start))
    return DeviceBlocks(blocks, uploads)


def on_host(card: Any) -> Any:
    """The same counts in the memory of the processor, in blocks as a fit has them."""
    from scipy.sparse import vstack

    from coterie.engines import as_engine

    return as_engine(vstack([block.X.host() for block in card.blocks], format="csr"))


def seconds(function: Any, rounds: int = ROUNDS) -> float:
    """The median of a few rounds after one that is not counted; the card has finished."""
    import cupy

    took = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        function()
        cupy.cuda.Device().synchronize()
        took.append(time.perf_counter() - start)
    return median(took[1:])


def measured(rows: Any, iterations: int) -> dict[str, Any]:
    """A pass for vectors, a pass of NMF, and a fit."""
    from functools import partial

    from coterie import weights as term_weights
    from coterie.factor import nmf
    from coterie.linalg.svd import _gram_product

    Q = np.random.RandomState(0).standard_normal((TERMS, TOPICS + 10))
    weighted = term_weights.weighted_rows(rows, term_weights.ncut(rows), "ncut")
    solution = np.abs(Q[:, :TOPICS]) / TOPICS
    outcome: dict[str, Any] = {
        "vectors": seconds(partial(weighted.sum, partial(_gram_product, Q=Q))),
        "pass": seconds(partial(weighted.sum, partial(nmf._clipped_sums, solution=solution))),
    }
    del weighted
    model = nmf.NMF(TOPICS, l2=0.01, max_iter=iterations, tol=0.0)
    start = time.perf_counter()
    model.fit(rows)
    outcome |= {
        "fit": time.perf_counter() - start,
        "iterations": model.n_iter_,
        "objective": model.objective_[-1],
    }
    return outcome


def run(path: Path, sizes: tuple[int, ...], only: str | None) -> None:
    """Measure, and write what was measured after each size; what was not asked for stays as it is."""
    import cupy

    from coterie.engines.gpu import GpuEngine

    card = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    outcome: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {"sizes": {}}
    outcome |= {"card": card, "cores": os.cpu_count(), "cupy": cupy.__version__}
    path.parent.mkdir(parents=True, exist_ok=True)
    for n_texts in sizes:
        rows = counts(n_texts)
        size = outcome["sizes"].setdefault(str(n_texts), {})
        if only != "processor":
            size |= {"card": measured(rows, ITERATIONS)}
            size |= {"peak": cupy.get_default_memory_pool().total_bytes()}
        if n_texts in ON_PROCESSOR:
            host = on_host(rows)
            if only != "processor":
                size |= {"upload": seconds(lambda: GpuEngine(host).accelerated(), 1)}  # noqa: B023
            if only != "card":
                size |= {"processor": measured(host, ITERATIONS if n_texts == ON_PROCESSOR[0] else 10)}
        del rows
        cupy.get_default_memory_pool().free_all_blocks()
        path.write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
        print(n_texts, json.dumps(size), flush=True)


def page(path: Path) -> None:
    """Put what was measured into docs/gpu.md."""
    outcome = json.loads(path.read_text("utf-8"))
    rows, sizes = [], {int(texts): size for texts, size in outcome["sizes"].items()}
    for texts, size in sizes.items():
        for name, where in (("card", "card"), ("processor", f"{outcome['cores']} cores")):
            if (one := size.get(name)) is None:
                continue
            fit = f"{one['fit']:.1f}" if one["iterations"] == ITERATIONS else f"({one['fit']:.0f})"
            cells = [
                f"{texts // 1_000_000} million",
                where,
                f"{one['vectors']:.3f}",
                f"{one['pass']:.3f}",
                fit,
            ]
            rows.append("| " + " | ".join(cells) + " |")
    largest = max(sizes)
    both = max(texts for texts in sizes if "processor" in sizes[texts])
    one, first = sizes[both], sizes[min(sizes)]
    text = f"""## Measured

{outcome["card"]} beside the {outcome["cores"]} cores of the same machine, CuPy {outcome["cupy"]}; made-up counts with {A_TEXT} words a text from {TERMS:,} terms,
{TOPICS} topics. Seconds: a pass for vectors (products with {TOPICS + 10} columns and back), a pass of `NMF` with Ncut weights, and a whole fit of `NMF` with
{ITERATIONS} iterations, from counts in memory to the topics of all texts (in brackets: 10 iterations).

| texts | where | pass for vectors | pass of NMF | fit |
|---|---|--:|--:|--:|
{chr(10).join(rows)}

At {both // 1_000_000} million texts, a pass of `NMF` takes {one["processor"]["pass"] / one["card"]["pass"]:.0f} times as long on the processor; at {min(sizes) // 1_000_000} million, a whole fit takes
{first["processor"]["fit"] / first["card"]["fit"]:.0f} times as long, and its objective differs by {abs(first["card"]["objective"] / first["processor"]["objective"] - 1):.0e} of its size. Copying {both // 1_000_000} million texts to the card and
sorting their words takes {one["upload"]:.1f} s, once. At {largest // 1_000_000} million texts, {sizes[largest]["peak"] / 1e9:.0f} GB of the card were in use. The kernels had been compiled before; their first use on a machine
takes some seconds more. Reading and tokenising texts are not included: see [benchmarks](benchmarks.md)."""
    head, rest = PAGE.read_text("utf-8").split(MARKS[0])
    PAGE.write_text(f"{head}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["run", "page"])
    parser.add_argument("path", type=Path, nargs="?", default=OUTCOMES)
    parser.add_argument("--only", choices=["card", "processor"])
    parser.add_argument("--texts", type=int, nargs="*", default=ON_CARD)
    given = parser.parse_args()
    if given.command == "run":
        run(given.path, tuple(given.texts), given.only)
    else:
        page(given.path)


if __name__ == "__main__":
    main()
