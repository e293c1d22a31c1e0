"""The page in another language: it is chosen in the head, stays in links, and no text of the page is left out."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from hidviz.ui.state.link import TABS
from hidviz.ui.text.lessons import LESSONS
from tests.pages import choose, front, press, until, visiting, wait_for
from tests.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# Every text that is seen, heard or found under the pointer, root by root, since one text may lie in several elements
SAID = """() => {
  const said = []
  const kept = "script, style, math, code, kbd, .katex, [hidden], [aria-hidden=true] svg"
  const shown = (it) => it.checkVisibility({ visibilityProperty: true })
  const look = (root) => {
    let text = ""
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, {
      acceptNode: (node) => node.nodeType === Node.ELEMENT_NODE && node.matches(kept) ? NodeFilter.FILTER_REJECT
        : NodeFilter.FILTER_ACCEPT })
    while (walker.nextNode()) {
      const node = walker.currentNode
      if (node.nodeType === Node.TEXT_NODE) {
        const inside = node.parentElement ?? node.getRootNode().host
        if (node.data.trim() && (shown(inside) || inside.closest("option"))) { text += ` ${node.data}` }
        continue
      }
      if (node.shadowRoot) { look(node.shadowRoot) }
      for (const name of ["aria-label", "aria-description", "title", "placeholder"]) {
        if (node.hasAttribute(name) && shown(node)) { said.push(node.getAttribute(name)) }
      }
    }
    said.push(text)
  }
  look(document.body)
  return said
}"""

# The same of the figures, which draw their texts: axes, ticks, titles, legends, labels, tips
DRAWN = """() => {
  const said = []
  const texts = (value) => typeof value === "string" ? [value] : Array.isArray(value) ? value.flatMap(texts) : []
  const each = (view) => {
    const { model } = view
    if (model?.type === "Figure" && view.el?.checkVisibility()) {
      said.push(model.name ?? "", model.title?.text ?? "")
      for (const axis of [...model.below, ...model.left, ...model.above, ...model.right]) {
        said.push(axis.axis_label ?? "", ...(axis.major_label_overrides?.values?.() ?? []))
      }
      for (const { glyph, data_source } of model.renderers) {
        if (glyph?.type === "Text") { said.push(...data_source.data[glyph.text.field]) }
      }
      for (const tool of model.toolbar.tools) { said.push(...(tool.tooltips ?? []).flatMap((tip) => texts(tip[0]))) }
    }
    for (const child of view.child_views ?? []) { each(child) }
  }
  for (const root of window.Bokeh.index.roots ?? Object.values(window.Bokeh.index)) { each(root) }
  return said.filter((text) => typeof text === "string")
}"""

# Buttons, tabs and labels whose text is wider than they are, or that lie off the screen
CUT = """() => {
  const found = []
  const look = (root) => { for (const it of root.querySelectorAll("*")) {
    if (it.shadowRoot) { look(it.shadowRoot) }
    const seen = it.matches("button:not([role=tab]), label, legend, [role=heading]") &&
      it.checkVisibility({ visibilityProperty: true })
    const { right, width } = it.getBoundingClientRect()
    const away = it.matches("button") && right > innerWidth + 1 // titles are swiped with their maps
    if (seen && width && (it.scrollWidth > it.clientWidth + 2 && it.clientWidth || away)) {
      found.push(`${it.textContent.trim()} ${it.scrollWidth} ${it.clientWidth} ${right}`)
    }
  } }
  look(document.body)
  return found
}"""

# What is in no language: names, letters of formulas, units, values of links, names of files
NO_WORDS = re.compile(
    r"hidviz|English|Svenska|J|K|L|M|T|N[vh]|h\(t\)|h\d+|AIC|BIC|AUC|rms|ms|min|s|MB|Hz|ε|μ|Δ[A-Z]|cos|fig\d|x|y|c|t|q|r"
    r"|u\d+|e-\d+|learned|[\w-]+\.(mat|npz|csv|json|zip)|TA\d+|https?://\S+|DG\w*|CA\w*|U\w*\d+|e|NaN|length-\d"
)
# What the libraries of the page say by themselves
THEIRS = {
    "Open drawer", "Close drawer", "Toggle theme", "Resize sidebar", "Drag to resize sidebar", "Clear", "Open",
    "Delete", "increment", "decrement",
}  # fmt: skip


def outside(text):
    """The words of a text that are not in brackets."""
    before = None
    while before != text:
        before, text = text, re.sub(r"⟦[^⟦⟧]*⟧", " ", text)
    if text.strip() in THEIRS:
        return []
    return [word for word in re.findall(r"[A-Za-z][\w.()-]*", text) if not NO_WORDS.fullmatch(word.strip(".-"))]


@pytest.fixture(scope="module")
def bracketed():
    """A server whose second language is English in brackets."""
    running = Server(app="tests/bracketed/app.py")
    yield running
    running.stop()


def left_out(tab):
    """What the page says, in any way, that its catalogue does not have."""
    tab.wait_for_timeout(700)  # names of figures are given a moment after they are there
    said = tab.evaluate(SAID) + tab.evaluate(DRAWN)
    return sorted({f"{' '.join(words)}  <-  {text.strip()[:160]}" for text in said if (words := outside(text))})


@pytest.fixture
def in_brackets(browser, bracketed):
    """A function that opens that page."""
    with visiting(browser, bracketed) as opened:
        yield lambda query="", **size: opened(f"?language=sv{query}", **size)


def named(text):
    """A text as the page in brackets has it."""
    return f"⟦{text}⟧"


@pytest.mark.parametrize("key", TABS)
def test_no_text_of_a_tab_is_left_out_of_the_catalogue(in_brackets, key):
    tab = in_brackets(f"&tab={key}")
    until(tab, lambda: not tab.get_by_text("⟦Loading").is_visible(), "the tab")
    tab.wait_for_timeout(3_000)  # some show more when it has been counted
    assert left_out(tab) == []


@pytest.mark.parametrize("key", LESSONS)
def test_no_text_of_a_lesson_is_left_out_of_the_catalogue(in_brackets, key):
    tab = in_brackets(f"&lesson={key}")
    tab.get_by_text(re.compile("step 1 of")).wait_for()
    assert left_out(tab) == []


def test_no_text_of_the_sheets_and_the_handout_is_left_out_of_the_catalogue(in_brackets):
    tab = in_brackets()
    press(tab, named("Help"))
    tab.get_by_text(re.compile("A network runs")).wait_for()
    tab.get_by_text(named("Words and letters")).click()
    assert left_out(tab) == []
    press(tab, named("Close"))
    press(tab, named("Teach"))
    tab.get_by_label(named("Lesson to teach"), exact=True).last.select_option("hidden-twin")
    page = """() => [...Bokeh.documents[0]._all_models.values()].map((it) => it.data?.page).find(Boolean)"""
    until(tab, lambda: "mirror image" in (tab.evaluate(page) or "") or "eight twins" in (tab.evaluate(page) or ""),
          "the sheet to print")  # fmt: skip
    assert left_out(tab) == []
    sheet = re.sub(r"<(style|code|svg)[^>]*>.*?</\1>|<[^>]*>|&\w+;", " ", tab.evaluate(page), flags=re.DOTALL)
    assert outside(sheet) == []


def test_no_text_of_a_run_is_left_out_of_the_catalogue(in_brackets):
    tab = in_brackets("&m=1&nv=6&nh=2&T=500&model=stochastic&learner=mean-field&out=0&pen=learned&max=30")
    press(tab, named("Half step"))
    tab.get_by_text(re.compile("in numbers")).first.wait_for()
    assert left_out(tab) == []
    press(tab, named("Run"))
    wait_for(tab, lambda now: not now["running"] and now["step"] > 1, "the end")
    for name in ("Flip {block} only", "Undo"):
        press(tab, named(name).format(block="K"))
        tab.wait_for_timeout(500)
    assert left_out(tab) == []
    tab.get_by_text(named("More knobs")).click()
    tab.get_by_label(named("Maximum steps"), exact=True).first.fill("many")
    tab.keyboard.press("Enter")
    tab.get_by_text(re.compile("must be a whole number")).wait_for()
    assert left_out(tab) == []


@pytest.mark.parametrize(
    ("key", "button", "end"),
    [
        ("restarts", "Run starts", "all have ended"),
        ("scores", "Score this fit", "predicts held-out data best"),
        ("compare", "Pin this run", "1 run pinned"),
        ("length", "Run sweep", "Done: 3 of 3"),
    ],
)
def test_no_text_of_results_is_left_out_of_the_catalogue(in_brackets, key, button, end):
    tab = in_brackets(f"&tab={key}&nv=4&nh=1&T=300&out=200&max=20&seed=4")
    if key == "length":
        choose(tab, named("Figure"), named("A sweep of my own"))
        tab.get_by_text(re.compile("3 experiments")).first.wait_for()
    else:
        press(tab, named("Run"))
        wait_for(tab, lambda now: not now["running"] and now["step"] > 1, "the end")
    press(tab, named(button))
    tab.get_by_text(re.compile(end)).first.wait_for(timeout=120_000)
    assert left_out(tab) == []


def test_no_text_of_an_own_recording_is_left_out_of_the_catalogue(in_brackets):
    tab = in_brackets("&tab=mydata")
    press(tab, named("Try ours"))
    tab.get_by_text(re.compile("49,900 bins")).wait_for()
    assert left_out(tab) == []
    tab.get_by_label(named("Most hidden units"), exact=True).select_option("1")
    tab.get_by_label(named("Memory (M)"), exact=True).select_option("yes")
    tab.get_by_label(named("Starts"), exact=True).select_option("1")
    press(tab, named("Start scan"))
    tab.get_by_text(re.compile("1 of 2 models")).wait_for()
    assert left_out(tab) == []
    tab.get_by_text(named("All 2 models are there.")).wait_for(timeout=180_000)
    press(tab, named("Check model"))
    tab.get_by_text(re.compile("is a shared state that is up in")).wait_for(timeout=120_000)
    assert left_out(tab) == []
    press(tab, named("Cancel checks"))


def test_the_language_is_chosen_in_the_head_and_stays_in_links(open_page):
    tab = open_page("?tab=data&theme=dark&seed=3")
    tab.get_by_label("Language", exact=True).select_option("sv")
    tab.wait_for_url("**language=sv**")
    tab.get_by_role("button", name="Kör", exact=True).wait_for()
    wait_for(tab, lambda now: now["ready"], "the connection")
    assert tab.evaluate("document.documentElement.lang") == "sv"
    query = parse_qs(urlsplit(tab.url).query)
    assert query == {"language": ["sv"], "tab": ["data"], "theme": ["dark"], "seed": ["3"]}
    front(tab, "Symmetri")
    press(tab, "Nya data")
    until(tab, lambda: "seed=4" in tab.url, "the new seed")
    assert "language=sv" in tab.url
    press(tab, "Dela länk")
    tab.get_by_text(re.compile("länk till körningen.*language=sv")).wait_for()
    tab.get_by_label("Språk", exact=True).select_option("en")
    tab.get_by_role("button", name="Run", exact=True).wait_for()
    assert "language" not in tab.url


def test_two_pages_of_one_server_have_each_its_own_language(open_page):
    swedish, english = open_page("?language=sv&nv=6&T=500"), open_page("?nv=6&T=500")
    for tab, run in ((swedish, "Kör"), (english, "Run")):
        press(tab, run)
    for tab, ended in ((swedish, "Konvergerad: "), (english, "Converged: ")):
        wait_for(tab, lambda now: now["converged"], "the end")
        tab.get_by_text(re.compile(ended)).first.wait_for()
    swedish.keyboard.press("1")
    english.keyboard.press("1")
    swedish.get_by_text("Dold enhet 1 vänd: kostnaden består").first.wait_for()
    english.get_by_text("Hidden unit 1 flipped: the cost stays").first.wait_for()


@pytest.mark.parametrize(("width", "theme"), [(1400, "light"), (390, "dark")])
def test_longer_words_are_not_cut_and_widen_no_page(open_page, width, theme):
    tab = open_page(f"?language=sv&theme={theme}", width=width, height=844)
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert tab.evaluate(CUT) == []
