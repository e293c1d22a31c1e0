"""The live curves of the errors of the couplings, block by block."""

from __future__ import annotations

from hidviz.experiments import Frame
from hidviz.ui.plots.curves import Curves, Line, roomy
from hidviz.ui.theme import block_colours


class ErrorCurves(Curves):
    """Root-mean-square errors of each block: as found (thin) and after alignment to the truth (bold)."""

    def __init__(self) -> None:
        thin = {f"rms_{block}": (1.3, "solid") for block in "JKLM"}
        bold = {f"aligned_{block}": (3.2, "solid") for block in "JKLM"}
        super().__init__(thin | bold, "rms error of couplings", "Errors of the couplings")

    def show(self, frame: Frame) -> None:
        """Draw the errors of a frame; blocks that the network has not are left out."""
        steps = frame.trace["step"]
        truth = frame.data.truth
        blocks = [b for b in "JKLM" if getattr(truth, b).any() or getattr(frame.snapshot.couplings, b).any()]
        lines = []
        for block in blocks:
            found, aligned = frame.trace[f"rms_{block}"], frame.trace[f"aligned_{block}"]
            apart = abs(found[-1] - aligned[-1]) > 0.02 * max(found[-1], 1e-12)
            lines.append(Line(f"rms_{block}", f"{block} as found {found[-1]:.3f}" if apart else "", steps, found))
            lines.append(Line(f"aligned_{block}", f"{block} {aligned[-1]:.3f}", steps, aligned))
        high = max([float(line.y.max()) for line in lines] + [1e-3])
        self.draw(lines, 0.0, roomy(0.0, high)[1])

    def restyle(self, dark: bool) -> None:
        """Colours for a theme: each block its own."""
        colours = block_colours(dark)
        self.paint({f"{kind}_{block}": colours[block] for kind in ("rms", "aligned") for block in "JKLM"}, dark)
