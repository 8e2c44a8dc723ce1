"""What the Ncut paper printed and concluded, held against the results."""

from __future__ import annotations

from typing import Any

from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.bench.results import Results
from coterie_papers.page import Page
from coterie_papers.verdicts import Judgement, Verdict, above, alike, on_stand_in

#: The methods of the paper, k-means as it may be meant in two ways.
KMEANS = ("kmeans-idf", "kmeans-idf-unit")
METHODS = (*KMEANS, "rlsi-idf", "rlsi-ncut", "nmf-01", "nmf-idf", "nmf-ncut")
MEASURES = {"purity": "purity", "nmi": "NMI", "ari": "ARI"}
LABELLED, TWEETS, RAW = "titles-01", "tweet-01", "tweet-all"
#: Tweets that the first author cleaned for another paper; they have no classes, and must be fetched.
TWEETS_OF_AUTHOR = "tweets-01"

# What the paper says
PAPER_DATA = {"Tweets": (4520, 2502, 8.5958, None), "Titles": (2630, 1403, 5.2684, 9)}
PAPER_TF_IS_1 = 0.96
PAPER_IDF_IS_HIGHEST = 0.65
PAPER_CLASSES = 9
#: The K of its Figure 3, and its bars, as far as they were read off the vector graphics of the author's PDF.
PAPER_SIZES = (3, 6, 9, 12, 15)
PAPER_SCORES: dict[tuple[str, str], tuple[float, ...]] = {
    ("nmi", "nmf-ncut"): (0.369, 0.444, 0.478, 0.497, 0.504),
    ("nmi", "rlsi-ncut"): (0.225, 0.310, 0.367, 0.380, 0.368),
    ("nmi", "kmeans-idf"): (0.251, 0.290, 0.266, 0.242, 0.238),
    ("nmi", "nmf-01"): (0.239, 0.257, 0.241, 0.289, 0.324),
    ("nmi", "nmf-idf"): (0.237, 0.263, 0.281, 0.298, 0.330),
    ("nmi", "rlsi-idf"): (0.198, 0.234, 0.243, 0.270, 0.287),
    ("purity", "nmf-ncut"): (0.395, 0.517, 0.595, 0.650, 0.687),
    ("ari", "nmf-ncut"): (0.183, 0.319, 0.363, 0.395, 0.412),
    ("ari", "kmeans-idf"): (0.103, 0.133, 0.156, 0.110, 0.098),
}

# What we call the same: the paper has words where these are numbers
MOSTLY = 0.5
SLIGHTLY = 0.05
BELL_SKEW, BELL_KURTOSIS = 0.5, 1.0
#: An equation between numbers of double precision holds up to this share.
EXACT = 1e-9

WEIGHTS, TOPICS, CLUSTERS, PENALTY = "On weights", "On topics", "On clusters", "On the penalty"


def headline(results: Results) -> str:
    """How near the paper's own method on its own data comes to its own figure."""
    said = PAPER_SCORES["nmi", "nmf-ncut"]
    found = {
        k: abs(results.mean("nmi", collection=LABELLED, method="nmf-ncut", k=k, l2=None) - level)
        for k, level in zip(PAPER_SIZES, said, strict=True)
        if k in results.distinct("k", "cluster", collection=LABELLED, l2=None)
    }
    return (
        f"On the paper's own Titles, NMI of NMF + Ncut is within {max(found.values()):.3f} of its Figure 3 "
        f"at K = {', '.join(map(str, found))}"
    )


def claims(results: Results, page: Page) -> None:
    """Write all claims."""
    _of_weights(results, page)
    _of_topics(results, page)
    _of_clusters(results, page)
    _of_penalty(results, page)


# --- weights


