"""Figures as SVG within a page, where they share outlines of letters, styles and colours.

The files that Matplotlib writes hold the outline of each letter that they use, and a style with
each line. Within one page the outlines are written once, styles are classes, and colours are
variables, which a dark page gives other values. Coordinates are rounded to a hundredth of a point.
The files beside the page stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from xml.etree import ElementTree

from dcglearn.figures.style import DARK, LIGHT, Palette

_KEPT = {"g", "path", "use", "rect", "clipPath", "pattern", "defs"}
_DROPPED = {"metadata", "style"}
_SHARED = {"path", "clipPath", "pattern"}
"""Elements that others refer to."""

_ATTRIBUTES = {
    *("d", "x", "y", "width", "height", "transform", "patternUnits", "patternTransform"),
    *("id", "style", "fill", "href", "clip-path", "viewBox", "version"),
}

_NUMBER = re.compile(r"-?\d*\.?\d+(?:e[+-]?\d+)?")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_STYLE = re.compile(r"[\w\s:;.,#()%-]*")
_REFERENCE = re.compile(r"url\(#([\w-]+)\)")
_TRANSLATION = re.compile(r"translate\((\S+) (\S+)\)")


class ForeignSVGError(ValueError):
    """An SVG holds what the figures of this package do not hold."""


@dataclass
class PictureBook:
    r"""The figures of a page, and what they share.

    Examples
    --------
    >>> book = PictureBook()
    >>> line = '<path d="M 0 0.001 L 1.5 2" style="stroke: #1d1f21"/>'
    >>> print(book.add(f'<svg viewBox="0 0 9 9">{line}</svg>', "A line").split(">")[1])
    <path d="M0 0L1.5 2" class="s0"/
    >>> book.style.splitlines()[-1]
    '.s0{stroke:var(--c0)}'
    """

    _classes: dict[str, str] = field(default_factory=dict)  # by style
    _names: dict[str, str] = field(default_factory=dict)  # of what is shared, by content

    def add(self, text: str, words: str) -> str:
        """Return a figure as an element of the page.

        Parameters
        ----------
        text : str
            An SVG in the colours of :data:`~dcglearn.figures.style.LIGHT`.
        words : str
            What it shows, for who does not see it.

        Returns
        -------
        str

        Raises
        ------
        ForeignSVGError
            If it holds other elements than drawings of Matplotlib, such as a picture or a script.
        """
        try:
            root = ElementTree.fromstring(text)  # noqa: S314 - written by this package
        except ElementTree.ParseError as error:
            raise ForeignSVGError("it is not XML") from error
        names: dict[str, str] = {}
        for part in root.iter():
            if part.get("id") and _tag(part) in _SHARED:
                content = self._written(part, names, shared=True)
                names[part.attrib["id"]] = self._names.setdefault(content, f"g{len(self._names)}")
        drawn = "".join(self._written(part, names) for part in root)
        box = " ".join(map(_rounded, root.get("viewBox", "").split()))
        head = f'class="picture" role="img" aria-label="{escape(words)}" viewBox="{box}"'
        return f"<svg {head}>{drawn}</svg>"

    @property
    def shared(self) -> str:
        """What figures refer to, as an element of the page that is not seen."""
        parts = (part.replace(" ", f' id="{name}" ', 1) for part, name in self._names.items())
        return f'<svg class="shared" aria-hidden="true"><defs>{"".join(parts)}</defs></svg>'

    @property
    def style(self) -> str:
        """The style of the figures: colours on light and dark pages, and classes."""
        dark = f"@media screen and (prefers-color-scheme:dark){{{_variables(DARK)}}}"
        classes = (f".{name}{{{style}}}" for style, name in self._classes.items())
        joins = "svg *{stroke-linejoin:round;stroke-linecap:butt}"
        return "\n".join([_variables(LIGHT), dark, joins, *classes])

    def _written(
        self, part: ElementTree.Element, names: Mapping[str, str], shared: bool = False
    ) -> str:
        """Return an element as text; nothing of what is shared, unless it is asked for."""
        tag = _tag(part)
        if tag in _DROPPED or (part.get("id") and tag in _SHARED and not shared):
            return ""
        if tag not in _KEPT:
            raise ForeignSVGError(f"it holds <{tag}>")
        inner = "".join(self._written(child, names) for child in part)
        given = self._attributes(part, names)
        if tag in ("g", "defs") and (not given or not inner):
            return inner  # a group of nothing, or without any effect
        written = "".join(f' {key}="{escape(value)}"' for key, value in given.items())
        return f"<{tag}{written}>{inner}</{tag}>" if inner else f"<{tag}{written}/>"

    def _attributes(self, part: ElementTree.Element, names: Mapping[str, str]) -> dict[str, str]:
        given = {_plain(key): value for key, value in part.attrib.items()}
        given.pop("id", None)
        if not given.keys() <= _ATTRIBUTES:
            raise ForeignSVGError(f"it holds {sorted(given.keys() - _ATTRIBUTES)}")
        if "d" in given:
            given["d"] = _path(given["d"])
        if "href" in given:
            given["href"] = "#" + _name(given["href"].removeprefix("#"), names)
        if "clip-path" in given:
            given["clip-path"] = _with_names(given["clip-path"], names)
        if "fill" in given:
            given["style"] = f"fill: {given.pop('fill')}; {given.get('style', '')}"
        if "style" in given:
            style = _with_names(_style(given.pop("style")), names)
            given["class"] = self._classes.setdefault(style, f"s{len(self._classes)}")
        return _placed(given, _tag(part) == "use")


def _placed(given: dict[str, str], is_use: bool) -> dict[str, str]:
    """Return attributes with rounded places; a copy that is only moved has x and y."""
    moved = _TRANSLATION.fullmatch(given.get("transform", ""))
    if moved and is_use and not {"x", "y"} & given.keys():
        del given["transform"]
        given |= {"x": moved[1], "y": moved[2]}
    for key in [key for key in ("x", "y") if key in given]:
        given[key] = _rounded(given[key])
        if given[key] == "0":
            del given[key]
    if "transform" in given:
        given["transform"] = _TRANSLATION.sub(
            lambda by: f"translate({_rounded(by[1])} {_rounded(by[2])})", given["transform"]
        )
    return given


def _tag(part: ElementTree.Element) -> str:
    return _plain(part.tag)


def _plain(name: str) -> str:
    """Return a name without its namespace."""
    return name.rpartition("}")[2]


def _name(name: str, names: Mapping[str, str]) -> str:
    if name not in names:
        raise ForeignSVGError(f"it refers to {name!r}, which it does not hold")
    return names[name]


def _with_names(text: str, names: Mapping[str, str]) -> str:
    return _REFERENCE.sub(lambda to: f"url(#{_name(to[1], names)})", text)


def _rounded(number: str) -> str:
    """Write a number with two decimals at most.

    >>> _rounded("36.62024"), _rounded("-0.001"), _rounded("150.0")
    ('36.62', '0', '150')
    """
    text = f"{float(number):z.2f}"
    return text.rstrip("0").rstrip(".")


def _path(text: str) -> str:
    """Write a path without blanks that it does not need."""
    parts = re.findall(rf"[A-Za-z]|{_NUMBER.pattern}", text)
    rounded = (one if one.isalpha() else _rounded(one) for one in parts)
    return re.sub(r" ?([A-Za-z]) ?", r"\1", " ".join(rounded))


def _style(text: str) -> str:
    """Write a style with the colours of the page."""
    if not _STYLE.fullmatch(text):
        raise ForeignSVGError(f"it holds the style {text!r}")
    lines = (line.split(":", 1) for line in text.split(";") if line.strip())
    return ";".join(
        f"{key.strip()}:{_COLOUR.sub(_variable, value.strip())}" for key, value in lines
    )


def _inks(palette: Palette) -> Sequence[str]:
    return (palette.ink, palette.soft, palette.grid, *palette.colours)


_VARIABLES = {colour.lower(): f"var(--c{n})" for n, colour in reversed([*enumerate(_inks(LIGHT))])}


def _variable(colour: re.Match[str]) -> str:
    return _VARIABLES.get(colour[0].lower(), colour[0])


def _variables(palette: Palette) -> str:
    return f":root{{{';'.join(f'--c{n}:{one}' for n, one in enumerate(_inks(palette)))}}}"
