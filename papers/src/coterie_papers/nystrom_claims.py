"""What the paper on statistical semantics concluded, and whether the numbers here say the same."""

from __future__ import annotations

from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.nystrom_found import BESIDE, FOLLOWED, FULL, SEMANTICS, SHOWN, Found
from coterie_papers.page import Page

# What the paper says
PAPER_RANK = 5
PAPER_SAMPLED = 5000
PAPER_ABOVE = {"spherical-idf": 0.07, "kmeans-idf": 0.18}

# What we call the same: the paper has words where these are numbers
SAME = 0.02
SAME_TIME = 2.0
MUCH_FASTER = 2.0
DRASTICALLY = 5.0
INFEASIBLE = 3600.0


def claims(found: Found, page: Page) -> None:
    """Add the claims to the page."""
    _against_baselines(found, page)
    _semantics(found, page)
    _rank(found, page)
    _time(found, page)
    _nmf(found, page)
    _size(found, page)
    _ncut(found, page)


def _paper_terms(found: Found, name: str) -> int:
    """The paper's 5,000 terms, or the most there are."""
    few = found.sampled(name)
    return PAPER_SAMPLED if PAPER_SAMPLED in few else few[-1]


def _best(found: Found, name: str, few: int, rank: int) -> float:
    """NMI of the better of the two semantics that the paper shows, of those tried there."""
    tried = found.semantics(name, few)
    return max(found.at(name, semantics, few, rank)[0] for semantics in SHOWN if semantics in tried)


def _against_baselines(found: Found, page: Page) -> None:
    margins = " and ".join(f"{above:.0%} above {CONTENDERS[m].label}" for m, above in PAPER_ABOVE.items())
    said = {
        0: f"with 5,000 terms and rank {PAPER_RANK} the better of pcor and assc_n is about {margins}",
        -1: "the proposed approach has a higher NMI than k-means and spherical k-means (at our highest rank)",
    }
    for which, sentence in said.items():
        told, holds = [], True
        for name in found.samples:
            few = _paper_terms(found, name)
            rank = found.ranks(name, few)[which]
            ours = _best(found, name, few, rank)
            others = {m: found.baseline(name, m)[0] for m in PAPER_ABOVE}
            holds = holds and all(ours > other for other in others.values())
            beside = ", ".join(f"{CONTENDERS[m].label} {other:.3f}" for m, other in others.items())
            told.append(f"{name}, ℓ = {few:,}, k = {rank:,}: {ours:.3f} against {beside}")
        page.claim(sentence, "; ".join(told), holds)


def _semantics(found: Found, page: Page) -> None:
    told, holds = [], True
    for name in found.samples:
        means = {}
        for semantics in SEMANTICS:
            points = [
                found.at(name, semantics, few, rank)[0]
                for few in found.sampled(name)
                if set(found.semantics(name, few)) == set(SEMANTICS)
                for rank in found.ranks(name, few)
            ]
            means[semantics] = sum(points) / len(points)
        ranking = sorted(means, key=lambda semantics: -means[semantics])
        holds = holds and set(ranking[:2]) == set(SHOWN)
        listed = ", ".join(f"{s.removeprefix('nystrom-')} {means[s]:.3f}" for s in ranking)
        told.append(f"{name}: {listed}")
    page.claim(
        "pcor and assc_n are the best two of the four semantics",
        "mean NMI over all ℓ and ranks, spherical k-means; " + "; ".join(told),
        holds,
    )


def _rank(found: Found, page: Page) -> None:
    told, holds = [], True
    for name in found.samples:
        few = _paper_terms(found, name)
        for semantics in (s for s in FULL if s in SHOWN):
            low, full = found.at(name, semantics, few, PAPER_RANK)[0], found.full(name, semantics)[0]
            holds = holds and abs(low - full) <= SAME
            told.append(
                f"{name}, assc_n: {low:.3f} at rank {PAPER_RANK}, {full:.3f} with all terms at full rank"
            )
    page.claim(
        f"with 5,000 terms, rank {PAPER_RANK} has the NMI of the full matrix (called the same within {SAME})",
        "; ".join(told),
        holds,
    )
    told, holds = [], True
    for name in found.samples:
        few = _paper_terms(found, name)
        ranks = found.ranks(name, few)
        for semantics in SHOWN:
            low, high = (found.at(name, semantics, few, rank)[0] for rank in (ranks[0], ranks[-1]))
            holds = holds and low >= high - SAME
            told.append(f"{name}, {semantics.removeprefix('nystrom-')}: {low:.3f} to {high:.3f}")
    page.claim(f"a lower rank costs no NMI (lowest to highest rank, {SAME} allowed)", "; ".join(told), holds)
    told, holds = [], True
    for name in found.samples:
        most = found.sampled(name)[-2:]
        if len(most) < 2 or max(most) <= PAPER_SAMPLED:
            continue
        ranks = [found.ranks(name, few)[-1] for few in most]
        less, more = (_best(found, name, terms, rank) for terms, rank in zip(most, ranks, strict=True))
        holds = holds and abs(less - more) <= SAME
        told.append(
            f"{name}: {less:.3f} with ℓ = {most[0]:,}, {more:.3f} with ℓ = {most[1]:,}, at rank {ranks[0]:,}"
        )
    page.claim(
        "at 10,000 texts 5,000 and 10,000 terms give almost the same NMI (there at full rank)",
        "; ".join(told) or "no collection here has so many terms",
        holds if told else None,
    )


