"""Pictures of graphs on disk: PNG and SVG, with legend, without a screen."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from canvas_graphs import document, roles, statuses
from click.testing import CliRunner
from PySide6.QtGui import QImage

from graphviewer.cli import main
from graphviewer.errors import WriteError
from graphviewer.gui.canvas.look import Look
from graphviewer.gui.render import NATURAL_LIMIT, Picture, render, scene_of
from graphviewer.gui.stage import legend_strip
from graphviewer.gui.style.theme import load_theme
from graphviewer.model.overlay import Overlay
from graphviewer.protos import GraphDef
from tests.function_graphs import nested

PLAIN = {"svg", "title", "desc", "defs", "g", "path", "text", "rect", "polyline", "polygon", "clipPath", "circle"}
"""What a harmless picture is made of: nothing that runs, links or loads."""

pytestmark = [pytest.mark.usefixtures("qapp"), pytest.mark.screen]


@pytest.fixture
def made():
    return document()


def labels(scene):
    return {scene.scopes.labels[item] for item in scene.drawing.item.tolist()}


def test_that_scopes_are_opened_as_asked(made):
    assert labels(scene_of(made, expand=())) >= {"net", "gradients", "images"}
    assert "conv" not in labels(scene_of(made, expand=()))
    nested = labels(scene_of(made, expand=["net/drop"]))
    assert {"net", "drop", "mask"} <= nested
    assert "read" not in nested
    assert "read" in labels(scene_of(made, expand="all"))
    assert labels(scene_of(made, expand=["no/such/scope"])) == labels(scene_of(made, expand=()))


def test_that_names_become_flags(made):
    scene = scene_of(made, expand="all", outputs=["net/prob", "nothing"], inputs=["images"])
    assert sorted(flag.is_output for flag in scene.flags) == [False, True]


def test_that_a_png_has_the_wished_size_and_colours(made, tmp_path):
    path = tmp_path / "graph.png"
    render([Picture(scene_of(made))], path, theme="dark", size=(640, 400))
    image = QImage(str(path))
    assert (image.width(), image.height()) == (640, 400)
    assert image.pixelColor(1, 1) == load_theme("dark").color("canvas.background")


def test_that_a_picture_looks_as_agreed(made, tmp_path, golden):
    path = tmp_path / "graph.png"
    pictures = [
        Picture(scene_of(made, expand=["net"], overlay=roles(made), outputs=["net/prob"]), "Before: train.meta"),
        Picture(scene_of(made, expand=(), overlay=roles(made)), "After"),
    ]
    render(pictures, path, size=(760, 420))
    golden(QImage(str(path)), "render_pair_light")


def test_that_without_a_size_the_picture_is_as_large_as_the_drawing(made, tmp_path):
    path, scene = tmp_path / "graph.png", scene_of(made, expand="all")
    render([Picture(scene)], path)
    image = QImage(str(path))
    assert image.height() == pytest.approx(scene.drawing.height + 48, abs=2)


def test_that_a_huge_drawing_still_fits_a_picture_which_tells_its_scale(tmp_path):
    chain = document([("n0", "Relu"), *((f"n{at}", "Relu", f"n{at - 1}") for at in range(1, 600))])
    path, scene = tmp_path / "graph.png", scene_of(chain)
    painted = render([Picture(scene)], path)
    assert QImage(str(path)).height() == painted.height == pytest.approx(NATURAL_LIMIT, abs=1)
    assert painted.scale == pytest.approx(NATURAL_LIMIT / painted.natural[1], rel=1e-3)
    assert painted.natural[1] == pytest.approx(scene.drawing.height + 48, abs=2)


def test_that_the_verb_says_in_one_line_that_a_png_is_smaller_than_its_drawing(tmp_path):
    chain = document([("n0", "Relu"), *((f"n{at}", "Relu", f"n{at - 1}") for at in range(1, 600))])
    path = tmp_path / "chain.pb"
    path.write_bytes(chain.graph_def.SerializeToString())
    raster, vector = (
        CliRunner().invoke(main, ["render", str(path), "-o", str(tmp_path / name)]) for name in ("g.png", "g.svg")
    )
    (line,) = raster.stderr.splitlines()
    assert line.startswith("g.png is ") and f" x {NATURAL_LIMIT} pixels, " in line and "--size" in line
    assert raster.exit_code == vector.exit_code == 0 and vector.stderr == ""


def test_that_an_svg_keeps_the_size_of_a_huge_drawing(tmp_path):
    chain = document([("n0", "Relu"), *((f"n{at}", "Relu", f"n{at - 1}") for at in range(1, 600))])
    path = tmp_path / "graph.svg"
    painted = render([Picture(scene_of(chain))], path)
    assert painted.scale == 1.0 and painted.height > NATURAL_LIMIT
    assert ElementTree.parse(path).getroot().attrib["viewBox"] == f"0 0 {painted.width} {painted.height}"


def test_that_the_legend_counts_the_nodes_of_the_graph_alone():
    calling = nested()
    overlay = Overlay("roles", ("inference",), np.zeros(3, np.int8), [""] * 3)
    scene = scene_of(calling, expand="all", overlay=overlay)
    assert len(scene.overlay.codes) > 3
    assert [entry.nodes for entry in legend_strip.entries([scene])] == [3]


def test_that_an_empty_graph_gives_a_picture(tmp_path):
    path = tmp_path / "graph.svg"
    render([Picture(scene_of(document([])))], path)
    assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_that_hostile_names_are_text_in_svg(tmp_path):
    hostile = ["<script>alert(1)</script>", "a&b", "]]>", 'x" onload="y', "\x1b\x07\ufffe", "a\u202eb", "\ud7ff" * 50]
    path = tmp_path / "graph.svg"
    render([Picture(scene_of(document([(name, "<b>&") for name in hostile])), title="<i>title</i>")], path)
    root = ElementTree.parse(path).getroot()
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= PLAIN
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert "a&b" in texts
    assert "<i>title</i>" in texts
    assert not any(name.startswith("on") for element in root.iter() for name in element.attrib)


def test_that_the_legend_counts_every_category_once(made):
    scenes = [scene_of(made, overlay=roles(made)), scene_of(made, overlay=roles(made))]
    found = {entry.name: entry.nodes for entry in legend_strip.entries(scenes)}
    assert found == roles(made).counts()
    assert legend_strip.entries([scene_of(made)]) == []


def test_that_the_legend_wraps_to_the_width(made):
    found = legend_strip.entries([scene_of(made, overlay=statuses(made))])
    look = Look(load_theme("light"))
    assert len(legend_strip.lines(look, found, 5000)) == 1
    narrow = legend_strip.lines(look, found, 200)
    assert len(narrow) == len(found)
    assert [entry for row in narrow for entry in row] == found


def test_that_an_existing_file_is_replaced_only_on_request(made, tmp_path):
    path = tmp_path / "graph.png"
    path.write_bytes(b"precious")
    with pytest.raises(WriteError):
        render([Picture(scene_of(made))], path)
    assert path.read_bytes() == b"precious"
    render([Picture(scene_of(made))], path, force=True)
    assert not QImage(str(path)).isNull()


@pytest.mark.parametrize(
    ("name", "size"), [("graph.jpg", None), ("graph", None), ("graph.png", (0, 100)), ("graph.png", (90_000, 90_000))]
)
def test_that_an_impossible_picture_is_refused_in_words(made, tmp_path, name, size):
    with pytest.raises(WriteError) as refused:
        render([Picture(scene_of(made))], tmp_path / name, size=size)
    assert refused.value.hint
    assert not list(tmp_path.iterdir())


def test_that_the_verb_tells_what_it_drew_as_json(tmp_path):
    graph, out = tmp_path / "graph.pb", tmp_path / "x.png"
    graph_def = GraphDef()
    for name in ("x", "y"):
        graph_def.node.add(name=name, op="Placeholder")
    graph.write_bytes(graph_def.SerializeToString())
    words = ["render", str(graph), "--size", "320x200", "-o", str(out), "--json"]
    told = json.loads(CliRunner().invoke(main, words).stdout)
    assert told == {"output": str(out), "size": [320, 200], "boxes": 2}


def test_that_a_picture_needs_no_screen(tmp_path):
    """In a process of its own, without a display and without an application."""
    script = """
import sys
from pathlib import Path
from graphviewer.gui.render import Picture, render, scene_of
from graphviewer.model.document import Document
from graphviewer.protos import GraphDef
graph = GraphDef()
graph.node.add(name="x", op="Placeholder")
for suffix in ("png", "svg"):
    render([Picture(scene_of(Document("graphdef", graph)))], Path(sys.argv[1]) / f"x.{suffix}")
"""
    import os

    environment = {
        key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"x.png", "x.svg"}
