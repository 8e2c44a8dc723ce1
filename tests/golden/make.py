"""Write the model that later versions must still read, and what it answered. Run once for each format."""

import json
from pathlib import Path

from coterie import TopicModel
from coterie.topics.state import FORMAT

SUBJECTS = (
    ["parcel", "late", "courier", "tracking", "doorstep", "depot", "van", "neighbour"],
    ["invoice", "refund", "charge", "card", "receipt", "bank", "tax", "money"],
    ["password", "login", "account", "reset", "email", "locked", "code", "browser"],
)
ASKED = [
    "",
    "my parcel is late",
    "refund the card",
    "reset password email",
    "qwertz",
    "invoice for the courier",
    "#login!",
]


def texts():
    """Ninety texts of three subjects, put together by counting."""
    found = []
    for number in range(90):
        words = SUBJECTS[number % 3]
        found.append(" ".join(words[(number // 3 + step * (number % 5 + 1)) % 8] for step in range(4)))
    return found


def answers(model):
    """What a model says, in plain values."""
    return {
        "topics": [[topic.id, topic.label, topic.size, list(topic.terms)] for topic in model.topics],
        "assigned": [
            [found.topic, round(found.confidence, 4), found.second, str(found.reason)]
            for found in model.assign(ASKED)
        ],
        "edits": [str(edit) for edit in model.edits],
    }


def made():
    """A model with a predefined topic and one edit of each kind."""
    model = TopicModel(3, predefined={"Money": ["invoice", "refund"]}).fit(texts())
    model.edits.rename(0, "First").split(1, 2).merge(0, 3).ban("van").pin("qwertz", 2)
    return model


def encode(texts):
    """An encoder that counts the words of each subject."""
    return [[sum(word in subject for word in text.split()) + 0.1 for subject in SUBJECTS] for text in texts]


def made_with_encoder():
    """A model with an encoder, which is saved without it."""
    return TopicModel(3, embeddings=encode).fit(texts())


if __name__ == "__main__":
    for name, model in (("model", made()), ("encoder", made_with_encoder())):
        folder = Path(__file__).parent / f"{name}-{FORMAT}"
        model.save(folder, texts=False)
        text = json.dumps(answers(model), ensure_ascii=False, indent=1)
        (folder / "answers.json").write_text(text + "\n", encoding="utf-8")
