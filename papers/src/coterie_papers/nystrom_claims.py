"""What the paper on statistical semantics concluded, and what became of it. All rules stand here."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.nystrom_found import BESIDE, FOLLOWED, FULL, SEMANTICS, SHOWN, Clusterer, Found
from coterie_papers.page import Page
from coterie_papers.verdicts import Judgement, Verdict, above, alike

# What the paper says
PAPER_ABOVE = {"spherical-idf": 0.07, "kmeans-idf": 0.18}

# What we call so: the paper has words where these are numbers
SAME = 0.02
SAME_TIME = 2.0
MUCH_FASTER = 2.0
DRASTICALLY = 5.0
MUCH = 0.5
INFEASIBLE = 3600.0

_AGAINST = "NMI against k-means and spherical k-means"
_WHICH = "Which association, which terms, which rank"
_TIME = "Time"
_OTHERS = "With NMF and k-means"
_LARGE = "Large collections"


def claims(found: Found, page: Page) -> None:
    """Add the headline and the claims to the page."""
    name = found.ranked[0]
    many = found.size_sampled[-1]
    ours, plain = _best(found, name, many), found.baseline(name, "spherical-idf")[0]
    sizes = found.data(name)
    page.headline(
        f"Related words help: on {sizes['texts']:,} web snippets of {sizes['classes']} broad classes, the "
        f"nearest we have to the paper's tweets, NMI is {ours:.2f} instead of {plain:.2f}"
    )
    _against_baselines(found, page)
    _full_rank(found, page)
    _kept(found, page)
    _semantics(found, page)
    _drawn(found, page)
    _rank(found, page)
    _terms(found, page)
    _time(found, page)
    _weights(found, page)
    _nmf(found, page)
    _kmeans(found, page)
    _size(found, page)
    _ncut(found, page)


def _in(flags: Sequence[bool], what: str) -> Judgement:
    """Of a claim that something is so everywhere: it holds if it is, and in part if it mostly is."""
    n, total = sum(flags), len(flags)
    verdict = Verdict.HOLDS if n == total else Verdict.IN_PART if 2 * n > total else Verdict.FAILS
    return Judgement(verdict, f"{what} in {n} of {total}")


def _short(semantics: str) -> str:
    return semantics.removeprefix("nystrom-")


def _ranked(
    found: Found, name: str, sampled: int, semantics: Sequence[str], clusterer: Clusterer = "spherical"
) -> list[tuple[float, str, int]]:
    """NMI of each of these semantics at each rank, the best first."""
    points = [
        (found.at(name, one, sampled, rank, "nmi", clusterer)[0], one, rank)
        for one in semantics
        for rank in found.ranks(name, one, sampled, clusterer)
    ]
    return sorted(points, reverse=True)


def _best(found: Found, name: str, sampled: int, clusterer: Clusterer = "spherical") -> float:
    """NMI of the better of the two semantics that the paper shows, at the best rank."""
    return _ranked(found, name, sampled, SHOWN, clusterer)[0][0]


# --- against the baselines


def _against_baselines(found: Found, page: Page) -> None:
    few, many = found.size_sampled
    margins = " and ".join(f"{up:.0%} above {CONTENDERS[m].label}" for m, up in PAPER_ABOVE.items())
    for sampled, sentence in (
        (many, f"with 5,000 terms the better of pcor and assc_n is about {margins} (at the best rank)"),
        (few, "it has the higher NMI with very few terms and a low rank, too"),
    ):
        measured, differences = [], []
        for name in found.ranked:
            ours, semantics, rank = _ranked(found, name, sampled, SHOWN)[0]
            others = {m: found.baseline(name, m)[0] for m in PAPER_ABOVE}
            differences += [ours - other for other in others.values()]
            beside = ", ".join(f"{CONTENDERS[m].label} {other:.3f}" for m, other in others.items())
            measured.append(
                f"{name}, ℓ = {sampled:,}: {ours:.3f} ({_short(semantics)}, k = {rank:,}) against {beside}"
            )
        page.claim(_AGAINST, sentence, "; ".join(measured), *above(differences))


def _full_rank(found: Found, page: Page) -> None:
    """The paper's "rank 5", read as 5k: all of 5,000 terms."""
    many = found.size_sampled[-1]
    semantics = FULL[1]
    measured, differences = [], []
    for name in found.samples:
        ours, exact = found.at(name, semantics, many, many)[0], found.full(name, semantics)
        differences.append(ours - exact)
        lowest = found.ranks(name, semantics, many)[0]
        low = found.at(name, semantics, many, lowest)[0]
        measured.append(
            f"{name}, {_short(semantics)}: {ours:.3f} at k = ℓ = {many:,}, {exact:.3f} with all terms at "
            f"full rank (and {low:.3f} at rank {lowest})"
        )
    page.claim(
        _AGAINST,
        "5,000 terms at rank 5 have the NMI of the full matrix (read as rank 5k, as the paper writes for its "
        f"last figure; called the same within {SAME})",
        "; ".join(measured),
        *alike(differences, SAME),
    )


