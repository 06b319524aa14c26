"""`model_to_svg`: a model's graph as a picture in SVG, drawn by torchkeras itself."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from torchkeras.base.rules import known_options
from torchkeras.visualization.colours import COLOURS
from torchkeras.visualization.diagram import Box, Diagram, Text, Wire, diagram
from torchkeras.visualization.dot import check_options
from torchkeras.visualization.labels import Shown, checked_graph, printable
from torchkeras.visualization.layered.layout import Point, Stroke
from torchkeras.visualization.plan import BESIDE, HEADER, NAME, NAME_ROW, PAD, SMALL, SMALL_ROW, header, short

if TYPE_CHECKING:
    from torchkeras.models.model import Model


class Scheme(NamedTuple):
    """The colours of all that has no kind."""

    paper: str
    ink: str
    small: str
    line: str


FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
LIGHT = Scheme("#ffffff", "#0f172a", "#475569", "#64748b")
DARK = Scheme("#0f1720", "#f1f5f9", "#cbd5e1", "#94a3b8")
TIP = (7, 3.5)  # length of an arrow's tip, and half its breadth
STRAIGHT = 0.05  # lines that go less far across are straight
# The direction in which lines arrive, across and along the page.
WAYS = {"TB": (0, 1), "BT": (0, -1), "LR": (1, 0), "RL": (-1, 0)}


class Svg(str):
    """The text of a picture in SVG. It shows itself as the last value of a notebook's cell."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


@known_options
def model_to_svg(
    model: Model,
    show_shapes: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 96,
    show_dtype: bool = False,
    show_layer_activations: bool = False,
    show_trainable: bool = False,
) -> Svg:
    """A model's graph as a picture in SVG: a box for each call of a layer, a line for each tensor. Needs no program.

    The colour of a box shows the kind of the layer. A dashed box is one of several calls of one layer. Rest the mouse
    on a box or a line to read the shapes, and the inputs of a layer in order. The picture follows the light or dark
    mode of the viewer.

    Arguments:
        model (model): the model, built.
        show_shapes (bool, default False): whether a line has the shape of its tensor.
        show_layer_names (bool, default True): whether a box has the name of the layer below its class.
        rankdir (text, default "TB"): the direction: "TB" from top to bottom, "BT", "LR" or "RL".
        expand_nested (bool, default False): whether a model inside is drawn as a frame with its own layers. It is drawn
            once; its further calls refer to it.
        dpi (positive number, default 96): dots per inch; 192 makes the picture twice as large.
        show_dtype (bool, default False): whether a line has the type of its tensor.
        show_layer_activations (bool, default False): whether a box has the activation.
        show_trainable (bool, default False): whether a box says if the layer trains.

    Returns:
        The text, a `str` that a notebook shows as a picture.

    Errors:
        TypeError: `model` is no model.
        RuntimeError: the model is not built yet.
        ValueError: an option has a bad value.

    Example:
        >>> model_to_svg(Sequential([Dense(1, input_shape=(2,), name="out")]))[:5]
        '<svg '

    Source: https://keras.io/api/utils/model_plotting_utils/
    """
    graph = checked_graph("model_to_svg", model)
    check_options("model_to_svg", rankdir, dpi)
    shown = Shown(
        "model_to_svg", show_shapes, show_layer_names, expand_nested, show_dtype, show_layer_activations, show_trainable
    )
    return Svg(_document(diagram(graph, shown, rankdir), model.name, dpi / 96))


def _document(drawn: Diagram, name: str, scale: float) -> str:
    wide, high = _number(drawn.width), _number(drawn.height)
    size = (
        f'width="{_number(drawn.width * scale)}" height="{_number(drawn.height * scale)}" viewBox="0 0 {wide} {high}"'
    )
    font = f'font-family="{FONT}" font-size="{_number(SMALL)}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tk-graph" role="img" {size} {font}>',
        f"<title>{escape(printable(name))}</title>",
        f"<style>{_style({box.part.kind for box in drawn.boxes})}</style>",
        f'<rect class="tk-paper" width="{wide}" height="{high}" fill="{LIGHT.paper}"/>',
        *(_frame(box, drawn.rankdir) for box in drawn.boxes if box.part.inside is not None),
        f'<g class="tk-lines" fill="none" stroke="{LIGHT.line}" stroke-width="1.5">',
        *(_wire(wire, WAYS[drawn.rankdir]) for wire in drawn.wires),
        "</g>",
        *(_box(box) for box in drawn.boxes if box.part.inside is None),
        f'<g class="tk-small" fill="{LIGHT.small}" font-size="{_number(BESIDE)}">',
        *(_text_element(text) for text in drawn.texts),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _style(kinds: set[str]) -> str:
    """The dark colours. The light ones are attributes, which apply where there is no style."""
    rules = [
        f".tk-paper{{fill:{DARK.paper}}}",
        f".tk-graph text{{fill:{DARK.ink}}}",
        f".tk-graph .tk-small,.tk-graph .tk-small text{{fill:{DARK.small}}}",
        f".tk-lines{{stroke:{DARK.line}}}.tk-lines .tk-tips{{fill:{DARK.line}}}",
    ]
    frame = COLOURS["model"].dark_frame
    rules.append(f".tk-frame rect{{fill:{frame};stroke:{frame}}}")
    for kind in sorted(kinds):
        colours = COLOURS[kind]
        rules.append(f".tk-{kind} rect{{fill:{colours.dark_fill};stroke:{colours.dark_frame}}}")
    return ".tk-lines path:hover{stroke-width:3}@media (prefers-color-scheme:dark){" + "".join(rules) + "}"


