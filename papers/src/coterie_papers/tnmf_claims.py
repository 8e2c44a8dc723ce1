"""What the TNMF paper printed and concluded, held against the results.

Where the paper's own data is on this machine, it decides; data that stands in is named in the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.bench.results import Results
from coterie_papers.page import Page
from coterie_papers.verdicts import TIE, Judgement, Verdict, above, alike, on_stand_in

#: The methods as the paper has them; LDA and GNMF besides as we tuned them with the labels.
METHODS = ("lda-sampled", "nmf-e", "nmf-i", "gnmf-weak", "symnmf", "tnmf-e", "tnmf-i")
TUNED = ("lda", "gnmf")
OURS = ("tnmf-e", "tnmf-i")
#: Those whose NMI on the paper's own data must be the paper's.
HEADLINE = ("tnmf-e", "tnmf-i", "nmf-e", "lda-sampled")
TITLES, PREPARED_TWEETS = "titles", "tweet-10"
#: Questions of the paper's own source, for the small version and the full one; they must be fetched.
OWN_QUESTIONS = {True: "questions-2k", False: "questions"}
#: The numbers that claims are judged by. Its printed NMI has the arithmetic mean of both entropies; what its
#: figures show is NMI by the geometric mean, as in the work that it cites for it.
MEASURES = {"purity": "purity", "nmi_geometric": "NMI, geometric mean", "ari": "ARI"}
ALL_MEASURES = {**MEASURES, "nmi": "NMI, arithmetic mean"}

# What the paper says: density by texts and by co-occurrence
PAPER_DENSITY = (0.0415, 0.8835)
#: Bars of its Figures 5 and 6, as far as they were read off the vector graphics of the author's PDF.
PAPER_SIZES = (20, 40, 60, 80, 100)
PAPER_TITLE: dict[tuple[str, str], dict[int, float]] = {
    ("nmi_geometric", method): dict(zip(PAPER_SIZES, levels, strict=True))
    for method, levels in {
        "nmf-e": (0.386, 0.395, 0.394, 0.394, 0.400),
        "tnmf-e": (0.467, 0.447, 0.439, 0.430, 0.425),
        "tnmf-i": (0.480, 0.460, 0.450, 0.447, 0.448),
        "lda-sampled": (0.433, 0.417, 0.409, 0.404, 0.395),
        "gnmf-weak": (0.367, 0.382, 0.397, 0.405, 0.411),
    }.items()
} | {
    ("ari", "lda-sampled"): {20: 0.235, 60: 0.107, 100: 0.079},
    ("ari", "gnmf-weak"): {20: 0.187, 60: 0.112, 100: 0.087},
}
PAPER_QUESTION: dict[tuple[str, str], dict[int, float]] = {
    ("nmi_geometric", method): dict(zip(PAPER_SIZES, levels, strict=True))
    for method, levels in {
        "lda-sampled": (0.514, 0.528, 0.518, 0.510, 0.510),
        "nmf-e": (0.369, 0.397, 0.389, 0.374, 0.369),
        "gnmf-weak": (0.289, 0.327, 0.340, 0.342, 0.347),
        "tnmf-e": (0.587, 0.591, 0.578, 0.569, 0.557),
        "tnmf-i": (0.558, 0.599, 0.587, 0.577, 0.567),
    }.items()
}

# What we call the same: the paper has words where these are numbers
MOST = 0.5
ALIKE = 0.02
SAME_SIZE = 1.25

WORDS, TITLE, QUESTION = "On terms and their correlation", "On clusters of Title", "On clusters of Question"
CLASSIFIED, TOPICS = "On classification", "On topics"


def labelled(results: Results) -> list[str]:
    """The collections that are clustered: the paper's Title data, then what stands for its Question data."""
    names = results.distinct("collection", "tnmf-topics")
    return [TITLES, *(name for name in names if name not in (TITLES, PREPARED_TWEETS))]


