"""The files that the report shares with the live page: how they become one script, and how they write percentages."""

from importlib.resources import files

import pytest

from coterie.report.page import joined
from coterie.report.wording import share

#: Parts of a whole, and what every page says of them.
SHARES = [
    (0, 1, "0 %"),
    (0, 0, "0 %"),
    (3, 0, "0 %"),
    (1, 1, "100 %"),
    (1e-9, 1, "<0.1 %"),
    (0.000499, 1, "<0.1 %"),
    (0.0005, 1, "0.1 %"),
    (1, 800, "0.1 %"),
    (1, 400, "0.3 %"),  # halves go up
    (9.94, 100, "9.9 %"),
    (9.95, 100, "10 %"),
    (10, 100, "10 %"),
    (1, 8, "13 %"),
    (1, 3, "33 %"),
    (99.04, 100, "99 %"),
    (99.06, 100, "99.1 %"),
    (99.94, 100, "99.9 %"),
    (99.95, 100, ">99.9 %"),
    (10**12 - 1, 10**12, ">99.9 %"),
    (1.0000000000000002, 1, "100 %"),
    (3, 2, "150 %"),
]


@pytest.mark.parametrize(("part", "whole", "said"), SHARES)
def test_percentages_in_python(part, whole, said):
    assert share(part, whole) == said


def test_percentages_are_the_same_in_the_browser(show):
    page = show("tiny")
    percent = "pairs => pairs.map(([part, whole]) => modules['numbers.js'].percent(part, whole))"
    assert page.evaluate(percent, [[part, whole] for part, whole, _ in SHARES]) == [
        said for *_, said in SHARES
    ]
    pairs = [[part, whole] for whole in (1, 7, 16, 400, 2000, 9999) for part in range(whole + 1)]
    pairs += [[number / 4000, 1] for number in range(4001)]
    assert page.evaluate(percent, pairs) == [share(*pair) for pair in pairs]


def test_joined_modules_keep_their_own_names(browser):
    script = joined(
        {
            "a.js": "const hidden = 1;\nfunction same() { return hidden; }\nexport const one = same();",
            "b.js": 'import { one } from "./a.js";\nconst hidden = 10;\n'
            "function same() { return hidden + one; }\nexport class Sum { value = same(); }",
        }
    )
    page = browser.new_page()
    found = page.evaluate(
        f"() => {{ {script}\nreturn [modules['a.js'].one, new modules['b.js'].Sum().value]; }}"
    )
    page.close()
    assert found == [1, 11]


@pytest.mark.parametrize(
    "line",
    [
        'import one from "./a.js";',
        'import * as all from "./a.js";',
        'import { one as two } from "./a.js";',
        'import { two } from "./a.js";',
        'import { one } from "./later.js";',
        'import { one } from "https://example.org/a.js";',
        "import {",
        '  import { one } from "./a.js";',
        'const a = await import("./a.js");',
        "const here = import.meta.url;",
        "export default 1;",
        "export { hidden };",
        "export let changing = 1;",
        "export const { one } = a;",
    ],
)
def test_what_cannot_be_joined_is_refused(line):
    with pytest.raises(ValueError, match=r"b\.js"):
        joined(
            {
                "a.js": "export const one = 1;\nconst two = 2;",
                "b.js": line,
                "later.js": "export const one = 1;",
            }
        )


def test_no_name_stands_for_two_files():
    shared = {file.name for file in files("coterie.report").joinpath("shared").iterdir()}
    assert {"dom.js", "numbers.js", "charts.js", "palette.css"} <= shared
    for package, folder in (("coterie.report", "templates"), ("coterie.explore", "static")):
        assert not shared & {file.name for file in files(package).joinpath(folder).iterdir()}


PLACED = """([chosen, spread]) => {
  const { Crowd, placeNames } = modules["map-layout.js"], points = { x: [], y: [], topic: [] };
  const view = { width: 390, height: 400, matrix: () => [1, 0, 0, 1, 0, 0] };
  const put = (x, y, topic) => { points.x.push(x); points.y.push(y); points.topic.push(topic); };
  for (let x = 200 - spread; x <= 200 + spread; x += 5) for (let y = 200 - spread; y <= 200 + spread; y += 5) put(x, y, 1);
  put(200, 200, 0);
  if (chosen === 1) for (let x = 0; x < 390; x += 5) for (let y = 0; y < 400; y += 5) if (Math.max(Math.abs(x - 200), Math.abs(y - 200)) > spread) put(x, y, -1);
  const names = [{ topic: 0, at: [200, 200], size: 12, lines: ["small"] }, { topic: 1, at: [200, 200], size: 12, lines: ["around"] }];
  return placeNames(names, view, { width: (line) => 7 * line.length, crowd: new Crowd(points, view, chosen) })
    .map(({ topic, x, y, half, high }) => [topic, points.x.filter((left, at) => points.topic[at] >= 0 && points.topic[at] !== topic
      && Math.abs(left - x) < half && Math.abs(points.y[at] - y) < high).length, Math.abs(x - 200) > spread + half || Math.abs(y - 200) > spread + high]);
}"""


def test_a_name_hides_no_other_topic_and_nothing_hides_the_chosen_one(show):
    page = show("tiny")
    assert [name[0] for name in page.evaluate(PLACED, [-1, 150])] == [1]
    assert [name[0] for name in page.evaluate(PLACED, [0, 150])] == [
        0,
        1,
    ]  # the chosen one has its name in any case
    small, around = page.evaluate(PLACED, [-1, 25])
    assert (small[:2], around[0]) == ([0, 0], 1)
    beside = page.evaluate(PLACED, [1, 25])
    assert beside
    assert all(away for *_, away in beside)  # no point of the chosen topic is covered
