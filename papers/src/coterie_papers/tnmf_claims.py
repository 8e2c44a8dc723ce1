"""What the TNMF paper concluded, held against the results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.bench.results import Results
from coterie_papers.page import Page

METHODS = ("lda", "nmf-e", "nmf-i", "gnmf", "symnmf", "tnmf-e", "tnmf-i")
OURS = ("tnmf-e", "tnmf-i")
BASELINES = tuple(method for method in METHODS if method not in OURS)
TITLES, PREPARED_TWEETS = "titles", "tweet-10"
MEASURES = {"purity": "purity", "nmi": "NMI", "ari": "ARI"}

# What the paper says: density by texts and by company
PAPER_DENSITY = (0.0415, 0.8835)

# What we call the same: the paper has words where these are numbers
MOST = 0.5
ALIKE = 0.02
SAME_SIZE = 1.25
SPARSE, DENSE = 0.1, 0.5


def labelled(results: Results) -> list[str]:
    """The collections that are clustered: the paper's Title data, then what stands for its Question data."""
    names = results.distinct("collection", "tnmf-topics")
    return [TITLES, *(name for name in names if name != TITLES)]


class Levels:
    """Means over runs of one collection, by measure, method and number of topics."""

    def __init__(self, results: Results, collection: str):
        self.collection = collection
        self.sizes = sorted(results.distinct("k", "tnmf-topics", collection=collection))
        values = (*MEASURES, "svm", "coherence", "common")
        self._means = {
            (value, method, k): results.mean(value, "tnmf-topics", collection=collection, method=method, k=k)
            for value in values
            for method in METHODS
            for k in self.sizes
        }

    def at(self, value: str, method: str, k: int) -> float:
        """The mean of a method with so many topics."""
        return self._means[value, method, k]

    def differences(self, values: Iterable[str], method: str, others: Sequence[str]) -> list[float]:
        """How far a method is above the best of the others, for each measure and number of topics."""
        return [
            self.at(value, method, k) - max(self.at(value, other, k) for other in others)
            for value in values
            for k in self.sizes
        ]

    def lead(self, value: str, method: str, others: Sequence[str]) -> float:
        """How far a method is above the best of the others, on average over numbers of topics."""
        return _mean(self.differences([value], method, others))


def claims(results: Results, page: Page) -> None:
    """Write all claims."""
    page.text("In the table below the paper has words where bounds stand in brackets: the bounds are ours.")
    titles, questions = (Levels(results, name) for name in labelled(results))
    _of_words(results, page)
    _of_density(results, page)
    _of_clusters(titles, questions, page)
    _of_baselines((titles, questions), page)
    _of_overfitting((titles, questions), page)
    _of_classification(titles, questions, page)
    _of_topics((titles, questions), page)


def _of_words(results: Results, page: Page) -> None:
    (grown,) = results.values("tnmf-growth")
    found = grown.values
    last = found["texts"].index(found["fixed"])
    first = max(i for i, n in enumerate(found["texts"]) if n <= found["fixed"] / 10)
    span = f"from {found['texts'][first]:,} to {found['texts'][last]:,} texts"
    growth = {name: found[name][last] / max(found[name][first], 1) for name in ("all", "enough", "seen")}
    texts = found["texts"][last] / found["texts"][first]
    page.claim(
        "the vocabulary grows more slowly than the collection",
        f"{span} of {grown.trial.collection}, {texts:.1f} times as many: terms {growth['all']:.2f} times, "
        f"those held often enough {growth['enough']:.2f} times, settled ones {growth['seen']:.2f} times",
        max(growth.values()) < texts,
    )
    page.claim(
        "from 10,000 to 100,000 texts the vocabulary without rare terms stays almost the same",
        f"{span}: {growth['seen']:.2f} times if rare terms are settled first, {growth['enough']:.2f} times "
        f"if they are told by the texts so far (no more than {SAME_SIZE} would be almost the same)",
        growth["seen"] <= SAME_SIZE or growth["enough"] <= SAME_SIZE,
    )
    prepared = {PREPARED_TWEETS, *labelled(results)}
    raw = {
        outcome.trial.collection: outcome.values["rare"]
        for outcome in results.values("tnmf-statistics")
        if outcome.trial.collection not in prepared
    }
    page.claim(
        "a large part of the terms occur in fewer than 10 texts",
        ", ".join(f"{name} {share:.0%}" for name, share in raw.items()),
        min(raw.values()) > MOST,
    )
    rare = results.one("tnmf-statistics", collection=TITLES)["rare"]
    page.claim(
        "terms that fewer than 10 texts hold were removed from the Title data",
        f"{rare:.0%} of the terms of the published set are held by fewer than 10 texts",
        rare == 0,
    )


