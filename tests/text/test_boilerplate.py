"""What recurs in texts about different things is found, and what texts are about is not."""

import itertools
import random
import time

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.text.boilerplate import Boilerplate, Pattern, packed, unpacked
from coterie.text.languages import stop_words
from coterie.text.quotes import quoted
from coterie.text.recurring import find

THINGS = [
    "parcel",
    "invoice",
    "password",
    "kettle",
    "router",
    "ticket",
    "seat",
    "charger",
    "lamp",
    "printer",
    "scanner",
    "boiler",
]
FAULTS = ["late", "broken", "lost", "wrong", "missing", "noisy", "slow", "locked", "leaking", "cracked"]
PLACES = [
    "yesterday",
    "upstairs",
    "again",
    "twice",
    "london",
    "berlin",
    "paris",
    "madrid",
    "vienna",
    "oslo",
    "lisbon",
    "prague",
]
NAMES = [
    f"{a} {b}"
    for a in ("Ana", "Paul", "Omar", "Ines")
    for b in ("Silva", "Moreau", "Keller", "Novak", "Rossi")
]
NOTICE = "This message is confidential and meant for the addressee. Delete it if you are somebody else."


def bodies():
    """1,440 different texts about twelve things."""
    return [
        f"my {thing} is {fault} {place}" for thing, fault, place in itertools.product(THINGS, FAULTS, PLACES)
    ]


def with_parts(parts, share=0.15, seed=0):
    """The bodies; each part is appended to some of them, whatever they are about."""
    rng = random.Random(seed)
    made = bodies()
    for part in parts:
        made = [part(text, rng) if rng.random() < share else text for text in made]
    return made


def appended(*endings, join=" "):
    return lambda text, rng: f"{text}{join}{rng.choice(endings)}"


def found_in(texts):
    return find(lambda: [pl.Series(texts)], stop_words("english"))


def blank(found, text):
    return " ".join(found.blank(pl.Series([text]))[0].split())


@pytest.mark.parametrize("join", [" ", "\n", ". "])
@pytest.mark.parametrize("names", [NAMES[:1], NAMES[:8], NAMES])
def test_closings_are_found_with_any_name(names, join):
    found = found_in(with_parts([appended(*(f"Kind regards, {name}" for name in names), join=join)]))
    assert (
        blank(found, f"my parcel is late oslo{join}Kind regards, {names[0]}").strip(". ")
        == "my parcel is late oslo"
    )
    if len(names) > 8:
        assert (
            blank(found, f"my parcel is late{join}kind regards\nZoe Unheard").strip(". ")
            == "my parcel is late"
        )


@pytest.mark.parametrize("join", [" ", "\n", ". "])
def test_notices_and_device_lines_are_found(join):
    parts = [appended("Sent from my iPhone", join=join), appended(NOTICE, join=join)]
    found = found_in(with_parts(parts))
    text = f"my parcel is late{join}Sent from my iPhone{join}{NOTICE}"
    assert blank(found, text).rstrip(". ") == "my parcel is late"


def test_greetings_labels_and_form_fields_are_found():
    def form(text, rng):
        return f"Hi team,\nOrder number: {rng.randrange(10**6)}\nProduct: {rng.choice(THINGS)}\n{text}"

    found = found_in(with_parts([form], share=0.3))
    assert (
        blank(found, "Hi team,\nOrder number: 77\nProduct: lamp\nmy parcel is late")
        == "77 lamp my parcel is late"
    )


def test_what_texts_are_about_is_not_left_out():
    assert not found_in(bodies())
    # a sentence that belongs to one subject, however often it recurs
    about = [f"{text}. I want my money back" if "invoice" in text else text for text in bodies()]
    assert not found_in(about)


def test_texts_that_are_nothing_else_keep_it():
    texts = with_parts([appended("Kind regards, Ana Silva")])
    found = found_in([*texts, "Kind regards, Ana Silva"])
    assert found
    assert found.blank(pl.Series(["Kind regards, Ana Silva", ""])).to_list() == [
        "Kind regards, Ana Silva",
        "",
    ]


def test_copies_of_whole_texts_are_no_boilerplate():
    assert not found_in(bodies()[:30] * 100)
    assert not found_in(["please send the invoice again. thank you very much"] * 500 + bodies())


def test_patterns_know_how_many_texts_have_them():
    texts = with_parts([appended("Sent from my iPhone")])
    found = found_in([*texts, *texts])
    (pattern,) = found.patterns
    assert pattern.texts == found.texts == 2 * sum("iPhone" in text for text in texts)
    assert "Sent from my iPhone" in pattern.example
    assert str(found) == "“sent from my iphone”"


def test_order_and_batches_do_not_matter():
    texts = with_parts([appended(*(f"Kind regards, {name}" for name in NAMES)), appended(NOTICE)])
    shuffled = random.Random(1).sample(texts, len(texts))
    parts = [pl.Series(shuffled[:500]), pl.Series(shuffled[500:])]
    assert find(lambda: parts, stop_words("english")) == found_in(texts)


def test_markup_hides_nothing():
    texts = with_parts([appended("Sent from my iPhone", join="<br>"), lambda text, _: f"<p>{text}</p>&nbsp;"])
    assert [pattern.words for pattern in found_in(texts).patterns] == [("sent", "from", "my", "iphone")]


@settings(max_examples=50)
@given(st.text(max_size=80), st.sampled_from(["passage", "opening", "ending", "closing", "label", "quote"]))
def test_positions_stay_and_something_is_left(text, kind):
    left_out = Boilerplate((Pattern(kind, () if kind == "quote" else ("kind", "regards")),))
    for made in (text, f"Kind regards, {text}", f"{text} Kind regards", f"> {text}\n{text}"):
        (blanked,) = left_out.blank(pl.Series([made]))
        assert len(blanked) == len(made)
        assert any(map(str.isalpha, blanked)) == any(map(str.isalpha, made))
        assert left_out.blank(pl.Series([made, "x"]))[0] == blanked


