"""The numbers of the paper's equations, by their labels in its source: every line of an equation array counts."""

NUMBERS = {
    # Continuous, deterministic hidden units (model A)
    "visdyn": 1, "hiddyn": 2, "Hdef": 3, "Bdef": 4, "LL": 5, "learnJ": 6, "learnK": 7, "learnL": 8, "dmdLrecrel": 9,
    "gendmdL": 10, "defX": 11, "dLresult": 12, "dMresult": 13,
    # Stochastic hidden units (model B)
    "stochdyn": 14, "Hdefstochastic": 15, "Bdefstochastic": 16, "fulllikelihood": 17, "vislikelihood": 18, "cond": 19,
    "energy": 20, "Z": 21, "Efull": 22, "dJ": 23, "dK": 24, "dL": 25, "dM": 26,
    # Mean field theory
    "PMF": 27, "entropy": 28, "nMF": 29, "nthorderterm": 30, "nthorderpairs": 31, "E2": 32, "correctedEH": 33,
    "correctedEB": 34, "4th": 35, "sum4th": 36, "sumjth": 37, "result": 38, "Deltaidef": 39, "Eefffull": 40,
    "Gammaadef": 41, "MFmu": 42, "dJMF": 43, "dLMF": 44, "dKMF": 45, "dMMF": 46, "MFmuT": 47, "dJMFT": 48,
    "dLMFT": 49, "dKMFT": 50, "dMMFT": 51,
}  # fmt: skip

ALSO_CODE = {"entropy", "result", "energy", "cond", "Z"}
"""Labels that are names of functions too, so that in backticks they need not mean the equation."""
