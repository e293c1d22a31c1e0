"""Teach sheet: what a lecturer prepares, as links; for a class one to scan, and a sheet to print."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
import segno

from hidviz.ui.components.base import Component


class Magnifier(Component):
    """Nothing to be seen: makes all that stands beside it as large as a lecture needs."""

    lecture = param.Boolean(doc="Whether a lecture is given.")

    _shared = ("named",)


class TeachSheet(Component):
    """A sheet over the page: a lesson and what is to be hidden, and the links that follow from them.

    Args:
        on_wish: called with the name of a lesson, the groups of controls to hide, and whether that is locked; gives
            the query of the lecturer's link and that of the class.
        handout: makes the page to print: of a lesson, the class's link and its code as SVG.
    """

    lessons = param.List(doc="For each lesson its name and its title.")
    groups = param.List(doc="For each group of controls its name, and what is hidden.")
    prepared = param.List(doc="Names of the groups that are chosen at first, and lock.")
    lesson = param.String(doc="The lesson that is chosen when it is opened.")
    open = param.Boolean(doc="Whether it is shown.")
    code_alone = param.Boolean(doc="Whether it shows nothing but the link of the class and its code, large.")
    lecture_link = param.String(doc="For the lecturer.")
    class_link = param.String(doc="For the class.")
    code = param.String(doc="The class's link as a QR code, in SVG.")
    page = param.String(doc="The sheet to print, as HTML.")

    _shared = ("button_look",)

    def __init__(
        self,
        on_wish: Callable[[str, list[str], bool], tuple[str, str]],
        handout: Callable[[str, str, str], str],
        **params: Any,
    ) -> None:
        super().__init__(**params)
        self._on_wish, self._handout = on_wish, handout

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if "closed" in message:
            self.open = False
        if "wish" in message:
            wish, place = message["wish"], str(message["place"])
            lecture, students = self._on_wish(
                str(wish["lesson"]), [str(each) for each in wish["hide"]], bool(wish["lock"])
            )
            link = place + students
            code = qr_code(link)
            self.param.update(
                lecture_link=place + lecture,
                class_link=link,
                code=code,
                page=self._handout(str(wish["lesson"]), link, code),
            )


def qr_code(link: str) -> str:
    """A link as a QR code in SVG, black on white, whatever the theme: cameras expect it so. It fills its place."""
    return segno.make(link, error="m", micro=False).svg_inline(border=4, light="#ffffff", dark="#000000", omitsize=True)