class Levels:
    """Means over runs of one collection, by measure, method and number of topics."""

    def __init__(self, results: Results, collection: str):
        self.collection = collection
        self.sizes = sorted(results.distinct("k", "tnmf-topics", collection=collection))
        found = results.distinct("method", "tnmf-topics", collection=collection)
        self.methods = [method for method in METHODS if method in found]
        self.baselines = [method for method in self.methods if method not in OURS]
        values = (*ALL_MEASURES, "svm", "coherence", "common")
        self._means = {
            (value, method, k): results.mean(value, "tnmf-topics", collection=collection, method=method, k=k)
            for value in values
            for method in found
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
        return fmean(self.differences([value], method, others))


def distances(results: Results) -> dict[str, dict[int, float]]:
    """How far NMI on the paper's own data is from what the paper printed, by method and number of topics."""
    return {
        method: {
            k: results.mean("nmi_geometric", "tnmf-topics", collection=TITLES, method=method, k=k) - said
            for k, said in PAPER_TITLE["nmi_geometric", method].items()
            if k in results.distinct("k", "tnmf-topics", collection=TITLES)
        }
        for method in HEADLINE
    }


def headline(results: Results) -> str:
    """How near the paper's own data comes to the paper's own figure; nothing if no K is the paper's."""
    found = {(m, k): d for m, of in distances(results).items() for k, d in of.items()}
    if not found:
        return ""
    (method, k), furthest = max(found.items(), key=lambda item: abs(item[1]))
    return (
        f"On the paper's own Titles, NMI of {', '.join(_label(m) for m in HEADLINE)} is within "
        f"{abs(furthest):.3f} of its Figure 5 at every K (furthest: {_label(method)} at K = {k})"
    )


def claims(results: Results, page: Page) -> None:
    """Write all claims; questions of the paper's own source decide alone where they are on this machine."""
    titles, *others = (Levels(results, name) for name in labelled(results))
    questions = [q for q in others if q.collection in OWN_QUESTIONS.values()] or others
    _of_words(results, page)
    _of_density(results, page)
    _of_titles(titles, page)
    _of_questions(titles, questions, page)
    _of_classification(titles, questions, page)
    _of_topics([Levels(results, PREPARED_TWEETS), titles, *questions], page)


# --- terms


def _of_words(results: Results, page: Page) -> None:
    (grown,) = results.values("tnmf-growth")
    found = grown.values
    last = found["texts"].index(found["fixed"])
    first = max(i for i, n in enumerate(found["texts"]) if n <= found["fixed"] / 10)
    span = f"from {found['texts'][first]:,} to {found['texts'][last]:,} texts"
    growth = {name: found[name][last] / max(found[name][first], 1) for name in ("all", "enough", "seen")}
    texts = found["texts"][last] / found["texts"][first]
    page.claim(
        WORDS,
        "the vocabulary grows more slowly than the collection",
        f"{span} of {grown.trial.collection}, {texts:.1f} times as many: terms {growth['all']:.2f} times, "
        f"those held often enough {growth['enough']:.2f} times, settled ones {growth['seen']:.2f} times",
        Verdict.of(max(growth.values()) < texts),
        f"{max(growth.values()):.1f} times at {texts:.0f} times the texts",
    )
    slowest = min(growth["seen"], growth["enough"])
    page.claim(
        WORDS,
        "from 10,000 to 100,000 texts the vocabulary without rare terms stays almost the same",
        f"{span}: {growth['seen']:.2f} times if rare terms are settled first, {growth['enough']:.2f} times "
        "if they are counted among the texts so far",
        Verdict.of(slowest <= SAME_SIZE),
        f"{slowest:.2f} times, allowed {SAME_SIZE:g}",
    )
    prepared = {PREPARED_TWEETS, *labelled(results)}
    raw = {
        outcome.trial.collection: outcome.values["rare"]
        for outcome in results.values("tnmf-statistics")
        if outcome.trial.collection not in prepared
    }
    page.claim(
        WORDS,
        "a large part of the terms occur in fewer than 10 texts",
        ", ".join(f"{name} {share:.0%}" for name, share in raw.items()),
        Verdict.of(min(raw.values()) > MOST),
        f"{min(raw.values()):.0%} or more",
    )


def _of_density(results: Results, page: Page) -> None:
    found = {outcome.trial.collection: outcome.values for outcome in results.values("tnmf-density")}
    said = PAPER_DENSITY[1] / PAPER_DENSITY[0]
    times = {name: values["by_company"] / values["by_texts"] for name, values in found.items()}
    much = sum(2 * ratio >= said for ratio in times.values())
    verdict = Verdict.of(much == len(times))
    page.claim(
        WORDS,
        f"terms are correlated much more densely by co-occurrence, {PAPER_DENSITY[1]} of pairs, than by "
        f"texts, {PAPER_DENSITY[0]}: {said:.0f} times on tweets",
        ", ".join(
            f"{name} {v['by_company']:.3f} and {v['by_texts']:.3f}, {times[name]:.0f} times"
            for name, v in found.items()
        ),
        Verdict.IN_PART if much and verdict is Verdict.FAILS else verdict,
        f"half the paper's ratio or more on {much} of {len(times)}",
    )


# --- clusters


def _of_titles(titles: Levels, page: Page) -> None:
    for method in OURS:
        tuned = titles.differences(MEASURES, method, [*titles.baselines, *TUNED])
        lead = titles.lead("nmi_geometric", method, titles.baselines)
        page.claim(
            TITLE,
            f"{_label(method)} is above all baselines in purity, NMI and ARI, at every K",
            f"NMI differs from the best baseline by {lead:+.3f} on average. With LDA and GNMF as we tuned "
            f"them among the baselines: {above(tuned).reason}",
            *above(titles.differences(MEASURES, method, titles.baselines)),
        )
    leads = {
        value: fmean(titles.lead(value, method, titles.baselines) for method in OURS) for value in MEASURES
    }
    page.claim(
        TITLE,
        "especially in NMI and ARI",
        "lead of both over the best baseline, on average over K: "
        + ", ".join(f"{name} {leads[value]:+.3f}" for value, name in MEASURES.items()),
        *above([leads["nmi_geometric"] - leads["purity"], leads["ari"] - leads["purity"]]),
    )
    below = [-d for d in titles.differences(MEASURES, "nmf-e", ["lda-sampled"])]
    page.claim(
        TITLE,
        "NMF_E is slightly worse than LDA in most cases",
        f"by {fmean(below):.3f} on average over K and measures (worse in more than half would be most)",
        *_in_most(below),
    )
    for other in ("gnmf-weak", "symnmf"):
        found = titles.differences(MEASURES, "nmf-e", [other])
        page.claim(
            TITLE,
            f"NMF_E is comparable with {_label(other)}, or better",
            f"by {fmean(found):+.3f} on average over K and measures",
            *_not_below(found),
        )
    others = [m for m in titles.methods if m != "nmf-i"]
    page.claim(
        TITLE,
        "NMF_I performs very badly",
        "against the lowest of all others, at each K and measure",
        *above([
            min(titles.at(value, other, k) for other in others) - titles.at(value, "nmf-i", k)
            for value in MEASURES
            for k in titles.sizes
        ]),
    )  # fmt: skip
    page.claim(
        TITLE,
        "SymNMF and TNMF are not sensitive to over-fitting, without a penalty",
        "against NMF_I, which has none either: the lowest of SymNMF, TNMF_E and TNMF_I at each K and measure",
        *above([
            min(titles.at(value, m, k) for m in ("symnmf", *OURS)) - titles.at(value, "nmf-i", k)
            for value in MEASURES
            for k in titles.sizes
        ]),
    )  # fmt: skip


def _of_questions(titles: Levels, questions: Sequence[Levels], page: Page) -> None:
    for method in OURS:
        measured = "; ".join(
            f"{q.collection}: NMI differs from the best baseline by "
            f"{q.lead('nmi_geometric', method, q.baselines):+.3f} on average; with LDA and GNMF as we tuned "
            f"them, {above(q.differences(MEASURES, method, [*q.baselines, *TUNED])).reason}"
            for q in questions
        )
        found = [d for q in questions for d in q.differences(MEASURES, method, q.baselines)]
        page.claim(
            QUESTION,
            f"{_label(method)} is above all baselines in purity, NMI and ARI, at every K",
            measured,
            *_judged(above(found), questions),
        )
    leads = {
        levels.collection: max(levels.lead("nmi_geometric", method, levels.baselines) for method in OURS)
        for levels in (titles, *questions)
    }
    page.claim(
        QUESTION,
        "the improvement by TNMF is greater on Question than on Title",
        "NMI of the better TNMF against the best baseline, on average over K: "
        + ", ".join(f"{name} {lead:+.3f}" for name, lead in leads.items()),
        *_judged(above([leads[q.collection] - leads[TITLES] for q in questions]), questions),
    )
    page.claim(
        QUESTION,
        "TNMF is not sensitive to over-fitting, without a penalty",
        "against NMF_I, which has none either: the lower of TNMF_E and TNMF_I at each K and measure",
        *_judged(
            above([
                min(q.at(value, m, k) for m in OURS) - q.at(value, "nmf-i", k)
                for q in questions
                for value in MEASURES
                for k in q.sizes
            ]),
            questions,
        ),
    )  # fmt: skip


def _in_most(differences: Sequence[float]) -> Judgement:
    """Of a claim that something is so in most cases: in more than half of them, by more than a tie."""
    more = sum(d > TIE for d in differences)
    return Judgement(
        Verdict.of(2 * more > len(differences)), f"{more} of {len(differences)}, ties not counted"
    )


def _not_below(differences: Sequence[float]) -> Judgement:
    """Of a claim to be comparable or better: no more than `ALIKE` below."""
    return alike([min(d, 0.0) for d in differences], ALIKE)


# --- classification


def _of_classification(titles: Levels, questions: Sequence[Levels], page: Page) -> None:

    def measured(method: str, levels: Levels, others: Sequence[str]) -> str:
        return f"{levels.collection} {levels.lead('svm', method, others):+.3f}"

    page.claim(
        CLASSIFIED,
        "Title: a classifier on TNMF_E is more accurate than on any baseline",
        f"against the best at each K, on average: {measured('tnmf-e', titles, titles.baselines)}",
        *above(titles.differences(["svm"], "tnmf-e", titles.baselines)),
    )
    for method in OURS:
        found = [d for q in questions for d in q.differences(["svm"], method, q.baselines)]
        page.claim(
            CLASSIFIED,
            f"Question: a classifier on {_label(method)} is more accurate than on any baseline",
            "against the best at each K, on average: "
            + ", ".join(measured(method, q, q.baselines) for q in questions),
            *_judged(above(found), questions),
        )
    page.claim(
        CLASSIFIED,
        "a classifier on TNMF_I is less accurate than on TNMF_E",
        "TNMF_E over TNMF_I, on average over K: "
        + ", ".join(measured("tnmf-e", levels, ["tnmf-i"]) for levels in (titles, *questions))
        + "; judged by Title",
        *above(titles.differences(["svm"], "tnmf-e", ["tnmf-i"])),
    )
    found = [
        titles.at("svm", "tnmf-i", k) - min(titles.at("svm", other, k) for other in titles.baselines)
        for k in titles.sizes
    ]
    page.claim(
        CLASSIFIED,
        "Title: a classifier on TNMF_I is comparable with those on the baselines",
        f"against the worst at each K, on average: {fmean(found):+.3f}; against the best: "
        f"{measured('tnmf-i', titles, titles.baselines)}. Comparable is above the worst",
        *above(found, tie=0.0),
    )
    for other in ("gnmf-weak", "symnmf"):
        gain = titles.lead("svm", other, ["nmf-e"])
        page.claim(
            CLASSIFIED,
            f"Title: a classifier on {_label(other)} does not gain over NMF_E",
            f"{gain:+.3f} on average over K",
            *_no_more(gain),
        )
    losses = [q.lead("svm", "gnmf-weak", ["nmf-e"]) for q in questions]
    page.claim(
        CLASSIFIED,
        "Question: a classifier on GNMF loses against NMF_E",
        "on average over K: " + ", ".join(measured("gnmf-weak", q, ["nmf-e"]) for q in questions),
        *_judged(above([-loss for loss in losses]), questions),
    )


def _no_more(gain: float) -> Judgement:
    """Of a claim that nothing is gained on average: a gain within a tie is a tie."""
    if gain <= 0:
        return Judgement(Verdict.HOLDS, "no gain")
    return Judgement(Verdict.IN_PART, "a tie") if gain <= TIE else Judgement(Verdict.FAILS, "a gain")


# --- topics


def _of_topics(every: Sequence[Levels], page: Page) -> None:
    """The paper's remarks on its table of words, which has no SymNMF; at the fewest topics."""
    read = [method for method in METHODS if method != "symnmf"]

    def level(levels: Levels, value: str, method: str) -> float:
        return levels.at(value, method, levels.sizes[0])

    def measured(value: str, digits: int) -> str:
        return "; ".join(
            f"{levels.collection}: "
            + ", ".join(f"{_label(m)} {level(levels, value, m):.{digits}f}" for m in read)
            for levels in every
        )

    def most(value: str, method: str, sign: float, tie: float) -> Judgement:
        """Whether a method has the largest value of all on each collection; sign −1 for the smallest."""
        return above(
            [
                sign * level(levels, value, method)
                - max(sign * level(levels, value, other) for other in read if other != method)
                for levels in every
            ],
            tie,
        )

    page.claim(
        TOPICS,
        "topics of LDA give high weights to common terms",
        f"share of texts that hold a top word, {measured('common', 4)}; above: the largest of all",
        *most("common", "lda-sampled", 1.0, tie=0.0),
    )
    page.claim(
        TOPICS,
        "NMF_I fails to find meaningful topics",
        f"coherence of top words, {measured('coherence', 3)}; above: the lowest of all",
        *most("coherence", "nmf-i", -1.0, TIE),
    )
    page.claim(
        TOPICS,
        "TNMF has the most readable topics",
        "the same coherences, TNMF against the best of the others",
        *above(
            [
                level(levels, "coherence", "tnmf-e")
                - max(level(levels, "coherence", other) for other in read if other not in OURS)
                for levels in every
            ]
        ),
    )
    page.claim(
        TOPICS,
        "topics of GNMF resemble those of NMF_E",
        "the same coherences",
        *alike([level(s, "coherence", "gnmf-weak") - level(s, "coherence", "nmf-e") for s in every], ALIKE),
    )


def _label(method: str) -> str:
    return CONTENDERS[method].label


def _judged(judged: Judgement, questions: Sequence[Levels]) -> Judgement:
    """A verdict on Question, which other data than the paper's own source cannot refute."""
    if all(levels.collection in OWN_QUESTIONS.values() for levels in questions):
        return judged
    return on_stand_in(judged, " and ".join(levels.collection for levels in questions))
