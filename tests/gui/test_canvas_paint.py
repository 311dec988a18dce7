"""What the canvas paints: golden pictures, and properties that hold at every scale."""

import itertools

import numpy as np
import pytest
from canvas_graphs import document, flags, leaf, painted, picture, roles, scene, statuses, whole
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QImage, QPainter

from graphviewer.gui.canvas import boxes, names, shapes
from graphviewer.gui.canvas.boxes import in_view
from graphviewer.gui.canvas.camera import Camera
from graphviewer.gui.canvas.easel import Easel
from graphviewer.gui.canvas.edges import dashes
from graphviewer.gui.canvas.kinds import Kind
from graphviewer.gui.canvas.lettering import LONGEST, Lettering, Writing, harmless
from graphviewer.gui.canvas.look import Look
from graphviewer.gui.canvas.marks import MOST_STUCK, flag_size
from graphviewer.gui.canvas.measure import box_widths
from graphviewer.gui.canvas.scene import Scene
from graphviewer.gui.style.theme import load_font, load_theme
from graphviewer.layout.drawing import MOST_WIDTH
from graphviewer.layout.nested import NestedLayout

pytestmark = [pytest.mark.usefixtures("qapp"), pytest.mark.screen]


def pixels(image) -> np.ndarray:
    raw = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine() // 4, 4)
    return raw[:, : image.width(), :3].copy()


def changed(one, other) -> QRectF:
    """The rectangle around all pixels that differ."""
    rows, columns = np.nonzero((pixels(one) != pixels(other)).any(axis=2))
    assert len(rows), "the pictures are equal"
    return QRectF(columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1)


def box_rect(shown: Scene, camera: Camera, item: int) -> QRectF:
    left, top, right, bottom = shown.bounds[:, shown.box_of_item[item]]
    corner = camera.to_pixel(QPointF(left, top))
    return QRectF(corner, camera.to_pixel(QPointF(right, bottom)))


# -- golden pictures --------------------------------------------------------------------------------------------


def test_that_roles_look_as_agreed(made, golden):
    shown = scene(made, overlay=roles(made), endpoints=flags(made))
    golden(picture(shown, whole(shown)), "canvas_roles_light")


def test_that_a_selection_looks_as_agreed(made, golden):
    shown = scene(made, ("net", "net/w"), selection=frozenset([leaf(made, "net/w")]))
    golden(picture(shown, whole(shown), "dark"), "canvas_selection_dark")


def test_that_a_comparison_looks_as_agreed(made, golden):
    shown = scene(made, overlay=statuses(made))
    golden(picture(shown, whole(shown), "light"), "canvas_diff_light")


def test_that_a_graph_from_afar_looks_as_agreed(made, golden):
    shown = scene(made, overlay=roles(made), endpoints=flags(made))
    golden(picture(shown, whole(shown, 220, 160), "dark"), "canvas_far_dark")


def test_that_pictures_do_not_depend_on_what_was_painted_before(made):
    shown = scene(made, overlay=roles(made))
    first = picture(shown, whole(shown))
    picture(shown, whole(shown, 900, 700), "dark")
    assert picture(shown, whole(shown)) == first


# -- texts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["conv", "a_very_long_name_of_a_node_indeed", "训练卷积层的权重", "W" * 60, "i" * 300])
@pytest.mark.parametrize("ems", [0.0, 0.9, 2.5, 7.3, 40.0])
@pytest.mark.parametrize("bold", [False, True])
def test_that_a_fitted_text_fits(text, ems, bold):
    fitted = Lettering(load_font()).fit(text, ems, bold)
    assert fitted.width <= ems
    assert bool(fitted.text) == bool(fitted.width)


def test_that_a_text_is_elided_in_its_middle():
    fitted = Lettering(load_font()).fit("first_part_and_last_part", 8.0)
    assert "…" in fitted.text
    assert fitted.text.startswith("fir")
    assert fitted.text.endswith("art")


def test_that_a_text_fits_at_every_size_when_it_fits_at_one():
    """Unhinted letters are in proportion: what is measured once holds for every zoom."""
    from PySide6.QtGui import QFontMetricsF

    lettering = Lettering(load_font())
    font = lettering.font(bold=False)
    widths = []
    for size in (7, 12, 31, 96):
        font.setPixelSize(size)
        widths.append(QFontMetricsF(font).horizontalAdvance("gradients/net/conv2d_17/Relu") / size)
    assert np.ptp(widths) < 0.02 * widths[0]


