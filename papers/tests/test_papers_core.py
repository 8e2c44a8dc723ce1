"""Trials, their store, the workers that run them, and pages: whatever happens, the numbers are the same."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie import __version__
from coterie.errors import InputError
from coterie_papers import PAPERS, paper
from coterie_papers.bench.collections import Collection, collection, define, keep_in
from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.bench.markdown import Raw, bold, pm
from coterie_papers.bench.results import Results
from coterie_papers.bench.runner import perform, run
from coterie_papers.bench.store import Store
from coterie_papers.bench.trial import Outcome, Trial, plain, trial
from coterie_papers.figures import Curve, histograms, lines
from coterie_papers.page import Page
from coterie_papers.verdicts import Claim, Judgement, Verdict, above, alike, counted, on_stand_in

DOCS = Path(__file__).parents[2] / "docs" / "papers"
TRIALS = [
    trial("cluster", "sample", method, k=k, seed=seed)
    for k in (4, 6)
    for method in ("kmeans-idf", "nmf-ncut")
    for seed in range(10)
]
#: Workers import the script again, so it imports nothing heavy before it knows what it is.
SCRIPT = """
import sys

if __name__ == "__main__":
    sys.path.insert(0, {here!r})
    from pathlib import Path
    from test_papers_core import TRIALS
    from coterie_papers.bench.runner import run
    from coterie_papers.bench.store import Store

    with Store(Path({path!r})) as store:
        run(TRIALS, store, workers=1)