def _of_density(results: Results, page: Page) -> None:
    found = {outcome.trial.collection: outcome.values for outcome in results.values("tnmf-density")}
    said = PAPER_DENSITY[1] / PAPER_DENSITY[0]
    page.claim(
        f"terms are correlated much more densely by company than by texts: {said:.0f} times on tweets",
        ", ".join(f"{name} {v['by_company'] / v['by_texts']:.0f} times" for name, v in found.items())
        + f" (at least half the paper's ratio, {said / 2:.1f} times, would be much)",
        all(2 * v["by_company"] >= said * v["by_texts"] for v in found.values()),
    )
    page.claim(
        f"by texts correlation is sparse, {PAPER_DENSITY[0]} on tweets, by company dense, {PAPER_DENSITY[1]}",
        ", ".join(f"{name} {v['by_texts']:.4f} and {v['by_company']:.4f}" for name, v in found.items())
        + f" (below {SPARSE} would be sparse, above {DENSE} dense)",
        all(v["by_texts"] < SPARSE and v["by_company"] > DENSE for v in found.values()),
    )


def _of_clusters(titles: Levels, questions: Levels, page: Page) -> None:
    for levels, said in ((titles, "Title"), (questions, "Question")):
        for method in OURS:
            found = levels.differences(MEASURES, method, BASELINES)
            page.claim(
                f"{said}: {_label(method)} is above all baselines in purity, NMI and ARI, at every K",
                f"{levels.collection}: above in {_count(found)} cases; NMI differs from the best baseline by "
                f"{levels.lead('nmi', method, BASELINES):+.3f} on average",
                min(found) > 0,
            )
    leads = {
        levels: max(levels.lead("nmi", method, BASELINES) for method in OURS)
        for levels in (titles, questions)
    }
    page.claim(
        "the improvement by TNMF is greater on Question than on Title",
        "NMI of the better TNMF against the best baseline, on average over K: "
        + ", ".join(f"{levels.collection} {lead:+.3f}" for levels, lead in leads.items()),
        leads[questions] > leads[titles] and leads[questions] > 0,
    )


def _of_baselines(both: Sequence[Levels], page: Page) -> None:
    _compared(both, page, "NMF_E is slightly worse than LDA in most cases", "nmf-e", "lda", below=True)
    for other in ("gnmf", "symnmf"):
        said = f"NMF_E is comparable with {_label(other)}, or better"
        _compared(both, page, said, "nmf-e", other, below=False)
    others = [method for method in METHODS if method != "nmf-i"]
    below = [
        min(levels.at(value, other, k) for other in others) - levels.at(value, "nmf-i", k)
        for levels in both
        for value in MEASURES
        for k in levels.sizes
    ]
    page.claim(
        "NMF_I performs very badly",
        f"the lowest of all seven in {_count(below)} cases; below the next by {_mean(below):.3f} on average",
        _share(below) > MOST,
    )


def _of_overfitting(both: Sequence[Levels], page: Page) -> None:
    steady = ("symnmf", *OURS)
    for levels, said in zip(both, ("Title", "Question"), strict=True):
        first, last = levels.sizes[0], levels.sizes[-1]
        fall = {m: levels.at("nmi", m, first) - levels.at("nmi", m, last) for m in METHODS}
        page.claim(
            f"{said}: SymNMF and TNMF suffer less from many topics than the others",
            f"{levels.collection}: NMI falls from K = {first} to {last} by "
            + ", ".join(f"{fall[m]:.3f} ({_label(m)})" for m in METHODS),
            max(fall[m] for m in steady) < min(fall[m] for m in METHODS if m not in steady),
        )


def _compared(both: Sequence[Levels], page: Page, said: str, method: str, other: str, *, below: bool) -> None:
    """A claim that a method is below another in most cases, or else that it is not clearly below."""
    parts = {levels.collection: levels.differences(MEASURES, method, [other]) for levels in both}
    every = [d for found in parts.values() for d in found]
    counted = [-d for d in every] if below else [d + ALIKE for d in every]
    page.claim(
        said,
        ("lower" if below else f"higher, or lower by less than {ALIKE},")
        + f" in {_count(counted)} cases; on average by "
        + ", ".join(f"{_mean(found):+.3f} on {name}" for name, found in parts.items()),
        _share(counted) > MOST,
    )


