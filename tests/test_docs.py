"""What the documentation says is typed here, block by block."""

import random
import re
import runpy
import shlex
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from typed import ENVIRONMENT, typed

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "docs/guide.md", "docs/cluster.md"]


def blocks(page, language):
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize(("page", "number"), [(p, i) for p in PAGES for i in range(len(blocks(p, "python")))])
def test_python_runs_as_written(page, number, tmp_path, monkeypatch, capsys):
    (tmp_path / "tickets.csv").write_text(
        "id;subject\n" + "\n".join(f"{i};late parcel number {i % 7} refund" for i in range(60)) + "\n61\n"
    )
    (tmp_path / "block.py").write_text(blocks(page, "python")[number], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(tmp_path / "block.py"), run_name="__main__")  # processes look for it where they start
    assert capsys.readouterr().out


SUBJECTS = (
    "parcel late courier driver tracking delivery missing street",
    "refund money card charged invoice twice payment bank",
    "password login account email reset locked code phone",
    "kettle broken lid leaks kitchen warranty spare handle",
)


def tickets(n, seed):
    draw = random.Random(seed)
    rows = [f"{i},my {' '.join(draw.sample(SUBJECTS[i % 4].split(), 4))},team {i % 4}" for i in range(n)]
    return "\n".join(["id,subject,team", *rows]) + "\n"


@pytest.mark.process
@pytest.mark.parametrize("page", PAGES)
def test_commands_run_as_written(page, tmp_path):
    (tmp_path / "tickets.csv").write_text(tickets(200, 1))
    (tmp_path / "tomorrow.csv").write_text(tickets(40, 2))
    lines = [
        line for block in blocks(page, "sh") for line in block.splitlines() if line.startswith("coterie ")
    ]
    assert lines
    for line in lines:
        if line.startswith("coterie explore"):
            assert_serves(line, tmp_path)
            continue
        done = typed(line, tmp_path)
        assert done.code == 0, (line, done.err)


def assert_serves(line, folder):
    """The command of a page that goes on until it is interrupted: it answers, and ends when asked to."""
    command = [*shlex.split(line, comments=True), "--no-browser", "--port", "0"]
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())  # the token becomes a cookie
    with subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = next(word for word in server.stdout.readline().split() if word.startswith("http"))
            with browser.open(address, timeout=60) as answer:
                assert answer.status == 200
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(60)


def test_commands_exist():
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for page in PAGES:
        for block in blocks(page, "sh"):
            for line in block.splitlines():
                command = shlex.split(line, comments=True)
                if command and command[0] == "make":
                    assert command[1] in targets, line


def test_links_lead_somewhere():
    for page in [*PAGES, "CONTRIBUTING.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]:
        file = ROOT / page
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", file.read_text(encoding="utf-8")):
            assert (file.parent / target).exists(), f"{page} → {target}"


def test_the_figures_of_the_readme_are_those_of_the_pages():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    def row(page, begins):
        lines = (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()
        return [
            cell.strip() for cell in next(line for line in lines if line.startswith(begins)).split("|")[1:-1]
        ]

    ours, theirs = (
        row("quality.md", f"| {name} |")[1] for name in ("**coterie**", "BERTopic, MiniLM, topics given")
    )
    assert f"{ours} % against\n{theirs} % on average" in readme
    left, kept = (
        row("experiments.md", f"| this rule, {rule} |")
        for rule in ("source left out", "coefficients of the package")
    )
    assert (
        f"{round(100 * float(left[4]))} % of {left[1]} collections\n({round(100 * float(kept[4]))} % if nothing"
        in readme
    )
    sure = row("confidence.md", "| **mean** |")
    assert (
        f"{sure[9]} of the texts with a confidence of at least 0.8 are right on average ({sure[7]};"
        in " ".join(readme.split())
    )


def test_nothing_private_is_named():
    # neither a machine's paths nor the hosts of package registries belong into the project
    forbidden = re.compile(r"/work/|/root/|pypi\.org|pythonhosted|registry\.npmjs|deb\.debian\.org")
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    for name in tracked:
        if name != "tests/test_docs.py":
            assert not forbidden.search((ROOT / name).read_text(encoding="utf-8", errors="ignore")), name


def test_the_stop_words_that_the_docs_name_are_those_of_the_code():
    from coterie.text.languages import stop_words

    page = (ROOT / "docs/decisions.md").read_text(encoding="utf-8")
    section = page[page.index("## A short stop list for English") :].split("\n## ")[0]
    (kept,) = re.findall(r"^- Not stop words here.*$", section, re.MULTILINE)
    (removed,) = re.findall(r"^- Stop words, as in scikit-learn.*$", section, re.MULTILINE)
    named = [re.findall(r"\*(\w+)\*", line) for line in (kept, removed)]
    assert all(named)
    assert [word for word in named[0] if word in stop_words("english")] == []
    assert [word for word in named[1] if word not in stop_words("english")] == []