def _time(found: Found, page: Page) -> None:
    told, holds = [], True
    for name in found.samples:
        few = _paper_terms(found, name)
        plain = found.baseline(name, "spherical-idf", "seconds")[0]
        ours = found.at(name, FOLLOWED, few, PAPER_RANK, "seconds")[0]
        holds = holds and ours <= SAME_TIME * plain
        told.append(f"{name}: {ours:.1f} s against {plain:.1f} s")
    page.claim(
        f"with 5,000 terms and rank {PAPER_RANK} the time is almost that of spherical k-means "
        f"(called so up to {SAME_TIME:g} times)",
        "; ".join(told),
        holds,
    )
    told, holds = [], True
    for name in found.samples:
        small, large = found.sampled(name)[0], found.sampled(name)[-1]
        ranks = found.ranks(name, large)
        low = found.at(name, FOLLOWED, small, ranks[0], "seconds")[0]
        high = found.at(name, FOLLOWED, large, ranks[-1], "seconds")[0]
        holds = holds and high >= DRASTICALLY * low
        told.append(
            f"{name}: {high:.1f} s at ℓ = {large:,}, k = {ranks[-1]:,}, "
            f"{low:.1f} s at ℓ = {small:,}, k = {ranks[0]}"
        )
    page.claim(
        f"fewer terms and a lower rank take drastically less time (called so from {DRASTICALLY:g} times on)",
        "; ".join(told),
        holds,
    )


def _nmf(found: Found, page: Page) -> None:
    told, holds = [], True
    for name in found.samples:
        idf, ncut = (found.baseline(name, m)[0] for m in ("nmf-idf", "nmf-ncut"))
        holds = holds and abs(idf - ncut) <= SAME
        told.append(
            f"{name}: {idf:.3f} and {ncut:.3f}, "
            f"{found.baseline(name, 'nmf-ncut-95')[0]:.3f} with the 95th percentile as scale"
        )
    page.claim(
        f"NMF with tf-idf and with Ncut has almost the same NMI (within {SAME})", "; ".join(told), holds
    )
    told, better, faster = [], True, True
    for name in found.samples:
        few = found.sampled(name)[0]
        points = [
            (found.at(name, semantics, few, rank, "nmi", "nmf")[0], semantics, rank)
            for semantics in SHOWN
            for rank in found.ranks(name, few, "nmf")
        ]
        reached, semantics, rank = max(points)
        seconds = found.at(name, semantics, few, rank, "seconds", "nmf")[0]
        for m in BESIDE["nmf"][:2]:
            better = better and reached > found.baseline(name, m)[0]
            faster = faster and MUCH_FASTER * seconds <= found.baseline(name, m, "seconds")[0]
        beside = ", ".join(
            f"{CONTENDERS[m].label} {found.baseline(name, m)[0]:.3f} "
            f"in {found.baseline(name, m, 'seconds')[0]:.1f} s"
            for m in BESIDE["nmf"][:2]
        )
        label = semantics.removeprefix("nystrom-")
        told.append(
            f"{name}, ℓ = {few:,}: {label} at rank {rank} has {reached:.3f} in {seconds:.1f} s, {beside}"
        )
    page.claim(
        "with NMF, few terms and a low rank give the best NMI",
        "; ".join(told) + " (the rank that the labels favour most)",
        better,
    )
    page.claim(
        f"and that in much less time than NMF with tf-idf or Ncut (called so from {MUCH_FASTER:g} times on)",
        "as in the line above",
        faster,
    )


def _size(found: Found, page: Page) -> None:
    few = found.size_sampled[-1]
    for source, names in found.sizes.items():
        told, holds = [], True
        for name in names:
            ours = found.at(name, FOLLOWED, few, found.size_rank)[0]
            others = [found.baseline(name, m)[0] for m in BESIDE["spherical"]]
            holds = holds and ours > max(others)
            told.append(f"{name} {ours:.3f} against {max(others):.3f}")
        share = few / found.data(names[-1])["terms"]
        page.claim(
            "up to 100,000 texts the approach outperforms k-means and spherical k-means with a tenth of the "
            f"terms ({source})",
            f"pcor, ℓ = {few:,} ({share:.0%} of the terms of {names[-1]}), rank {found.size_rank}, against "
            "the better of the two: " + ", ".join(told),
            holds,
        )


def _ncut(found: Found, page: Page) -> None:
    told, slowest = [], 0.0
    for names in found.sizes.values():
        name = names[-1]
        data = found.data(name)
        seconds = {m: found.baseline(name, m, "seconds")[0] for m in ("nmf-ncut", "nmf-ncut-95")}
        slowest = max(slowest, *seconds.values())
        told.append(
            f"{name}: weights {data['weights_seconds']:.2f} s, all of NMF + Ncut "
            f"{seconds['nmf-ncut']:.0f} s, with the 95th percentile as scale "
            f"{seconds['nmf-ncut-95']:.0f} s, pcor with ℓ = {found.size_sampled[-1]:,} "
            f"{found.at(name, FOLLOWED, found.size_sampled[-1], found.size_rank, 'seconds')[0]:.0f} s"
        )
    page.claim(
        f"NMF + Ncut is not feasible for 100,000 texts (called so from {INFEASIBLE:,.0f} s on)",
        "; ".join(told),
        slowest >= INFEASIBLE,
    )