def _of_classification(titles: Levels, questions: Levels, page: Page) -> None:
    for levels, said in ((titles, "Title"), (questions, "Question")):
        found = levels.differences(["svm"], "tnmf-e", BASELINES)
        page.claim(
            f"{said}: a classifier on TNMF_E is more accurate than on any baseline",
            f"{levels.collection}: at {_count(found)} K; by {_mean(found):+.3f} on average",
            min(found) > 0,
        )
    below = [d for levels in (titles, questions) for d in levels.differences(["svm"], "tnmf-e", ["tnmf-i"])]
    page.claim(
        "a classifier on TNMF_I is less accurate than on TNMF_E",
        f"in {_count(below)} cases; by {_mean(below):.3f} on average",
        min(below) > 0,
    )
    found = questions.differences(["svm"], "tnmf-i", BASELINES)
    page.claim(
        "Question: a classifier on TNMF_I is still more accurate than on any baseline",
        f"{questions.collection}: at {_count(found)} K; by {_mean(found):+.3f} on average",
        min(found) > 0,
    )
    found = [
        titles.at("svm", "tnmf-i", k) - min(titles.at("svm", other, k) for other in BASELINES)
        for k in titles.sizes
    ]
    worst = [d + ALIKE for d in titles.differences(["svm"], "tnmf-i", BASELINES)]
    page.claim(
        "Title: a classifier on TNMF_I is comparable with those on the baselines",
        f"{titles.collection}: above the worst baseline at {_count(found)} K; no more than {ALIKE} below the "
        f"best at {_count(worst)}",
        min(found) > 0,
    )
    for other in ("gnmf", "symnmf"):
        here, there = (levels.differences(["svm"], other, ["nmf-e"]) for levels in (titles, questions))
        page.claim(
            f"a classifier on {_label(other)} does not gain over NMF_E on Title, and loses on Question",
            f"{_mean(here):+.3f} on {titles.collection}, {_mean(there):+.3f} on "
            f"{questions.collection}, on average over K",
            sum(here) <= 0 and sum(there) < 0,
        )


def _of_topics(both: Sequence[Levels], page: Page) -> None:
    """The paper's remarks on its table of words; SymNMF is not in it."""
    read = [method for method in METHODS if method != "symnmf"]
    told = {}
    for value, digits in (("coherence", 3), ("common", 4)):
        told[value] = "; ".join(
            f"{levels.collection}: "
            + ", ".join(f"{_label(m)} {levels.at(value, m, levels.sizes[0]):.{digits}f}" for m in read)
            for levels in both
        )

    def first(value: str, method: str, largest: bool) -> bool:
        pick = max if largest else min
        return all(
            pick(read, key=lambda m: levels.at(value, m, levels.sizes[0])) == method for levels in both
        )

    page.claim(
        "topics of LDA give high weights to common terms",
        f"share of texts that hold a top word, {told['common']}",
        first("common", "lda", largest=True),
    )
    page.claim(
        "NMF_I fails to find meaningful topics",
        f"coherence of top words, {told['coherence']}",
        first("coherence", "nmf-i", largest=False),
    )
    page.claim(
        "TNMF has the most readable topics",
        "the same coherences",
        all(
            levels.at("coherence", ours, levels.sizes[0]) > levels.at("coherence", other, levels.sizes[0])
            for levels in both
            for ours in OURS
            for other in read
            if other not in OURS
        ),
    )
    gap = max(
        abs(
            levels.at("coherence", "gnmf", levels.sizes[0]) - levels.at("coherence", "nmf-e", levels.sizes[0])
        )
        for levels in both
    )
    page.claim(
        "topics of GNMF resemble those of NMF_E",
        f"the same coherences; they differ by up to {gap:.3f} (no more than {ALIKE} would be alike)",
        gap <= ALIKE,
    )


def _label(method: str) -> str:
    return CONTENDERS[method].label


def _mean(found: Sequence[float]) -> float:
    return sum(found) / len(found)


def _share(found: Sequence[float]) -> float:
    return sum(d > 0 for d in found) / len(found)


def _count(found: Sequence[float]) -> str:
    return f"{sum(d > 0 for d in found)} of {len(found)}"
