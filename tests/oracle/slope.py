"""The slope of a function of several arrays, by central differences."""

import numpy as np


def slope(value, arrays, step=1e-5):
    """Central differences of value(**arrays) with respect to every entry of every array."""
    result = {}
    for name, array in arrays.items():
        derivative = np.zeros(array.shape)
        for index in np.ndindex(array.shape):
            ends = []
            for sign in (1.0, -1.0):
                moved = array.copy()
                moved[index] += sign * step
                ends.append(value(**{**arrays, name: moved}))
            derivative[index] = (ends[0] - ends[1]) / (2.0 * step)
        result[name] = derivative
    return result