def _kept(found: Found, page: Page) -> None:
    semantics, many, rank = FULL[1], found.size_sampled[-1], found.size_rank
    measured, flags = [], []
    for name in found.samples:
        plain, exact = found.baseline(name, "spherical-idf")[0], found.full(name, semantics)
        ours = found.at(name, semantics, many, rank)[0]
        flags.append(ours - plain >= MUCH * (exact - plain))
        measured.append(f"{name}: {plain:.3f} without, {ours:.3f} at rank {rank}, {exact:.3f} with all terms")
    page.claim(
        _AGAINST,
        "drawing terms and cutting the rank keeps much of the improvement of the full matrix "
        f"(called so from {MUCH:.0%} on)",
        f"{_short(semantics)}, ℓ = {many:,}; " + "; ".join(measured),
        *_in(flags, "so"),
    )


# --- what the space is made of


def _semantics(found: Found, page: Page) -> None:
    many = found.size_sampled[-1]
    measured, differences = [], []
    for name in found.ranked:
        common = set.intersection(*(set(found.ranks(name, s, many)) for s in SEMANTICS))
        best = {s: max(found.at(name, s, many, rank)[0] for rank in common) for s in SEMANTICS}
        differences.append(min(best[s] for s in SHOWN) - max(best[s] for s in SEMANTICS if s not in SHOWN))
        ranking = sorted(best, key=lambda s: -best[s])
        measured.append(f"{name}: " + ", ".join(f"{_short(s)} {best[s]:.3f}" for s in ranking))
    page.claim(
        _WHICH,
        "pcor and assc_n are the best two of the four associations",
        f"each at its best rank, ℓ = {many:,}; " + "; ".join(measured),
        *above(differences),
    )


def _drawn(found: Found, page: Page) -> None:
    rank = found.size_rank
    measured, differences = [], []
    for name in found.ranked:
        for sampled in found.size_sampled:
            for semantics in SHOWN:
                if not found.outcomes(name, variant="uniform", method=semantics, sampled=sampled, rank=rank):
                    continue
                ours = found.at(name, semantics, sampled, rank)[0]
                other = found.at(name, semantics, sampled, rank, variant="uniform")[0]
                differences.append(ours - other)
                measured.append(
                    f"{name}, {_short(semantics)}, ℓ = {sampled:,}: {ours:.3f} against {other:.3f}"
                )
    page.claim(
        _WHICH,
        "drawing terms in proportion to their lengths achieves better accuracy (the abstract; the paper "
        "shows no other draw)",
        f"k = {rank}, against a uniform draw; " + "; ".join(measured),
        *above(differences),
    )


