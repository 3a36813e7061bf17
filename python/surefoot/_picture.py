"""Pictures, as SVG: what they are made of."""

from __future__ import annotations

import html
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Union

from .errors import FileError

__all__ = ["Picture"]

#: The colours of the pictures; each is told apart by brightness too.
BLUE, ORANGE, GREEN, GREY, LIGHT, INK = "#1f5fa8", "#c05a00", "#2c7a4b", "#6b7280", "#e5e7eb", "#1f2937"


class Picture:
    """A picture as SVG. A notebook shows it.

    Attributes
    ----------
    svg : str
        The text of the SVG.

    Examples
    --------
    >>> import surefoot as sf
    >>> features = [sf.Feature("income", "increase"), sf.Feature("savings")]
    >>> picture = sf.CausalModel(features, {"savings": "0.5 * income + u"}).plot()
    >>> picture.write("graph.svg")
    >>> picture.svg[:4]
    '<svg'
    """

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        title = self.svg.partition("<title>")[2].partition("</title>")[0]
        return f"<picture: {html.unescape(title)}>"

    def write(self, path: Union[str, os.PathLike[str]]) -> None:
        """Write the picture into a file.

        Parameters
        ----------
        path : path
            The file; its name ends in ``.svg``.

        Examples
        --------
        >>> import surefoot as sf
        >>> features = [sf.Feature("income", "increase"), sf.Feature("savings")]
        >>> sf.CausalModel(features, {"savings": "0.5 * income + u"}).plot().write("graph.svg")
        """
        path = Path(path)
        if path.suffix.lower() != ".svg":
            raise FileError(f"{path}: pictures are SVG; give a name that ends in .svg")
        try:
            path.write_text(self.svg, encoding="utf-8")
        except OSError as error:
            raise FileError(f"{path}: cannot be written: {error.strerror}") from None


class Canvas:
    """A picture under construction."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []

    def line(
        self, x1: float, y1: float, x2: float, y2: float, colour: str = INK, width: float = 1, dash: str = "",
        arrow: bool = False,
    ) -> None:  # fmt: skip
        extra = (f' stroke-dasharray="{dash}"' if dash else "") + (
            f' marker-end="url(#arrow-{colour[1:]})"' if arrow else ""
        )
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"{extra}/>'
        )

    def path(
        self, points: Sequence[tuple[float, float]], colour: str = "none", width: float = 1, fill: str = "none",
        opacity: float = 1, close: bool = False, dash: str = "",
    ) -> None:  # fmt: skip
        steps = " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        extra = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<path d="M{steps}{" Z" if close else ""}" stroke="{colour}" stroke-width="{width}" '
            f'fill="{fill}" fill-opacity="{opacity}"{extra}/>'
        )

    def curve(self, points: Sequence[tuple[float, float]], colour: str) -> None:
        """A smooth line from left to right through points, with an arrow at its end."""
        x, y = points[0]
        d = f"M{x:.1f} {y:.1f}"
        for (x1, y1), (x2, y2) in zip(points, points[1:]):
            middle = (x1 + x2) / 2
            d += f" C{middle:.1f} {y1:.1f} {middle:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
        self.parts.append(
            f'<path d="{d}" stroke="{colour}" stroke-width="1.5" fill="none" marker-end="url(#arrow-{colour[1:]})"/>'
        )

    def rectangle(
        self, x: float, y: float, width: float, height: float, fill: str, stroke: str = "none", radius: float = 0,
        opacity: float = 1,
    ) -> None:  # fmt: skip
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}" rx="{radius}" '
            f'fill="{fill}" fill-opacity="{opacity}" stroke="{stroke}"/>'
        )

    def circle(
        self, x: float, y: float, radius: float, fill: str, stroke: str = "none", opacity: float = 1
    ) -> None:
        self.parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}" fill-opacity="{opacity}" stroke="{stroke}"/>'
        )

    def text(
        self, x: float, y: float, text: str, anchor: str = "start", size: float = 12, colour: str = INK,
        weight: str = "normal", turned: bool = False, room: float | None = None,
    ) -> None:  # fmt: skip
        words = shortened(text, room, size) if room is not None else text
        turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
        whole = f"<title>{html.escape(text)}</title>" if words != text else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}" '
            f'font-weight="{weight}"{turn}>{html.escape(words)}{whole}</text>'
        )

    def picture(self) -> Picture:
        arrows = "".join(
            f'<marker id="arrow-{colour[1:]}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0 0 L8 4 L0 8 Z" fill="{colour}"/></marker>'
            for colour in (BLUE, ORANGE, GREEN, GREY, INK)
            if f"url(#arrow-{colour[1:]})" in "".join(self.parts)
        )
        return Picture(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:.0f} {self.height:.0f}" '
            f'width="{self.width:.0f}" height="{self.height:.0f}" role="img" '
            'font-family="Helvetica, Arial, sans-serif">'
            f"<title>{html.escape(self.title)}</title><defs>{arrows}</defs>"
            f'<rect width="100%" height="100%" fill="white"/>{"".join(self.parts)}</svg>'
        )


def text_width(text: str, size: float = 12) -> float:
    """About how wide a text is."""
    return (
        sum(
            0.34 if letter in "ijl.,:;'|!()[] tfr" else 0.86 if letter in "mwMW@%" else 0.58
            for letter in text
        )
        * size
    )


def shortened(text: str, room: float, size: float) -> str:
    """A text that fits, with an ellipsis where it is cut."""
    if text_width(text, size) <= room:
        return text
    while text and text_width(text + "…", size) > room:
        text = text[:-1]
    return text.rstrip() + "…"


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers from `low` to `high`."""
    if not high > low:
        return [low]
    rough = (high - low) / count
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def number(value: float) -> str:
    """A number with at most four digits, as an axis has it."""
    text = f"{value:.4g}"
    if "e" in text and 1e-3 <= abs(value) < 1e9:
        text = f"{value:.0f}"
    whole, point, rest = text.partition(".")
    if "e" not in text and len(whole.lstrip("-")) > 3:
        whole = f"{int(whole):,}"
    return whole + point + rest
