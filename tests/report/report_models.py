"""What a report is made of in tests: hostile texts, the record of a run, and texts that are counted."""

import polars as pl

from coterie.report import tallied

#: Texts that would do something if they were not only text. `hacked` tells whether one did.
HOSTILE = [
    "<script>window.hacked=1</script> parcel late",
    "</script><script>window.hacked=2</script> parcel refund",
    "<img src=x onerror='window.hacked=3'> refund card",
    "[x](javascript:window.hacked=4) javascript:alert(1) card refund",
    "\u202eparcel\u202c refund late",
    "parcel\x00refund",
    "W" * 100_000 + " parcel late",
    "🧙‍♀️ 👍 parcel 🎉 late",
    "\u2028\u2029 card parcel &amp; &lt;b&gt;",
    "<!-- card --> refund ]]> {{content}} {{script}}",
    "مرحبا parcel شكرا late",
    "",
    "the and of",
]

#: Texts of four topics; those that grow try to be markup.
GROWN = [
    [
        "password reset email locked",
        "login password email",
        "reset password login locked",
        "email login locked reset",
    ],
    [
        "<script>window.hacked=1</script> parcel courier late",
        "parcel late depot courier",
        "courier depot parcel <img src=x onerror='window.hacked=2'>",
        "late courier depot",
    ],
    ["invoice refund card bank", "refund invoice tax card", "bank card refund tax", "tax invoice bank"],
    ["scooter battery wheel brake", "brake wheel scooter", "battery brake scooter", "wheel battery brake"],
]


def info_of(model, source="tickets.csv", column="text", **more):
    """What run.json would say."""
    parameters = {name: value for name, value in model.get_params(deep=False).items() if value is not None}
    return {
        "data": {"source": source, "column": column, "texts": model.n_texts_, "skipped": 0},
        "parameters": parameters,
        "seconds": {"fit": 1.25, "assign": 0.5},
        "warnings": [],
        "versions": {"coterie": "0", "numpy": "2"},
        "made": "2026-11-15T16:40:00+00:00",
    } | more


def tally_of(model, dates=None, date_name="", classes=None, class_name=""):
    """The texts of a model, counted with columns of dates and classes."""
    given = {date_name or "date": dates, class_name or "class": classes}
    table = pl.DataFrame({name: values for name, values in given.items() if values is not None})
    if table.is_empty():
        table = pl.DataFrame({"number": range(model.n_texts_)})
    return tallied(
        model,
        [table],
        None if dates is None else date_name or "date",
        None if classes is None else class_name or "class",
    )
