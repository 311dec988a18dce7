"""Both themes: complete, legible, and safe for eyes that see fewer colours."""

import itertools

import numpy as np
import pytest
from PySide6.QtGui import QColor, QIcon, QPalette, QRawFont

from graphviewer.analysis.diff import STATUSES
from graphviewer.gui.canvas.look import ink_on
from graphviewer.gui.canvas.signs import PROBLEM_SIGNS, ROLE_SIGNS, STATUS_MEANINGS, STATUS_SIGNS, title
from graphviewer.gui.stage.legend import swatch
from graphviewer.gui.style.theme import FONT_FILES, THEMES, choose_theme, icon, load_theme, tinted
from graphviewer.resources import resource

pytestmark = pytest.mark.screen

# Simulation of dichromats in linear RGB. Source: Machado, Oliveira, Fernandes, "A Physiologically-based Model for
# Simulation of Color Vision Deficiency" (2009), severity 1.
EYES = {
    "full": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritan": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


@pytest.fixture(params=THEMES)
def theme(request, qapp):
    return load_theme(request.param)


def linear(color: QColor) -> np.ndarray:
    values = np.array(color.getRgbF()[:3])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def luminance(color: QColor) -> float:
    return float(linear(color) @ [0.2126, 0.7152, 0.0722])


def contrast(one: QColor, other: QColor) -> float:
    """Source: WCAG 2.2, contrast ratio."""
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def oklab(rgb: np.ndarray) -> np.ndarray:
    """Source: Ottosson, "A perceptual color space for image processing" (2020)."""
    to_lms = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return np.array(to_lab) @ np.cbrt(np.array(to_lms) @ np.clip(rgb, 0, 1))


def test_that_both_themes_have_the_same_tokens():
    light, dark = (set(load_theme(name).tokens) for name in THEMES)
    assert light == dark


def test_that_every_role_and_status_has_its_four_colours(theme):
    names = [f"roles.{role}" for role in ROLE_SIGNS] + [f"diff.{status}" for status in STATUS_SIGNS]
    names += [f"problems.{severity}" for severity in PROBLEM_SIGNS]
    missing = [
        f"{name}.{field}"
        for name in names
        for field in ("mark", "fill", "edge", "text")
        if f"{name}.{field}" not in theme.tokens
    ]
    assert not missing


def test_that_text_in_boxes_can_be_read(theme):
    categories = {token.rpartition(".")[0] for token in theme.tokens if token.endswith(".fill")}
    weak = {
        name: round(contrast(theme.color(f"{name}.text"), theme.color(f"{name}.fill")), 2)
        for name in categories
        if contrast(theme.color(f"{name}.text"), theme.color(f"{name}.fill")) < 4.5
    }
    assert not weak


@pytest.mark.parametrize(
    ("text", "grounds"),
    [
        ("window.text", ("window.background", "window.surface", "window.raised", "window.hover", "window.accent_soft")),
        ("window.muted", ("window.background", "window.surface")),
        ("window.accent_text", ("window.accent",)),
        ("window.tooltip_text", ("window.tooltip",)),
        ("window.error", ("window.background", "window.surface", "window.error_soft")),
        ("window.warning", ("window.surface",)),
        ("window.link", ("window.surface",)),
        ("canvas.text", ("canvas.box", "canvas.constant", "canvas.scope", "canvas.title", "canvas.background")),
        ("canvas.muted", ("canvas.box", "canvas.constant", "canvas.scope", "canvas.title", "canvas.frame_even")),
        ("canvas.warning_text", ("canvas.warning",)),
    ],
)
def test_that_text_stands_out_from_its_ground(theme, text, grounds):
    weak = {ground for ground in grounds if contrast(theme.color(text), theme.color(ground)) < 4.5}
    assert not weak


@pytest.mark.parametrize(
    "token", ["canvas.selection", "canvas.lit_in", "canvas.lit_out", "canvas.endpoint", "edges.strong"]
)
def test_that_what_matters_on_the_canvas_stands_out(theme, token):
    for ground in ("canvas.background", "canvas.frame_even", "canvas.frame_odd"):
        assert contrast(theme.color(token), theme.color(ground)) >= 3.0


def test_that_inference_is_the_strongest_role(theme):
    ground = theme.color("canvas.background")
    edges = {role: contrast(theme.color(f"roles.{role}.edge"), ground) for role in ROLE_SIGNS}
    strongest = edges.pop("inference")
    assert strongest > 2 * max(edges.values())


@pytest.mark.parametrize("eye", EYES)
def test_that_every_two_roles_have_marks_that_differ_to_every_eye(theme, eye):
    seen = {role: oklab(EYES[eye] @ linear(theme.color(f"roles.{role}"))) for role in ROLE_SIGNS}
    close = {
        (one, other): round(float(np.linalg.norm(seen[one] - seen[other])), 3)
        for one, other in itertools.combinations(seen, 2)
        if np.linalg.norm(seen[one] - seen[other]) < 0.07
    }
    assert not close


@pytest.mark.parametrize(
    ("one", "other"), [("optimizer", "global_step"), ("moving_average", "batch_norm_update"), ("loss", "metric")]
)
def test_that_roles_of_one_family_share_a_hue(theme, one, other):
    hues = [theme.color(f"roles.{role}").hueF() for role in (one, other)]
    assert abs(hues[0] - hues[1]) < 0.09


def test_that_the_training_roles_are_told_from_the_ground(theme):
    ground = theme.color("window.surface")
    weak = {role for role in ROLE_SIGNS if contrast(theme.color(f"roles.{role}"), ground) < 1.3}
    assert not weak


def test_that_roles_of_one_hue_have_different_signs():
    for one, other in (("loss", "metric"), ("optimizer", "global_step"), ("moving_average", "batch_norm_update")):
        assert ROLE_SIGNS[one] != ROLE_SIGNS[other]


@pytest.mark.parametrize("signs", [ROLE_SIGNS, STATUS_SIGNS, PROBLEM_SIGNS])
def test_that_signs_are_unique_and_in_the_bundled_fonts(qapp, signs):
    fonts = [QRawFont(str(resource(file)), 12) for file in FONT_FILES]
    shown = [sign for sign in signs.values() if sign]
    assert len(set(shown)) == len(shown)
    assert all(font.supportsCharacter(ord(letter)) for font in fonts for sign in shown for letter in sign)


def test_that_an_unknown_category_looks_like_a_plain_node(theme):
    assert theme.category("roles", "no such role").fill == theme.color("canvas.box")


def test_that_an_unknown_token_is_an_error(theme):
    with pytest.raises(KeyError):
        theme.color("canvas.nothing")


def test_that_the_system_setting_gives_one_of_the_themes(qapp):
    assert choose_theme("system") in [load_theme(name) for name in THEMES]
    assert choose_theme("dark").is_dark


def test_that_the_stylesheet_has_no_unfilled_token(theme):
    assert "$" not in theme.stylesheet
    assert theme.color("window.accent").name() in theme.stylesheet
    assert theme.palette.color(QPalette.ColorRole.Window) == theme.color("window.background")


def test_that_every_icon_is_drawn_in_the_wished_colour(qapp):
    red = QColor("#ff0000")
    for file in resource("icons/open.svg").parent.glob("*.svg"):
        image = tinted(file.stem, red, 24).toImage()
        colours = {
            image.pixelColor(x, y).name() for x in range(24) for y in range(24) if image.pixelColor(x, y).alpha() == 255
        }
        assert colours, f"{file.name} is empty"
        assert colours == {"#ff0000"} or "currentColor" not in file.read_text(), file.name


def test_that_a_disabled_icon_is_paler(theme):
    found = icon("open", theme)
    normal, disabled = (found.pixmap(20, mode).toImage() for mode in (QIcon.Mode.Normal, QIcon.Mode.Disabled))
    assert normal != disabled


def test_that_a_swatch_shows_the_sign_of_its_category(theme):
    colors = theme.category("roles", "gradient")
    plain, signed = (swatch(colors, mark).pixmap(30).toImage() for mark in ("", ROLE_SIGNS["gradient"]))
    assert plain != signed
    for role in ROLE_SIGNS:
        mark = theme.color(f"roles.{role}")
        assert contrast(ink_on(mark), mark) >= 3, role


def test_that_the_title_of_a_category_is_its_key_in_words_but_for_the_forward_pass_of_another_tower():
    assert title("roles", "batch_norm_update") == "batch norm update"
    assert title("roles", "training_forward") == "other forward pass"
    assert title("diff", "removed") == "removed"


def test_that_one_status_at_most_is_a_flat_stroke_and_each_says_what_it_means() -> None:
    assert set(STATUS_MEANINGS) == set(STATUS_SIGNS) == set(STATUSES)
    flat = [status for status, mark in STATUS_SIGNS.items() if mark in set("−–-~≈=_")]
    assert flat == ["removed"], "at seven pixels all of these look alike"