@pytest.mark.parametrize("text", ["a\nb", "a\x00b", "a\u202eb", "a\tb", "\x1b[31m"])
def test_that_names_cannot_break_the_line_or_turn_the_text(text):
    assert harmless(text).isprintable()


def test_that_a_name_of_megabytes_is_cut_before_it_is_measured():
    assert len(harmless("x" * 5_000_000)) == LONGEST + 1


@pytest.mark.parametrize("scale", [0.45, 0.62, 0.8, 1.0, 1.7, 3.1])
@pytest.mark.parametrize("op_first", [False, True])
def test_that_no_text_leaves_its_box(made, monkeypatch, scale, op_first):
    hostile = [("x" * 5000, "Relu"), ("very/" * 30 + "deep", "Const"), ("W", "W" * 90), ("卷积" * 40, "VariableV2")]
    made = document([*((name, op) for name, op, *_ in document_rows(made)), *hostile])
    shown = scene(made, opened=(), overlay=roles(made), op_first=op_first)
    camera = Camera(scale, -20.0, -20.0, 4000, 4000)
    written = []
    monkeypatch.setattr(Writing, "draw", lambda self, painter: None)
    monkeypatch.setattr(
        Writing,
        "add",
        lambda self, x, y, text, size, color, bold=False: written.append(
            (x, x + self.lettering.fit(text, 1e3, bold).width * size, y)
        ),
    )
    image_painter = _Nothing()
    look = Look(load_theme("light"))
    solids = in_view(shown, camera, shown.solids)
    names.write_names(Easel(image_painter, shown, look, camera), solids)
    assert written
    rects = solids.rect
    for left, right, baseline in written:
        inside = (rects[:, 0] <= left) & (right <= rects[:, 0] + rects[:, 2] + 1e-6)
        inside &= (rects[:, 1] <= baseline) & (baseline <= rects[:, 1] + rects[:, 3])
        assert inside.any(), (left, right, baseline)


class _Nothing:
    """A painter that swallows everything."""

    def __getattr__(self, name):
        return lambda *args: None


def document_rows(made):
    return [(node.name, node.op) for node in made.graph_def.node]


def test_that_boxes_are_as_wide_as_their_texts_need(made):
    look = Look(load_theme("light"))
    widths = box_widths(made.scopes, look.lettering)
    item = leaf(made, "gradients/net/conv")
    op = look.lettering.fit("Conv2DBackpropFilter", 1e3).width * names.DETAIL
    assert op < widths[item] < op + 60
    assert (widths <= MOST_WIDTH).all()
    assert len(box_widths(document([]).scopes, look.lettering)) == 1


# -- level of detail --------------------------------------------------------------------------------------------


def test_that_boxes_in_view_are_those_that_touch_it(made):
    shown = scene(made)
    rect = box_rect(shown, Camera(1.0, 0.0, 0.0, 1, 1), leaf(made, "net/conv"))
    camera = Camera.of_rect(rect.adjusted(1, 1, -1, -1), rect.width(), rect.height())
    assert shown.drawing.item[in_view(shown, camera, shown.solids).box].tolist() == [leaf(made, "net/conv")]


@pytest.mark.parametrize("scale", [0.0004, 0.02, 0.3, 1.0, 8.0])
def test_that_something_is_to_be_seen_at_every_scale(made, scale):
    shown = scene(made, overlay=roles(made), endpoints=flags(made), selection=frozenset([leaf(made, "net/conv")]))
    left, top = shown.bounds[:2, shown.box_of_item[leaf(made, "net/conv")]].tolist()
    image = picture(shown, Camera(scale, left - 20 / scale, top - 20 / scale, 200, 150))
    assert len(np.unique(pixels(image).reshape(-1, 3), axis=0)) > 1


def test_that_a_box_far_away_is_painted_as_near_ones_are(made):
    """Half a million units from the origin, coordinates of single precision would be off by pixels."""
    import dataclasses

    shown = scene(made, opened=())
    far = dataclasses.replace(
        shown.drawing, y=shown.drawing.y + 400_000, points=shown.drawing.points + np.float32([0, 4e5])
    )
    moved = dataclasses.replace(shown, drawing=far)
    near_picture = picture(shown, Camera(1.0, 0.0, 0.0, 300, 200))
    assert picture(moved, Camera(1.0, 0.0, 400_000.0, 300, 200)) == near_picture