def _box(box: Box) -> str:
    part = box.part
    colours = COLOURS[part.kind]
    dashes = ' stroke-dasharray="5 3"' if part.shared else ""
    middle = box.x + box.width / 2
    rows = NAME_ROW + SMALL_ROW * len(part.lines)
    top = box.y + (box.height - rows) / 2
    return "".join(
        [
            f'<g class="tk-{part.kind}" text-anchor="middle"><title>{escape(part.title)}</title>',
            _rect(box, f'rx="6" fill="{colours.fill}" stroke="{colours.frame}"{dashes}'),
            _text(middle, top + NAME_ROW - 4, short(part.name), bold=True),
            *(
                _text(middle, top + NAME_ROW + SMALL_ROW * (row + 1) - 4, short(line))
                for row, line in enumerate(part.lines)
            ),
            "</g>",
        ]
    )


def _frame(box: Box, rankdir: str) -> str:
    frame = COLOURS["model"].frame
    name, lines = header(box.part)
    y = box.y + box.height - HEADER / 2 + 4 if rankdir == "BT" else box.y + HEADER / 2 + 4
    return "".join(
        [
            f'<g class="tk-frame" fill="{frame}" stroke="{frame}"><title>{escape(box.part.title)}</title>',
            _rect(box, 'rx="10" fill-opacity="0.07"'),
            _text(box.x + PAD, y, name, bold=True, further=lines),
            "</g>",
        ]
    )


def _rect(box: Box, attributes: str) -> str:
    x, y, wide, high = map(_number, (box.x, box.y, box.width, box.height))
    return f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" {attributes}/>'


def _text(x: float, y: float, text: str, bold: bool = False, further: str = "") -> str:
    """A line; `further` is what follows in a small font."""
    faint = f'class="tk-small" fill="{LIGHT.small}"'
    form = f'font-size="{_number(NAME)}" font-weight="bold" fill="{LIGHT.ink}"' if bold else faint
    rest = f'<tspan {faint} dx="10" font-size="{_number(SMALL)}" font-weight="normal">{escape(further)}</tspan>'
    words = escape(text) + rest * bool(further)
    return f'<text x="{_number(x)}" y="{_number(y)}" stroke="none" {form}>{words}</text>'


def _text_element(text: Text) -> str:
    anchor = ' text-anchor="end"' if text.before else ""
    return f'<text x="{_number(text.x)}" y="{_number(text.y)}"{anchor}>{escape(text.text)}</text>'


def _wire(wire: Wire, way: Point) -> str:
    tips = "".join(_tip(point, way) for point in wire.tips)
    heads = f'<path class="tk-tips" stroke="none" fill="{LIGHT.line}" d="{tips}"/>' if tips else ""
    return f'<g><title>{escape(wire.title)}</title><path d="{"".join(_path(wire, way))}"/>{heads}</g>'


def _path(wire: Wire, way: Point) -> Iterator[str]:
    """The strokes; a line ends a little before the point of its tip, which is thinner than the line."""
    tips, last = set(wire.tips), None
    for stroke in wire.strokes:
        enter, end = stroke.enter, stroke.end
        if end in tips:
            end = (end[0] - way[0] * (TIP[0] - 1), end[1] - way[1] * (TIP[0] - 1))
            enter = min(enter, end, key=lambda point: point[0] * way[0] + point[1] * way[1])
        yield from _stroke(Stroke(stroke.begin, stroke.leave, enter, end, stroke.box), last, way)
        last = end


def _stroke(stroke: Stroke, last: Point | None, way: Point) -> Iterator[str]:
    if stroke.begin != last:
        yield f"M{_point(stroke.begin)}"
    across = 0 if way[0] == 0 else 1
    if abs(stroke.begin[across] - stroke.end[across]) < STRAIGHT:
        yield f"L{_point(stroke.end)}"
        return
    if stroke.leave != stroke.begin:
        yield f"L{_point(stroke.leave)}"
    (x, y), (to_x, to_y) = stroke.leave, stroke.enter
    half_x, half_y = (x + to_x) / 2, (y + to_y) / 2
    bends = ((x, half_y), (to_x, half_y)) if way[0] == 0 else ((half_x, y), (half_x, to_y))
    yield f"C{_point(bends[0])} {_point(bends[1])} {_point(stroke.enter)}"
    if stroke.end != stroke.enter:
        yield f"L{_point(stroke.end)}"


def _tip(point: Point, way: Point) -> str:
    x, y = point
    back = (x - way[0] * TIP[0], y - way[1] * TIP[0])
    left = (back[0] + way[1] * TIP[1], back[1] + way[0] * TIP[1])
    right = (back[0] - way[1] * TIP[1], back[1] - way[0] * TIP[1])
    return f"M{_point(point)}L{_point(left)}L{_point(right)}Z"


def _point(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
