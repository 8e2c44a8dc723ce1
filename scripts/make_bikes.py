"""Write the sample that `coterie demo` shows: messages to an imaginary bike shop, from hand-written sentences.

`bikes/SUBJECT.txt` has the sentences of one subject: those a message can begin with, a line `--`, and those that
can follow. `{a|b}` is one of the alternatives, `<day>` a word of `WORDS`. `bikes/subjects.csv` says how many
messages each month has of each subject. Planted in it: in the last month late deliveries fall, batteries rise, and the
smart lock is a new problem.

    python scripts/make_bikes.py
"""

from __future__ import annotations

import calendar
import csv
import gzip
import io
import random
import re
from pathlib import Path

HERE = Path(__file__).parent / "bikes"
OUT = HERE.parents[1] / "src/coterie/datasets/bikes.csv.gz"
COLUMNS = ["id", "date", "team", "channel", "plan", "about", "text"]

WORDS = {
    "model": ["Heron", "Heron", "Heron", "Swift", "Magpie", "Wren"],
    "day": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "the 4th", "the 17th"],
    "month": ["January", "February", "March", "May", "June", "July"],
    "city": ["Bristol", "Leeds", "York", "Cardiff", "Norwich", "Dublin", "Bath", "Exeter", "Derby", "Cork"],
    "n": ["2", "3", "4", "5", "6"],
}
NAMES = [
    "Anna",
    "Joe",
    "M. Hartley",
    "Sofia",
    "Declan",
    "Ruth",
    "Kwame",
    "Ines",
    "Phil",
    "Mrs Okafor",
    "Liz",
    "T.",
]
OPENINGS = [
    "Hi,", "Hi there,", "Hello,", "Hello team,", "Good morning,", "Dear Larkspur,", "hey", "Hi Larkspur team!",
    "Good evening.", "Good afternoon,", "Hello again,", "Quick question:", "Morning!", "hi guys,",
]  # fmt: skip
CLOSINGS = [
    "Thanks!", "Thanks", "Thank you.", "Many thanks, <name>", "Best, <name>", "Regards, <name>", "Cheers, <name>",
    "Kind regards\n<name>", "thx", "Please advise.", "Looking forward to hearing from you.", "<name>",
    "Any help welcome.", "Please get back to me soon.", "Could somebody call me?", "What can be done?",
    "Cheers", "Thanks in advance!", "Have a nice day, <name>", "Hope you can help.",
]  # fmt: skip
ASIDES = [
    "Not impressed.", "I'm getting a bit tired of this.", "No idea what else to try.", "Sorry for the long message.",
    "I know you're busy.", "I asked in the chat but we got cut off.", "Is it just me?", "Otherwise no complaints.",
    "This is the second time I'm writing.", "Maybe I'm overlooking something.", "Bit disappointed to be honest.",
    "I can send more details if you need them.", "Somebody told me to write to you.", "Please don't send me a bot.",
    "I've searched your help pages.", "Not the end of the world, but still.",
]  # fmt: skip
NOTICE = (
    "\n\n<name>\nBrennan & Sons Ltd\n\nThis email and any attachments are confidential and intended solely for the "
    "addressee. If you have received it in error, please notify the sender and delete it."
)
PHONE = "\n\nSent from my iPhone"
NOTHING = [
    "n/a", "test", "-", "?", "hello?", "thanks", "ok", "see above", "as discussed", "asdf", "no comment", "nothing",
    ".", "see attachment", "please ignore my last message", "none", "Hello", "same as before", "ok thank you", "??",
]  # fmt: skip
SWAPS = {
    "please": ["pls", "please"], "cannot": ["can't", "can not"], "doesn't": ["doesnt", "does not"],
    "won't": ["wont", "will not"], "I've": ["I have", "Ive"], "I'm": ["Im", "I am"], "can't": ["cannot", "cant"],
    "isn't": ["is not", "isnt"], "it's": ["its", "it is"], "because": ["cause", "as"], "really": ["truly", "quite"],
    "nobody": ["no one", "noone"], "again": ["again", "yet again"], "still": ["stil", "still"],
    "weeks": ["wks", "weeks"], "bike": ["bicycle", "bike"], "tomorrow": ["tmrw", "tomorrow"], "you": ["u", "you"],
}  # fmt: skip


def main() -> None:
    """Write the file; the same script writes the same bytes."""
    rng = random.Random(3)
    with (HERE / "subjects.csv").open(encoding="utf-8", newline="") as file:
        subjects = list(csv.DictReader(file))
    teams = sorted({subject["team"] for subject in subjects})
    rows = [row for subject in subjects for row in messages(subject, teams, rng)]
    for text in NOTHING * 2:
        date = f"2026-{rng.randint(4, 9):02}-{rng.randint(1, 30):02}"
        rows.append([date, rng.choice(teams), rng.choice(["chat", "app"]), plan(rng), "nothing", text])
    rows.sort(key=lambda row: (row[0], rng.random()))
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([f"L-{number}", *row] for number, row in enumerate(rows, 10_001))
    OUT.write_bytes(gzip.compress(table.getvalue().encode(), 9, mtime=0))
    distinct = len({row[-1] for row in rows})
    print(f"{len(rows):,} messages, {distinct:,} distinct, {OUT.stat().st_size:,} bytes in {OUT.name}")


