"""Why a request is not answered as asked: a status and a sentence each."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path


class Refused(Exception):
    """A request that gets `status` and the sentence, as {"error": …}."""

    status = 400


class Missing(Refused):
    """There is no run, topic, text, job or upload of that name."""

    status = 404


class Changed(Refused):
    """The request was made for another state than there is now."""

    status = 409


class Invalid(Refused):
    """The request is well-formed and cannot be done all the same."""

    status = 422


class Later(Refused):
    """Not yet; to be asked again after some seconds."""

    status = 503

    def __init__(self, sentence: str, retry: int = 1):
        super().__init__(sentence)
        self.retry = retry


def without_paths(sentence: str, folder: Path) -> str:
    """A sentence for people who need not know where on this machine the runs and temporary files lie.

    >>> without_paths("/srv/runs/a/run.json is damaged", Path("/srv/runs"))
    'a/run.json is damaged'
    """
    for place in sorted({str(folder), str(folder.resolve())}, key=len, reverse=True):
        sentence = sentence.replace(place.rstrip("/\\") + "/", "").replace(place.rstrip("/\\") + "\\", "")
        sentence = sentence.replace(place, folder.name or "the folder")
    temporary = re.escape(tempfile.gettempdir().rstrip("/\\"))
    return re.sub(temporary + r"[/\\](?:coterie-[\w-]+[/\\])?", "", sentence)
