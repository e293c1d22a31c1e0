"""The file of My data: drop or choose one, or try ours; and how to read it, where it does not say so itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import panel as pn

from hidviz.ui.components.basic import Button, Buttons, Notice
from hidviz.ui.components.form import Form
from hidviz.ui.components.run_file import Files
from hidviz.ui.layout import line, words
from hidviz.ui.state.my_data import MyData
from hidviz.ui.state.numbers import read_number
from hidviz.ui.state.own_files import LARGEST, How
from hidviz.ui.text.language import N_, _
from hidviz.ui.text.my_data import LABELS, on_the_page

WHAT = N_(
    "Does something that was not recorded drive your units? From their spikes this tab finds how "
    "many hidden units it takes to predict them, how sure that is, and whether a hidden unit is "
    "a missing cell or a state that all share."
)
LIMIT = N_(
    ".csv .tsv .txt .npy .npz .mat .nwb .h5, at most {n} MB; several files are trials. They stay in the memory of this "
    "server, on its disk only while they are read, and are gone when the page is closed."
)
FIELDS: Mapping[str, Mapping[str, Any]] = MappingProxyType({
    "variable": {"kind": "text", "help": "Which variable, of a file that holds several."},
    "trials": {"kind": "text", "help": "The table of intervals of an .nwb file that are its trials; none for none."},
    "rate": {"kind": "number", "step": 1, "help": "Ticks a second of times that are samples; 1000 for milliseconds."},
    "from": {"kind": "number", "step": 1, "help": "Leave out what is before, in seconds."},
    "to": {"kind": "number", "step": 1, "help": "Leave out what is after, in seconds."},
    "units": {"kind": "text", "help": "Names of the units to keep, with commas; all if left out."},
    "transpose": {"kind": "switch", "help": "The file has units down the rows and time across."},
})  # fmt: skip
ROWS = [["variable", "trials", "rate"], ["from", "to"], ["units", "transpose"]]


class FileSection:
    """The section.

    Args:
        data: the session's own recording.
    """

    def __init__(self, data: MyData) -> None:
        self._data = data
        self._shown: How | None = None
        self._told = 0, ""
        self.buttons = Buttons(
            Button(_("Try ours"), "play", _("16 units of a hippocampus, 998 s, that ship with hidviz"),
                   data.try_ours, True),
            columns=0, margin=(4, 0),
        )  # fmt: skip
        self.files = Files(
            data.open, data.refuse, LARGEST, label=_("Drop your files here, or choose them"), variant="outlined",
            uploaded_label=_("Drop other files here, or choose them"),
            margin=(4, 0), sx={"minHeight": "38px", "--pmui-fileinput-border-style": "dashed"},
        )  # fmt: skip
        self.limit = words(_(LIMIT, n=LARGEST // 2**20), size=14, sizing_mode="stretch_width")
        self.state = words(sizing_mode="stretch_width", visible=False)
        self.notice = Notice(lambda: None, sizing_mode="stretch_width", margin=(4, 0))
        self.form = Form(
            self._typed,
            groups=[{"title": _("How to read the files"), "folded": True, "rows": ROWS}],
            fields={
                name: {**field, "label": _(LABELS[name]), "help": _(field["help"])} for name, field in FIELDS.items()
            },
            values=_values(How()), margin=(4, 0), visible=False, sizing_mode="stretch_width", max_width=640,
        )  # fmt: skip
        self.layout = pn.Column(
            words(_(WHAT), sizing_mode="stretch_width"), line(self.buttons, self.files), self.limit, self.notice,
            self.state, self.form,
            sizing_mode="stretch_width", margin=0,
        )  # fmt: skip

    def show(self) -> None:
        """Say what is under way or wrong, and how files are read."""
        data = self._data
        self.state.param.update(object=_("Reading …"), visible=data.reading)
        if (told := (data.n_problems, data.problem)) != self._told:  # one that was put away does not come back
            self._told = told
            self.notice.param.update(text=on_the_page(data.problem), cure="")
        self.form.visible = data.opened
        if data.how != self._shown:
            self._shown = data.how
            self.form.param.update(values=_values(data.how), errors={})

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self.buttons.dark = self.form.dark = self.notice.dark = dark

    def _typed(self, name: str, text: str | bool) -> None:
        """Read the files as the field now says, or say what is wrong with it."""
        try:
            value = _value(name, text)
        except ValueError as error:
            self.form.answer([name], f"{_(LABELS[name])} {error}")
            return
        self.form.answer([name], "")
        how = replace(self._data.how, **{{"from": "start", "to": "stop"}.get(name, name): value})
        if how != self._data.how:
            self._shown = how
            self.form.values = _values(how)
            self._data.read_as(how)


def _value(name: str, text: str | bool) -> Any:
    """What a field says.

    Raises:
        ValueError: it is no number, or no useful one.
    """
    if isinstance(text, bool):
        return text
    text = text.strip()
    if name == "units":
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if not text or FIELDS[name]["kind"] == "text":
        return text or None
    value = read_number(text)
    if name == "rate" and value <= 0.0:
        raise ValueError(_("must be above 0, got {text}.", text=text))
    return value


def _values(how: How) -> dict[str, Any]:
    shown = {
        "variable": how.variable, "trials": how.trials, "rate": how.rate, "from": how.start, "to": how.stop,
        "units": ", ".join(how.units), "transpose": how.transpose,
    }  # fmt: skip
    return {name: "" if value is None else value for name, value in shown.items()}