def test_that_a_hidden_category_is_a_ghost(made):
    item = made.scopes.by_path["gradients"]
    plain, hidden = (
        scene(made, (), overlay=roles(made), hidden=gone) for gone in (frozenset(), frozenset({"gradient"}))
    )
    camera = whole(plain, 900, 900)
    middle = box_rect(plain, camera, item).center()
    x, y = round(middle.x()), round(box_rect(plain, camera, item).top() + 4)
    theme = load_theme("light")
    assert picture(plain, camera).pixelColor(x, y) == theme.color("roles.gradient.fill")
    assert picture(hidden, camera).pixelColor(x, y) == theme.color("canvas.background")


def test_that_a_title_stays_in_the_window_until_its_scope_leaves(made):
    shown = scene(made)
    net = shown.box_of_item[made.scopes.by_path["net"]]
    left, top, _, bottom = shown.bounds[:, net]
    inside = Camera(1.0, left - 10, (top + bottom) / 2, 500, 300)
    bar = next(bar for bar in painted(shown, inside)[1] if bar.box == net)
    assert (bar.is_stuck, bar.rect.top()) == (True, 0.0)
    before = Camera(1.0, left - 10, top - 40, 500, 300)
    bar = next(bar for bar in painted(shown, before)[1] if bar.box == net)
    assert (bar.is_stuck, bar.rect.top()) == (False, 40.0)
    after = Camera(1.0, left - 10, bottom + 5, 500, 300)
    assert net not in [bar.box for bar in painted(shown, after)[1]]


def test_that_stuck_titles_do_not_cover_each_other(made):
    shown = scene(made, opened=("net", "net/w", "net/drop"))
    inner = shown.box_of_item[made.scopes.by_path["net/w"]]
    left, top = shown.bounds[:2, inner]
    bars = painted(shown, Camera(1.0, left - 60, top + 30, 500, 300))[1]
    assert len(bars) >= 2
    assert not any(one.rect.intersects(other.rect) for one, other in itertools.combinations(bars, 2))


@pytest.mark.parametrize("what", ["flags", "warning", "selection", "hover"])
def test_that_marks_are_near_their_box(made, what):
    from PySide6.QtGui import QPainter

    from graphviewer.gui.canvas.paint import paint_over

    plain = scene(made, overlay=roles(made))
    camera = whole(plain, 900, 900)
    image, item = picture(plain, camera), leaf(made, "images")
    if what == "hover":
        marked = image.copy()
        with QPainter(marked) as painter:
            paint_over(painter, plain, camera, Look(load_theme("light")), int(plain.box_of_item[item]))
    elif what == "flags":
        marked = picture(scene(made, overlay=roles(made), endpoints=flags(made)), camera)
        item = leaf(made, "loss")
    elif what == "warning":
        import dataclasses

        calm = dataclasses.replace(plain, overlay=dataclasses.replace(plain.overlay, markers={}))
        marked, item = picture(calm, camera), made.scopes.by_path["net/drop"]
    else:
        lonely = leaf(made, "lost")
        marked, item = picture(plain.with_selection([lonely]), camera), lonely
    around = box_rect(plain, camera, item)
    assert changed(image, marked).intersects(around.adjusted(-3, -3, 3, 3))


def test_that_an_edge_text_shows_the_shape_only_when_near(made):
    asked = []
    shown = scene(made, shape_of=lambda node: asked.append(node) or "[?, 3]")
    picture(shown, Camera(0.7, -10.0, -10.0, 800, 800))
    assert not asked
    picture(shown, Camera(1.1, -10.0, -10.0, 800, 800))
    assert made.graph.index["images"] in asked


def test_that_hubs_have_stubs():
    """An op that feeds hundreds is drawn without its edges; both ends say so."""
    made = document([("hub", "RestoreV2"), *((f"v{at}", "Assign", f"hub:{at}") for at in range(200))])
    shown = scene(made, opened=())
    assert shown.drawing.hub.all()
    assert shown.hub_counts[1, shown.box_of_item[leaf(made, "hub")]] == 200
    bare = Scene(
        NestedLayout(document([("hub", "RestoreV2")]).scopes).draw(()), document([("hub", "RestoreV2")]).scopes
    )
    assert bare.hub_counts.sum() == 0
    rect = box_rect(shown, Camera(1.0, 0.0, 0.0, 1, 1), leaf(made, "hub"))
    camera = Camera(1.0, rect.left() - 30, rect.top() - 30, 300, 120)
    image = picture(shown, camera)
    below = image.copy(0, round(30 + rect.height()) + 2, 300, 14)
    assert len(np.unique(pixels(below).reshape(-1, 3), axis=0)) > 1


