"""Figures of every kind, with names and numbers that are hard to draw."""

from __future__ import annotations

import numpy as np

from dcglearn.lab.plots import SHARE, Figure, Plot, Series

NAN = float("nan")
LONG = "the share of all studies in which the intervals of both gains and discounts hold the truth"
WORD = "a-name-that-has-no-blank-where-it-could-be-broken-" * 3


def series(label: str, x: tuple, mean: list[float], half: float = 0.02) -> Series:
    low, high = (tuple(y + sign * half for y in mean) for sign in (-1, 1))
    return Series(label, x, tuple(mean), low, high, (50,) * len(x))


def rising(label: str, start: float, x: tuple = (20, 60, 100, 200, 500)) -> Series:
    return series(label, x, list(np.linspace(start, 0.98, len(x))))


def a_level(name: str, height: float) -> Series:
    return series(name, (None,), [height])


def made(*plots: Plot, title: str = "A title") -> Figure:
    return Figure("5", title, plots[0], (), "", plots[1:])


TWO = (rising("Data 1", 0.7), rising("Data 2", 0.69))
PRESETS = tuple(
    a_level(f"preset-{n}", height)
    for n, height in enumerate((1.0, 0.9, 0.901, 0.902, 0.85, 0.8501, 0.75, 0.2))
)
CASES = {
    "two curves": made(Plot("training pairs", "precision", TWO, within=SHARE)),
    "no series": made(Plot("x", "y", ())),
    "one point": made(Plot("pairs", "precision", (series("a", (20,), [0.5]),), log_x=True)),
    "one repetition": made(Plot("pairs", "y", (series("a", (20, 40), [0.5, 0.7], NAN),))),
    "nothing finite": made(Plot("pairs", "y", (series("a", (20, 40), [NAN, NAN], NAN),))),
    "gaps": made(
        Plot(
            "pairs", "y", (Series("a", (1, 2, 3), (1, NAN, 2), (0, NAN, 1), (2, NAN, 3), (2,) * 3),)
        )
    ),
    "long labels": made(
        Plot(LONG, LONG, (rising(LONG, 0.1), rising(WORD, 0.2)), {"a long name of a level": 0.5}),
        title=LONG,
    ),
    "twelve series": made(
        Plot("pairs", "y", tuple(rising(f"Series {n}", n / 20) for n in range(12)), log_x=True)
    ),
    "logarithms of 0": made(
        Plot(
            "flips",
            "errors",
            (series("a", (0, 1, 10, 100), [0.0, 0.001, 0.1, 20.0], 0.0),),
            log_x=True,
        )
    ),
    "many ticks": made(Plot("rank", "y", (rising("a", 0.1, tuple(range(1, 60))),))),
    "presets": made(Plot("pairs", "precision", (TWO[0], *PRESETS), log_x=True, within=SHARE)),
    "levels": made(Plot("pairs", "y", TWO, {"93%": 0.93, "93.1%": 0.931, "": 0.5, LONG: 0.94})),
    "points": made(
        Plot(
            "noise",
            "coverage",
            (series("A", ("normal", "Cauchy"), [0.9, 1.0]), series("B", ("normal",), [0.99])),
            points=True,
            within=SHARE,
        )
    ),
    "categories": made(
        Plot("judge", "y", (series("a", (LONG, WORD, "c", "d"), [0.1, 0.2, 0.3, 0.2]),))
    ),
    "differences": made(
        Plot("pairs", "precision", (*TWO, *TWO), within=SHARE),
        Plot("pairs", "one minus other", (series("Data 1", (20, 500), [0.01, -0.01]),), {"": 0.0}),
    ),
    "small multiples": made(
        *(
            Plot("judgments", LONG, TWO, {"93%": 0.93}, log_x=True, title=f"kind {n}")
            for n in range(5)
        )
    ),
    "diagonal": made(Plot("true", "estimated", (series("a", (0.1, 1), [0.1, 1]),), diagonal=True)),
    "dollars": made(Plot("$x_1$", "$y$", (rising("$a$ & b", 0.2), rising("é 漢", 0.1)))),
}
