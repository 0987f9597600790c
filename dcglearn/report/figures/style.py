"""The style of all figures, and writing figures to files.

Colour-blind readers can distinguish the colours (Okabe & Ito), markers differ in greyscale, and the
bytes of files depend only on the data. A PDF embeds its fonts as Type 42, which journals ask for.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from dcglearn.base.files import atomic_write, checked_suffix
from dcglearn.report.tables import FIGURE_FORMATS

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Of the lines of a figure, in order; Okabe & Ito."""

MARKERS = ("o", "s", "^", "v", "D", "P", "X", "*")


@dataclass(frozen=True)
class Palette:
    """The colours of a figure on a light or a dark background."""

    ink: str
    soft: str
    grid: str
    paper: str
    colours: tuple[str, ...]


LIGHT = Palette("#1d1f21", "#6b7178", "#e3e5e1", "#ffffff", (*COLOURS[:6], "#1d1f21", COLOURS[7]))
DARK = Palette(
    "#e6e6e3",
    "#9aa1a8",
    "#3a3f44",
    "#16181a",
    ("#58aee8", "#f58a4b", "#35c49a", "#dd93bd", "#f0b840", "#a5dcff", "#e6e6e3", "#b5b5b5"),
)

STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "legend.framealpha": 0.8,
    "legend.edgecolor": "none",
    "legend.fontsize": 8,
    "figure.autolayout": False,
    "figure.constrained_layout.use": False,  # each figure names its layout, or has none
    "text.parse_math": False,  # names may hold dollar signs
    "svg.hashsalt": "dcglearn",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}


INKS = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")


class Drawing(Figure):
    """A figure that notebooks show by themselves."""

    def savefig(self, *arguments: Any, **options: Any) -> None:
        """Write to a file in the style of the package, whatever the settings are by then."""
        with mpl.rc_context(STYLE), missing_glyphs_as_boxes():
            super().savefig(*arguments, **options)

    def _repr_png_(self) -> bytes:
        content = BytesIO()
        self.savefig(content, format="png", dpi=150)
        return content.getvalue()


def save(figure: Figure, path: str | Path, dpi: int = 150, adapts: bool = False) -> None:
    """Write a figure to a file, atomically; the same data give the same bytes."""
    suffix = checked_suffix(path, FIGURE_FORMATS)
    with mpl.rc_context(STYLE), missing_glyphs_as_boxes(), atomic_write(path) as temporary:
        if figure.get_layout_engine() is not None:
            figure.draw_without_rendering()
            figure.set_layout_engine(None)  # one layout for all its files, each drawn once
        if adapts and suffix == ".svg":
            temporary.write_text(adapting_svg(figure), "utf-8", newline="\n")
        else:
            metadata = FIGURE_FORMATS[suffix]
            figure.savefig(temporary, dpi=dpi, metadata=metadata, format=suffix[1:])


@contextmanager
def missing_glyphs_as_boxes() -> Iterator[None]:
    """Draw characters that the font lacks as boxes, without a warning for each."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # it is seen
        yield


def adapting_svg(figure: Figure) -> str:
    """Return a figure as SVG, shown in other colours where the reader prefers dark pages."""
    written = StringIO()
    figure.savefig(written, format="svg", metadata=FIGURE_FORMATS[".svg"], transparent=True)
    light = (LIGHT.ink, LIGHT.soft, LIGHT.grid, *LIGHT.colours)
    dark = (DARK.ink, DARK.soft, DARK.grid, *DARK.colours)
    rules = "".join(
        f'[style*="{what}: {old.lower()}"]{{{what}:{new}!important}}'
        for old, new in dict(zip(light, dark, strict=True)).items()
        for what in ("fill", "stroke")
    )
    style = (
        f'<style type="text/css">@media screen and (prefers-color-scheme: dark){{{rules}}}</style>'
    )
    return written.getvalue().replace("<defs>", f"{style}\n <defs>", 1)