def test_that_the_short_pieces_of_a_curve_are_drawn_where_the_dashes_are():
    x = np.arange(0, 70, 3.5)
    pieces = np.stack([x, 0 * x, x + 3.5, 0 * x], axis=1)
    assert len(dashes(pieces)) == len(pieces) / 2
    straight = np.array([[0.0, 0.0, 0.0, 60.0]])
    assert len(dashes(straight)) == 1, "its pen makes the dashes"


def test_that_an_edge_outside_of_the_window_costs_nothing(made, monkeypatch):
    shown = scene(made)
    drawn = []
    monkeypatch.setattr(shapes, "_draw", lambda draw, kind, rows: drawn.append(len(rows)))
    picture(shown, Camera(1.0, 50_000.0, 50_000.0, 300, 200))
    assert sum(drawn) == 0


def test_that_every_kind_of_box_has_a_shape_of_its_own(made):
    """Each kind drawn at one size: no two silhouettes are equal."""
    from PySide6.QtGui import QImage, QPainter

    from graphviewer.gui.canvas.boxes import _SHAPES

    images = []
    for draw in _SHAPES.values():
        image = QImage(120, 60, QImage.Format.Format_RGB32)
        image.fill(0)
        with QPainter(image) as painter:
            painter.setPen(load_theme("dark").color("canvas.text"))
            draw(painter, np.array([[10.5, 10.5, 90.0, 36.0]]))
        images.append(pixels(image).tobytes())
    assert set(_SHAPES) == set(Kind) - {Kind.FRAME}
    assert len(set(images)) == len(images)


# -- what is below and above ------------------------------------------------------------------------------------


def test_that_the_lines_of_a_selection_cover_no_name(made):
    item = leaf(made, "images")
    shown = scene(made, ("net",), selection=frozenset([item]))
    plain = shown.with_selection([])
    camera = whole(shown)
    before, after = (pixels(picture(each, camera)) for each in (plain, shown))
    ringed = {*shown.selected, *shown.lit.boxes_in.tolist(), *shown.lit.boxes_out.tolist()}
    for box in set(shown.solids.tolist()) - ringed:
        rect = box_rect(shown, camera, int(shown.drawing.item[box])).toAlignedRect().adjusted(3, 3, -3, -3)
        rows, columns = slice(rect.top(), rect.bottom()), slice(rect.left(), rect.right())
        assert (before[rows, columns] == after[rows, columns]).all(), shown.label(box)
    assert (before != after).any()


def nested_scene(depth: int) -> Scene:
    paths = ["/".join(f"s{level}" for level in range(above)) for above in range(1, depth)]
    made = document([("x", "Placeholder"), *((f"{path}/op", "Relu", "x") for path in paths)])
    layout = NestedLayout(made.scopes)
    return Scene(layout.draw(np.flatnonzero(made.scopes.is_scope).tolist()), made.scopes)


def test_that_frames_behind_one_that_fills_the_window_need_no_painting(monkeypatch):
    shown = nested_scene(40)
    left, top, *_ = shown.bounds[:, shown.frames[20]]
    camera = Camera(1.0, left + 40, top + 60, 300, 200)
    frames = in_view(shown, camera, shown.frames)
    quick = pixels(picture(shown, camera))
    seen = boxes._seen_frames
    image = QImage(300, 200, QImage.Format.Format_RGB32)  # a painter does not keep it alive
    with QPainter(image) as painter:
        assert len(seen(Easel(painter, shown, Look(load_theme("light")), camera), frames).box) < len(frames.box) / 2
    monkeypatch.setattr(boxes, "_seen_frames", lambda ink, frames: frames)
    assert (pixels(picture(shown, camera)) == quick).all()


def test_that_of_many_stuck_titles_the_outermost_and_the_innermost_stay():
    shown = nested_scene(60)
    left, top, *_ = shown.bounds[:, shown.frames[40]]
    _, bars = painted(shown, Camera(1.0, left - 100, top, 600, 400))
    labels = [shown.label(bar.box) for bar in bars]
    assert labels[0] == "s0" and "s1" not in labels and "s40" in labels
    stuck = [bar for bar in bars if bar.is_stuck]
    assert len(stuck) <= MOST_STUCK
    for one, other in itertools.pairwise(bars):
        assert one.rect.bottom() <= other.rect.top() + 1


@pytest.mark.parametrize("scale", [0.05, 0.2, 1.0, 3.0])
def test_that_a_flag_is_seen_from_afar_and_hides_no_box_around(scale):
    height = 44 * scale
    assert 9 <= flag_size(scale, height) <= max(9, 0.75 * height)
    assert flag_size(scale, 10_000) <= 22  # of an open scope
