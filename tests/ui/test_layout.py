"""HTML that changes: its text alone is sent, escaped as Panel does it, and it is what it was otherwise."""

import panel as pn
from bokeh.document import Document
from panel.io.state import set_curdoc

from hidviz.ui.layout import Html


def changes(kind):
    document, sent = Document(), []
    with set_curdoc(document):
        pane = kind("<b>one</b>", margin=3, stylesheets=["b { color: red }"])
        pane.server_doc(document)
        model, _ = next(iter(pane._models.values()))
        document.on_change(lambda event: sent.append((event.attr, event.new)))
        pane.object = "<i>two</i> & <script>"
        pane.margin = 5
    return sent, model.margin, model.stylesheets[-1]


def test_only_the_text_is_sent_and_all_else_stays_and_changes_as_before():
    sent, margin, sheet = changes(Html)
    assert (sent, margin, sheet) == changes(pn.pane.HTML)
    assert [attr for attr, _ in sent] == ["text", "margin"]
