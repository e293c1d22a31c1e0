"""Base of the page's components: the script and the style sheet of each are files of its own name beside it."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import param
from panel.custom import JSComponent

from hidviz.ui.theme import css_variables

HERE = Path(__file__).parent


class Component(JSComponent):  # type: ignore[misc]  # panel has no types
    """A component of the browser. `ModelGallery` has the files model_gallery.js and model_gallery.css.

    The script begins with dom.js and defines `render`; the style sheet has the colours of the theme as variables.
    """

    dark = param.Boolean(doc="Whether the page is dark.")

    _shared: ClassVar[tuple[str, ...]] = ()
    """Names of files that come before its own."""

    _esm = "export function render() {}"
    _fingerprint: ClassVar[str] = ""

    def __init_subclass__(cls, **options: Any) -> None:
        names = ("dom", *cls._shared, re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower())
        cls._esm = "\n".join(_text(f"{name}.js") for name in names)
        cls._fingerprint = sha256(cls._esm.encode()).hexdigest()
        cls._stylesheets = [css_variables(), *(_text(f"{name}.css") for name in names)]
        super().__init_subclass__(**options)

    def _get_properties(self, doc: Any) -> dict[str, Any]:
        """As Panel has them, and that the script is plain: else each browser translates it once more as it opens."""
        properties: dict[str, Any] = super()._get_properties(doc)
        return properties | {"bundle": self._fingerprint}

    def _update_properties(self, *events: Any, doc: Any) -> dict[str, Any]:  # noqa: ARG002
        """What has changed; no design of Panel's has a say in it, which each time would look for its files."""
        changed: dict[str, Any] = self._process_param_change({event.name: event.new for event in events})
        return changed

    def put(self, **values: Any) -> None:
        """Change only what is another value now, all of it at once.

        `param.update` sends nothing more, but each time it reads every parameter there is, files among them.
        """
        changed = {name: value for name, value in values.items() if getattr(self, name) != value}
        if changed:
            with param.parameterized.batch_call_watchers(self):
                for name, value in changed.items():
                    setattr(self, name, value)


def _text(name: str) -> str:
    path = HERE / name
    return path.read_text(encoding="utf-8") if path.exists() else ""
