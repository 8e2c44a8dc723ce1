"""Whether the live page can be used without seeing it and read by everybody: checked by script in every view."""

import pytest
from explore_pages import drawn, settled

#: Names, references, headings and landmarks of what is visible.
NAMES = """() => {
  const faults = [], seen = (one) => one.checkVisibility({ visibilityProperty: true }), all = (selector) => [...document.querySelectorAll(selector)];
  const told = (one) => one.outerHTML.slice(0, 110);
  const ids = all("[id]").map((one) => one.id);
  ids.filter((id, at) => ids.indexOf(id) !== at).forEach((id) => faults.push(`twice: #${id}`));
  for (const name of ["aria-labelledby", "aria-describedby", "aria-controls", "for", "list"]) {
    for (const one of all(`[${name}]`)) for (const id of one.getAttribute(name).split(" ")) if (!document.getElementById(id)) faults.push(`${name} leads nowhere: ${told(one)}`);
  }
  const words = (one) => {
    const by = one.getAttribute("aria-labelledby"), labels = one.labels ? [...one.labels] : [];
    return [one.getAttribute("aria-label"), by && by.split(" ").map((id) => document.getElementById(id)?.textContent).join(" "),
      labels.map((label) => label.textContent).join(" "), one.matches("input, select, textarea") ? "" : one.textContent, one.title]
      .find((text) => text && text.trim()) || "";
  };
  const controls = "button, a[href], input, select, textarea, dialog, [role=tab], [role=separator], [role=application], [role=progressbar], [role=img], [role=region], [role=form], summary, nav, fieldset";
  for (const one of all(controls)) {
    const legend = one.matches("fieldset") ? one.querySelector("legend")?.textContent : "";
    if (seen(one) && !legend && !words(one).trim()) faults.push(`no name: ${told(one)}`);
    if (seen(one) && words(one).trim() === "×") faults.push(`only a sign: ${told(one)}`);
  }
  all("[tabindex]").forEach((one) => { if (one.tabIndex > 0) faults.push(`tabindex: ${told(one)}`); });
  all("svg").filter((one) => seen(one) && !one.closest("[aria-hidden=true]") && !one.getAttribute("role")).forEach((one) => faults.push(`drawing without role: ${told(one)}`));
  const open = document.querySelector("dialog[open]"), levels = [...(open || document).querySelectorAll("h1, h2, h3, h4")].filter(seen).map((one) => Number(one.tagName[1]));
  if (!open && levels.filter((level) => level === 1).length !== 1) faults.push("not one h1");
  levels.forEach((level, at) => { if (at && level - levels[at - 1] > 1) faults.push(`h${level} after h${levels[at - 1]}`); });
  if (all("main").filter(seen).length !== 1) faults.push("not one main");
  if (!document.documentElement.lang || !document.title) faults.push("no language or title");
  for (const one of all("th")) if (seen(one) && !one.scope) faults.push(`head without scope: ${told(one)}`);
  return faults;
}"""

#: Texts whose contrast is below 4.5 (3 where they are large); what is disabled or behind a dialog does not count.
CONTRAST = """() => {
  const brush = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true }), known = new Map();
  const read = (colour) => {
    if (!known.has(colour)) {
      brush.clearRect(0, 0, 1, 1);
      brush.fillStyle = colour;
      brush.fillRect(0, 0, 1, 1);
      known.set(colour, [...brush.getImageData(0, 0, 1, 1).data]);
    }
    return known.get(colour);
  };
  const over = (top, under) => { const part = top[3] / 255; return [0, 1, 2].map((at) => top[at] * part + under[at] * (1 - part)); };
  const ground = (one) => {
    const layers = [];
    for (let up = one; up; up = up.parentElement) { const shade = read(getComputedStyle(up).backgroundColor); if (shade[3]) layers.push(shade); if (shade[3] === 255) break; }
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
  };
  const light = (colour) => { const [r, g, b] = colour.slice(0, 3).map((value) => { const part = value / 255; return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const faults = new Set(), root = document.querySelector("dialog[open]") || document.body, walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || one.closest(":disabled, .hidden, option, .map-name.faint, title")) continue;
    const style = getComputedStyle(one), back = ground(one), fill = one.closest("svg") ? style.fill : style.color, front = over(read(fill), back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) faults.add(`${ratio.toFixed(2)} ${fill} on ${back.map(Math.round)}: ${walker.currentNode.data.trim().slice(0, 40)}`);
  }
  return [...faults];
}"""


def check(page):
    drawn(page)
    assert page.evaluate(NAMES) == []
    assert page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_views(show, width, scheme):
    page = settled(show("/?run=tickets", width, color_scheme=scheme, reduced_motion="reduce"))
    check(page)
    for path, part in [
        ("topic=0", "#panel .neighbours"),
        ("topic=0&topic=1&q=refund&mode=meaning&least=0.1&since=2025-01-02", "tbody i.related"),
        ("row=3", ".of-row .quotes"),
        ("try=my+parcel+is+late+xyzzy", ".answer .sure"),
        ("q=nosuchwordatall", "#texts-list .empty"),
    ]:
        page.goto(page.url.split("?")[0] + f"?run=tickets&{path}&tab=panel")
        page.wait_for_selector(part, state="attached")
        settled(page)
        if width > 900:
            page.get_by_role("button", name="filter", exact=True).click()
        check(page)
        if width < 900 and "q=" in path:
            page.get_by_role("tab", name="Texts").click()
            page.get_by_role("button", name="filter", exact=True).click()
            check(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dialogs(show, scheme):
    page = settled(show("/?run=tickets&topic=0", color_scheme=scheme, reduced_motion="reduce"))
    page.wait_for_selector("#panel .neighbours")
    page.get_by_role("button", name="filter", exact=True).click()
    check(page)
    for name in ("merge…", "split…", "ban a term…"):
        page.get_by_role("button", name=name).click()
        page.get_by_role("dialog").wait_for()
        check(page)
        page.keyboard.press("Escape")
        page.get_by_role("dialog").wait_for(state="detached")
        assert page.evaluate("document.activeElement.textContent") == name  # the focus comes back
    page.locator("td.c-pick input").first.check()
    page.get_by_role("button", name="Move the 1 marked text").click()
    page.get_by_role("dialog").locator("blockquote").wait_for()
    check(page)
    page.keyboard.press("Escape")
    page.locator("#actions [data-do=export]").click()
    page.get_by_role("dialog").wait_for()
    check(page)
    page.keyboard.press("Escape")
    page.locator("#actions [data-do=edit]").click()
    check(page)
    page.get_by_role("button", name="find topics again…").click()
    check(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_other_views(show, scheme, tmp_path):
    page = show("/?run=tickets&view=compare&against=tickets-7", color_scheme=scheme)
    page.wait_for_selector(".flows")
    page.locator(".as-table summary").click()
    page.wait_for_selector(".as-table td")
    check(page)
    page.select_option("#run", "")
    page.wait_for_selector(".drop")
    check(page)
    (tmp_path / "texts.csv").write_text(
        "date,text\n2024-01-01,a parcel is late\n2024-01-02,a refund please\n"
    )
    page.locator("input[type=file]").set_input_files(tmp_path / "texts.csv")
    page.wait_for_selector(".preview")
    check(page)
    page.goto(page.url.split("?")[0] + "docs")
    page.wait_for_selector(".request")
    check(page)
