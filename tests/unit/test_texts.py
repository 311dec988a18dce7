"""Texts from files in the window: safe, and never endless."""

import pytest

from graphviewer.gui.words.texts import LONGEST_NAME, LONGEST_TEXT, elided, escaped, link, readable, tip


@pytest.mark.parametrize("name", ["", "conv", "a/b/conv", "n" * LONGEST_NAME])
def test_that_a_name_that_has_room_stays(name):
    assert elided(name) == name == readable(name)


def test_that_middle_scopes_are_left_out_first():
    path = "/".join(f"s{level}" for level in range(400))
    assert elided(path, 40) == "s0/…/s393/s394/s395/s396/s397/s398/s399"


@pytest.mark.parametrize(
    "name", ["n" * 5_000, "x/" + "n" * 300, "n" * 300 + "/y", "a" * 40 + "/" + "b" * 200, "/" * 500]
)
@pytest.mark.parametrize("most", [20, 60, LONGEST_NAME])
def test_that_a_long_name_keeps_its_beginning_and_its_end(name, most):
    text = elided(name, most)
    assert most - 40 < len(text) <= most and text.count("…") == 1
    assert text[0] == name[0] and text[-1] == name[-1]


def test_that_what_is_said_behind_a_long_name_is_kept():
    text = readable(f"'{'n' * 5_000}' (Relu) lacks T.")
    assert text.endswith("' (Relu) lacks T.") and len(text) < LONGEST_NAME + 20


def test_that_an_endless_text_of_short_words_ends():
    assert len(readable("word " * 100_000)) == LONGEST_TEXT


def test_that_markup_stays_text_and_a_link_leads_to_the_whole_name():
    assert escaped("<b>&") == "&lt;b&gt;&amp;"
    assert tip("<b>\nx") == "<qt>&lt;b&gt;<br>x</qt>"
    target, shown = link("node", "n" * 5_000).split(">", 1)
    assert "n" * 5_000 in target and len(shown) < LONGEST_NAME + 10