def _rank(found: Found, page: Page) -> None:
    many, low = found.size_sampled[-1], found.size_rank
    measured, losses = [], []
    for name in found.ranked:
        for semantics in SHOWN:
            highest = found.ranks(name, semantics, many)[-1]
            at_low, at_high = (found.at(name, semantics, many, rank)[0] for rank in (low, highest))
            losses.append(min(at_low - at_high, 0.0))
            measured.append(
                f"{name}, {_short(semantics)}: {at_low:.3f} at {low}, {at_high:.3f} at {highest:,}"
            )
    page.claim(
        _WHICH,
        f"a lower rank costs no NMI (a loss of {SAME} allowed)",
        f"ℓ = {many:,}; " + "; ".join(measured),
        *alike(losses, SAME),
    )


def _terms(found: Found, page: Page) -> None:
    """More terms than 5,000: as many as were drawn, and all of them."""
    many = found.size_sampled[-1]
    measured, differences = [], []
    for name in found.ranked:
        most = found.sampled(name)[-1]
        if most > many:
            common = set(found.ranks(name, FOLLOWED, many)) & set(found.ranks(name, FOLLOWED, most))
            less, more = (
                max(found.at(name, FOLLOWED, sampled, rank)[0] for rank in common) for sampled in (many, most)
            )
            differences.append(less - more)
            measured.append(
                f"{name}, pcor at the best rank: {less:.3f} with {many:,}, {more:.3f} with {most:,}"
            )
    for name in found.samples:
        less, more = found.at(name, FULL[1], many, many)[0], found.full(name, FULL[1])
        differences.append(less - more)
        measured.append(f"{name}, assc_n at full rank: {less:.3f} with {many:,}, {more:.3f} with all")
    page.claim(
        _WHICH,
        f"at 10,000 texts 5,000 and 10,000 terms give almost the same NMI (called so within {SAME})",
        "; ".join(measured),
        *alike(differences, SAME),
    )


# --- time


def _time(found: Found, page: Page) -> None:
    ranks = sorted(found.results.distinct("rank", "nystrom-beside"))
    measured, flags = [], []
    for rank in ranks:
        for name in found.ranked:
            ratio = median(found.results.numbers("ratio", "nystrom-beside", collection=name, rank=rank))
            flags.append(bool(ratio <= SAME_TIME))
            measured.append(f"{name}, k = {rank}: {ratio:.1f} times")
    page.claim(
        _TIME,
        "with 5,000 terms and a low rank the time is almost that of spherical k-means "
        f"(called so up to {SAME_TIME:g} times)",
        "; ".join(measured),
        *_in(flags, "so"),
    )
    few, many = found.size_sampled
    measured, flags = [], []
    for name in found.samples:
        semantics = FULL[1]
        lowest = found.ranks(name, semantics, few)[0]
        low = found.at(name, semantics, few, lowest, "seconds")[0]
        high = found.at(name, semantics, many, many, "seconds")[0]
        flags.append(high >= DRASTICALLY * low)
        measured.append(
            f"{name}, {_short(semantics)}: {high:.1f} s at k = ℓ = {many:,}, {low:.1f} s at ℓ = {few:,}, "
            f"k = {lowest}"
        )
    page.claim(
        _TIME,
        f"fewer terms and a lower rank take drastically less time (called so from {DRASTICALLY:g} times on)",
        "; ".join(measured),
        *_in(flags, "so"),
    )


# --- other clusterers


def _weights(found: Found, page: Page) -> None:
    measured, differences = [], []
    for name in found.ranked:
        idf, ncut = (found.baseline(name, m)[0] for m in ("nmf-idf", "nmf-ncut"))
        differences.append(idf - ncut)
        measured.append(
            f"{name}: {idf:.3f} and {ncut:.3f}, "
            f"{found.baseline(name, 'nmf-ncut-95')[0]:.3f} with the 95th percentile as scale"
        )
    verdict, reason = alike(differences, SAME)
    why = (
        ""
        if verdict is Verdict.HOLDS
        else "; one rare term scales all Ncut weights, and λ = 1 leaves nothing"
    )
    page.claim(
        _OTHERS,
        f"NMF with tf-idf and with Ncut has almost the same NMI (within {SAME}; no rare term left out)",
        "; ".join(measured),
        verdict,
        reason + why,
    )