def messages(subject: dict[str, str], teams: list[str], rng: random.Random) -> list[list[str]]:
    """The messages of a subject: date, team, channel, plan, subject, text."""
    lines = (HERE / f"{subject['file']}.txt").read_text(encoding="utf-8").splitlines()
    cut = lines.index("--")
    first, more = lines[:cut], lines[cut + 1 :]
    said: set[str] = set()
    waiting: list[str] = []
    rows = []
    months = [name for name in subject if name.startswith("2026-")]
    new = next(month for month in months if subject[month] != "0")
    for month in months:
        days = calendar.monthrange(2026, int(month[-2:]))[1]
        earliest = 4 if new == month != months[0] else 1
        for _ in range(int(subject[month])):
            text = ""
            while not text or text in said:
                waiting = waiting or rng.sample(
                    first, len(first)
                )  # every sentence once before one comes again
                text = message(waiting.pop(), first, more, rng)
            said.add(text)
            channel = rng.choices(["email", "chat", "app"], [5, 3, 3 + 4 * (subject["team"] == "App")])[0]
            payer = plan(rng)
            if channel == "email":
                text = signed(text, payer, rng)
            team = rng.choice(teams) if rng.random() < 0.04 else subject["team"]
            date = f"{month}-{rng.randint(earliest, days):02}"
            rows.append([date, team, channel, payer, subject["about"], text])
    return rows


def plan(rng: random.Random) -> str:
    """The plan of a customer."""
    return rng.choices(["Basic", "Plus", "Business", "none"], [5, 3, 1.3, 2])[0]


def message(sentence: str, first: list[str], more: list[str], rng: random.Random) -> str:
    """A message that says `sentence`, with or without other sentences, words and mistakes."""
    parts = [sentence]
    if rng.random() < 0.38:
        parts.append(rng.choice([other for other in first if other != sentence]))
    if rng.random() < 0.25:
        parts.insert(rng.choice([0, 1, 1, 1, 1]), rng.choice(more))
    if rng.random() < 0.12:
        parts.append(rng.choice(ASIDES))
    if rng.random() < 0.25:
        parts.insert(0, rng.choice(OPENINGS))
    if rng.random() < 0.3:
        parts.append(rng.choice(CLOSINGS))
    text = " ".join(ended(filled(part, rng)) for part in parts[:-1]) + (" " if parts[1:] else "")
    return mistaken(text + filled(parts[-1], rng), rng)


def filled(sentence: str, rng: random.Random) -> str:
    """A sentence with one of its alternatives and with words for its places."""
    sentence = re.sub(r"\{([^{}]*)\}", lambda found: rng.choice(found[1].split("|")), sentence)

    def word(found: re.Match[str]) -> str:
        if found[1] == "order":
            return f"LS-{rng.randint(20_000, 98_999)}"
        return rng.choice(NAMES if found[1] == "name" else WORDS[found[1]])

    return re.sub(r"<(\w+)>", word, sentence)


def ended(sentence: str) -> str:
    """A sentence that another one can follow."""
    return sentence if sentence[-1] in ".,:!?)" or sentence == "hey" else sentence + "."


def signed(text: str, payer: str, rng: random.Random) -> str:
    """A mail, with the notice of a company or the line of a phone under some."""
    if payer == "Business" and rng.random() < 0.3:
        return text + filled(NOTICE, rng)
    return text + PHONE if rng.random() < 0.1 else text


def mistaken(text: str, rng: random.Random) -> str:
    """The text as somebody in a hurry types it: other spellings, no capitals, letters swapped."""
    for word, others in SWAPS.items():
        if word in text and rng.random() < 0.2:
            text = re.sub(rf"\b{word}\b", rng.choice(others), text, count=1)
    style = rng.random()
    if style < 0.14:
        text = text.lower()
    elif style < 0.16:
        text = text.upper() if len(text) < 60 else text
    elif style < 0.2:
        text = text.rstrip(".!") + rng.choice(["!!", "...", " :(", "!!!", ""])
    if rng.random() < 0.1:
        text = typed_badly(text, rng)
    return text


def typed_badly(text: str, rng: random.Random) -> str:
    """Two letters of one longer word changed places, or one is missing."""
    words = [found.span() for found in re.finditer(r"[a-z]{5,}", text)]
    if not words:
        return text
    start, end = rng.choice(words)
    at = rng.randint(start + 1, end - 2)
    if rng.random() < 0.5:
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text[:at] + text[at + 1 :]


if __name__ == "__main__":
    main()
