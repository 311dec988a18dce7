"""How results are written as JSON."""

from __future__ import annotations

import json

import pytest

from graphviewer.cli.output import say_json


@pytest.mark.parametrize("count", [0, 3, 1_000, 1_001])
def test_that_a_list_of_any_length_is_read_as_it_was_given(count, capsys):
    changes = [{"name": f"a\n{number}\x1b", "details": {"op": ["x", None]}} for number in range(count)]
    value = {"version": 1, "changes": changes, "empty": {}}
    say_json(value)
    text = capsys.readouterr().out
    assert json.loads(text) == value
    assert text.isascii()
    assert "\x1b" not in text


def test_that_a_short_result_is_indented_and_a_long_list_has_an_entry_per_line(capsys):
    say_json({"a": [{"b": 1}], "c": "d"})
    assert capsys.readouterr().out == json.dumps({"a": [{"b": 1}], "c": "d"}, indent=2) + "\n"
    say_json({"long": [{"b": number} for number in range(2_000)]})
    assert len(capsys.readouterr().out.splitlines()) == 2_004


def test_that_what_json_cannot_say_is_refused():
    with pytest.raises(ValueError, match="JSON"):
        say_json({"a": float("nan")})
    with pytest.raises(ValueError, match="JSON"):
        say_json({"a": [float("inf")] * 2_000})
