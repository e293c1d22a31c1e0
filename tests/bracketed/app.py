"""The page with `language=sv` in brackets: every text of the catalogue as ⟦English⟧, so that what is in none shows."""

import tempfile
from pathlib import Path

from babel.messages.pofile import write_po

from hidviz.ui import page
from hidviz.ui.text import language
from hidviz.ui.text.glossary import TERMS

WRITTEN = {term.written for term in TERMS} - {term.name for term in TERMS}  # for the browser, and seen by nobody


def bracketed():
    """A folder with a catalogue whose translations are the texts themselves, in brackets."""
    catalogue = language.read_catalogue("sv")
    for each in catalogue:
        if isinstance(each.id, tuple):
            each.string = tuple(f"⟦{text}⟧" for text in each.id)
        elif each.id and each.id not in WRITTEN:
            each.string = f"⟦{each.id}⟧"
    language.read_catalogue.cache_clear()
    folder = Path(tempfile.mkdtemp(prefix="hidviz-"))
    with (folder / "sv.po").open("wb") as file:
        write_po(file, catalogue)
    return folder


if "hidviz-" not in language.FOLDER.name:  # the script runs again for every visitor
    language.FOLDER = bracketed()

page().servable(location=False)
