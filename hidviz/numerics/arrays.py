"""The types of the arrays that pass between modules."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
States = NDArray[np.int8]  # ±1 over (time, unit); 0 where there is no state
Index = NDArray[np.intp]
Flags = NDArray[np.bool_]
