"""What the rules ask about a document. Every answer is computed once, as a mask or column over the nodes.

"Depends on" means over data edges; control edges are named where they count.
"""

from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from graphviewer.analysis import ops
from graphviewer.analysis.control_flow import BACK, variables_behind
from graphviewer.analysis.effects import effect_only
from graphviewer.analysis.roles.calls import Uses, argument_uses
from graphviewer.analysis.roles.library import function_ops
from graphviewer.model.document import Document
from graphviewer.model.graph import Graph, Ints, Mask
from graphviewer.model.names import parse_input

NONE, MANY = -1, -2

TRIVIAL_OPS = ops.SHAPE_OPS | {"Const", "NoOp", "OnesLike", "ZerosLike"}
"""Left over at the ends of gradient code; never what someone computes a graph for."""


class Write(NamedTuple):
    """One op that changes a variable.

    Attributes:
        node: its number.
        variable: the variable's number, -1 where it is not to be seen.
        values: data inputs after the variable: value, indices ...
    """

    node: int
    variable: int
    values: tuple[int, ...]


class Facts:
    """Cached answers about one document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.graph: Graph = document.graph
        self.count = len(self.graph)

    def family(self, family: Callable[[str], bool] | Collection[str]) -> Mask:
        """bool [n]: nodes of an op family."""
        return self.graph.of_ops(family)

    def mask(self, nodes: Iterable[int]) -> Mask:
        """bool [n]: the given nodes; negative numbers are left out."""
        found = np.zeros(self.count, np.bool_)
        numbers = np.fromiter(nodes, np.int64)
        found[numbers[numbers >= 0]] = True
        return found

    def named(self, names: Iterable[str]) -> Mask:
        """bool [n]: the nodes that ``x:0``, ``^x`` or ``x`` name; absent ones are left out."""
        index = self.graph.index
        return self.mask(index.get(parse_input(name)[0], NONE) for name in names)

    def below(self, seeds: Mask, stop: Mask | None = None) -> Mask:
        """bool [n]: ``seeds`` and all that depends on them; ``stop`` nodes are kept but not looked behind."""
        ends = () if stop is None else np.flatnonzero(stop).tolist()
        return self.graph.descendants(np.flatnonzero(seeds).tolist(), stop=ends, control=False)

    def above(self, seeds: Mask, stop: Mask | None = None) -> Mask:
        """bool [n]: ``seeds`` and all that they depend on; ``stop`` nodes are kept but not looked behind."""
        ends = () if stop is None else np.flatnonzero(stop).tolist()
        return self.graph.ancestors(np.flatnonzero(seeds).tolist(), stop=ends, control=False)

    @cached_property
    def data(self) -> tuple[Ints, Ints]:
        """int32 [data edges] each: source and destination of every data edge."""
        keep = ~self.graph.control
        return self.graph.src[keep], self.graph.dst[keep]

    @cached_property
    def control(self) -> tuple[Ints, Ints]:
        """int32 [control edges] each: source and destination of every control edge."""
        graph = self.graph
        return graph.src[graph.control], graph.dst[graph.control]

    @cached_property
    def consumers(self) -> tuple[list[int], list[int]]:
        """(start, nodes): ``nodes[start[i]:start[i+1]]`` read node i; plain lists, for walks in Python."""
        src, dst = self.data
        order = np.argsort(src, kind="stable")
        start = np.searchsorted(src[order], np.arange(self.count + 1))
        return start.tolist(), dst[order].tolist()

    @cached_property
    def _producers(self) -> tuple[list[int], list[int]]:
        """(start, nodes): ``nodes[start[i]:start[i+1]]`` are the data inputs of node i, in order."""
        src, dst = self.data
        return np.searchsorted(dst, np.arange(self.count + 1)).tolist(), src.tolist()

    def inputs(self, node: int) -> list[int]:
        """Nodes that ``node`` reads, in input order; faster than ``Graph.inputs`` for many nodes."""
        start, nodes = self._producers
        return nodes[start[node] : start[node + 1]]

    def readers(self, among: Mask | None = None) -> Ints:
        """int [n]: how many data edges leave each node, or only those into ``among``."""
        src, dst = self.data
        return np.bincount(src if among is None else src[among[dst]], minlength=self.count).astype(np.int32)

    def reads(self, among: Mask) -> Ints:
        """int [n]: how many data inputs of each node come from ``among``."""
        src, dst = self.data
        return np.bincount(dst[among[src]], minlength=self.count).astype(np.int32)

    def waits_for(self, among: Mask) -> Mask:
        """bool [n]: a control input comes from ``among``, directly or through groups (NoOp) of such nodes."""
        src, dst = self.control
        group = self.family({"NoOp"})
        found = np.zeros(self.count, np.bool_)
        reached = among
        while reached.any():
            new = np.zeros(self.count, np.bool_)
            new[dst[reached[src]]] = True
            new &= ~found
            found |= new
            reached = new & group
        return found

    @cached_property
    def order(self) -> list[int]:
        """Node numbers, producers before consumers; nodes on cycles come last, in file order."""
        src, dst = self.data
        back = self.family(BACK)
        missing = np.bincount(dst[~back[src]], minlength=self.count).tolist()
        start, readers = self.consumers
        queue = [node for node in range(self.count) if not missing[node]]
        turns_back = back.tolist()
        for node in queue:
            if turns_back[node]:
                continue
            for reader in readers[start[node] : start[node + 1]]:
                missing[reader] -= 1
                if not missing[reader]:
                    queue.append(reader)
        done = bytearray(self.count)
        for node in queue:
            done[node] = 1
        return queue + [node for node in range(self.count) if not done[node]]

    @cached_property
    def variables(self) -> Mask:
        """bool [n]: variables."""
        return self.family(ops.VARIABLE_OPS)

    @cached_property
    def behind(self) -> Ints:
        """int32 [n]: the variable that a node is, reads or hands on; -1 without one."""
        return variables_behind(self.graph)

    @cached_property
    def is_read(self) -> Mask:
        """bool [n]: the node is a variable or hands one on unchanged."""
        return np.asarray(self.behind >= 0)

    @cached_property
    def own_reads(self) -> Mask:
        """bool [n]: ``v/read``, which TF1 makes with every variable ``v`` that is a reference."""
        first = self.graph.first_inputs()
        return np.asarray(self.family({"Identity"}) & (first >= 0) & self.family(ops.REF_VARIABLE_OPS)[first])

    @cached_property
    def leftovers(self) -> Mask:
        """bool [n]: trivial nodes that nothing reads; that they read others says nothing about the use of these."""
        return np.asarray(self.family(TRIVIAL_OPS) & (self.readers() == 0))

    @cached_property
    def normalized(self) -> Mask:
        """bool [n]: ends of ``l2_normalize``: x * rsqrt(max(sum(x * x), epsilon))."""
        graph, found = self.graph, []
        for node in np.flatnonzero(self.family({"Mul"})).tolist():
            steps = self.inputs(node)
            for op in ("Rsqrt", "Maximum", "Sum", "Square"):
                steps = [source for step in steps if graph.ops[step] == op for source in self.inputs(step)]
            found += [node] if set(steps) & set(self.inputs(node)) else []
        return self.mask(found)

    @cached_property
    def self_products(self) -> Mask:
        """bool [n]: products of a batch with itself, rows by rows: distances of pairs, Gram matrices."""
        first = self.graph.first_inputs()
        turned = self.family({"Identity", "Reshape", "Transpose"}) & (first >= 0)
        behind = np.where(turned, first, np.arange(self.count))
        behind = behind[behind]
        products = np.flatnonzero(self.family({"BatchMatMul", "BatchMatMulV2", "MatMul"})).tolist()
        return self.mask(node for node in products if len(set(behind[self.inputs(node)].tolist())) == 1)

    @cached_property
    def single_variable(self) -> list[int]:
        """[n]: the only variable whose value a node depends on, NONE without one, MANY for more than one."""
        graph, shape, chooses = self.graph, self.family(ops.SHAPE_OPS).tolist(), self.conditions.tolist()
        found: list[int] = np.where(self.variables, np.arange(self.count), NONE).tolist()
        start, readers = self.consumers
        for node in self.order:
            seen = found[node]
            if seen == NONE or chooses[node] or graph.ops[node] in ("NextIteration", "RefNextIteration"):
                continue
            for reader in readers[start[node] : start[node + 1]]:
                if shape[reader]:
                    continue
                known = found[reader]
                found[reader] = seen if known in (NONE, seen) else MANY
        return found

    @cached_property
    def sources(self) -> Mask:
        """bool [n]: data enters the graph here: placeholders and the ends of input pipelines."""
        return self.family(ops.PLACEHOLDER_OPS) | self.family(ops.is_pipeline_output)

    @cached_property
    def from_source(self) -> Mask:
        """bool [n]: depends on data that enters the graph."""
        return self.below(self.sources)

    @cached_property
    def from_data(self) -> Mask:
        """bool [n]: computed from data that enters the graph, or by code outside of it; not only chosen by such."""
        return self.below(self.sources | self.opaque, self.conditions)

    @cached_property
    def opaque(self) -> Mask:
        """bool [n]: runs code that the graph does not hold: Python, other processes, ops of other libraries."""
        return self.family(ops.is_opaque_op)

    @cached_property
    def from_values(self) -> Mask:
        """bool [n]: depends on the values of data that enters the graph, not only on its shape."""
        shapes = self.family(ops.SHAPE_OPS)
        return self.below(self.sources, shapes) & ~shapes

    @cached_property
    def applies(self) -> Mask:
        """bool [n]: optimizer ops, and calls of functions that run some."""
        calls = (node for node, inside in self.called_ops.items() if any(map(ops.is_apply_op, inside)))
        return self.family(ops.is_apply_op) | self.mask(calls)

    @cached_property
    def assigns(self) -> Mask:
        """bool [n]: other ops that change a variable."""
        return self.family(ops.is_assign)

    @cached_property
    def recorders(self) -> Mask:
        """bool [n]: summaries."""
        return self.family(ops.is_summary_op)

    @cached_property
    def ends(self) -> Mask:
        """bool [n]: where a walk down from gradients stops: writes and summaries."""
        return self.applies | self.assigns | self.recorders

    @cached_property
    def no_values(self) -> Mask:
        """bool [n]: where a walk down over values stops: ``ends``, conditions, and calls that change variables.

        What a condition chooses between does not hang on the values that it was computed from.
        """
        return self.ends | self.conditions | self.mask(self.called_uses)

    @cached_property
    def writes(self) -> tuple[Write, ...]:
        """Every assignment, optimizer ops left out."""
        behind = self.behind.tolist()
        found = []
        for node in np.flatnonzero(self.assigns).tolist():
            inputs = self.inputs(node)
            found.append(Write(node, behind[inputs[0]] if inputs else NONE, tuple(inputs[1:])))
        return tuple(found)

    @cached_property
    def restoring(self) -> Mask:
        """bool [n]: hands on a value that was read from a checkpoint, at most reshaped, cast or sliced."""
        plumbing = self.family({"Identity", "Reshape", "Cast", "Slice"})
        first = self.graph.first_inputs()
        found = self.family(ops.RESTORE_OPS)
        while True:
            new = plumbing & ~found & (first >= 0) & found[first]
            if not new.any():
                return found
            found |= new

    def replaces(self, write: Write) -> bool:
        """The write replaces a variable's value instead of adding to it."""
        return self.graph.ops[write.node] in ops.ASSIGN_OPS

    @cached_property
    def constant_writes(self) -> Mask:
        """bool [n]: assignments of values made of constants or random numbers, or of what gives first values."""
        asks = self.below(self.family(ops.INITIALIZED_OPS))
        constant = (np.array(self.single_variable, np.int64) == NONE) | asks
        constant &= ~self.from_source & ~self.restoring
        return self.mask(
            write.node for write in self.writes if self.replaces(write) and constant[list(write.values)].all()
        )

    @cached_property
    def effect_only(self) -> Mask:
        """bool [n]: nodes that others wait for only because of a write or a check; see ``analysis.effects``."""
        return effect_only(self.document)

    @cached_property
    def pivots(self) -> Mask:
        """bool [n]: ``cond/Switch``, ``cond/switch_t`` and ``cond/switch_f`` that no data edge leaves.

        TF1 makes them for every conditional; others wait for them at most.
        """
        first = self.graph.first_inputs()
        switches = self.family(ops.SWITCH_OPS)
        sides = self.family({"Identity"}) & (first >= 0) & switches[first] & (self.readers() == 0)
        return np.asarray(sides | (switches & (self.readers() == self.readers(sides))))

    @cached_property
    def conditions(self) -> Mask:
        """bool [n]: ``cond/pred_id`` and ``cond/Switch``: only whether a branch runs hangs on them."""
        if not self._steers.any():
            return np.zeros(self.count, np.bool_)
        src, dst = self.data
        steered = np.bincount(src[self._steers], minlength=self.count)
        twice = self._steers.copy()
        twice[1:] &= src[1:] == src[:-1]
        pivots = np.zeros(self.count, np.bool_)
        pivots[dst[twice]] = True
        return np.asarray(pivots | (self.family({"Identity"}) & (steered > 0) & (steered == self.readers())))

    @cached_property
    def _steers(self) -> Mask:
        """bool [data edges]: ends at the predicate of a Switch; loops left out."""
        src, dst = self.data
        second = np.zeros(len(dst), np.bool_)
        second[1:] = dst[1:] == dst[:-1]
        loops = self.family({"LoopCond"})
        return np.asarray(second & self.family(ops.SWITCH_OPS)[dst] & ~loops[src])

    @cached_property
    def called_uses(self) -> dict[int, Uses]:
        """By calling node: what functions that change variables do with its inputs."""
        return argument_uses(self.document, self.called_ops)

    @cached_property
    def called_ops(self) -> dict[int, frozenset[str]]:
        """By calling node: the ops inside the library functions that it runs, nested calls included."""
        return function_ops(self.document)
