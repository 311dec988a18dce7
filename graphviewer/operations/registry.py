"""Which operations exist: one module of this package per operation, found by looking.

An operation is added by dropping a module here that declares one ``@operation``; menus, forms, shell verbs and their
help follow from the declaration. The module's docstring is the operation's help.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from graphviewer.errors import OperationError
from graphviewer.model.document import Document
from graphviewer.model.endpoints import Side, endpoints_named
from graphviewer.model.names import Endpoint, parse_input
from graphviewer.model.problem import Problem
from graphviewer.model.progress import Progress, silent
from graphviewer.model.provenance import Provenance

_FATAL = frozenset({"bad-port", "bad-shape", "const", "cycle", "no-op"})
"""Kinds of faults that make what needs the node worthless, whoever runs it."""

Kind = Literal["endpoints", "checkpoint", "flag", "text"]


class Choice(NamedTuple):
    """A value that a parameter can take for a document.

    Attributes:
        id: the value itself, as scripts write it.
        label: a few words for people.
        reason: what choosing it would mean, one clause.
    """

    id: str
    label: str
    reason: str


@dataclass(frozen=True)
class Parameter:
    """One thing that the user chooses; a form field, and an option of the shell verb.

    Attributes:
        name: keyword of the operation's function, ``allow_training_mode``; the shell writes it with dashes.
        kind: ``endpoints`` (node or tensor names), ``checkpoint`` (a path), ``flag`` or ``text``.
        required: the operation makes no sense without it.
        advanced: few need it; forms tuck it away.
        choices: for a ``text`` parameter whose values a document tells: called with the document, and by keyword
            ``checkpoint`` and ``outputs`` as ``Operation.run`` takes them. Fewer than two: nothing to choose. The
            default is among them unless one must be chosen. It may read a checkpoint's index: not for a GUI thread.
    """

    name: str
    label: str
    doc: str
    kind: Kind
    default: Any = None
    required: bool = False
    advanced: bool = False
    choices: Callable[..., tuple[Choice, ...]] | None = None


OUTPUTS = Parameter("outputs", "Outputs", "Tensors that the result must compute.", "endpoints", (), required=True)
INPUTS = Parameter("inputs", "Inputs", "Tensors that will be fed; they become placeholders.", "endpoints", ())
CHECKPOINT = Parameter(
    "checkpoint", "Checkpoint", "Values of the variables; by default the one beside it.", "checkpoint"
)


class Rewrite(NamedTuple):
    """A node that an operation made into something else, and why."""

    node: str
    rule: str
    reason: str


class TableUse(NamedTuple):
    """A lookup table of a result, and the nodes to run once before anything else, for they fill it."""

    name: str
    initializers: tuple[str, ...]


class FileUse(NamedTuple):
    """A file that a result reads when it runs: the node that holds its path, and the path."""

    node: str
    path: str


@dataclass(frozen=True)
class Result:
    """What an operation gives back.

    Attributes:
        document: the new, unsaved document.
        provenance: where each of its nodes came from, and why the others went away.
        warnings: sentences for the user.
        rewrites: every node whose op or inputs were changed on purpose.
        frozen: variables that became constants.
        outputs, inputs: names of the result's own outputs and fed nodes, ready for a run.
        tables: lookup tables in the result.
        files: files that it reads.
        switches: placeholders that decide whether it computes as in training.
    """

    document: Document
    provenance: Provenance
    warnings: tuple[str, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    frozen: int = 0
    outputs: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    tables: tuple[TableUse, ...] = ()
    files: tuple[FileUse, ...] = ()
    switches: tuple[str, ...] = ()


@dataclass(frozen=True)
class Operation:
    """A declared operation; call ``run``.

    Attributes:
        id: the word that scripts see.
        label: the words that people see.
        doc: help text, the docstring of the module.
        parameters: what the user chooses.
        function: the work itself; takes the document, then the parameters by keyword, and ``progress``.
    """

    id: str
    label: str
    doc: str
    parameters: tuple[Parameter, ...]
    function: Callable[..., Result]

    def parameter(self, name: str) -> Parameter | None:
        """The declared parameter of that name."""
        return next((known for known in self.parameters if known.name == name), None)

    def run(
        self,
        document: Document,
        *,
        outputs: Sequence[Endpoint | str] = (),
        inputs: Sequence[Endpoint | str] = (),
        checkpoint: Any = None,
        progress: Progress = silent,
        **options: Any,
    ) -> Result:
        """Check the request, resolve names, do the work.

        Args:
            document: stays as it is.
            outputs, inputs: endpoints, or names as people type them. Without outputs, an operation that needs them
                takes the best suggestion and says so in a warning.
            checkpoint: a path; ignored by operations that read none, so that one form serves all.
            progress: told how far the work is; what it raises ends the work.
            options: the operation's other parameters by name.

        Raises:
            OperationError: an unknown or missing parameter, or the operation cannot give a right result, or gave one
                that TensorFlow would not import.
            UnknownNameError: a name that means no node.
        """
        given = {
            "outputs": tuple(_endpoints(document, outputs, "outputs")),
            "inputs": tuple(_endpoints(document, inputs, "inputs")),
            "checkpoint": checkpoint,
        }
        warning = ""
        if self._needs_outputs() and not given["outputs"]:
            from graphviewer.analysis.endpoints import take_outputs

            given["outputs"], warning = take_outputs(document)
        result = self.function(document, **self._arguments(given, options), progress=progress)
        inherited = _require_importable(document, result)
        plain = {name: value for name, value in options.items() if isinstance(value, (bool, int, float, str))}
        texts: dict[str, Any] = {name: [str(endpoint) for endpoint in given[name]] for name in ("outputs", "inputs")}
        values = document.checkpoint if checkpoint is None else checkpoint
        if isinstance(values, str | Path) and self.parameter("checkpoint") is not None:
            texts["checkpoint"] = str(values)  # also the one beside the graph: a result lies elsewhere
        provenance = replace(result.provenance, operation=self.id, parameters={**texts, **plain})
        unused = [problem.reason for problem in document.problems if problem.kind == "no-tags"]
        warnings = tuple(filter(None, (warning, *unused, *result.warnings, inherited)))
        return replace(result, provenance=provenance, warnings=warnings)

    def _needs_outputs(self) -> bool:
        known = self.parameter("outputs")
        return known is not None and known.required

    def _arguments(self, given: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
        """Keyword arguments of the function."""
        names = {known.name for known in self.parameters}
        if given["inputs"] and "inputs" not in names:
            raise OperationError(f"'{self.id}' takes no inputs.", "Use cut-inputs, extract or freeze.")
        unknown = sorted(set(options) - names)
        if unknown:
            listed = ", ".join(sorted(names))
            raise OperationError(f"'{self.id}' has no parameter '{unknown[0]}'.", f"It has: {listed}.")
        for known in self.parameters:
            if known.required and known.name not in {*given, *options}:
                raise OperationError(f"'{self.id}' needs the parameter '{known.name}'.", known.doc)
        return {name: value for name, value in given.items() if name in names} | dict(options)


def _require_importable(before: Document, result: Result) -> str:
    """Refuse a result that TensorFlow would not import; a warning where it would not import the graph before either.

    Raises:
        OperationError: names the node and the reason; also for a fault that was there before, where the outputs need
            the node and no run could give them.
    """
    from graphviewer.analysis.import_check import new_faults

    new, inherited = new_faults(before, result.document)
    if new:
        raise OperationError(
            f"The result would not be a sound graph: {_first(new)}",
            "Nothing was written. This is a fault of graphviewer: please report it, with the graph.",
        )
    needed = _needed_names(result) if inherited else frozenset()
    fatal = [fault for fault in inherited if fault.kind in _FATAL and (fault.function or fault.node in needed)]
    if fatal and needed:
        raise OperationError(
            f"The outputs need '{fatal[0].node}', which is damaged: {_first(fatal)}",
            "Choose outputs that do not need it, or an undamaged file; the check verb lists every fault.",
        )
    return f"TensorFlow would refuse the result, as it would the graph before: {_first(inherited)}" if inherited else ""


def _needed_names(result: Result) -> frozenset[str]:
    """The nodes that the chosen outputs of a result need; none where no output was chosen."""
    graph = result.document.graph
    ends = [graph.index[name] for name in (parse_input(text)[0] for text in result.outputs) if name in graph.index]
    needed = graph.ancestors(ends).nonzero()[0].tolist() if ends else []
    return frozenset(graph.names[number] for number in needed)


def _first(faults: Sequence[Problem]) -> str:
    more = f" ({len(faults) - 1:,} more)" if len(faults) > 1 else ""
    return faults[0].reason + more


def _endpoints(document: Document, given: Sequence[Endpoint | str], side: Side) -> Iterator[Endpoint]:
    """Endpoints of a mixed list, doubles dropped."""
    seen = set()
    for one in given:
        for endpoint in [one] if isinstance(one, Endpoint) else endpoints_named(document, [one], side):
            if endpoint.node not in document.graph.index:
                raise OperationError(f"There is no node '{endpoint.node}'.", "It may be gone since it was chosen.")
            if endpoint not in seen:
                seen.add(endpoint)
                yield endpoint


def operation(*, id: str, label: str, parameters: Sequence[Parameter]) -> Callable[[Callable[..., Result]], Operation]:  # noqa: A002
    """Declare the decorated function as an operation; its module's docstring is the help."""

    def declare(function: Callable[..., Result]) -> Operation:
        doc = import_module(function.__module__).__doc__ or ""
        return Operation(id, label, doc.strip(), tuple(parameters), function)

    return declare


@cache
def operations() -> Mapping[str, Operation]:
    """Every operation by id, in order of module name."""
    found: dict[str, Operation] = {}
    for info in sorted(pkgutil.iter_modules([str(Path(__file__).parent)])):
        if info.ispkg:
            continue
        module = import_module(f"{__package__}.{info.name}")
        for declared in vars(module).values():
            if isinstance(declared, Operation):
                found[declared.id] = declared
    return MappingProxyType(found)
