"""The values of variables in a session: from the graph's own saver where it can, else through our checkpoint reader.

The saver comes first because it is TensorFlow's own word on which value belongs to which variable: it proves what the
freeze matched by itself. Values that it cannot restore are read here: graphs without a saver, checkpoints that lack
optimizer slots, old sliced ones, and what no saver of the graph reads so: moving averages, renamed scopes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from graphviewer.analysis.foreign_keys import ForeignKeys
from graphviewer.analysis.ops import RESTORE_OPS, is_assign
from graphviewer.analysis.touches import Touch
from graphviewer.analysis.variable_keys import NAMES_ONLY
from graphviewer.formats.checkpoint import open_checkpoint
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from graphviewer.model.progress import Progress
from graphviewer.operations.freezing.variables import MOVING_AVERAGES, Checkpoint, Constant, constants
from graphviewer.runtime.engine import unregistered
from graphviewer.runtime.part import Part, trace, union

_NAMESPACE = "graphviewer_restore"


class Matching(NamedTuple):
    """How variables find their keys in a checkpoint, as ``freeze`` takes it.

    Attributes:
        saver: scope of a saver, or one of the words for other ways; empty for the SaverDef's.
        rename: ``old=new``: scopes of keys.
    """

    saver: str = ""
    rename: str = ""


USUAL = Matching()


def saver_part(part: Part, checkpoint: Path | None, matching: Matching = USUAL) -> Part | None:
    """The nodes that restore a checkpoint, fed its prefix; None where the graph has no saver that can be used.

    A saver that does anything but read the checkpoint is not used: nobody was asked whether it may. Nor is one of a
    SavedModel for a checkpoint that is not its own, where the same keys may be of other variables.
    """
    document, ends = part.document, _ends_of_saver(part.document, matching)
    if not ends or checkpoint is None or not part.variables():
        return None
    if ForeignKeys(document, open_checkpoint(checkpoint)).foreign:
        return None
    names = [Endpoint.parse(name) for name in ends]
    if any(name.node not in document.graph.index for name in names):
        return None
    found = trace(document, names[:1], names[1:])
    try:
        union(part, found)
    except ValueError:
        return None
    if found.asked or not found.fed or any(_more_than_a_read(touch) for touch in found.touches()):
        return None
    return None if unregistered(found.ops()) else found


def _ends_of_saver(document: Document, matching: Matching) -> tuple[str, ...]:
    """What restores, and what takes the checkpoint's prefix, by the names that tf.compat.v1.train.Saver gives."""
    scope, saver = matching.saver, document.saver
    if matching.rename or scope in (MOVING_AVERAGES, NAMES_ONLY):
        return ()
    if scope:
        return f"{scope}/restore_all", f"{scope}/Const:0"
    return (saver.restore_op_name, saver.filename_tensor_name) if saver is not None else ()


def _more_than_a_read(touch: Touch) -> bool:
    return touch.op not in RESTORE_OPS


def _told_paths(part: Part) -> set[int]:
    """Variables that one of the part's ends gives a value: the path of a file, which no checkpoint holds."""
    graph = part.document.graph
    ends = [graph.index[end.node] for end in part.ends]
    return {graph.inputs(end)[0] for end in ends if is_assign(graph.ops[end]) and graph.inputs(end)}


class Restorer:
    """Gives the variables of a part their values, as often as asked.

    Args:
        tensorflow: the module.
        graph: where the part, and the saver's, were imported.
        part: whose variables matter.
        saver: what ``saver_part`` gave.
        prefix: the tensor that it takes the checkpoint's prefix from.
        checkpoint: prefix of the files.
        matching: which keys of it are whose, where the saver does not say.

    Raises:
        OperationError: without a usable saver: values are missing or do not fit.
    """

    def __init__(
        self,
        tensorflow: Any,
        graph: Any,
        part: Part,
        saver: Part | None,
        prefix: str,
        checkpoint: Path | None,
        matching: Matching = USUAL,
    ) -> None:
        self._tensorflow, self._graph, self._part = tensorflow, graph, part
        self._saver, self._prefix, self._checkpoint, self._matching = saver, prefix, checkpoint, matching
        told = _told_paths(part)
        self._variables = [number for number in part.variables() if number not in told]
        self._assigns: dict[int, tuple[Any, Any]] = {}
        self._found: dict[int, Constant] = {}
        self._opened: Checkpoint | None = None
        self._known = self._questions() if saver is not None else []

    def run(self, session: Any, progress: Progress) -> None:
        """Restore in ``session``.

        Raises:
            OperationError: values are missing or do not fit.
            CheckpointError: the files cannot be read.
        """
        if not self._variables:
            return
        left = self._variables
        if self._saver is not None:
            progress(0.3, "restoring the checkpoint")
            left = self._after_saver(session)
        if left:
            self._prepare(left)
            for place, number in enumerate(left):
                progress(0.3 + 0.6 * place / len(left), f"reading {self._found[number].name}")
                self._assign(session, number)

    def _after_saver(self, session: Any) -> list[int]:
        """Run the saver's restore; the variables that it left without a value."""
        assert self._saver is not None
        try:
            session.run(self._saver.ends[0].node, {self._prefix: str(self._checkpoint)})
        except self._tensorflow.errors.OpError:
            return self._variables  # keys missing for variables that nobody needs, or a checkpoint of an old kind
        known = session.run(self._known)
        return [number for number, yes in zip(self._variables, known, strict=True) if not yes]

    def _questions(self) -> list[Any]:
        """For each variable a tensor that tells whether it has a value."""
        ops = self._tensorflow.raw_ops
        with self._graph.as_default(), self._graph.name_scope(_NAMESPACE):
            return [
                ops.VarIsInitializedOp(resource=handle)
                if handle.dtype == self._tensorflow.resource
                else ops.IsVariableInitialized(ref=handle)
                for handle in map(self._handle, self._variables)
            ]

    def _handle(self, number: int) -> Any:
        return self._graph.get_tensor_by_name(f"{self._part.document.graph.names[number]}:0")

    def _prepare(self, numbers: list[int]) -> None:
        """Find the values of variables, and make the nodes that assign them."""
        new = [number for number in numbers if number not in self._assigns]
        if not new:
            return
        self._opened = open_checkpoint(self._checkpoint) if self._checkpoint is not None else None
        self._found.update(constants(self._part.document, new, self._opened, **self._matching._asdict()))
        ops, v1 = self._tensorflow.raw_ops, self._tensorflow.compat.v1
        with self._graph.as_default(), self._graph.name_scope(_NAMESPACE):
            for number in new:
                handle, constant = self._handle(number), self._found[number]
                value = v1.placeholder(self._tensorflow.dtypes.as_dtype(constant.dtype), constant.shape)
                if handle.dtype == self._tensorflow.resource:
                    assign = ops.AssignVariableOp(resource=handle, value=value)
                else:
                    assign = ops.Assign(ref=handle, value=value, validate_shape=False)
                self._assigns[number] = (value, assign)

    def _assign(self, session: Any, number: int) -> None:
        value, assign = self._assigns[number]
        source = self._found[number].source
        assert self._opened is not None
        # A tensor may be no fetch of a ref dtype: its op is run instead.
        session.run(getattr(assign, "op", assign), {value: self._opened.read(source.key, source.slice)})
