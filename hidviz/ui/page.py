"""Page: the served page, a Dashboard inside a frame with presets, sharing, theme and help."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param
from bokeh.document import Document
from bokeh.themes import Theme

from hidviz.background import keep_few_arenas, keep_one_blas_thread
from hidviz.experiments import ABOUT_PRESETS, preset_of
from hidviz.ui.components.basic import Button, Buttons
from hidviz.ui.components.connection import Connection
from hidviz.ui.components.languages import Languages
from hidviz.ui.dashboard import Dashboard
from hidviz.ui.known_models import ask_for_known_models
from hidviz.ui.last_message import send_the_last_message
from hidviz.ui.state.link import language_of, read_link
from hidviz.ui.text.language import ENGLISH, _, follow_pages, translations, words_of_scripts
from hidviz.ui.theme import DARK, LIGHT, inks

LOG = logging.getLogger(__name__)

OPENING = Path(__file__).with_name("opening.html")

THEME = {
    scheme: {
        "palette": {
            "primary": {"main": ink.accent},
            "background": {"default": ink.paper, "paper": ink.paper},
            "text": {"primary": ink.text, "secondary": ink.quiet},
        },
        "typography": {"button": {"textTransform": "none"}, "fontSize": 14},
        "shape": {"borderRadius": 6},
        "components": {
            "MuiAppBar": {
                "styleOverrides": {
                    "root": {
                        "backgroundColor": ink.paper,
                        "backgroundImage": "none",
                        "color": ink.text,
                        "boxShadow": "none",
                        "borderBottom": f"1px solid {ink.grid}",
                        "& .title": {"color": f"{ink.text} !important"},
                    }
                }
            },
            "MuiToolbar": {"styleOverrides": {"root": {"minHeight": "calc(52px * var(--head, 1)) !important"}}},
            # A drawer that lies over the page needs no room for the head.
            "MuiDrawer": {
                "styleOverrides": {"root": {"&.MuiDrawer-modal .MuiToolbar-root": {"minHeight": "0 !important"}}}
            },
            "MuiTab": {"styleOverrides": {"root": {"minHeight": 38, "padding": "6px 16px", "fontSize": 16}}},
            "MuiTabs": {"styleOverrides": {"root": {"minHeight": 38}}},
        },
    }
    for scheme, ink in (("light", LIGHT), ("dark", DARK))
}

OWN_FIGURES = Theme(
    json={"attrs": {part: {} for part in ("Axis", "BaseColorBar", "Figure", "Grid", "Legend", "Title")}}
)
"""Says that figures are painted here: else the browser paints and lays out each once more, and reports what it did."""


def page() -> Any:
    """Build the page of one session, from the link it was opened with."""
    if pn.state.curdoc is not None:
        pn.state.curdoc.theme = OWN_FIGURES
        _speak(pn.state.curdoc, language_of(pn.state.session_args))
    keep_one_blas_thread()  # whoever builds a page serves it: runs share the cores with browsers and each other
    keep_few_arenas()
    send_the_last_message()
    ask_for_known_models()
    pn.extension("katex", reconnect=True, notifications=True)
    link = read_link(pn.state.session_args)
    if link.notices:
        LOG.info("a link could not be used in full; values that could not: %d", len(link.notices))
    dark = link.view.theme == "dark"
    dashboard = Dashboard(link)
    presets = pmui.Select(
        label=_("Preset"),
        options={_("Choose a preset"): ""} | {_(about.title): name for name, about in ABOUT_PRESETS.items()},
        value=preset_of(dashboard.session.wanted),
        sizing_mode="stretch_width",
        max_width=280,
        min_width=80,
        styles={"flex": "1 100 280px", "contain": "inline-size"},  # gives way first where there is little room
        size="small",
        margin=(8, 8, 0, 8) if dashboard.lecture.on else (3, 8),
        sx=_inked(dark),
        description=_("A finished set of knobs from the paper; turning any of them leaves the preset."),
    )

    lecture = dashboard.lecture
    hidden = lecture.hides("settings")
    presets.visible = not hidden

    def choose(event: Any) -> None:
        if event.new and event.new != preset_of(dashboard.session.wanted):
            dashboard.choose_preset(event.new)

    presets.param.watch(choose, "value")
    dashboard.on_preset = partial(setattr, presets, "value")
    tools = Buttons(
        Button(
            _("Share link"),
            "share",
            _("Copy a link that reproduces this run"),
            dashboard.address.share,
        ),
        Button(_("Help"), "help", _("What this page shows, and its keys (?)"), dashboard.help),
        columns=0,
        compact=True,
        dark=dark,
        margin=(3, 8),
    )
    teach = Buttons(
        *([Button(_("Code for the class"), "code", _("A code to scan, large, and the link to type"),
                  dashboard.show_code)] if lecture.on else []),
        Button(_("Teach"), "board", _("Links, a code to scan and a sheet to print, for a class"), dashboard.teach),
        columns=0, dark=dark, margin=(3, 0), stylesheets=["@media (max-width: 700px) { :host { display: none; } }"],
        visible=not lecture.locked,
    )  # fmt: skip
    whole = Buttons(
        Button(_("Show all controls"), "sliders", _("Bring back what this link hides"), lambda: show_all()),
        columns=0, compact=True, dark=dark, margin=(3, 8, 3, 0), visible=lecture.hides_any and not lecture.locked,
    )  # fmt: skip
    languages = Languages(dashboard.address.translated, dark=dark, margin=(3, 0))
    shown = pmui.Page(
        title="hidviz",
        template=OPENING,
        sidebar=[] if hidden else [dashboard.sidebar.layout],
        main=[dashboard.main],
        header=[presets, pn.HSpacer(), whole, teach, tools, languages, Connection(_leave, margin=0)],
        sidebar_width=336,
        sidebar_open=hidden or not lecture.on,  # an empty one too, which else keeps its room; put away in a lecture
        dark_theme=dark,
        theme_config=THEME,
        busy_indicator=None,
    )

    def put_away() -> None:
        if shown.sidebar:  # an empty one covers nothing, and once shut would cut the page off at its left
            shown.sidebar_open = False

    dashboard.instrument.on_narrow = put_away
    with param.edit_constant(shown):
        # Else every acknowledged frame makes Panel walk over all models of the page, twice, and pn.state, which lives
        # longer than any session, keeps the page. A plain False would leave its watcher there; a reference does not.
        shown.busy = pn.rx(False)

    def show_all() -> None:
        lecture.show_all()
        whole.visible, presets.visible = False, True
        shown.param.update(sidebar=[dashboard.sidebar.layout], sidebar_open=True)

    def restyle(event: Any) -> None:
        dashboard.restyle(event.new)
        tools.dark = teach.dark = whole.dark = languages.dark = event.new
        presets.sx = _inked(event.new)

    shown.param.watch(restyle, "dark_theme")
    return shown


def _speak(document: Document, name: str) -> None:
    """Let all texts of a page be in this language, those of the template too, which is filled in later."""
    document.template_variables.update(language=name, words=words_of_scripts(name), _=translations(name).gettext)


def _language_of_page() -> str:
    document = pn.state.curdoc
    return ENGLISH if document is None else str(document.template_variables.get("language", ENGLISH))


follow_pages(_language_of_page)


def _leave() -> None:
    """The tab has been closed: nobody comes back to this session, so it need not wait."""
    if pn.state.curdoc is not None and (session := pn.state.curdoc.session_context.session) is not None:
        session.request_expiration()


def _inked(dark: bool) -> dict[str, Any]:
    """Text that can be read on the title bar, which would have it white."""
    ink = inks(dark).text
    return {"& .MuiSelect-select, & .MuiSelect-select *, & svg": {"color": f"{ink} !important"}}
