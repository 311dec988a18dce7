"""Small graphs and scenes for tests of the canvas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QImage, QPainter

from graphviewer.gui.canvas.camera import Camera
from graphviewer.gui.canvas.look import Look
from graphviewer.gui.canvas.marks import Title
from graphviewer.gui.canvas.measure import box_widths
from graphviewer.gui.canvas.paint import paint
from graphviewer.gui.canvas.scene import Endpoints, Scene
from graphviewer.gui.style.theme import load_theme
from graphviewer.layout.nested import NestedLayout
from graphviewer.model.document import Document
from graphviewer.model.overlay import Overlay
from graphviewer.protos import GraphDef

if TYPE_CHECKING:
    from PySide6.QtCore import QPoint, QPointF

    from graphviewer.gui.canvas.view import GraphCanvas

ROLES = ("inference", "training_forward", "loss", "gradient", "optimizer", "save_restore", "initializer", "unused")
STATUSES = ("removed", "added", "converted", "spliced", "renamed", "changed", "rewired", "unchanged")

TRAINING = (
    ("images", "Placeholder"),
    ("net/w", "VariableV2"),
    ("net/w/Assign", "Assign", "net/w", "net/zero"),
    ("net/zero", "Const"),
    ("net/w/read", "Identity", "net/w"),
    ("net/conv", "Conv2D", "images", "net/w/read"),
    ("net/drop/mask", "RandomUniform"),
    ("net/drop/mul", "Mul", "net/conv", "net/drop/mask"),
    ("net/call", "PartitionedCall", "net/drop/mul"),
    ("net/prob", "Softmax", "net/call", "^net/zero"),
    ("loss", "Mean", "net/call"),
    ("gradients/net/conv", "Conv2DBackpropFilter", "images", "loss"),
    ("train/apply", "ApplyAdam", "net/w", "gradients/net/conv"),
    ("save/save", "SaveV2", "net/w"),
    ("lost", "NoOp"),
)
"""A training graph in which every kind of box, edge and role occurs."""

_ROLE_OF = {"loss": "loss", "gradients": "gradient", "train": "optimizer", "save": "save_restore", "lost": "unused"}


def document(nodes=TRAINING) -> Document:
    """A document of (name, op, input, ...) rows."""
    graph = GraphDef()
    for name, op, *inputs in nodes:
        graph.node.add(name=name, op=op, input=inputs)
    return Document("graphdef", graph)


def roles(made: Document) -> Overlay:
    """Roles of the training graph, by name, with one random node on the inference path."""
    names = made.graph.names
    found = [_ROLE_OF.get(name.partition("/")[0], "inference") for name in names]
    found = [
        "initializer" if name in ("net/zero", "net/w/Assign") else role for name, role in zip(names, found, strict=True)
    ]
    codes = np.array([ROLES.index(role) for role in found], np.int8)
    markers = {node: frozenset({"random"}) for node, name in enumerate(names) if name == "net/drop/mask"}
    return Overlay("roles", ROLES, codes, [""] * len(names), markers)


def statuses(made: Document) -> Overlay:
    """Each status in turn."""
    count = len(made.graph)
    return Overlay("diff", STATUSES, (np.arange(count) % len(STATUSES)).astype(np.int8), [""] * count)


def scene(made: Document, opened=("net",), **fields) -> Scene:
    """A real layout of a document with some scopes open."""
    scopes = made.scopes
    layout = NestedLayout(scopes, box_widths(scopes, Look(load_theme("light")).lettering))
    return Scene(layout.draw({scopes.by_path[path] for path in opened}), scopes, **fields)


def flags(made: Document) -> Endpoints:
    """An output, an input and a suggestion."""
    index = made.graph.index
    return Endpoints(outputs=[index["net/prob"]], inputs=[index["images"]], suggested_outputs=[index["loss"]])


def leaf(made: Document, name: str) -> int:
    """The item of a node."""
    return int(made.scopes.leaf[made.graph.index[name]])


def whole(shown: Scene, width=640, height=440) -> Camera:
    """A camera on all of a scene."""
    from PySide6.QtCore import QRectF

    return Camera.of_rect(QRectF(-8, -20, shown.drawing.width + 16, shown.drawing.height + 28), width, height)


def picture(shown: Scene, camera: Camera, theme="light") -> QImage:
    """What the canvas would show."""
    return painted(shown, camera, theme)[0]


def painted(shown: Scene, camera: Camera, theme="light") -> tuple[QImage, list[Title]]:
    """The picture and the title bars in it."""
    image = QImage(int(camera.width), int(camera.height), QImage.Format.Format_RGB32)
    with QPainter(image) as painter:
        bars = paint(painter, shown, camera, Look(load_theme(theme)))
    return image, bars


def centre(canvas: GraphCanvas, item: int) -> QPoint:
    """The pixel in the middle of an item's box."""
    return canvas.camera.to_pixel(canvas.item_rect(item).center()).toPoint()


def corner(canvas: GraphCanvas, item: int) -> QPointF:
    """The pixel at the top left of an item's box."""
    return canvas.camera.to_pixel(canvas.item_rect(item).topLeft())
