//! The table of the kinds of nodes that expressions and graphs have.
//!
//! `rust/headergen` generates from it: the constants `TNR_NODE_*` and their documentation
//! (`src/codes.rs`, `tenure.h`), the rows that the core reads (`core/src/base/node_kinds.hpp`),
//! and the list that pairs kinds with the structs of their attributes. The core's functions of a
//! kind are in `core/src/program/kinds/table.cpp`, which does not compile without a case for each.
//!
//! Codes are those of the ABI: frozen, never reused, the next one for a new row.

/// The fields that a node sets in addition to operands, numbers and attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sets {
    /// None.
    Nothing,
    /// Axes, in `flags`.
    Axes,
    /// The dtype of the result.
    Dtype,
}

/// How a node is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Computes {
    /// By a node of an expression.
    Elementwise,
    /// By the last node of an expression, or by a call.
    Reduction,
    /// Not at all: the result is a view of the operand.
    View,
    /// By a call.
    Call,
    /// By graphs of its own.
    Control,
}

/// The struct of attributes that a kind takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attributes {
    /// None.
    None,
    /// `tnr_reduce_attributes`.
    Reduce,
    /// `tnr_normalize_attributes`.
    Normalize,
    /// `tnr_matmul_attributes`.
    Matmul,
    /// `tnr_conv2d_attributes`.
    Conv2d,
    /// `tnr_pool2d_attributes`.
    Pool2d,
    /// `tnr_batch_norm_attributes`.
    BatchNorm,
    /// `tnr_pad_attributes`.
    Pad,
    /// `tnr_triangle_attributes`.
    Triangle,
    /// `tnr_einsum_node_attributes`.
    EinsumNode,
    /// `tnr_sort_attributes`, or a struct that differs from it in its name only.
    Sort,
    /// `tnr_histogram_attributes`.
    Histogram,
    /// `tnr_random_attributes`.
    Random,
    /// `tnr_sparse_node_attributes`.
    SparseNode,
}

/// The dtypes of operands on which devices compute a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceDtypes {
    /// None: only the CPU computes it.
    None,
    /// f64, f32, f16, bf16.
    Floats,
    /// All but complex numbers.
    Real,
    /// All.
    All,
}

/// One for each axis, or any number that the caller gives.
pub const ANY: u8 = 0xff;

/// A kind of nodes.
#[derive(Clone, Copy, Debug)]
pub struct NodeKind {
    /// In messages, and in capitals the end of the constant's name.
    pub name: &'static str,
    /// The upper 16 bits of the code of a node.
    pub code: u16,
    /// The meaning of the lower 16 bits, for the documentation; empty where they are 0.
    pub plus: &'static str,
    /// The result, as a sentence of the documentation.
    pub doc: &'static str,
    /// The least and the most operands.
    pub operands: (u8, u8),
    /// The number of numbers, or `ANY`.
    pub numbers: u8,
    /// The attributes that it takes.
    pub attributes: Attributes,
    /// How it is computed.
    pub computes: Computes,
    /// The other fields that it sets.
    pub sets: Sets,
    /// Whether the result may be exactly the first operand.
    pub in_place: bool,
    /// Whether the call writes only row-major results.
    pub row_major: bool,
    /// Whether the call throws when it refuses a value of an element, such as an index that is out
    /// of bounds. Other calls note the refusal for the end of the run.
    pub throws: bool,
    /// The dtypes on which devices compute it. They compute no operation that is `Device::None` in
    /// the table of operations.
    pub device: DeviceDtypes,
}

const CALL: NodeKind = NodeKind {
    name: "",
    code: 0,
    plus: "",
    doc: "",
    operands: (1, 1),
    numbers: 0,
    attributes: Attributes::None,
    computes: Computes::Call,
    sets: Sets::Nothing,
    in_place: false,
    row_major: false,
    throws: false,
    device: DeviceDtypes::None,
};
const ELEMENTWISE: NodeKind = NodeKind {
    computes: Computes::Elementwise,
    in_place: true,
    device: DeviceDtypes::Real,
    ..CALL
};
const VIEW: NodeKind =
    NodeKind { numbers: ANY, computes: Computes::View, device: DeviceDtypes::All, ..CALL };
const SPARSE: NodeKind = NodeKind {
    operands: (3, 3),
    numbers: 2,
    attributes: Attributes::SparseNode,
    throws: true,
    ..CALL
};
const SPARSE_VALUES: NodeKind = NodeKind { row_major: true, ..SPARSE };
const CONTROL: NodeKind = NodeKind { operands: (1, ANY), computes: Computes::Control, ..CALL };

