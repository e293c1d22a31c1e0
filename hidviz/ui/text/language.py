"""Language: every text of the page in the language of whoever looks at it.

English stands in the code where it is said, and is the name of its translation: `_("step {step:,}", step=3)`. It is
looked up when the text is made, in the language of the page that it is made for, so that two pages of one server may
have different ones; what is filled in comes after. Tables that are made once mark their texts with `N_`, and are looked
up where they are shown. Away from any page, and in threads that work for one, texts are English.

Translations are kept as gettext has them, in languages/sv.po; `python -m tests.catalogue` brings them up to date.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from types import MappingProxyType
from typing import Any

ENGLISH = "en"
LANGUAGES: Mapping[str, str] = MappingProxyType({ENGLISH: "English", "sv": "Svenska"})
"""The languages of the page by their keys in a link, each by its own name."""

FOLDER = Path(__file__).with_name("languages")

_chosen: ContextVar[str] = ContextVar("language", default="")
_of_page: list[Callable[[], str]] = []  # tells the language of the page that is being worked for, once there are pages


def _(message: str, **values: Any) -> str:
    """A text in the language of the page, with its values filled in."""
    text = translations(language()).gettext(message)
    return text.format(**values) if values else text


def _n(one: str, many: str, n: int, **values: Any) -> str:
    """The same for a text that depends on a number, which it may name `n`."""
    return translations(language()).ngettext(one, many, n).format(n=n, **values)


def N_(message: str) -> str:
    """Marks a text that is looked up later."""
    return message


def language() -> str:
    """The language that texts are made in here and now, a key of LANGUAGES."""
    return _chosen.get() or (_of_page[0]() if _of_page else ENGLISH)


def follow_pages(of_page: Callable[[], str]) -> None:
    """From now on ask this for the language of the page that is being worked for."""
    _of_page[:] = [of_page]


@contextmanager
def speaking(name: str) -> Iterator[None]:
    """All texts that are made inside are in this language, whatever the page."""
    before = _chosen.set(name)
    try:
        yield
    finally:
        _chosen.reset(before)


@lru_cache
def translations(name: str) -> NullTranslations:
    """The catalogue of a language; that of English gives back what it is asked."""
    if name == ENGLISH:
        return NullTranslations()
    from babel.messages.mofile import write_mo  # not before somebody wants another language

    content = io.BytesIO()
    write_mo(content, read_catalogue(name))
    content.seek(0)
    return GNUTranslations(content)


@lru_cache
def words_of_scripts(name: str) -> Mapping[str, str]:
    """What the scripts of the page say, in a language; nothing for English, which they say by themselves."""
    if name == ENGLISH:
        return {}
    said = [each for each in read_catalogue(name) if any(file.endswith(".js") for file, _line in each.locations)]
    return {str(each.id): translations(name).gettext(str(each.id)) for each in said}


@lru_cache
def read_catalogue(name: str) -> Any:
    """The texts and translations of a language as Babel has them."""
    from babel.messages.pofile import read_po

    with (FOLDER / f"{name}.po").open("rb") as file:
        return read_po(file, name)