def _of_weights(results: Results, page: Page) -> None:
    raw = results.one("ncut-weights", collection=RAW)
    page.claim(
        WEIGHTS,
        f"about {PAPER_TF_IS_1:.0%} of tf values are 1, so tf says little",
        f"{raw['tf_is_1']:.1%} (no more than {SLIGHTLY:.0%} less would be about that)",
        *on_stand_in(
            Judgement(Verdict.of(raw["tf_is_1"] >= PAPER_TF_IS_1 - SLIGHTLY), f"{raw['tf_is_1']:.0%} are 1"),
            RAW,
        ),
    )
    share = raw["idf_is_highest"]
    page.claim(
        WEIGHTS,
        f"about {PAPER_IDF_IS_HIGHEST:.0%} of terms share one idf value, the highest",
        f"{share:.1%} share {raw['idf_highest']:.2f} (more than {MOSTLY:.0%} would be the same conclusion)",
        *on_stand_in(Judgement(Verdict.of(share > MOSTLY), f"{share:.0%} share one value"), RAW),
    )
    for name in (*tweets(results), LABELLED):
        found = results.one("ncut-weights", collection=name)
        flatter = above([found["ncut_flatness"] - found["idf_flatness"]])
        page.claim(
            WEIGHTS,
            f"Ncut weights are distributed much flatter than idf ({_data(name)})",
            f"flatness {found['ncut_flatness']:.3f} against {found['idf_flatness']:.3f}",
            *(flatter if name == LABELLED else on_stand_in(flatter, name)),
        )
        bell = Verdict.of(
            abs(found["ncut_skew"]) <= BELL_SKEW and abs(found["ncut_kurtosis"]) <= BELL_KURTOSIS
        )
        judged = Judgement(bell, f"allowed: {BELL_SKEW:g} and {BELL_KURTOSIS:g}")
        page.claim(
            WEIGHTS,
            f"the distribution of Ncut weights resembles a Gaussian ({_data(name)})",
            f"skewness {found['ncut_skew']:.2f}, excess kurtosis {found['ncut_kurtosis']:.2f}",
            *(judged if name == LABELLED else on_stand_in(judged, name)),
        )
    both = {name: results.one("ncut-weights", collection=name) for name in (LABELLED, TWEETS)}
    page.claim(
        WEIGHTS,
        "terms that Ncut ranks higher than idf say more about the topic than those it ranks lower",
        "share of the texts with a term that belong to one class, mean of the "
        f"{both[LABELLED]['judged']} terms that move up most and of those that move down most: "
        + "; ".join(f"{n} {found['share_up']:.0%}, {found['share_down']:.0%}" for n, found in both.items())
        + ". The paper shows six terms",
        *above([found["share_up"] - found["share_down"] for found in both.values()]),
    )
    checked = results.values("ncut-criterion")
    worst = max(outcome.values["gap"] for outcome in checked)
    page.claim(
        WEIGHTS,
        "NMF of D^(−1/2)X solves the Ncut problem of terms, relaxed (Theorem 1)",
        "‖Y‖² − K + 2 Ncut is what no V can lower ‖Y − UV‖² below, for the U of "
        f"{len(checked)} partitions of terms: both sides differ by no more than {worst:.0e} of ‖Y‖²",
        Verdict.of(worst <= EXACT),
        f"equal in {len(checked)} partitions",
    )


def tweets(results: Results) -> list[str]:
    """What stands in for the paper's Tweets data, as far as it is on this machine."""
    known = results.distinct("collection", "ncut-weights")
    return [name for name in (TWEETS, TWEETS_OF_AUTHOR) if name in known]


def _data(name: str) -> str:
    return {TWEETS: "Tweets", TWEETS_OF_AUTHOR: "Tweets", LABELLED: "Titles"}[name]


# --- topics


def _of_topics(results: Results, page: Page) -> None:
    read = [m for m in METHODS if m != "kmeans-idf-unit"]
    level = {m: results.mean("npmi", "ncut-words", collection=TWEETS, method=m) for m in read}
    measured = "NPMI " + ", ".join(f"{CONTENDERS[m].label} {level[m]:.2f}" for m in read)
    page.claim(
        TOPICS,
        "NMF + Ncut gives the most readable topics",
        measured,
        *on_stand_in(above([level["nmf-ncut"] - level[m] for m in read if m != "nmf-ncut"]), TWEETS),
    )
    pairs = (("rlsi-ncut", "rlsi-idf"), ("nmf-idf", "nmf-01"), ("rlsi-idf", "kmeans-idf"))
    page.claim(
        TOPICS,
        "RLSI reads better with Ncut than with idf, and NMF with idf better than with 01; RLSI + idf reads "
        "better than k-means",
        "as above",
        *on_stand_in(above([level[better] - level[other] for better, other in pairs]), TWEETS),
    )