/// Every kind, in the order of the codes. Expressions have the first eight.
pub const NODE_KINDS: &[NodeKind] = &[
    NodeKind { name: "unary", code: 1, plus: "a `tnr_unary_op`", doc: "`op(a)`.", ..ELEMENTWISE },
    NodeKind {
        name: "binary",
        code: 2,
        plus: "a `tnr_binary_op`",
        doc: "`op(a, b)`.",
        operands: (2, 2),
        ..ELEMENTWISE
    },
    NodeKind {
        name: "ternary",
        code: 3,
        plus: "a `tnr_ternary_op`",
        doc: "`op(a, b, c)`.",
        operands: (3, 3),
        ..ELEMENTWISE
    },
    NodeKind {
        name: "compare",
        code: 4,
        plus: "a `tnr_compare_op`",
        doc: "`op(a, b)` of two operands of one dtype, as bool8.",
        operands: (2, 2),
        ..ELEMENTWISE
    },
    NodeKind {
        name: "select",
        code: 5,
        doc: "`condition ? a : b`, of a bool8 and two operands of the node's dtype.",
        operands: (3, 3),
        device: DeviceDtypes::All,
        ..ELEMENTWISE
    },
    NodeKind {
        name: "cast",
        code: 6,
        doc: "the operand in the node's dtype. Neither dtype is complex.",
        sets: Sets::Dtype,
        ..ELEMENTWISE
    },
    NodeKind {
        name: "reduce",
        code: 7,
        plus: "a `tnr_reduce_op`",
        doc: "`tnr_reduce` over the axes in `flags`. In an expression it is the last node, or it \
              reduces the last axis with `TNR_NODE_KEEP_AXES` and later nodes broadcast the result.",
        attributes: Attributes::Reduce,
        computes: Computes::Reduction,
        sets: Sets::Axes,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "normalize",
        code: 8,
        plus: "a `tnr_normalize_op`",
        doc: "`tnr_normalize` over the axes in `flags`, by an optional weight and an optional bias. \
              In an expression it is the last node.",
        operands: (1, 3),
        attributes: Attributes::Normalize,
        sets: Sets::Axes,
        in_place: true,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "matmul",
        code: 9,
        doc: "`tnr_matmul` of `a`, `b` and an optional bias, with `alpha` 1 and `beta` 0.",
        operands: (2, 3),
        attributes: Attributes::Matmul,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "conv2d",
        code: 10,
        doc: "`tnr_conv2d` of images, weights and an optional bias.",
        operands: (2, 3),
        attributes: Attributes::Conv2d,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "pool2d",
        code: 11,
        plus: "MAX or MEAN of `tnr_reduce_op`",
        doc: "`tnr_pool2d` of images. With `TNR_POOL2D_ADAPTIVE` two numbers give the rows and the \
              columns of the result, otherwise there are none.",
        numbers: ANY,
        attributes: Attributes::Pool2d,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "batch_norm",
        code: 12,
        doc: "`tnr_batch_norm` of images, optional means, variances, optional weights and optional \
              biases.",
        operands: (3, 5),
        attributes: Attributes::BatchNorm,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "reshape",
        code: 13,
        doc: "the elements of the operand in row-major order. The numbers are the shape. Where no \
              strides give that order, a run copies the elements.",
        ..VIEW
    },
    NodeKind {
        name: "permute",
        code: 14,
        doc: "`tnr_view_permute`. The numbers are the axes.",
        ..VIEW
    },
    NodeKind {
        name: "broadcast",
        code: 15,
        doc: "`tnr_view_broadcast`. The numbers are the shape.",
        ..VIEW
    },
    NodeKind {
        name: "slice",
        code: 16,
        doc: "`tnr_view_slice`. Four numbers: axis, start, stop and step.",
        numbers: 4,
        ..VIEW
    },
    NodeKind {
        name: "concat",
        code: 17,
        doc: "`tnr_concat` of any number of operands. The number is the axis.",
        operands: (1, ANY),
        numbers: 1,
        device: DeviceDtypes::All,
        ..CALL
    },
    NodeKind {
        name: "pad",
        code: 18,
        plus: "a `tnr_pad_mode`",
        doc: "`tnr_pad`. The numbers are the shape.",
        numbers: ANY,
        attributes: Attributes::Pad,
        device: DeviceDtypes::All,
        ..CALL
    },
    NodeKind {
        name: "take",
        code: 19,
        doc: "`tnr_take` of an operand by indices. The number is the axis.",
        operands: (2, 2),
        numbers: 1,
        device: DeviceDtypes::All,
        ..CALL
    },
    NodeKind {
        name: "gather",
        code: 20,
        doc: "`tnr_gather` of an operand by indices. The number is the axis.",
        operands: (2, 2),
        numbers: 1,
        device: DeviceDtypes::All,
        ..CALL
    },
    NodeKind {
        name: "triangular",
        code: 21,
        plus: "a `tnr_triangle`",
        doc: "`tnr_triangular`.",
        attributes: Attributes::Triangle,
        in_place: true,
        device: DeviceDtypes::All,
        ..CALL
    },
    NodeKind {
        name: "scan",
        code: 22,
        plus: "a `tnr_scan_op`",
        doc: "`tnr_scan`. The number is the axis.",
        numbers: 1,
        in_place: true,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "custom",
        code: 23,
        plus: "the index of a custom operation of the graph",
        doc: "the result of that operation, which `tnr_graph_add_custom` added, for the operands \
              and numbers that it takes.",
        operands: (0, ANY),
        numbers: ANY,
        device: DeviceDtypes::All,
        ..CALL
    },
    NodeKind {
        name: "conv2d_transposed",
        code: 24,
        doc: "`tnr_conv2d_transposed` of images, weights and an optional bias. Two numbers give the \
              rows and the columns of the result; without numbers they are the fewest.",
        operands: (2, 3),
        numbers: ANY,
        attributes: Attributes::Conv2d,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "einsum",
        code: 25,
        doc: "`tnr_einsum` of any number of operands.",
        operands: (1, ANY),
        attributes: Attributes::EinsumNode,
        ..CALL
    },
    NodeKind {
        name: "sort",
        code: 26,
        plus: "a `tnr_order_result`",
        doc: "that result of `tnr_sort`. The number is the axis.",
        numbers: 1,
        attributes: Attributes::Sort,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "top_k",
        code: 27,
        plus: "a `tnr_order_result`",
        doc: "that result of `tnr_top_k`. Two numbers: axis and k.",
        numbers: 2,
        attributes: Attributes::Sort,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "partition",
        code: 28,
        plus: "a `tnr_order_result`",
        doc: "that result of `tnr_partition`. Two numbers: axis and kth.",
        numbers: 2,
        ..CALL
    },
    NodeKind {
        name: "quantile",
        code: 29,
        doc: "`tnr_quantile` of an operand over the axes in `flags`. The second operand is a vector \
              of f64.",
        operands: (2, 2),
        attributes: Attributes::Sort,
        sets: Sets::Axes,
        ..CALL
    },
    NodeKind {
        name: "searchsorted",
        code: 30,
        doc: "`tnr_searchsorted` of a sorted vector and values.",
        operands: (2, 2),
        attributes: Attributes::Sort,
        ..CALL
    },
    NodeKind {
        name: "bincount",
        code: 31,
        doc: "`tnr_bincount` of an operand and optional weights. The number is the extent of the \
              result.",
        operands: (1, 2),
        numbers: 1,
        ..CALL
    },
    NodeKind {
        name: "histogram",
        code: 32,
        doc: "`tnr_histogram` of an operand and optional edges. The number is the extent of the \
              result.",
        operands: (1, 2),
        numbers: 1,
        attributes: Attributes::Histogram,
        ..CALL
    },
    NodeKind {
        name: "put",
        code: 33,
        plus: "a `tnr_binary_op`, or 0",
        doc: "the first operand after `tnr_put` of the second one, at the indices that are the \
              third one. The number is the axis.",
        operands: (3, 3),
        numbers: 1,
        in_place: true,
        device: DeviceDtypes::All,
        ..CALL
    },
    NodeKind {
        name: "scatter",
        code: 34,
        plus: "a `tnr_binary_op`, or 0",
        doc: "the first operand after `tnr_scatter` of the second one, at the indices that are the \
              third one. The number is the axis.",
        operands: (3, 3),
        numbers: 1,
        in_place: true,
        device: DeviceDtypes::All,
        ..CALL
    },
    NodeKind {
        name: "random",
        code: 35,
        plus: "a `tnr_random_distribution`",
        doc: "`tnr_random` of the node's dtype. The numbers are the shape. The operands are the \
              seed and the offset: scalars, or u64 arrays of rank 0.",
        operands: (2, 2),
        numbers: ANY,
        attributes: Attributes::Random,
        sets: Sets::Dtype,
        ..CALL
    },
    NodeKind {
        name: "random_permutation",
        code: 36,
        doc: "`tnr_random_permutation` of the node's dtype. The number is the extent. The operands \
              are the seed and the offset: scalars, or u64 arrays of rank 0.",
        operands: (2, 2),
        numbers: 1,
        sets: Sets::Dtype,
        ..CALL
    },
    NodeKind {
        name: "sparse_to_dense",
        code: 37,
        doc: "`tnr_sparse_to_dense`. The first operands of every sparse node are `major`, `minor` \
              and `values`, and its two numbers are the rows and the columns of the matrix.",
        device: DeviceDtypes::All,
        ..SPARSE
    },
    NodeKind {
        name: "sparse_matmul",
        code: 38,
        doc: "`tnr_sparse_matmul` by the fourth operand, with `alpha` 1 and `beta` 0.",
        operands: (4, 4),
        device: DeviceDtypes::Floats,
        ..SPARSE
    },
    NodeKind {
        name: "sparse_sddmm",
        code: 39,
        doc: "the values of `tnr_sparse_sddmm` by the fourth and the fifth operand, with `alpha` 1.",
        operands: (5, 5),
        device: DeviceDtypes::Floats,
        ..SPARSE_VALUES
    },
    NodeKind {
        name: "sparse_scale",
        code: 40,
        plus: "0 for rows or 1 for columns",
        doc: "the values of `tnr_sparse_scale` by the factors that are the fourth operand.",
        operands: (4, 4),
        ..SPARSE_VALUES
    },
    NodeKind {
        name: "sparse_softmax",
        code: 41,
        doc: "the values of `tnr_sparse_softmax`.",
        ..SPARSE_VALUES
    },
    NodeKind {
        name: "sparse_reduce",
        code: 42,
        plus: "a `tnr_reduce_op`",
        doc: "`tnr_sparse_reduce` over the axes in `flags`.",
        sets: Sets::Axes,
        ..SPARSE
    },
    NodeKind {
        name: "sparse_norm",
        code: 43,
        plus: "a `tnr_sparse_norm_kind`",
        doc: "`tnr_sparse_norm`, as an f64 of rank 0.",
        ..SPARSE
    },
    NodeKind { name: "sparse_diagonal", code: 44, doc: "`tnr_sparse_diagonal`.", ..SPARSE },
    NodeKind {
        name: "sparse_solve",
        code: 45,
        doc: "`tnr_sparse_solve` for the fourth operand.",
        operands: (4, 4),
        ..SPARSE
    },
    NodeKind {
        name: "sparse_accumulate",
        code: 46,
        doc: "the fourth operand after `tnr_sparse_accumulate` into it.",
        operands: (4, 4),
        ..SPARSE
    },
    NodeKind {
        name: "cond",
        code: 47,
        doc: "the outputs of one of two subgraphs. Two numbers: the subgraph for a first operand \
              that is true, and the other one. The first operand is a bool8 of one element. The \
              other operands are the inputs of both subgraphs. A run computes only the one that it \
              takes. Both have the same number of outputs, of the same dtypes and shapes; an extent \
              that a run counts may differ.",
        numbers: 2,
        ..CONTROL
    },
    NodeKind {
        name: "while",
        code: 48,
        doc: "the outputs of the last iteration of a subgraph, the body. Three numbers: the \
              subgraph of the condition, the body, and the largest number of iterations, at least \
              1. The operands are the inputs of both in the first iteration. Each iteration \
              replaces the first of them by the body's outputs, which have the same dtypes and \
              shapes; an extent that a run counts may become smaller. The condition gives a bool8 \
              of one element. A run fails with INVALID_ARGUMENT where the condition still holds \
              after the last iteration.",
        numbers: 3,
        ..CONTROL
    },
    NodeKind {
        name: "nonzero",
        code: 49,
        doc: "`tnr_nonzero`, with as many rows as a run counts. The number is an extent of \
              `tnr_graph_add_extent` that no input has, no other node gives and no node before this \
              one takes: its value is that count. A run that counts more than the maximum of the \
              extent fails with INVALID_ARGUMENT. The plan of memory has room for the maximum, or \
              for the operand's elements where these are fewer.",
        numbers: 1,
        row_major: true,
        ..CALL
    },
    NodeKind {
        name: "masked_select",
        code: 50,
        doc: "`tnr_masked_select` of elements by a mask, with as many elements as a run counts. The \
              number is an extent as that of `TNR_NODE_NONZERO`.",
        operands: (2, 2),
        numbers: 1,
        row_major: true,
        ..CALL
    },
    NodeKind {
        name: "sum_to",
        code: 51,
        doc: "the first operand, summed by `TNR_REDUCE_OP_SUM` over the axes that broadcast the \
              shape of the second operand to its own. Only the shape of the second operand is read.",
        operands: (2, 2),
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "extent",
        code: 52,
        doc: "the number, as an array of rank 0 of the node's dtype.",
        operands: (0, 0),
        numbers: 1,
        sets: Sets::Dtype,
        ..CALL
    },
];
