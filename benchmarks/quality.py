"""How good the topics are: every contender on every labelled set, K being the number of labels.

    python benchmarks/quality.py run [--method NAME ...] [--set NAME ...] [--limit SECONDS]
    python benchmarks/quality.py page

Each method and set is run in a process of its own. What came out is kept as a file of JSON in `run/quality`, seed by
seed, so that a run that was stopped goes on where it was; delete a file to run it again. `page` writes
docs/quality.md from those files alone. Packages that are not installed are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from importlib import import_module
from importlib.util import find_spec

import numpy as np

from contenders import CACHE, CONTENDERS, TOP, Collection, embedded
from harness import peak_megabytes, reset_peak

MAIN = ("searchsnippets", "stackoverflow", "tweet", "googlenews-ts", "agnews")
SETS = (*MAIN, "titles", "agnews-test", "thucnews20k", "classic4", "reuters4", "debian")
OPTIONAL = ("ng20", "wordnet")
LIMIT = 300
TOO_LONG = "took too long"
ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


def result_file(method, name):
    return CACHE / f"{method}@{name}.json"


def result(method, name):
    """What is known of a method on a set: `runs` by seed, and why there are not more of them."""
    file = result_file(method, name)
    return json.loads(file.read_text()) if file.exists() else {"runs": []}


def keep(method, name, found):
    """Write as a whole or not at all."""
    file = result_file(method, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps(found, indent=1))
    part.replace(file)


def case(method, name, limit):
    """All seeds of one method on one set that are not known yet, in this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
    warnings.simplefilter("ignore")  # a topic that stays empty is part of the figure
    contender, data, known = CONTENDERS[method], Collection.load(name), result(method, name)
    for module in contender.needs:  # loading is not part of the time
        import_module(module)
    for seed in range(len(known["runs"]), contender.seeds):
        known["runs"].append(scored(contender, data, seed))
        keep(method, name, known)
    keep(method, name, known | {"complete": True})


def scored(contender, data, seed):
    """One run: measures against the labels and of the top terms, processor and wall seconds, peak memory."""
    from coterie.metrics import clustering_scores, coherence, diversity

    reset_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    found = contender.run(data, seed)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = peak_megabytes()
    labels = np.asarray(found.labels).tolist()
    scores = clustering_scores(data.labels, labels)
    used = sorted(set(labels))  # a topic without a text has no terms worth judging
    topics = [[data.terms[column] for column in found.topics[topic][:TOP]] for topic in used]
    reference = (data.sequences, data.terms)
    return {
        "seed": seed, "accuracy": scores.accuracy, "nmi": scores.nmi, "ari": scores.ari,
        "npmi": coherence(topics, reference, "npmi"), "c_v": coherence(topics, reference, "c_v"),
        "diversity": diversity(topics, TOP), "used": len(used),
        "seconds": wall, "cpu": cpu + found.spent, "megabytes": peak,
    }  # fmt: skip


def run(methods, sets, limit):
    """Everything asked for that is not there yet."""
    for name in sets:
        for method in methods:
            contender, known = CONTENDERS[method], result(method, name)
            missing = [module for module in contender.needs if find_spec(module) is None]
            if missing:
                print(f"{method}: left out, {', '.join(missing)} not installed", file=sys.stderr)
            elif not known.get("complete") and not known.get("why"):
                said = _in_a_process(method, name, limit)
                print(f"{name:15} {method:18} {said}", flush=True)


def _in_a_process(method, name, limit):
    embedding = CONTENDERS[method].embedding
    here = [sys.executable, __file__]
    environment = os.environ | ONE_THREAD
    if embedding:  # takes its time once, and serves several methods and all seeds
        subprocess.run([*here, "embed", embedding, name], check=True, env=environment)
    out = subprocess.run(
        [*here, "case", method, name, str(limit)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    why = None
    if out.returncode:
        last = out.stderr.strip().splitlines()[-1:] or [f"exit code {out.returncode}"]
        why = TOO_LONG if -out.returncode in (signal.SIGXCPU, signal.SIGKILL) else last[0]
    known = result(method, name)
    if why:
        keep(method, name, known | {"why": why})
    scores = [round(run["accuracy"], 3) for run in known["runs"]]
    return f"{scores} {why or ''}"


def main(arguments):
    if arguments[:1] == ["case"]:
        return case(*arguments[1:3], float(arguments[3]))
    if arguments[:1] == ["embed"]:
        from coterie.datasets import load

        embedded(*arguments[1:], load(arguments[2]).texts)
        return None
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["run", "page"])
    parser.add_argument("--method", nargs="+", choices=list(CONTENDERS), default=list(CONTENDERS))
    parser.add_argument("--set", nargs="+", choices=[*SETS, *OPTIONAL], default=list(SETS), dest="sets")
    parser.add_argument(
        "--limit", type=float, default=LIMIT, help="processor seconds for one method on one set"
    )
    chosen = parser.parse_args(arguments)
    if chosen.what == "run":
        return run(chosen.method, chosen.sets, chosen.limit)
    import quality_page

    return quality_page.write()


if __name__ == "__main__":
    main(sys.argv[1:])
