"""How often changes are found that were planted, and how often some are found where nothing changed.

    python benchmarks/changes.py [--files 1000]

Files of topics and dates are simulated, in which one topic doubles in the last period, or none does, and put
through `coterie.topics.changes`. Writes the tables of docs/reliability.md; takes about 15 minutes on one core.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl

from coterie.topics import changes as tested
from coterie_papers.bench.markdown import table

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
BEGIN, END = "<!-- written by benchmarks/changes.py -->", "<!-- end of changes -->"
#: The first day of every file, a Monday, and how numpy calls periods.
FIRST_DAY = np.datetime64("2024-01-01")
PERIODS = {"day": (1, "D"), "week": (7, "D"), "month": (1, "M")}
#: The topic that rises, and how often it must be found.
RISING, FOUND = 13, 0.95
SEED = 20_000


@dataclass(frozen=True)
class Setting:
    """What files are like. Topics are of one size, or the largest has so many times the texts of the smallest.

    `outages` is the number of topics that have them, the rising one last, `rate` how many a topic has in a period: each adds half to
    twice the texts that the topic has in a period, on one to three days. `wobble` is the standard deviation of
    shares from period to period, relative to the share, `weekdays` that of shares between days of the week.
    `rise` multiplies the share of the topic `RISING` in the last period.
    """

    texts: int = 1_000
    periods: int = 12
    every: str = "month"
    topics: int = 26
    sizes: float = 1.0
    last_days: int = 0
    outages: int = 0
    rate: float = 0.5
    wobble: float = 0.0
    weekdays: float = 0.0
    rise: float = 1.0


def simulated(setting: Setting, rng: np.random.Generator) -> tuple[np.ndarray, pl.Series]:
    """A file: the topic and the date of each text."""
    days, period = calendar(setting)
    share = setting.sizes ** -np.linspace(0, 1, setting.topics)
    share /= share.sum()
    shares = share * around_one(setting.wobble, (setting.periods, setting.topics), rng)[period]
    shares *= around_one(setting.weekdays, (7, setting.topics), rng)[np.arange(len(days)) % 7]
    shares[period == setting.periods - 1, RISING] *= setting.rise
    totals = rng.poisson(setting.texts / np.bincount(period)[period])
    counts = rng.multinomial(totals, shares / shares.sum(axis=1, keepdims=True))
    others = rng.permutation(np.delete(np.arange(setting.topics), RISING))
    for topic in np.append(others, RISING)[: setting.outages]:
        for _ in range(rng.poisson(setting.rate * setting.periods)):
            hit = rng.integers(len(days)) + np.arange(rng.integers(1, 4))
            size = rng.uniform(0.5, 2) * setting.texts * share[topic]
            hit = hit[hit < len(days)]
            counts[hit, topic] += rng.poisson(size / len(hit), len(hit))
    if setting.last_days:
        last = np.flatnonzero(period == setting.periods - 1)
        counts[last[setting.last_days :]] = 0
    day, topic = (np.repeat(at, counts.ravel()) for at in np.divmod(np.arange(counts.size), setting.topics))
    return topic, pl.Series(days[day].astype("datetime64[ms]")).cast(pl.Date)


def calendar(setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """The days of a file, and the number of the period of each."""
    step, name = PERIODS[setting.every]
    starts = FIRST_DAY.astype(f"datetime64[{name}]") + step * np.arange(setting.periods + 1)
    starts = starts.astype("datetime64[D]")
    days = np.arange(starts[0], starts[-1])
    return days, np.searchsorted(starts, days, side="right") - 1


def around_one(deviation: float, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Factors with a mean of 1."""
    return rng.gamma(deviation**-2, deviation**2, shape) if deviation else np.ones(shape)


def rate(setting: Setting, files: int) -> float:
    """The part of the files with an alarm, or in which the rise is found."""
    rng = np.random.default_rng(SEED)
    hits = 0
    for _ in range(files):
        topic, dates = simulated(setting, rng)
        found = tested.changes(topic, setting.topics, dates, setting.every)
        hits += found.trends[RISING] in ("grew", "new") if setting.rise > 1 else any(found.trends)
    return hits / files