def test_patterns_survive_a_file():
    found = found_in(with_parts([appended(NOTICE)]))
    assert unpacked(packed(found)) == found
    for wrong in ([["shell", ["x"], 1, ""]], [["closing", [], 1, ""]], [["closing", [1], 1, ""]]):
        with pytest.raises((ValueError, TypeError)):
            unpacked({"patterns": wrong, "texts": 1})


@pytest.mark.parametrize(
    "reply",
    [
        "Still broken.\n> did you restart it\n> and reset it",
        "Still broken.\n\nOn Mon, 3 May 2024 at 10:12, Ana Silva <ana@example.org> wrote:\n> did you restart",
        "Still broken.\nOn 3 May 2024, Ana Silva wrote:\ndid you restart it?",
        "Still broken.\n-----Original Message-----\nFrom: Ana\nSubject: restart",
        "Still broken. -----Ursprüngliche Nachricht----- did you restart it",
        "Still broken.\nAm 03.05.2024 um 10:12 schrieb Ana Silva <ana@example.org>:\ndid you restart",
        "Still broken.\nLe 3 mai 2024 à 10:12, Ana Silva a écrit :\ndid you restart",
        "Still broken.\nEl 3 may 2024, a las 10:12, Ana Silva escribió:\ndid you restart",
        "Still broken.\nVon: Ana Silva\nGesendet: Montag\nAn: Help\nBetreff: restart",
        "Still broken.\nDe : Ana\nEnvoyé : lundi\nObjet : restart",
        "On 3 May 2024, Ana wrote:\n> did you restart it\nStill broken.",
    ],
)
def test_quoted_replies_are_left_out(reply):
    blanked = reply
    for start, end in quoted(reply):
        blanked = blanked[:start] + " " * (end - start) + blanked[end:]
    assert blanked.split() == ["Still", "broken."]


@pytest.mark.parametrize(
    "text",
    ["a > b", "My father wrote: no", "On Monday she wrote: help me", "> only a quote", "-- sale --", ""],
)
def test_no_quote_where_there_is_none(text):
    assert quoted(text) == []


def test_hostile_quotes_take_no_time():
    for text in (
        "On " * 200_000,
        "wrote:" * 100_000,
        "---- " * 100_000,
        ">\n" * 200_000,
        "From: x\n" * 50_000,
    ):
        quoted("a\n" + text)


# --- what must not be taken for boilerplate, and what hides


@pytest.mark.parametrize(
    "text",
    [
        "FYI\n---------- Forwarded message ---------\nFrom: Ann\nDate: 3 May 2024\nSubject: parcel\nTo: Bob\n\nIt is late",
        "Please have a look\nVon: Ann\nGesendet: Montag\nAn: Bob\nBetreff: WG: Paket\nEs ist zu spät",
        "Web form ticket\n----- Problem description -----\nmy parcel is late",
        "New complaint\nFrom: London\nDate: 19 May 2025\nmy parcel is late",
        "Yes\n> is the parcel late?",
    ],
)
def test_what_is_forwarded_or_only_looks_like_a_quote_stays(text):
    assert quoted(text) == []


def test_a_name_behind_several_closings_is_found():
    closings = ("Kind regards", "Best wishes", "Cheers", "Yours sincerely", "Many thanks")

    def signed(text, rng):
        return f"{text}\n{rng.choice(closings)},\n{rng.choice(NAMES)}\nOffice Manager, Oak Ltd\nTel. 44 20 7946 0123"

    found = found_in(with_parts([signed], share=0.6))
    (left,) = found.blank(
        pl.Series(["my lamp is late\nMany thanks,\nAna Keller\nOffice Manager, Oak Ltd\nTel. 1 2"])
    )
    assert left.split() == ["my", "lamp", "is", "late"]


def test_a_notice_in_every_text_is_found():
    found = found_in([f"{text}. {NOTICE}" for text in bodies()[::3]])
    (left,) = found.blank(pl.Series([f"the lamp is broken. {NOTICE}"]))
    assert left.split() == ["the", "lamp", "is", "broken."]


def test_a_signature_above_a_notice_is_found():
    def mail(text, rng):
        return f"{text}\nKind regards,\n{rng.choice(NAMES)}\n{NOTICE}"

    found = found_in(with_parts([mail], share=0.5))
    assert found.blank(pl.Series([f"lamp late\nKind regards,\nAna Keller\n{NOTICE}"]))[0].split() == [
        "lamp",
        "late",
    ]


def test_a_form_with_a_message_loses_its_labels_only():
    kinds = ("business", "personal")

    def form(text, rng):
        return f"Account type: {rng.choice(kinds)}\nCustomer number: {rng.randint(1, 9**6)}\nMessage: {text}"

    found = found_in(with_parts([form], share=0.6))
    (left,) = found.blank(
        pl.Series(["Account type: business\nCustomer number: 12\nMessage: my lamp is late"])
    )
    assert "Customer" not in left
    assert left.endswith("my lamp is late")


@pytest.mark.parametrize("sign", ["-", "!", ".", "?", ">", "=", "_", " ", "\n"])
def test_long_lines_of_signs_take_no_time(sign):
    texts = [*bodies()[:100], f"my lamp {sign * 50_000} late", sign * 50_000 + "x"]
    started = time.process_time()
    Boilerplate((Pattern("quote", ()), Pattern("closing", ("kind", "regards")))).blank(pl.Series(texts))
    found_in(texts)
    assert time.process_time() - started < 10  # it was minutes