"""


def outcome(done, **values):
    return Outcome(done, values or {"nmi": 0.5}, 0.25, ("a warning",))


def untimed(store):
    """Outcomes by key, without what differs from run to run."""
    return {
        key: {name: value for name, value in found.values.items() if name != "seconds"}
        for key, found in store.outcomes.items()
    }


# --- trials


word = st.text(st.characters(exclude_categories=("Cs", "Z", "Cc")), min_size=1, max_size=5).filter(
    lambda w: w != "-" and w == "".join(w.split())
)
names = word.filter(lambda w: w not in ("kind", "collection", "method", "k", "seed"))
scalars = st.one_of(
    st.integers(),
    st.floats(allow_nan=False).map(lambda x: x + 0.0),
    st.text(max_size=5),
    st.booleans(),
    st.none(),
)
trials = st.builds(
    lambda kind, data, method, k, seed, settings: Trial(kind, data, method, k, seed, tuple(sorted(settings.items()))),
    word, st.one_of(st.just(""), word), st.one_of(st.just(""), word), st.integers(0, 99), st.integers(0, 99),
    st.dictionaries(names, scalars, max_size=3),
)  # fmt: skip


@given(trials, trials)
def test_keys_name_trials(one, other):
    same = (one, [type(v) for _, v in one.settings]) == (other, [type(v) for _, v in other.settings])
    assert (
        one.key == other.key
    ) == same or one == other  # 1 and 1.0 and True are equal, their keys need not be


@given(trials)
def test_keys_survive_json(one):
    pairs = tuple((name, value) for name, value in json.loads(json.dumps(one.settings)))
    assert Trial(one.kind, one.collection, one.method, one.k, one.seed, pairs).key == one.key


@pytest.mark.parametrize("value", [(1, 2), [1], np.int64(3), np.float64(0.5), {}])
def test_settings_that_json_would_change_are_refused(value):
    with pytest.raises(TypeError, match="rank must be a number, a string or None"):
        trial("cluster", "sample", rank=value)


def test_names_that_would_make_keys_ambiguous_are_refused():
    for names in (
        ("two words", "sample"),
        ("cluster", "two words"),
        ("cluster", "sample", "-"),
        ("", "sample"),
    ):
        with pytest.raises(ValueError, match="without spaces"):
            Trial(*names)
    with pytest.raises(ValueError, match="no field"):
        Trial("cluster", "sample", settings=(("k", 3),))
    with pytest.raises(ValueError, match="sorted"):
        Trial("cluster", "sample", settings=(("b", 3), ("a", 3)))


def test_values_are_plain():
    found = plain({"a": np.arange(2), "b": np.float64("nan"), "c": [(np.int64(1), float("inf"))]})
    assert found == {"a": [0, 1], "b": None, "c": [[1, None]]}
    with pytest.raises(TypeError):
        plain({"a": object()})


# --- store


def test_a_store_gives_back_what_it_was_given(tmp_path):
    given = [outcome(done, nmi=number / 7, words=["\ud800", "ü"]) for number, done in enumerate(TRIALS)]
    with Store(tmp_path / "results.jsonl", {"titles": "abc"}) as store:
        for one in given:
            store.add(one)
    with Store(tmp_path / "results.jsonl", {"titles": "abc", "tweet": "def"}) as again:
        assert list(again.outcomes.values()) == given
        assert TRIALS[0] in again
        assert trial("cluster", "sample", "nmf-ncut", k=99) not in again


@pytest.mark.parametrize("lost", [1, 5, 40])
def test_a_torn_last_line_is_dropped_and_written_again(tmp_path, lost):
    path = tmp_path / "results.jsonl"
    with Store(path) as store:
        for done in TRIALS[:3]:
            store.add(outcome(done))
    whole = path.read_bytes()
    path.write_bytes(whole[:-lost])
    with Store(path) as store:
        assert list(store.outcomes) == [done.key for done in TRIALS[:2]]
        store.add(outcome(TRIALS[2]))
    assert path.read_bytes() == whole


def test_damage_elsewhere_and_other_versions_and_data_are_refused(tmp_path):
    path = tmp_path / "results.jsonl"
    with Store(path, {"titles": "abc"}) as store:
        store.add(outcome(TRIALS[0]))
        store.add(outcome(TRIALS[1]))
    with pytest.raises(InputError, match="another version of the data set 'titles'; --fresh"):
        Store(path, {"titles": "abd"})
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[1], lines[2][:20] + b"\n", lines[3]]))
    with pytest.raises(InputError, match="line 3"):
        Store(path)
    path.write_bytes(lines[0].replace(b'"coterie": "', b'"coterie": "99') + lines[1])
    with pytest.raises(InputError, match="holds results of coterie 99"):
        Store(path)
    path.write_bytes(b"label\ttext\n")
    with pytest.raises(InputError, match="line 1"):
        Store(path)


# --- runner


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """One run of all trials."""
    with Store(tmp_path_factory.mktemp("whole") / "results.jsonl") as store:
        run(TRIALS, store, workers=2)
    return store


def started(folder):
    path = folder / "results.jsonl"
    script = folder / "go.py"
    script.write_text(SCRIPT.format(here=str(Path(__file__).parent), path=str(path)))
    return path, subprocess.Popen([sys.executable, str(script)], stderr=subprocess.PIPE)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid):
    return [
        int(p)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for p in (task / "children").read_text().split()
    ]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
def test_a_run_that_was_killed_goes_on_and_ends_with_the_same_numbers(tmp_path, finished):
    path, process = started(tmp_path)
    try:
        until = time.monotonic() + 240
        while time.monotonic() < until and (not path.exists() or path.read_bytes().count(b"\n") < 6):
            assert process.poll() is None, process.stderr.read().decode()
            time.sleep(0.005)
        workers = children(process.pid)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stderr.close()
    assert workers
    until = time.monotonic() + 20
    while time.monotonic() < until and any(map(alive, workers)):
        time.sleep(0.02)
    assert not any(map(alive, workers)), "workers outlive the process that started them"

    with Store(path) as store:
        before = dict(store.outcomes)
        assert 4 <= len(before) < len(TRIALS)
        run(TRIALS, store, workers=2)
        assert untimed(store) == untimed(finished)
        assert {key: store.outcomes[key] for key in before} == before  # what was done was not done again


def test_nothing_is_run_twice_and_faults_are_told(tmp_path, finished):
    size = finished.path.stat().st_size
    with Store(finished.path) as store:
        run([*TRIALS, *TRIALS], store, workers=2)  # would start no worker
    assert finished.path.stat().st_size == size
    with Store(tmp_path / "results.jsonl") as store:
        with pytest.raises(InputError, match="there is no collection 'nowhere'"):
            run([trial("cluster", "nowhere", "nmf-ncut", k=3)], store, workers=1)
        with pytest.raises(RuntimeError, match="cluster sample nmf-ncut k=3 seed=0 nonsense=1"):
            run([trial("cluster", "sample", "nmf-ncut", k=3, nonsense=1)], store, workers=1)
        assert len(store) == 0


def test_workers_have_one_blas_thread_and_the_caller_keeps_his_environment():
    from coterie_papers.bench.runner import environment

    os.environ.pop("OMP_NUM_THREADS", None)
    with environment({"OMP_NUM_THREADS": "1"}):
        assert os.environ["OMP_NUM_THREADS"] == "1"
    assert "OMP_NUM_THREADS" not in os.environ


@pytest.mark.parametrize("name", [name for name in CONTENDERS if name != "coterie"])
def test_every_contender_clusters(name):
    settings = {"sampled": 50, "rank": 10} if name.startswith("nystrom") else {}
    values, seconds, _ = perform(trial("cluster", "sample", name, k=4, seed=1, **settings))
    assert 0 < values["nmi"] <= 1
    assert 1 <= values["used"] <= 4
    assert 0 < values["seconds"] <= seconds


def test_contenders_can_be_told_apart():
    drawn = [(c.colour, c.dash) for c in CONTENDERS.values()]
    assert len(set(drawn)) == len(drawn)
    assert len({c.label for c in CONTENDERS.values()}) == len(CONTENDERS)


# --- collections


def test_a_collection_comes_back_from_disk_as_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr("coterie_papers.bench.collections._LONG", -1.0)
    define("hard", "sample", "texts with at least three terms", least=3, min_df=2)
    made = collection("hard")
    try:
        keep_in(tmp_path)
        collection("hard").sequences()  # writes both files
        keep_in(tmp_path)
        read = collection("hard")
        assert len(list(tmp_path.iterdir())) == 2
        assert read.vectorizer is None
        assert (read.X != made.X).nnz == 0
        for name in ("labels", "terms", "texts", "about"):
            assert getattr(read, name) == getattr(made, name)
        assert np.array_equal(read.sequences().ids, made.sequences().ids)
        assert np.diff(made.X.indptr).min() >= 3
    finally:
        keep_in(None)


# --- results and pages


@pytest.fixture
def results(finished):
    return Results(TRIALS, finished)


def test_results_are_put_together_as_numpy_does(results):
    chosen = [o.values["nmi"] for o in results.outcomes if o.trial.method == "nmf-ncut" and o.trial.k == 6]
    assert len(chosen) == 10
    assert results.mean("nmi", method="nmf-ncut", k=6) == pytest.approx(np.mean(chosen))
    assert results.spread("nmi", method="nmf-ncut", k=6) == pytest.approx(np.std(chosen, ddof=1))
    at, means, spreads = results.over("k", "nmi", method="nmf-ncut")
    assert at == [4, 6]
    assert (means[1], spreads[1]) == pytest.approx((np.mean(chosen), np.std(chosen, ddof=1)))
    assert results.best("nmi", by="nmi", method="nmf-ncut", k=6) == min(chosen)
    assert len(results.values("cluster", method=["nmf-ncut", "kmeans-idf"], seed=3)) == 4
    with pytest.raises(LookupError):
        results.mean("nmi", method="nmf-idf")
    with pytest.raises(LookupError):
        results.one("cluster", k=4)
    assert results.frame("cluster").shape[0] == len(TRIALS)


def test_a_store_that_lacks_trials_gives_no_results(finished):
    with pytest.raises(InputError, match="lacks 1 of 41 trials"):
        Results([*TRIALS, trial("cluster", "sample", "lda", k=4)], finished)


def written(folder, results):
    page = Page(folder, "some", "Title")
    page.text("Text.")
    page.table(["a", "b"], [("x|y <script>\n*z*", 1234), (Raw("`raw`"), None), (bold("_b_"), 0.5)])
    curves = [Curve(m, *results.over("k", "nmi", method=m)) for m in ("nmf-ncut", "kmeans-idf")]
    page.figure("lines", "Lines", lines({"one": curves, "two": curves}, x="K", y="NMI"))
    page.figure("counts", "Counts", histograms({"one": results.numbers("nmi")}, x="NMI"))
    page.headline("All figures within .02")
    page.text("Before.")
    page.claims_here()
    page.text("After.")
    page.claim("Few", "more", "less", Verdict.FAILS, "a|b below")
    page.claim("Many", "more", "more", Verdict.of(np.True_), "above")
    page.claim("Few", "more", "both", Verdict.IN_PART, "1 tie")
    page.write(results)
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_page_is_the_same_bytes_for_the_same_results(tmp_path, finished, results):
    one = written(tmp_path / "one", results)
    assert one == written(tmp_path / "two", Results(TRIALS, OtherOrder(finished)))
    assert {p.name for p in one} == {
        "some.md", "lines.svg", "lines.png", "counts.svg", "counts.png", "results.csv", "results.parquet"
    }  # fmt: skip
    text = one[Path("some.md")].decode()
    assert r"x\|y \<script\> \*z\* | 1,234 |" in text
    assert "| `raw` | – |" in text
    assert text.startswith(
        "# Title\n\n**All figures within .02.** [What holds](#what-holds), 3 claims: 1 holds · 1 holds in part "
        "· 1 does not hold. Written by `coterie reproduce some`"
    )
    few = "| more | less | **does not hold**: a\\|b below |\n| more | both | **holds in part**: 1 tie |\n"
    many = "| more | more | **holds**: above |\n"
    between = text.split("\nBefore.\n")[1].split("\nAfter.\n")[0]
    assert between.startswith("\n## What holds\n\n*holds in part*: ")
    assert "other data" not in between
    assert between.index("### Few") < between.index(few) < between.index("### Many") < between.index(many)
    assert b"<dc:date>" not in one[Path("some/lines.svg")]
    table = pl.read_parquet(tmp_path / "one" / "some" / "results.parquet")
    assert table.height == len(TRIALS) == pl.read_csv(tmp_path / "one" / "some" / "results.csv").height
    other = Results(TRIALS, finished)
    other.outcomes[-1] = replace(other.outcomes[-1], values={**other.outcomes[-1].values, "nmi": 0.0})
    assert written(tmp_path / "three", other)[Path("some/lines.svg")] != one[Path("some/lines.svg")]


def test_a_verdict_has_a_reason(tmp_path):
    with pytest.raises(ValueError, match="needs its reason"):
        Page(tmp_path, "some", "Title").claim("Group", "more", "more", Verdict.HOLDS, "")


def test_a_page_without_claims_says_nothing_of_them(tmp_path, results):
    assert "holds" not in Page(tmp_path, "some", "Title").markdown(results)


@pytest.mark.parametrize(
    ("differences", "verdict", "reason"),
    [
        ([0.011, 0.5], Verdict.HOLDS, "above in 2 of 2"),
        ([0.011, 0.5, 0.01], Verdict.IN_PART, "above in 2 of 3, 1 tie"),
        ([0.011, 0.5, -0.011], Verdict.IN_PART, "above in 2 of 3, 1 below"),
        ([0.0], Verdict.IN_PART, "above in 0 of 1, 1 tie"),
        ([0.011, 0.0, -0.011], Verdict.FAILS, "above in 1 of 3, 1 tie, 1 below"),
        ([-0.5, -0.01, 0.01], Verdict.FAILS, "above in 0 of 3, 2 ties, 1 below"),
    ],
)
def test_being_above_is_judged_with_its_ties(differences, verdict, reason):
    assert above(differences) == Judgement(verdict, reason)
    assert above([d / 10 for d in differences], tie=0.001) == Judgement(verdict, reason)


def test_being_alike_and_stand_ins():
    assert alike([0.02, -0.02], 0.02).verdict is Verdict.HOLDS
    assert alike([0.02, -0.03], 0.02).verdict is Verdict.FAILS
    assert alike([0.02, -0.02, 1.0], 0.02).verdict is Verdict.IN_PART
    with pytest.raises(ValueError, match="judged by"):
        alike([], 0.02)
    for level, then in ((0.5, Verdict.HOLDS), (-0.5, Verdict.OTHER_DATA)):
        found = on_stand_in(above([level]), "tweet")
        assert found.verdict is then
        assert found.reason.startswith("tweet: above in ")


def test_verdicts_are_counted_in_their_order():
    claims = [
        Claim("", "", "", v, "") for v in (Verdict.FAILS, Verdict.HOLDS, Verdict.FAILS, Verdict.CHANGED)
    ]
    assert counted(claims) == "4 claims: 1 holds · 2 does not hold · 1 no longer true"


class OtherOrder:
    """The same store as if trials had ended in another order."""

    def __init__(self, store):
        self.path = store.path
        self.outcomes = dict(reversed(store.outcomes.items()))

    def __contains__(self, one):
        return one.key in self.outcomes


def test_mean_and_spread_have_no_minus_zero():
    assert pm(-0.001, 0.0) == "0.00 ± 0.00"


def test_papers_are_four():
    assert PAPERS == ("ncut", "tnmf", "nystrom", "semantic")
    assert Collection.__dataclass_fields__.keys() >= {"X", "labels", "terms", "texts", "about"}


# --- what was promised earlier


def test_a_store_written_earlier_is_still_used(tmp_path):
    path = tmp_path / "results.jsonl"
    earlier = [
        {"format": 1, "coterie": __version__},
        {"data": {"titles": "abc"}},
        {"kind": "cluster", "collection": "titles", "method": "nmf-ncut", "k": 9, "seed": 3,
         "settings": [["max_iter", 20], ["tol", None]], "values": {"nmi": 0.5}, "seconds": 0.25, "remarks": ["a"]},
    ]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in earlier))
    done = trial("cluster", "titles", "nmf-ncut", k=9, seed=3, max_iter=20, tol=None)
    with Store(path, {"titles": "abc"}) as store:
        assert list(store.outcomes.values()) == [Outcome(done, {"nmi": 0.5}, 0.25, ("a",))]
        run([done], store, workers=1)  # nothing is left to do
    assert path.read_text().count("\n") == 3


@pytest.mark.parametrize("name", PAPERS)
def test_trials_are_those_of_the_published_numbers(name):
    fields = ["kind", "collection", "method", "k", "seed"]
    published = pl.read_parquet(DOCS / name / "results.parquet").select(fields).rows()
    listed = dict.fromkeys(paper(name).trials(quick=False))
    assert [tuple(getattr(one, field) for field in fields) for one in listed] == published


def test_both_packages_are_of_one_version():
    assert metadata.version("coterie-papers") == metadata.version("coterie") == __version__
    assert f"coterie[lda]=={__version__}" in metadata.requires("coterie-papers")