def plain_rate(setting: Setting, files: int) -> float:
    """The same with a test that takes all texts as independent."""
    with patch.object(tested, "dispersion", lambda counts, tail: np.ones(len(counts))):
        return rate(setting, files)


QUIET = {
    "independent texts": Setting(),
    "200 texts a month, the largest topic 20 times the smallest": Setting(texts=200, sizes=20),
    "the last month ends after 10 days": Setting(last_days=10),
    "two months only": Setting(periods=2),
    "24 weeks": Setting(periods=24, every="week"),
    "24 days": Setting(periods=24, every="day"),
    "300 topics or classes, the largest 100 times the smallest": Setting(topics=300, sizes=100, texts=3_000),
    "outages in 6 topics, one every two months": Setting(outages=6),
    "outages in 6 topics, one in ten months": Setting(outages=6, rate=0.1),
    "outages in all topics": Setting(outages=26),
    "outages in 6 topics, three months only": Setting(outages=6, periods=3),
    "outages in 6 topics, 24 weeks": Setting(outages=6, periods=24, every="week"),
    "shares differ by 10 % from month to month": Setting(wobble=0.1),
    "shares differ by 30 % from month to month": Setting(wobble=0.3),
    "shares differ by 30 %, three months only": Setting(wobble=0.3, periods=3),
    "shares differ by 30 % from day to day, 24 days": Setting(wobble=0.3, periods=24, every="day"),
    "shares differ by 30 % between days of the week": Setting(weekdays=0.3),
    "the same, and the last month ends after 3 days": Setting(weekdays=0.3, last_days=3),
}
SIZES = (500, 750, 1_000, 1_250, 1_500, 2_000, 3_000, 5_000)
RISES = {
    "12 months": Setting(rise=2),
    "3 months": Setting(rise=2, periods=3),
    "2 months": Setting(rise=2, periods=2),
    "12 months, the last ends after 10 days": Setting(rise=2, last_days=10),
    "12 months, outages in 6 other topics": Setting(rise=2, outages=6),
    "12 months, outages in all topics": Setting(rise=2, outages=26),
    "12 months, shares differ by 10 % from month to month": Setting(rise=2, wobble=0.1),
    "24 weeks (texts per week)": Setting(rise=2, periods=24, every="week"),
}


def page(files: int) -> str:
    """The tables."""
    quiet = []
    for name, setting in QUIET.items():
        quiet.append([name, *(f"{100 * part(setting, files):.1f} %" for part in (rate, plain_rate))])
        print(*quiet[-1], sep=" · ", flush=True)
    rises = []
    for name, setting in RISES.items():
        found = {texts: rate(replace(setting, texts=texts), files) for texts in SIZES}
        enough = next((f"{texts:,}" for texts in SIZES if found[texts] >= FOUND), f"over {SIZES[-1]:,}")
        rises.append([name, *(f"{100 * found[texts]:.0f} %" for texts in SIZES), enough])
        print(*rises[-1], sep=" · ", flush=True)
    worst = max(float(row[1].split()[0]) for row in quiet)
    ordinary = rises[0][-1]
    return f"""
{files:,} simulated files per row, 26 topics of one size, 1,000 texts a month and 12 months unless a row says
otherwise. **False alarms**: files without a change in which some topic is marked. At most
{100 * tested.FALSE_ALARMS:.0f} % are meant to be; the worst row has {worst:.1f} %. The last column is what a test
would do that takes all texts as independent.

{table(["files without a change", "with a false alarm", "texts taken as independent"], quiet)}

**Found rises**: files in which one of 26 topics doubles in the last period, and is marked, by the number of texts
per period. From {ordinary} texts a month on ({int(ordinary.replace(",", "")) // 26} of the topic in an ordinary
month), a doubling is found in at least {100 * FOUND:.0f} % of files of 12 months.

{table(["files with a rise", *(f"{texts:,}" for texts in SIZES), f"{100 * FOUND:.0f} % from"], rises)}
"""


def main() -> None:
    """Simulate, and write the tables."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--files", type=int, default=1_000)
    text = page(asked.parse_args().files)
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + text + "\n" + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