def _nmf(found: Found, page: Page) -> None:
    few, many = found.size_sampled
    measured, differences, flags = [], [], []
    for name in found.samples:
        reached, semantics, rank = _ranked(found, name, few, SHOWN, "nmf")[0]
        seconds = found.at(name, semantics, few, rank, "seconds", "nmf")[0]
        others = {m: [found.baseline(name, m, v)[0] for v in ("nmi", "seconds")] for m in BESIDE["nmf"][:2]}
        differences += [reached - other for other, _ in others.values()]
        flags += [MUCH_FASTER * seconds <= other for _, other in others.values()]
        beside = ", ".join(f"{CONTENDERS[m].label} {n:.3f} in {s:.1f} s" for m, (n, s) in others.items())
        measured.append(
            f"{name}, ℓ = {few:,}: {_short(semantics)} at rank {rank} has {reached:.3f} in {seconds:.1f} s, "
            f"{beside}; with ℓ = {many:,}, {_best(found, name, many, 'nmf'):.3f}"
        )
    page.claim(
        _OTHERS,
        "with NMF, few terms and a low rank give the best NMI",
        "; ".join(measured) + " (the rank that the labels favour most)",
        *above(differences),
    )
    page.claim(
        _OTHERS,
        f"and that in much less time than NMF with tf-idf or Ncut (called so from {MUCH_FASTER:g} times on)",
        "as in the line above",
        *_in(flags, "so"),
    )


def _kmeans(found: Found, page: Page) -> None:
    many = found.size_sampled[-1]
    measured, differences = [], []
    for name in found.ranked:
        ours, plain = _best(found, name, many, "kmeans"), found.baseline(name, "kmeans-idf")[0]
        differences.append(ours - plain)
        measured.append(
            f"{name}: {ours:.3f} against {plain:.3f}; spherical there {_best(found, name, many):.3f}"
        )
    page.claim(
        _OTHERS,
        "k-means, the third clusterer, gains from the space, too (the paper names it and shows no numbers)",
        f"ℓ = {many:,}, best rank, against k-means + idf; " + "; ".join(measured),
        *above(differences),
    )


# --- large collections


def _size(found: Found, page: Page) -> None:
    many = found.size_sampled[-1]
    for source, names in found.sizes.items():
        measured, differences = [], []
        for name in names:
            ours = found.at(name, FOLLOWED, many, found.size_rank)[0]
            others = max(found.baseline(name, m)[0] for m in BESIDE["spherical"])
            differences.append(ours - others)
            measured.append(f"{name} {ours:.3f} against {others:.3f}")
        share = many / found.data(names[-1])["terms"]
        page.claim(
            _LARGE,
            "up to 100,000 texts the approach outperforms k-means and spherical k-means with a tenth of the "
            f"terms ({source})",
            f"pcor, ℓ = {many:,} ({share:.0%} of the terms of {names[-1]}), rank {found.size_rank}, one "
            "draw, against the better of the two: " + ", ".join(measured),
            *above(differences),
        )


def _ncut(found: Found, page: Page) -> None:
    many = found.size_sampled[-1]
    measured, slowest = [], 0.0
    for names in found.sizes.values():
        name = names[-1]
        data, seconds = found.data(name), found.baseline(name, "nmf-ncut", "seconds")[0]
        slowest = max(slowest, seconds)
        ours = found.at(name, FOLLOWED, many, found.size_rank, "seconds")[0]
        measured.append(
            f"{name}: weights {data['weights_seconds']:.2f} s, all of NMF + Ncut {seconds:.0f} s, pcor with "
            f"ℓ = {many:,} {ours:.0f} s"
        )
    page.claim(
        _LARGE,
        "NMF + Ncut is not feasible for 100,000 texts, as it needs the similarity of all terms "
        f"(called so from {INFEASIBLE:,.0f} s on)",
        "; ".join(measured),
        Verdict.HOLDS if slowest >= INFEASIBLE else Verdict.CHANGED,
        f"{slowest:,.0f} s; sums of the similarities are enough",
    )
