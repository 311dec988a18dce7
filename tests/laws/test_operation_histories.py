"""The law of histories: a chain of operations, replayed from what was written down of it, gives the same bytes."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from graphviewer.cli import main
from graphviewer.errors import GraphViewerError
from graphviewer.export.code import Step, python_snippet, shell_commands
from graphviewer.formats import open_document, save_document
from graphviewer.model.document import Document
from graphviewer.operations.registry import operations
from tests.laws.test_operation_laws import OPTIONS, networks
from tests.unit.checkpoint_files import write_bundle
from tests.unit.operation_graphs import WEIGHTS, document, identity, variable

CHAINS = st.permutations(sorted(operations())).map(lambda names: [*names[:2], "freeze"])


def saved(network: Document, folder: Path) -> Path:
    """The network as a file with a checkpoint of float32 values beside it."""
    values = {name: WEIGHTS.astype("f4") for name in network.graph.names if name.endswith("/w")}
    if values:
        write_bundle(folder / "model.ckpt", values)
    save_document(network, folder / "model.ckpt.meta", force=True)
    return folder / "model.ckpt.meta"


def run_chain(source: Path, names: Sequence[str], output: str) -> tuple[Document, list[Step]]:
    """The result of the operations that take the graph, and the steps as the window keeps them; others are left out."""
    result_so_far, steps = open_document(source), []
    for number, name in enumerate(names):
        options = dict(OPTIONS.get(name, {}))
        if operations()[name].parameter("outputs") is not None:
            options["outputs"] = [output]
        try:
            result = operations()[name].run(result_so_far, **options)
        except GraphViewerError as error:
            assert "fault of graphviewer" not in error.hint  # noqa: PT017 - a refusal is as right as a result
            continue
        result_so_far, kept = result.document, result.provenance
        steps.append(Step(kept.operation, kept.parameters, str(source.parent / f"step{number}.meta")))
    return result_so_far, steps


def by_shell(source: Path, steps: Sequence[Step]) -> bytes:
    for line, step in zip(shell_commands(source, steps).splitlines(), steps, strict=True):
        Path(step.result).unlink(missing_ok=True)
        done = CliRunner().invoke(main, shlex.split(line)[1:])
        assert done.exit_code == 0, f"{line}: {done.output}"
    return Path(steps[-1].result).read_bytes()


def by_python(source: Path, steps: Sequence[Step]) -> bytes:
    Path(steps[-1].result).unlink(missing_ok=True)
    exec(python_snippet(source, steps), {})
    return Path(steps[-1].result).read_bytes()


@pytest.mark.parametrize("replay", [by_python, by_shell])
@settings(max_examples=25)
@given(network=networks(), names=CHAINS)
def test_that_a_replayed_history_gives_the_same_bytes(replay, tmp_path_factory, network, names):
    folder = tmp_path_factory.mktemp("history")
    source = saved(network[0], folder)
    result, steps = run_chain(source, names, network[1])
    if not steps:
        return
    save_document(result, folder / "expected.meta")

    assert replay(source, steps) == (folder / "expected.meta").read_bytes()


def test_that_a_freeze_of_a_result_names_the_checkpoint_of_the_original(tmp_path):
    made = document(variable("n/w", [2, 2]), identity("y = Identity n/w"))
    source = saved(made, tmp_path)

    _, steps = run_chain(source, ["clear-devices", "freeze"], "y")

    second = shell_commands(source, steps).splitlines()[1]
    assert f"--checkpoint {tmp_path / 'model.ckpt'}" in second
