"""Names of the topics of a run from a language model: asked in parallel, kept, checked, and given as edits.

Answers are kept in the run folder as they come, so that a command that was stopped goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from coterie.errors import InputError
from coterie.progress import tell
from coterie.results import Topic
from coterie.runs.endpoint import Endpoint, Refused
from coterie.runs.relabel import Renamed, rename_topics
from coterie.storage.files import cannot
from coterie.text.markup import without_gaps
from coterie.topics import TopicModel
from coterie.topics.editing import topics_of
from coterie.topics.prompts import SYSTEM, Named, check_free, read_answer, topic_prompt

#: The file in the run folder that keeps answers, one a line.
ANSWERS = "names.jsonl"


@dataclass(frozen=True)
class Question:
    """What leaves the machine about one topic."""

    topic: Topic
    prompt: str

    def key(self, endpoint: Endpoint) -> str:
        """What an answer is kept under: the same question to the same model is not asked again."""
        asked = json.dumps([endpoint.url, endpoint.model, SYSTEM, self.prompt])
        return hashlib.sha256(asked.encode()).hexdigest()


@dataclass
class Answers:
    """Names by topic id, and for topics that keep theirs a sentence that says why."""

    names: dict[int, Named] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)


def questions(model: TopicModel, topics: Collection[int], *, texts: bool = False) -> list[Question]:
    """A question for each of some topics, by id; what they were called by an edit is not part of it."""
    described = model.state.description
    unedited = replace(model.state.edited, names={}, descriptions={})
    display = model.vectorizer_.vocabulary_.display
    plain = topics_of(display, unedited, described, [_as_counted(model, topic) for topic in model.topics])
    return [
        Question(topic, topic_prompt(bare, texts=texts))
        for topic, bare in zip(model.topics, plain, strict=True)
        if topic.id in topics
    ]


def _as_counted(model: TopicModel, topic: Topic) -> tuple[str, ...]:
    """The typical texts of a topic without markup, signatures and other boilerplate."""
    counted = model.vectorizer_.counted_texts(pl.Series(topic.examples, dtype=pl.String))
    return tuple(without_gaps(counted))


def named_by_hand(folder: Path, model: TopicModel) -> set[int]:
    """Topics with a label that somebody gave, and no language model."""
    given = set()
    for answer in _Kept(folder / ANSWERS).answers.values():
        with suppress(InputError):
            given.add(read_answer(answer).name)
    return {topic for topic, name in model.state.edited.names.items() if name not in given}


def ask(
    folder: Path,
    asked: Sequence[Question],
    endpoint: Endpoint,
    *,
    others: Sequence[str] = (),
    threads: int = 4,
) -> Answers:
    """Ask for names, all that are not kept already; `others` are labels of topics that are not asked about.

    If the endpoint refuses, an InputError says so, and the answers until then are kept.
    """
    kept = _Kept(folder / ANSWERS)
    raw: dict[int, str] = {}
    failed: dict[int, str] = {}
    missing = []
    for question in asked:
        if (answer := kept.answers.get(question.key(endpoint))) is None:
            missing.append(question)
        else:
            raw[question.topic.id] = answer

    def answered(question: Question) -> None:
        try:
            answer = endpoint.ask(SYSTEM, question.prompt)
            read_answer(answer)  # what is nonsense is not kept: it may be better the next time
        except Refused:
            raise
        except InputError as error:
            failed[question.topic.id] = str(error)
        else:
            raw[question.topic.id] = answer
            kept.add(question.key(endpoint), answer)

    _in_parallel(answered, missing, threads, len(asked) - len(missing), len(asked))
    return _checked(asked, raw, failed, others)


def _in_parallel(
    work: Callable[[Question], None], todo: Sequence[Question], threads: int, done: int, total: int
) -> None:
    with ThreadPoolExecutor(max(min(threads, len(todo)), 1)) as pool:
        waiting = [pool.submit(work, question) for question in todo]
        try:
            for number, future in enumerate(as_completed(waiting), done + 1):
                future.result()
                tell("asking for names", number, total, "topics")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _checked(
    asked: Sequence[Question], raw: Mapping[int, str], failed: Mapping[int, str], others: Sequence[str]
) -> Answers:
    """Answers in the order of topics; of two equal names the first is taken."""
    found = Answers(refused=dict(failed))
    taken = [*others, *(question.topic.label for question in asked if question.topic.id in failed)]
    for question in asked:
        if question.topic.id not in raw:
            continue
        try:
            named = read_answer(raw[question.topic.id])
            check_free(named.name, [*taken, *(other.name for other in found.names.values())])
        except InputError as error:
            found.refused[question.topic.id] = str(error)
        else:
            found.names[question.topic.id] = named
    return found


def give_names(folder: Path, answers: Answers, topics: Sequence[Topic]) -> Renamed | None:
    """Rename the topics of a run as answered, in the order of topics; None if no name is new."""
    new = {
        topic.id: answers.names[topic.id]
        for topic in topics
        if topic.id in answers.names
        and (answers.names[topic.id].name, answers.names[topic.id].description)
        != (topic.label, topic.description)
    }
    if not new:
        return None
    names: dict[int | str, str] = {topic: named.name for topic, named in new.items()}
    descriptions: dict[int | str, str] = {topic: named.description for topic, named in new.items()}
    return rename_topics(folder, names, descriptions)


class _Kept:
    """Answers in a file, one a line; a line that was not finished is left out."""

    def __init__(self, path: Path):
        self._path = path
        self.answers: dict[str, str] = {}
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
        except OSError as error:
            raise cannot(path, "read", error) from error
        for line in lines:
            try:
                key, answer = json.loads(line)
                self.answers[str(key)] = str(answer)
            except (ValueError, TypeError):
                continue

    def add(self, key: str, answer: str) -> None:
        """Keep an answer; on the disk when this returns."""
        line = f"\n{json.dumps([key, answer])}\n".encode()  # a line of its own, even after a torn one
        try:
            with self._path.open("ab") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise cannot(self._path, "written", error) from error
