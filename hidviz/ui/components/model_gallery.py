"""Gallery: a grid of models as small pictures, each a button that loads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import param

from hidviz.evaluation import Equivalent, gauge_label, rms_errors
from hidviz.network import Couplings
from hidviz.numerics import Array
from hidviz.ui.components.base import Component
from hidviz.ui.text.language import _
from hidviz.ui.theme import diverging


class ModelGallery(Component):
    """A grid of models; pressing one calls the function given with its place in the list."""

    tiles = param.List(doc="For each model: name, cost, exact_cost, errors, K and L as rows of shades, nearest.")
    shown = param.Integer(-1, doc="The place of the model that the page shows; -1 for none of them.")
    palette = param.List(
        list(diverging(dark=False)), doc="The colours that shades stand for, from the least coupling on."
    )

    def __init__(self, on_load: Callable[[int], None], **params: Any) -> None:
        super().__init__(**params)
        self._on_load = on_load

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self.put(dark=dark, palette=list(diverging(dark)))

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if "load" in message:
            self._on_load(int(message["load"]))


def tiles_of(models: Sequence[Equivalent], truth: Couplings, *, complete: bool) -> list[dict[str, Any]]:
    """What a gallery shows of these models; the one nearest to the truth is marked when all are there."""
    largest = max((float(np.abs(m.couplings.vector(("K", "L"))).max()) for m in models), default=1.0)
    errors = [rms_errors(model.couplings, truth, align=False) for model in models]
    K, L = truth.K.size, truth.L.size
    nearest = int(np.argmin([K * e["K"] ** 2 + L * e["L"] ** 2 for e in errors])) if complete and errors else -1
    return [
        {
            "name": gauge_label(model.gauge),
            "cost": _("{cost:.6f} nats/bin", cost=model.cost),
            "exact_cost": repr(model.cost),
            "errors": f"K {error['K']:.3f} · L {error['L']:.3f}",
            "K": _shades(model.couplings.K.T, largest),
            "L": _shades(model.couplings.L, largest),
            "nearest": k == nearest,
        }
        for k, (model, error) in enumerate(zip(models, errors, strict=True))
    ]


def _shades(values: Array, largest: float) -> list[list[int]]:
    """Values in [-largest, largest] as places in the palette."""
    last = len(diverging(dark=False)) - 1
    shades: list[list[int]] = np.rint((values / max(largest, 1e-12) + 1.0) * last / 2).astype(int).tolist()
    return shades
