"""How good the topics are: every method on every labelled set, K being the number of labels.

    python benchmarks/quality.py run [--method NAME ...] [--set NAME ...] [--limit SECONDS] [--again]
    python benchmarks/quality.py page      # docs/quality.md
    python benchmarks/quality.py later     # its table of later methods alone

Each method and set is run in a process of its own. What came out is kept seed by seed in `run/quality/results.jsonl`, so
that a run that was stopped goes on where it was; --again runs what is known once more. `page` writes docs/quality.md
from that file alone. Packages that are not installed are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from importlib import import_module
from importlib.util import find_spec

import numpy as np

from contenders import COMPARED, FOLDER, TOP, embedded
from coterie.datasets.catalog import CATALOG
from coterie_papers.bench.collections import checksums, collection, define, keep_in, words_of
from coterie_papers.bench.runner import ONE_THREAD
from coterie_papers.bench.store import Store
from coterie_papers.bench.trial import Outcome, plain, trial
from harness import peak_megabytes, reset_peak

MAIN = ("searchsnippets", "stackoverflow", "tweet", "googlenews-ts", "agnews")
SETS = (*MAIN, "titles", "agnews-test", "thucnews20k", "classic4", "reuters4", "debian")
OPTIONAL = ("ng20", "wordnet")
STORE, PREPARED = FOLDER / "results.jsonl", FOLDER / "prepared"
LIMIT = 300
TOO_LONG = "took too long"


def counted(name):
    """The collection of a set: all its texts, terms that two of them hold."""
    return f"quality-{name}"


for _name in (*SETS, *OPTIONAL):
    define(
        counted(_name),
        _name,
        "all texts, terms that two texts or more hold",
        least=0,
        **words_of(CATALOG[_name]),
    )


def trials(method, name):
    """A trial for each seed of a method on a set."""
    seeds = range(COMPARED[method].seeds)
    return [trial("quality", counted(name), method, k=CATALOG[name].classes, seed=seed) for seed in seeds]


def result(store, method, name):
    """What is known of a method on a set: the values of each run, and why there are not more of them."""
    known = [store.outcomes[one.key].values for one in trials(method, name) if one in store]
    why = next((values["why"] for values in known if "why" in values), None)
    return [values for values in known if "why" not in values], why


# --- in a process of its own


def case(method, name, limit, seeds):
    """Some seeds of one method on one set; what came out goes to standard output, a line of JSON for each."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a package prints is no answer
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
    warnings.simplefilter("ignore")  # a topic that stays empty is part of the figure
    keep_in(PREPARED)
    compared, data = COMPARED[method], collection(counted(name))
    for module in compared.needs:  # loading is not part of the time
        import_module(module)
    for seed in seeds:
        values = plain(scored(compared, data, CATALOG[name].classes, seed))
        print(json.dumps(values), file=answers, flush=True)


def scored(compared, data, k, seed):
    """One run: measures against the labels and of the top terms, processor and wall seconds, peak memory."""
    from coterie.metrics import clustering_scores, coherence, diversity

    reset_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    found = compared.run(data, k, seed)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = peak_megabytes()
    labels = np.asarray(found.labels).tolist()
    scores = clustering_scores(data.labels, labels)
    used = sorted(set(labels))  # a topic without a text has no terms worth judging
    topics = [[str(column) for column in found.topics[topic][:TOP]] for topic in used]
    reference = (data.sequences().known(), [str(column) for column in range(len(data.terms))])
    return {
        "accuracy": scores.accuracy, "nmi": scores.nmi, "ari": scores.ari,
        "npmi": coherence(topics, reference, "npmi"), "c_v": coherence(topics, reference, "c_v"),
        "diversity": diversity(topics, TOP), "used": len(used),
        "seconds": wall, "cpu": cpu + found.spent, "megabytes": peak,
    }  # fmt: skip


# --- one process after another


def run(methods, sets, limit, again=False):
    """Everything asked for that is not there yet."""
    with Store(STORE, checksums([counted(name) for name in sets])) as store:
        for name in sets:
            for method in methods:
                missing = [module for module in COMPARED[method].needs if find_spec(module) is None]
                if missing:
                    print(f"{method}: left out, {', '.join(missing)} not installed", file=sys.stderr)
                    continue
                _, why = result(store, method, name)
                wanted = [one for one in trials(method, name) if again or (one not in store and not why)]
                if wanted:
                    _in_a_process(wanted, store, method, name, limit)
                    runs, why = result(store, method, name)
                    scores = [round(values["accuracy"], 3) for values in runs]
                    print(f"{name:15} {method:18} {scores} {why or ''}", flush=True)


def _in_a_process(wanted, store, method, name, limit):
    """Keep what came of each trial; behind the last that was done, why the next was not."""
    embedding = COMPARED[method].embedding
    here = [sys.executable, __file__]
    environment = os.environ | ONE_THREAD
    if embedding:  # takes its time once, and serves several methods and all seeds
        subprocess.run([*here, "embed", embedding, name], check=True, env=environment)
    command = [*here, "case", method, name, str(limit), *(str(one.seed) for one in wanted)]
    waiting = iter(wanted)
    with tempfile.TemporaryFile("w+") as said:
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=said, text=True, env=environment
        ) as process:
            for line in process.stdout:
                values = json.loads(line)
                store.add(Outcome(next(waiting), values, values["cpu"]))
        if process.returncode:
            said.seek(0)
            last = said.read().strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
            late = -process.returncode in (signal.SIGXCPU, signal.SIGKILL)
            store.add(Outcome(next(waiting), {"why": TOO_LONG if late else last[0]}, 0.0))


def main(arguments):
    if arguments[:1] == ["case"]:
        return case(*arguments[1:3], float(arguments[3]), map(int, arguments[4:]))
    if arguments[:1] == ["embed"]:
        texts = collection(counted(arguments[2])).texts
        embedded(arguments[1], counted(arguments[2]), texts)
        return None
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["run", "page", "later"])
    parser.add_argument("--method", nargs="+", choices=list(COMPARED), default=list(COMPARED))
    parser.add_argument("--set", nargs="+", choices=[*SETS, *OPTIONAL], default=list(SETS), dest="sets")
    parser.add_argument(
        "--limit", type=float, default=LIMIT, help="processor seconds for one method on one set"
    )
    parser.add_argument("--again", action="store_true", help="also run what is known")
    chosen = parser.parse_args(arguments)
    if chosen.what == "run":
        return run(chosen.method, chosen.sets, chosen.limit, chosen.again)
    import quality_page

    return quality_page.write() if chosen.what == "page" else quality_page.write_later()


if __name__ == "__main__":
    main(sys.argv[1:])
