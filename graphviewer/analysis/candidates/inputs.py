"""Candidates for inputs: placeholders, ends of input pipelines, and what comes before the first weight."""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from graphviewer import protos
from graphviewer.analysis import ops
from graphviewer.analysis.candidates import Candidate, big_constants
from graphviewer.analysis.roles import Roles
from graphviewer.analysis.suggestion import Suggestion
from graphviewer.model import endpoints
from graphviewer.model.graph import Mask
from graphviewer.model.names import Endpoint
from graphviewer.model.tensors import node_shape

RANKS_KNOWN = 24
"""Graphs of this producer and later say of a placeholder whether its rank is known."""

CHAIN = 50
"""Nodes that are followed from an input towards the first weight."""


class Inputs:
    """Finds and weighs candidates for inputs of chosen outputs."""

    def __init__(self, roles: Roles, outputs: Sequence[Endpoint]) -> None:
        self.roles, self.facts = roles, roles.facts
        self.graph, self.document = roles.facts.graph, roles.facts.document
        self.needed = roles.facts.above(roles.facts.named(endpoint.node for endpoint in outputs))

    def suggestions(self, limit: int) -> list[Suggestion]:
        """Best first."""
        found: dict[tuple[int, int], Candidate] = {}
        for candidate in (*self._signed(), *self._placeholders(), *self._pipeline_ends()):
            known = found.setdefault((candidate.node, candidate.port), candidate)
            if candidate is not known and candidate.score > known.score:
                found[candidate.node, candidate.port] = candidate
        best = sorted(found.values(), key=lambda one: (-one.score, one.node, one.port))
        return [one.suggestion(self.graph.names[one.node]) for one in best[:limit]]

    def _signed(self) -> Iterator[Candidate]:
        for signature, key, endpoint in endpoints.signed(self.document, "inputs"):
            node = self.graph.index[endpoint.node]
            if self.needed[node]:
                candidate = Candidate(node, endpoint.port)
                candidate.add(20.0, f"input of the signature {signature}/{key}")
                yield candidate

    @cached_property
    def _below_weights(self) -> Mask:
        """bool [n]: depends on a weight."""
        weights = self.facts.variables & self.needed
        return self.facts.below(weights if weights.any() else big_constants(self.facts) & self.needed)

    @cached_property
    def _pipeline(self) -> Mask:
        return self.facts.family(ops.is_pipeline_op) & self.needed

    @cached_property
    def _others_have_shapes(self) -> bool:
        """Some placeholder is no scalar: scalars beside it are mostly settings."""
        plain = np.flatnonzero(self.facts.family(ops.FED_OPS) & self.needed).tolist()
        return any(node_shape(self.document.node(node)) != [] for node in plain)

    @property
    def _scalar(self) -> str:
        """What a placeholder of shape [] is: old graphs write that for an unknown rank too."""
        old = self.document.graph_def.versions.producer < RANKS_KNOWN
        return "placeholder of a scalar, or of unknown rank" if old else "placeholder of a scalar"

    def _placeholders(self) -> Iterator[Candidate]:
        reads_pipeline = self.facts.above(self.facts.family(ops.is_pipeline_source) & self.needed)
        for node in np.flatnonzero(self.facts.family(ops.PLACEHOLDER_OPS) & self.needed).tolist():
            candidate = Candidate(node)
            definition = self.document.node(node)
            dtype = definition.attr["dtype"].type if "dtype" in definition.attr else 0
            shape = node_shape(definition)
            if reads_pipeline[node]:
                candidate.add(-2.0, "placeholder that feeds the input pipeline")
            elif dtype == protos.DataType.BOOL:
                candidate.add(1.0, "bool placeholder: a switch such as is_training, which inference mode fixes")
            elif dtype == protos.DataType.RESOURCE:
                candidate.add(-5.0, "placeholder for a resource handle")
            elif definition.op == "PlaceholderWithDefault":
                candidate.add(2.0, "placeholder with a default" + (": such as keep_prob" if shape == [] else ""))
            elif shape == [] and self._others_have_shapes:
                candidate.add(2.0, f"{self._scalar}, beside others: such as keep_prob")
            elif shape == []:
                candidate.add(5.0, self._scalar)
            else:
                candidate.add(5.0 + 0.1 * min(len(shape or ()), 4), "placeholder")
                yield from self._after_decoding(node)
            yield candidate

    def _after_decoding(self, node: int) -> Iterator[Candidate]:
        """Where a placeholder is decoded or parsed inside the graph, the network may also be fed behind that."""
        end, passed = self._chain([node], node)
        if passed & set(np.flatnonzero(self._pipeline).tolist()):
            candidate = Candidate(end)
            candidate.add(4.0, "last node before the first weight, behind decoding")
            yield candidate

    def _pipeline_ends(self) -> Iterator[Candidate]:
        for node in np.flatnonzero(self.facts.family(ops.is_pipeline_output) & self.needed).tolist():
            readers: dict[int, list[int]] = {}
            for edge in self.graph.edges_out_of(node).tolist():
                port, reader = int(self.graph.port[edge]), int(self.graph.dst[edge])
                if port >= 0 and self.needed[reader]:
                    readers.setdefault(port, []).append(reader)
            for port, heads in readers.items():
                candidate = Candidate(node, port)
                candidate.add(3.0, "output of the input pipeline")
                yield candidate
                if len(set(heads)) == 1 and not self._below_weights[heads[0]]:
                    end, _ = self._chain(heads, heads[0])
                    behind = Candidate(end)
                    behind.add(6.0, "last node before the first weight; replaces the input pipeline")
                    yield behind

    def _chain(self, heads: Sequence[int], end: int) -> tuple[int, set[int]]:
        """Follow single consumers down to the last node that depends on no weight; also gives what was passed."""
        passed: set[int] = set(heads)
        for _ in range(CHAIN):
            readers = {reader for reader in self.graph.consumers(end) if self.needed[reader]}
            if len(readers) != 1:
                break
            (reader,) = readers
            if self._below_weights[reader] or reader in passed or self.graph.ops[reader] in ops.CONTROL_FLOW_OPS:
                break
            passed.add(reader)
            end = reader
        return end, passed
