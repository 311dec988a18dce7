"""What the Proof panel says, by the JSON of a verdict."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from graphviewer.gui.panels.proof_words import difference_row, fed_words, run_words, speed_words, verdict_words
from graphviewer.gui.work.prover import chosen_outputs, verdict_line
from graphviewer.model.names import Endpoint

SAME: dict[str, Any] = {
    "verdict": "same",
    "reason": "difference 0",
    "outputs": [],
    "seconds": [0.028, 0.0273],
    "hint": "",
    "feeds": [],
    "touches": [],
    "unused": [],
    "paired": [],
    "doubt": "",
    "skipped": [],
    "needs": [],
    "instead": [],
    "shell": "",
}
CANNOT = SAME | {
    "verdict": "cannot",
    "seconds": [None, None],
    "reason": "cannot verify: 'x' is odd",
    "hint": "Mend it.",
}


def feed(name: str, shape: tuple[int, ...] = (), *, made: bool = True, **more: object) -> dict[str, Any]:
    return {"name": name, "dtype": "float32", "shape": shape, "made": made, "value": None, "computed": False} | more


def test_that_a_verdict_and_its_times_are_whole_sentences_without_a_ratio_of_one() -> None:
    assert verdict_words(SAME) == "✓ The same: difference 0. One run takes 28.0 ms before and 27.3 ms after."
    assert speed_words(SAME | {"seconds": [0.03, 0.01]}).endswith(": 3.0 times as fast.")
    assert speed_words(SAME | {"seconds": [0.0004, 0.0003]}).endswith(" 0.3 ms after.")
    assert speed_words(SAME | {"seconds": [0.01, 0.0]}).endswith("0.0 ms after.")


def test_that_not_verified_is_said_once_with_what_to_do_in_the_window() -> None:
    assert verdict_words(CANNOT) == "? Not verified: 'x' is odd. Mend it."
    asked = verdict_words(CANNOT | {"needs": ["x", "t"]})
    assert asked == "? Not verified: 'x' is odd. Give values for x, t under “Fed with”."
    touched = CANNOT | {"touches": [{"node": "n"}], "hint": "In the shell, --yes."}
    assert "--yes" not in verdict_words(touched)


def test_that_what_proves_little_says_so_in_the_panel_and_in_the_summary() -> None:
    doubted = SAME | {"doubt": "'y' has 0 elements"}
    assert "✓ The same: difference 0, but that proves little: 'y' has 0 elements." in verdict_words(doubted)
    assert verdict_line(doubted) == "verified: difference 0, which proves little: 'y' has 0 elements"


def test_that_values_of_scalars_and_replaced_tensors_are_told() -> None:
    feeds = [
        feed("phase", value=False),
        feed("x", (2, 3)),
        feed("t", made=False, value=0.7),
        feed("Next", computed=True),
    ]
    words = "Given: t = 0.7. Made up: phase = False, x [2, 3], Next [] (in place of what the graph computes there)."
    assert fed_words(feeds) == words
    assert run_words(feeds) == f"Ran once. {words}"
    assert run_words([]) == "Ran once; nothing had to be fed."


def test_that_pairs_and_what_was_left_out_have_lines_of_their_own() -> None:
    pair = {"before": "net/prob", "after": "prob", "by": "their position"}
    lines = verdict_words(SAME | {"paired": [pair], "unused": ["z"], "skipped": ["off"]}).split("\n")
    many = verdict_words(SAME | {"paired": [pair] * 5}).split("\n")
    assert (len(many), many[-1].endswith("So do 2 more.")) == (4, True)
    assert lines[1:] == [
        "net/prob of the original stands for prob of the result, by their position.",
        "Not fed, as the outputs do not need it: z.",
        "Not compared, as its branch of a conditional is not taken: off.",
    ]


def version(names: str, made: list[str] | None = None, chosen: tuple[str, ...] = ()) -> Any:
    document = SimpleNamespace(graph=SimpleNamespace(index={name: at for at, name in enumerate(names)}))
    family = SimpleNamespace(outputs=[Endpoint(name) for name in chosen])
    provenance = None if made is None else SimpleNamespace(parameters={"outputs": made})
    return SimpleNamespace(document=document, family=family, provenance=provenance)


def test_that_verify_takes_the_outputs_that_the_result_was_made_for_or_those_that_were_chosen() -> None:
    assert chosen_outputs(version("abc"), version("ab", ["b:0"], ("a",))) == ["b:0"]
    assert chosen_outputs(version("abc"), version("ab", None, ("a", "b"))) == ["a", "b"]
    assert chosen_outputs(version("abc", None, ("b", "c")), version("ab")) == ["b"]
    assert chosen_outputs(version("abc"), version("xy", ["x"])) == []


def test_that_each_output_tells_its_own_verdict_before_all_numbers() -> None:
    one = {"name": "y", "max_abs": 0.0, "max_rel": None, "nan_equal": True, "reason": ""}
    one |= {"shape": [2, 3], "min": -1.0, "max": 12345.6}
    assert difference_row(one) == ("y", "✓ same", "0", "—", "-1 … 1.235e+04", "[2, 3]")
    assert difference_row(one | {"max_abs": 0.123456, "reason": "differs"})[1:3] == ("✕ differs", "0.123")
    assert difference_row(one | {"nan_equal": False, "reason": "has NaN elsewhere"})[1] == "✕ NaNs differ"
