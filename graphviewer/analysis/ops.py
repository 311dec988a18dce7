"""Families of ops, as named sets and predicates that every analysis and operation shares.

Families are told by the op's name where a whole family follows one pattern, so that ops of other TensorFlow versions
and custom ops (``ResourceApplyLazyAdam``) fall into place. Source: TensorFlow's op registry (``protos.op_def``).
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from graphviewer import protos

REF_VARIABLE_OPS = frozenset({"Variable", "VariableV2"})
"""Variables whose output is a reference (TF1's default)."""

VARIABLE_OPS = REF_VARIABLE_OPS | {"VarHandleOp"}
"""Variables of a graph; ``VarHandleOp`` gives a resource handle that ``ReadVariableOp`` reads."""

ASSIGN_OPS = frozenset({"Assign", "AssignVariableOp"})
"""Replace a variable's value."""

ASSIGN_ADD_OPS = frozenset({"AssignAdd", "AssignAddVariableOp"})
"""Add to a variable's value."""

REF_TO_VALUE = {
    "RefEnter": "Enter",
    "RefExit": "Exit",
    "RefIdentity": "Identity",
    "RefMerge": "Merge",
    "RefNextIteration": "NextIteration",
    "RefSwitch": "Switch",
}
"""Ops on references, and the op that does the same on a value."""

RESOURCE_TO_VALUE = {
    "ReadVariableOp": "Identity",
    "ResourceGather": "GatherV2",
    "ResourceGatherNd": "GatherNd",
    "VariableShape": "Shape",
}
"""Reads of a resource variable, and the op that does the same on a value."""

INITIALIZED_OPS = frozenset({"IsVariableInitialized", "VarIsInitializedOp"})
"""Ask whether a variable has a value."""

SAVE_OPS = frozenset({"Save", "SaveSlices", "SaveV2", "MergeV2Checkpoints", "ShardedFilename", "ShardedFilespec"})
"""Write checkpoints, or name their files."""

RESTORE_OPS = frozenset({"Restore", "RestoreSlice", "RestoreV2"})
"""Read checkpoints."""

CHECKPOINT_OPS = SAVE_OPS | RESTORE_OPS
"""Write or read checkpoints."""

CHECK_OPS = frozenset(
    {
        "Assert",
        "CheckNumerics",
        "CheckNumericsV2",
        "DebugIdentity",
        "DebugIdentityV2",
        "DebugIdentityV3",
        "DebugNanCount",
        "DebugNumericSummary",
        "DebugNumericSummaryV2",
        "Print",
        "PrintV2",
    }
)
"""Look at values and complain or report; the values themselves pass unchanged."""

FED_OPS = frozenset({"Placeholder", "PlaceholderV2"})
"""Have no value unless they are fed."""

PLACEHOLDER_OPS = FED_OPS | {"PlaceholderWithDefault"}
"""Values that the caller feeds."""

SHAPE_OPS = frozenset({"Rank", "Shape", "ShapeN", "Size", "VariableShape"})
"""Depend on the form of a tensor, not on its values."""

SWITCH_OPS = frozenset({"RefSwitch", "Switch"})
MERGE_OPS = frozenset({"Merge", "RefMerge"})
CONTROL_FLOW_OPS = frozenset({*REF_TO_VALUE, *REF_TO_VALUE.values(), "LoopCond"} - {"Identity", "RefIdentity"})
"""TF1's conditionals and loops, unrolled into nodes."""

CALL_OPS = frozenset(
    {
        "Case",
        "If",
        "PartitionedCall",
        "RemoteCall",
        "StatefulPartitionedCall",
        "StatelessCase",
        "StatelessIf",
        "StatelessWhile",
        "While",
    }
)
"""Run functions of the library."""

PASS_OPS = frozenset({"Enter", "Identity", "ReadVariableOp", "RefEnter", "RefIdentity", "Snapshot"}) | SWITCH_OPS
"""Hand on their first input unchanged, so that a variable is still to be seen behind them."""

LOSS_OPS = frozenset(
    {
        "CTCLoss",
        "CTCLossV2",
        "SoftmaxCrossEntropyWithLogits",
        "SparseSoftmaxCrossEntropyWithLogits",
        "FixedUnigramCandidateSampler",
        "LearnedUnigramCandidateSampler",
        "LogUniformCandidateSampler",
        "UniformCandidateSampler",
    }
)
"""Have no use but in a loss. L2Loss is not here: it is a plain reduction, and also measures weights and gradients."""

METRIC_OPS = frozenset({"EditDistance", "InTopK", "InTopKV2"})
"""Have no use but to compare predictions with labels."""

DECODING_OPS = frozenset({"CTCBeamSearchDecoder", "CTCGreedyDecoder"})
"""Turn what a network says into sequences: never a part of a loss, though both are told the lengths."""

BRANCH_CALL_OPS = frozenset({"Case", "If", "StatelessCase", "StatelessIf"})
"""Choose one of several functions of the library, and run it."""

LOOP_CALL_OPS = frozenset({"StatelessWhile", "While"})
"""Run a function of the library as long as another one says so."""

BATCH_NORM_OPS = frozenset({"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "_FusedBatchNormEx"})

_MOST_TENSORS = 1 << 40

_ASSIGN = re.compile(
    r"(Assign(Add|Sub)?(VariableOp)?|AssignVariableXlaConcatND|(Resource)?CountUpTo|(Resource)?StridedSliceAssign"
    r"|(Resource)?Scatter(Nd)?(Add|Sub|Mul|Div|Min|Max|Update))$"
)
_APPLY = re.compile(r"(Resource)?(Sparse)?Apply[A-Z]|(NegTrain|SdcaShrinkL1)$")
_GRADIENT = re.compile(
    r".+(Grad|Gradient|GradGrad|GradWithArgmax|GradGradWithArgmax|GradN|Backprop|BackpropFilter|GradWithShape"
    r"|CropAndResizeGrad(Boxes|Image))(V\d+)?(Ex)?$|BroadcastGradientArgs$|CropAndResizeGrad(Boxes|Image)$"
)
_NOT_GRADIENT = frozenset({"PreventGradient", "StopGradient"})
_SUMMARY = re.compile(
    r"(Audio|Histogram|Image|Merge|Scalar|Tensor)Summary(V\d+)?$|Write\w*Summary$|ImportEvent$"
    r"|(Close|Create|Flush)?Summary(File|Db)?Writer$"
)
_PIPELINE = re.compile(
    r"\w*Dataset(V\d+)?$|\w*Iterator(?!Grad)\w*$|\w*Queue(V\d+)?$|Queue(De|En)queue|Queue(Is)?Close|QueueSize"
    r"|\w*Reader(V\d+)?$|Reader[A-Z]|ReadFile$|MatchingFiles$|Parse(Single)?(Sequence)?Example"
    r"|Decode(Raw|PaddedRaw|Jpeg|AndCropJpeg|Png|Bmp|Gif|WebP|Image|CSV|Compressed|Wav)|Dataset[A-Z]|Optional[A-Z]"
    r"|(Ordered)?Map(Uns|S)tage|(Uns|S)tage$|RecordInput$|(Infeed|Outfeed)(De|En)queue"
)
_NOT_PIPELINE = frozenset({"FakeQueue"})
_PIPELINE_OUTPUT = re.compile(
    r"IteratorGetNext(Sync)?$|MultiDeviceIteratorGetNextFromShard$|OptionalGetValue$|DatasetToSingleElement$"
    r"|QueueDequeue|Reader(Read|ReadUpTo)(V2)?$|Parse(Single)?(Sequence)?Example(V2)?$|(Ordered)?(Map)?Unstage"
    r"|RecordInput$|InfeedDequeue"
)
_QUEUE_RUNNER = re.compile(r"QueueEnqueue|QueueClose|Stage$|(Infeed|Outfeed)Enqueue")
_RANDOM = re.compile(
    r"(Stateless)?(Random|TruncatedNormal|ParameterizedTruncatedNormal|Multinomial|SampleDistortedBoundingBox)"
    r"|Stateful(Uniform|StandardNormal|TruncatedNormal|RandomBinomial)|NonDeterministicInts$"
)
_NOT_RANDOM = re.compile(r"\w*(Dataset|Queue)(V\d+)?$|\w+Grad$|StatelessRandomGet|RandomGammaGrad$")
_TABLE_INITIALIZER = re.compile(r"InitializeTable|LookupTableImport")
_TABLE = re.compile(r"(Anonymous)?(Mutable)?(Dense)?HashTable(OfTensors)?(V\d+)?$")


def is_variable_write(op: str) -> bool:
    """The op changes a variable: assignments, scatter updates and optimizer ops."""
    return bool(_ASSIGN.match(op)) or is_apply_op(op)


def is_assign(op: str) -> bool:
    """The op changes a variable and is no optimizer op."""
    return bool(_ASSIGN.match(op))


def is_apply_op(op: str) -> bool:
    """The op applies a gradient to a variable (``ApplyAdam``, ``ResourceSparseApplyFtrlV2``)."""
    return bool(_APPLY.match(op))


def is_gradient_op(op: str) -> bool:
    """The op exists for backward passes only.

    ``Conv2DBackpropInput`` and its kin do not count: a transposed convolution uses them in a forward pass.
    """
    return op not in _NOT_GRADIENT and bool(_GRADIENT.match(op)) and not is_apply_op(op) and "Accumulator" not in op


def is_summary_op(op: str) -> bool:
    """The op records values for TensorBoard."""
    return bool(_SUMMARY.match(op))


def is_pipeline_op(op: str) -> bool:
    """The op reads, decodes or queues input data."""
    return op not in _NOT_PIPELINE and bool(_PIPELINE.match(op))


def is_pipeline_output(op: str) -> bool:
    """The op hands input data to the network (``IteratorGetNext``, ``QueueDequeueV2``): the place to cut a pipeline."""
    return bool(_PIPELINE_OUTPUT.match(op))


def is_pipeline_source(op: str) -> bool:
    """The op gives data without being fed: an iterator, queue or reader, but no parser of what the caller feeds."""
    return is_pipeline_output(op) and not op.startswith(("Parse", "Dataset"))


def is_queue_runner_op(op: str) -> bool:
    """The op fills or closes a queue, from a thread beside the training loop."""
    return bool(_QUEUE_RUNNER.search(op))


def is_random_op(op: str) -> bool:
    """The op draws random numbers; datasets that shuffle do not count."""
    return bool(_RANDOM.match(op)) and not _NOT_RANDOM.match(op)


def is_opaque_op(op: str) -> bool:
    """The op runs code that is not TensorFlow's, or exchanges values with other processes."""
    return "PyFunc" in op or op == "EagerPyFunc" or op.startswith(("Collective", "Nccl")) or protos.op_def(op) is None


def is_table_op(op: str) -> bool:
    """The op holds a lookup table."""
    return bool(_TABLE.match(op))


def is_table_initializer(op: str) -> bool:
    """The op fills a lookup table."""
    return bool(_TABLE_INITIALIZER.match(op))


def uses_batch_statistics(node: Any) -> bool:
    """A batch norm (one of ``BATCH_NORM_OPS``) normalises by the batch, as in training; so it does by default."""
    return "is_training" not in node.attr or bool(node.attr["is_training"].b)


@cache
def is_stateful(op: str) -> bool:
    """TensorFlow marks the op as stateful; unknown ops count as stateless."""
    definition = protos.op_def(op)
    return definition is not None and bool(definition.is_stateful)


@cache
def attribute_defaults(op: str) -> Mapping[str, Any]:
    """The attributes of an op that a node may leave out, with the AttrValue that they have then."""
    definition = protos.op_def(op)
    attrs = definition.attr if definition is not None else ()
    return {attr.name: attr.default_value for attr in attrs if attr.HasField("default_value")}


class Argument(NamedTuple):
    """One data input of a node, as the op's definition names it.

    Attributes:
        name: ``ref``, ``grad``, ``x`` ...; a list argument repeats its name.
        dtype: dtype number, 0 where the node does not say.
        is_ref: the input is a reference to a variable.
    """

    name: str
    dtype: int
    is_ref: bool

    @property
    def is_handle(self) -> bool:
        """The input names a variable, table or queue instead of carrying a value."""
        return self.is_ref or self.dtype == protos.DataType.RESOURCE


def arguments(node: Any) -> list[Argument] | None:
    """The data inputs of a NodeDef in order, list arguments spread out; None for an op that is not registered."""
    definition = protos.op_def(node.op)
    if definition is None:
        return None
    spread: list[Argument] = []
    limit = len(node.input)
    for argument in definition.input_arg:
        dtypes = _dtypes(argument, node, limit)
        spread += [Argument(argument.name, dtype, argument.is_ref) for dtype in dtypes]
    return spread


def argument_names(node: Any) -> list[str] | None:
    """The name of each data input of a NodeDef; None for an op that is not registered."""
    found = arguments(node)
    return None if found is None else [argument.name for argument in found]


def _dtypes(argument: Any, node: Any, limit: int) -> list[int]:
    """dtype of every tensor of one ArgDef; never more than ``limit``, whatever a damaged file claims."""
    if argument.type_list_attr:
        listed = node.attr[argument.type_list_attr].list.type if argument.type_list_attr in node.attr else ()
        return list(listed)[:limit]
    dtype = argument.type
    if not dtype and argument.type_attr in node.attr:
        dtype = node.attr[argument.type_attr].type
    count = 1
    if argument.number_attr:
        count = node.attr[argument.number_attr].i if argument.number_attr in node.attr else 1
    return [dtype] * max(0, min(count, limit))


def input_count(node: Any) -> int | None:
    """How many data inputs a NodeDef should have; None for an op that is not registered."""
    definition = protos.op_def(node.op)
    return None if definition is None else _tensor_count(definition.input_arg, node)


def output_count(node: Any) -> int | None:
    """How many tensors a NodeDef gives; None for an op that is not registered."""
    definition = protos.op_def(node.op)
    return None if definition is None else _tensor_count(definition.output_arg, node)


def _tensor_count(arguments: Iterable[Any], node: Any) -> int:
    """Tensors of some ArgDefs of a node's op; a size that a damaged file says is bounded."""
    count = 0
    for argument in arguments:
        if argument.type_list_attr:
            count += len(node.attr[argument.type_list_attr].list.type) if argument.type_list_attr in node.attr else 0
        elif argument.number_attr:
            size = node.attr[argument.number_attr].i if argument.number_attr in node.attr else 0
            count += min(max(size, 0), _MOST_TENSORS)
        else:
            count += 1
    return count