# --- clusters


def _of_clusters(results: Results, page: Page) -> None:
    at: dict[str, Any] = {"collection": LABELLED, "l2": None}
    ks = [k for k in results.distinct("k", "cluster", **at) if k in PAPER_SIZES]

    def level(method: str, value: str, k: int) -> float:
        return results.mean(value, method=method, k=k, **at)

    def leads(better: str, others: tuple[str, ...]) -> list[float]:
        return [
            level(better, value, k) - max(level(other, value, k) for other in others)
            for k in ks
            for value in MEASURES
        ]

    def claim(said: str, better: str, others: tuple[str, ...]) -> None:
        measured = ", ".join(
            f"{CONTENDERS[other].label} {sum(leads(better, (other,))) / (len(ks) * len(MEASURES)):+.3f}"
            for other in others
        )
        judged = "; judged by the best of them at each K and measure" if len(others) > 1 else ""
        page.claim(
            CLUSTERS,
            said,
            f"{CONTENDERS[better].label} on average over K and measures against {measured}{judged}",
            *above(leads(better, others)),
        )

    said = "NMF + Ncut outperforms {} in all measures"
    claim(said.format("k-means, and NMF and RLSI with other weights"), "nmf-ncut",
          (*KMEANS, "nmf-01", "nmf-idf", "rlsi-idf"))  # fmt: skip
    claim(said.format("RLSI + Ncut"), "nmf-ncut", ("rlsi-ncut",))
    claim("RLSI + Ncut is a great improvement over RLSI + idf", "rlsi-ncut", ("rlsi-idf",))
    over = {
        m: {value: sum(level(m, value, k) for k in ks) / len(ks) for value in MEASURES}
        for m in ("nmf-idf", "nmf-01")
    }
    page.claim(
        CLUSTERS,
        "NMF + idf is slightly better than NMF + 01",
        "on average over K, "
        + ", ".join(
            f"{name} {over['nmf-idf'][value]:.3f} against {over['nmf-01'][value]:.3f}"
            for value, name in MEASURES.items()
        ),
        *above([over["nmf-idf"][value] - over["nmf-01"][value] for value in MEASURES], tie=0.0),
    )
    others = [m for m in METHODS if m not in KMEANS]
    page.claim(
        CLUSTERS,
        "k-means works worst on these short texts",
        "each of the other methods against the better of both k-means, at each K and measure. By the paper's "
        f"own NMI, others are above it in {_printed_above_kmeans()}",
        *above([d for other in others for d in leads(other, KMEANS)]),
    )


def _printed_above_kmeans() -> str:
    plain = PAPER_SCORES["nmi", "kmeans-idf"]
    others = [s for (value, m), s in PAPER_SCORES.items() if value == "nmi" and m != "kmeans-idf"]
    higher = sum(a > b for scores in others for a, b in zip(scores, plain, strict=True))
    return f"{higher} of {len(others) * len(plain)}"


# --- penalty


def _of_penalty(results: Results, page: Page) -> None:
    at: dict[str, Any] = {"collection": LABELLED, "k": PAPER_CLASSES, "unit_columns": None}
    measured, differences = [], []
    for method in ("nmf-01", "nmf-idf", "nmf-ncut"):
        penalties = [l2 for l2 in results.distinct("l2", "cluster", method=method, **at) if l2 is not None]
        means = {l2: results.mean("nmi", method=method, l2=l2, **at) for l2 in penalties}
        differences += [means[l2] - means[1.0] for l2 in penalties if l2 != 1.0]
        lowest, highest = min(means.values()), max(means.values())
        measured.append(f"{CONTENDERS[method].label} {lowest:.2f} to {highest:.2f}")
    found = results.one("ncut-bounds", collection=LABELLED)
    page.claim(
        PENALTY,
        "λ between 0.1 and 10 changes the results slightly",
        f"NMI at K = {PAPER_CLASSES}: {', '.join(measured)}. With Ncut weights zero is the only minimum from "
        f"λ = {found['largest']:.2f} on",
        *alike(differences, SLIGHTLY),
    )
