"""What the page says is text, whatever is in it."""

import pytest

pytestmark = pytest.mark.browser

HTML = "<img src=x onerror=\"document.title='run'\"><b>bold</b>"

# Every parameter of the page's own components that holds texts, the help sheet's own page aside.
GIVE_HTML = """(html) => {
  const given = []
  for (const model of Bokeh.documents[0]._all_models.values()) {
    if (model.type !== "panel.models.esm.ReactiveESM" || model.class_name === "HelpSheet") { continue }
    for (const name of ["text", "cure", "sentence", "label", "summary", "advice", "offer"]) {
      if (typeof model.data?.[name] === "string") {
        model.data[name] = html
        given.push(`${model.class_name}.${name}`)
      }
    }
    for (const [name, value] of [["units", [{ match: html, overlap: 1, flipped: false }]], ["errors", { rate: html }],
      ["equations", [html]]]) {
      if (model.data?.[name] !== undefined) {
        model.data[name] = value
        given.push(`${model.class_name}.${name}`)
      }
    }
  }
  return given
}"""

FIND_HTML = """() => {
  const found = { texts: 0, made: 0 }
  const look = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.childElementCount === 0 && element.textContent.includes("<img src=x")) { found.texts += 1 }
      if (element.matches("img[src=x]")) { found.made += 1 }
      if (element.shadowRoot) { look(element.shadowRoot) }
    }
  }
  look(document)
  return found
}"""


@pytest.mark.slow
def test_html_in_any_text_is_shown_as_text(open_page):
    tab = open_page("?tab=learn")
    given = tab.evaluate(GIVE_HTML, HTML)
    assert {
        "Notice.text", "Notice.cure", "Instrument.sentence", "Transport.text", "Toggle.label", "LearnerNote.summary",
        "LearnerNote.offer", "HiddenUnits.units", "Form.errors",
    } <= set(given)  # fmt: skip
    tab.wait_for_timeout(500)
    found = tab.evaluate(FIND_HTML)
    assert found["texts"] >= len(given) - 2, "each is to be read, but for a refusal and what KaTeX makes of it"
    assert found["made"] == 0
    assert tab.title() != "run"
