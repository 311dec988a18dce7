"""The breadcrumb's text."""

from html import unescape

from graphviewer.gui.stage.crumbs import FIRST, LAST, crumbs


def test_that_every_scope_around_the_selection_is_a_link():
    text = crumbs("model.pb", "net/<b>/conv")
    assert text.count("<a ") == 3
    assert "href='net/%3Cb%3E'>&lt;b&gt;</a>" in text.replace("%2F", "/")
    assert text.endswith(" / conv")


def test_that_of_hundreds_of_scopes_the_middle_ones_are_left_out():
    text = crumbs("", "/".join(f"s{level}" for level in range(400)))
    assert text.count("<a ") == FIRST + LAST - 1 and text.count("…") == 1
    assert ">s1</a>" in text and ">s2</a>" not in text and text.endswith(" / s399")


def test_that_a_long_name_is_elided_but_its_link_is_whole():
    text = crumbs("", "n" * 5_000 + "/op")
    assert "n" * 5_000 in unescape(text) and len(text) < 5_200
