"""A figure: a drawing with the numbers that it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from coterie.errors import InputError, shown
from coterie.map.colours import DARK, GROUNDS, LIGHT, Ground
from coterie.map.svg import safe
from coterie.storage.files import cannot
from coterie.storage.folder import as_path

if TYPE_CHECKING:
    import polars as pl

#: "auto" is light in files, and follows the theme of the notebook or the reader.
GroundName = Literal["auto", "light", "dark"]

_NAMES = [name for name in asdict(LIGHT) if name != "point"]
#: Colours that a style sheet may change; where there is none, they are light.
_THEMED = Ground(
    **{name: f"var(--coterie-{name},{getattr(LIGHT, name)})" for name in _NAMES},
    point=LIGHT.point,
)
#: Where the PNG has two pixels for one, it is sharp on any screen.
_ZOOM = 2


@dataclass(frozen=True, repr=False)
class Figure:
    """A drawing that notebooks show and `save` writes; `data` has its numbers.

    `kind` is the name of the method that made it, `draw` gives the SVG in the colours of a ground, and
    `chart` draws `data` with Altair.
    """

    kind: str
    title: str
    data: pl.DataFrame
    draw: Callable[[Ground], str]
    ground: GroundName = "auto"
    chart: Callable[[Any, pl.DataFrame], Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.ground, str) or self.ground not in ("auto", *GROUNDS):
            raise InputError(f"ground must be 'auto', 'light' or 'dark'; got {shown(self.ground)}")

    def __repr__(self) -> str:
        return f"<figure {self.kind}: {self.title}; .save('{self.kind}.svg'), .data>"

    @property
    def svg(self) -> str:
        """The drawing as text, in fixed colours."""
        return self.draw(GROUNDS.get(self.ground, LIGHT))

    def save(self, path: str | Path) -> None:
        """Write the figure to a file that ends in .svg, .png or .html.

        A PNG has two pixels for one and needs the extra ``coterie[figures]``. An HTML page shows names and
        numbers under the pointer, and follows the reader's light or dark theme if `ground` is 'auto'.
        """
        path = as_path(path)
        made = _FORMATS.get(path.suffix.lower())
        if made is None:
            raise InputError(f"a figure is saved as {', '.join(_FORMATS)}; got {shown(str(path))}")
        data = made(self)
        try:
            path.write_bytes(data)
        except FileNotFoundError:
            raise InputError(f"{path} could not be written: its folder does not exist; create it") from None
        except OSError as error:
            raise cannot(path, "written", error) from None

    def to_altair(self) -> Any:
        """The figure as an Altair chart, to change and combine; needs the package ``altair``."""
        if self.chart is None:
            raise InputError(f"Altair has no chart for {self.kind}; .data has the numbers, .svg the drawing")
        try:
            import altair
        except ImportError:
            raise InputError("Altair charts need the package altair: pip install altair") from None
        return self.chart(altair, self.data).properties(title=self.title)

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return f'<div class="coterie-figure">{STYLE}{self._themed()}</div>'

    def _themed(self) -> str:
        return self.draw(_THEMED) if self.ground == "auto" else self.svg


def _page(figure: Figure) -> bytes:
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    paper = _THEMED.paper if figure.ground == "auto" else GROUNDS[figure.ground].paper
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{safe(figure.title)}</title></head>"
        f'<body class="coterie-figure" style="margin:0;background:{paper}">'
        f"{STYLE}{figure._themed()}</body></html>\n"
    ).encode()


def _png(figure: Figure) -> bytes:
    try:
        import resvg_py
    except ImportError:
        raise InputError(
            "a PNG needs the extra 'figures': pip install 'coterie[figures]'; .svg and .html need nothing"
        ) from None
    return bytes(resvg_py.svg_to_bytes(svg_string=figure.svg, zoom=_ZOOM))


_FORMATS: dict[str, Callable[[Figure], bytes]] = {
    ".svg": lambda figure: figure.svg.encode(),
    ".png": _png,
    ".html": _page,
}


def _variables(ground: Ground) -> str:
    return "".join(f"--coterie-{name}:{getattr(ground, name)};" for name in _NAMES)


#: Light or dark as the notebook is (JupyterLab, VS Code), else as the system is.
STYLE = (
    "<style>"
    f".coterie-figure{{{_variables(LIGHT)}}}"
    ".coterie-figure svg{max-width:100%;height:auto}"
    ".coterie-figure .rows{max-height:32em;overflow:auto}"
    ".coterie-figure th,.coterie-figure td{text-align:left!important;vertical-align:top}"
    ".coterie-figure td.number{text-align:right!important}"
    ".coterie-figure bdi{display:inline-block;min-width:8em;max-width:22em;overflow-wrap:anywhere}"
    ".coterie-figure .bar{display:inline-block;height:.7em;border-radius:2px;background:var(--coterie-bar)}"
    f"@media (prefers-color-scheme:dark){{.coterie-figure{{{_variables(DARK)}}}}}"
    f'[data-jp-theme-light="true"] .coterie-figure,.vscode-light .coterie-figure{{{_variables(LIGHT)}}}'
    f'[data-jp-theme-light="false"] .coterie-figure,.vscode-dark .coterie-figure{{{_variables(DARK)}}}'
    "</style>"
)
