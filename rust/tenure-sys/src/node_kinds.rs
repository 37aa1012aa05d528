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

/// A kind of nodes.
#[derive(Clone, Copy, Debug)]
pub struct NodeKind {
    /// In messages, and in capitals the end of the constant's name.
    pub name: &'static str,
    /// The upper 16 bits of the code of a node.
    pub code: u16,
    /// The operands, as `a, weight?, ...`: `?` marks an optional one, `...` any number of further
    /// ones.
    pub operands: &'static str,
    /// The numbers, in the same form.
    pub numbers: &'static str,
    /// The meaning of the lower 16 bits, for the documentation; empty where they are 0.
    pub low_bits: &'static str,
    /// The result, for the documentation; empty where it is that of the call that the name names.
    pub result: &'static str,
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
    operands: "a",
    numbers: "",
    low_bits: "",
    result: "",
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
const VIEW: NodeKind = NodeKind { computes: Computes::View, device: DeviceDtypes::All, ..CALL };
const SPARSE: NodeKind = NodeKind {
    operands: "major, minor, values",
    numbers: "rows, cols",
    attributes: Attributes::SparseNode,
    throws: true,
    ..CALL
};
const SPARSE_VALUES: NodeKind = NodeKind { row_major: true, ..SPARSE };
const CONTROL: NodeKind = NodeKind { computes: Computes::Control, ..CALL };

/// Every kind, in the order of the codes. Expressions have the first eight.
pub const NODE_KINDS: &[NodeKind] = &[
    NodeKind { name: "unary", code: 1, low_bits: "`tnr_unary_op`", ..ELEMENTWISE },
    NodeKind {
        name: "binary",
        code: 2,
        operands: "a, b",
        low_bits: "`tnr_binary_op`",
        ..ELEMENTWISE
    },
    NodeKind {
        name: "ternary",
        code: 3,
        operands: "a, b, c",
        low_bits: "`tnr_ternary_op`",
        ..ELEMENTWISE
    },
    NodeKind {
        name: "compare",
        code: 4,
        operands: "a, b",
        low_bits: "`tnr_compare_op`",
        ..ELEMENTWISE
    },
    NodeKind {
        name: "select",
        code: 5,
        operands: "condition, a, b",
        device: DeviceDtypes::All,
        ..ELEMENTWISE
    },
    NodeKind {
        name: "cast",
        code: 6,
        result: "Both dtypes are real.",
        sets: Sets::Dtype,
        ..ELEMENTWISE
    },
    NodeKind {
        name: "reduce",
        code: 7,
        low_bits: "`tnr_reduce_op`",
        attributes: Attributes::Reduce,
        computes: Computes::Reduction,
        sets: Sets::Axes,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "normalize",
        code: 8,
        operands: "a, weight?, bias?",
        low_bits: "`tnr_normalize_op`",
        attributes: Attributes::Normalize,
        sets: Sets::Axes,
        in_place: true,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "matmul",
        code: 9,
        operands: "a, b, bias?",
        attributes: Attributes::Matmul,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "conv2d",
        code: 10,
        operands: "a, weight, bias?",
        attributes: Attributes::Conv2d,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "pool2d",
        code: 11,
        numbers: "rows?, cols?",
        low_bits: "MAX or MEAN of `tnr_reduce_op`",
        attributes: Attributes::Pool2d,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "batch_norm",
        code: 12,
        operands: "a, mean?, var, weight?, bias?",
        attributes: Attributes::BatchNorm,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "reshape",
        code: 13,
        numbers: "shape...",
        result: "A copy if strides cannot express it.",
        ..VIEW
    },
    NodeKind { name: "permute", code: 14, numbers: "axes...", ..VIEW },
    NodeKind { name: "broadcast", code: 15, numbers: "shape...", ..VIEW },
    NodeKind { name: "slice", code: 16, numbers: "axis, start, stop, step", ..VIEW },
    NodeKind {
        name: "concat",
        code: 17,
        operands: "a, ...",
        numbers: "axis",
        device: DeviceDtypes::All,
        ..CALL
    },
    NodeKind {
        name: "pad",
        code: 18,
        numbers: "shape...",
        low_bits: "`tnr_pad_mode`",
        attributes: Attributes::Pad,
        device: DeviceDtypes::All,
        ..CALL
    },
    NodeKind {
        name: "take",
        code: 19,
        operands: "a, indices",
        numbers: "axis",
        device: DeviceDtypes::All,
        ..CALL
    },
    NodeKind {
        name: "gather",
        code: 20,
        operands: "a, indices",
        numbers: "axis",
        device: DeviceDtypes::All,
        ..CALL
    },
    NodeKind {
        name: "triangular",
        code: 21,
        low_bits: "`tnr_triangle`",
        attributes: Attributes::Triangle,
        in_place: true,
        device: DeviceDtypes::All,
        ..CALL
    },
    NodeKind {
        name: "scan",
        code: 22,
        numbers: "axis",
        low_bits: "`tnr_scan_op`",
        in_place: true,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "custom",
        code: 23,
        operands: "...",
        numbers: "...",
        low_bits: "index of `tnr_graph_add_custom`",
        device: DeviceDtypes::All,
        ..CALL
    },
    NodeKind {
        name: "conv2d_transposed",
        code: 24,
        operands: "a, weight, bias?",
        numbers: "rows?, cols?",
        attributes: Attributes::Conv2d,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "einsum",
        code: 25,
        operands: "a, ...",
        attributes: Attributes::EinsumNode,
        ..CALL
    },
    NodeKind {
        name: "sort",
        code: 26,
        numbers: "axis",
        low_bits: "`tnr_order_result`",
        attributes: Attributes::Sort,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "top_k",
        code: 27,
        numbers: "axis, k",
        low_bits: "`tnr_order_result`",
        attributes: Attributes::Sort,
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "partition",
        code: 28,
        numbers: "axis, kth",
        low_bits: "`tnr_order_result`",
        ..CALL
    },
    NodeKind {
        name: "quantile",
        code: 29,
        operands: "a, q",
        attributes: Attributes::Sort,
        sets: Sets::Axes,
        ..CALL
    },
    NodeKind {
        name: "searchsorted",
        code: 30,
        operands: "a, values",
        attributes: Attributes::Sort,
        ..CALL
    },
    NodeKind { name: "bincount", code: 31, operands: "a, weights?", numbers: "extent", ..CALL },
    NodeKind {
        name: "histogram",
        code: 32,
        operands: "a, edges?",
        numbers: "extent",
        attributes: Attributes::Histogram,
        ..CALL
    },
    NodeKind {
        name: "put",
        code: 33,
        operands: "out, a, indices",
        numbers: "axis",
        low_bits: "`tnr_binary_op`, 0 overwrites",
        in_place: true,
        device: DeviceDtypes::All,
        ..CALL
    },
    NodeKind {
        name: "scatter",
        code: 34,
        operands: "out, a, indices",
        numbers: "axis",
        low_bits: "`tnr_binary_op`, 0 overwrites",
        in_place: true,
        device: DeviceDtypes::All,
        ..CALL
    },
    NodeKind {
        name: "random",
        code: 35,
        operands: "seed, offset",
        numbers: "shape...",
        low_bits: "`tnr_random_distribution`",
        attributes: Attributes::Random,
        sets: Sets::Dtype,
        ..CALL
    },
    NodeKind {
        name: "random_permutation",
        code: 36,
        operands: "seed, offset",
        numbers: "extent",
        sets: Sets::Dtype,
        ..CALL
    },
    NodeKind { name: "sparse_to_dense", code: 37, device: DeviceDtypes::All, ..SPARSE },
    NodeKind {
        name: "sparse_matmul",
        code: 38,
        operands: "major, minor, values, b",
        device: DeviceDtypes::Floats,
        ..SPARSE
    },
    NodeKind {
        name: "sparse_sddmm",
        code: 39,
        operands: "major, minor, values, x, y",
        result: "Gives values.",
        device: DeviceDtypes::Floats,
        ..SPARSE_VALUES
    },
    NodeKind {
        name: "sparse_scale",
        code: 40,
        operands: "major, minor, values, factors",
        low_bits: "axis",
        result: "Gives values.",
        ..SPARSE_VALUES
    },
    NodeKind { name: "sparse_softmax", code: 41, result: "Gives values.", ..SPARSE_VALUES },
    NodeKind {
        name: "sparse_reduce",
        code: 42,
        low_bits: "`tnr_reduce_op`",
        sets: Sets::Axes,
        ..SPARSE
    },
    NodeKind { name: "sparse_norm", code: 43, low_bits: "`tnr_sparse_norm_kind`", ..SPARSE },
    NodeKind { name: "sparse_diagonal", code: 44, ..SPARSE },
    NodeKind { name: "sparse_solve", code: 45, operands: "major, minor, values, b", ..SPARSE },
    NodeKind {
        name: "sparse_accumulate",
        code: 46,
        operands: "major, minor, values, out",
        ..SPARSE
    },
    NodeKind {
        name: "cond",
        code: 47,
        operands: "condition, ...",
        numbers: "subgraph, other subgraph",
        ..CONTROL
    },
    NodeKind {
        name: "while",
        code: 48,
        operands: "a, ...",
        numbers: "condition, body, most iterations",
        ..CONTROL
    },
    NodeKind { name: "nonzero", code: 49, numbers: "extent", row_major: true, ..CALL },
    NodeKind {
        name: "masked_select",
        code: 50,
        operands: "a, mask",
        numbers: "extent",
        row_major: true,
        ..CALL
    },
    NodeKind {
        name: "sum_to",
        code: 51,
        operands: "a, b",
        result: "`a`, summed over the axes that broadcast the shape of `b` to it.",
        device: DeviceDtypes::Real,
        ..CALL
    },
    NodeKind {
        name: "extent",
        code: 52,
        operands: "",
        numbers: "number",
        result: "The number, as an array of rank 0 of the node's dtype.",
        sets: Sets::Dtype,
        device: DeviceDtypes::All,
        ..CALL
    },
    NodeKind {
        name: "pool2d_gradient",
        code: 53,
        operands: "a, gradient",
        low_bits: "MAX or MEAN of `tnr_reduce_op`",
        attributes: Attributes::Pool2d,
        device: DeviceDtypes::Floats,
        ..CALL
    },
    NodeKind {
        name: "conv2d_filters",
        code: 54,
        operands: "a, gradient",
        numbers: "kernel rows, kernel columns",
        attributes: Attributes::Conv2d,
        device: DeviceDtypes::Floats,
        ..CALL
    },
    NodeKind {
        name: "quantize",
        code: 55,
        operands: "a, scales, zeros?",
        sets: Sets::Dtype,
        ..CALL
    },
    NodeKind {
        name: "quantize_dynamic",
        code: 56,
        numbers: "shape...",
        low_bits: "`tnr_quantize_result`",
        sets: Sets::Dtype,
        ..CALL
    },
    NodeKind {
        name: "dequantize",
        code: 57,
        operands: "a, scales, zeros?",
        sets: Sets::Dtype,
        ..CALL
    },
    NodeKind {
        name: "quantized_matmul",
        code: 58,
        operands: "a, b, a_scales?, b_scales, a_zeros?, b_zeros?, bias?, scale?, zero?",
        attributes: Attributes::Matmul,
        sets: Sets::Dtype,
        ..CALL
    },
    NodeKind {
        name: "quantized_conv2d",
        code: 59,
        operands: "a, weight, a_scale?, scales, a_zero?, zeros?, bias?, out_scale?, out_zero?",
        attributes: Attributes::Conv2d,
        sets: Sets::Dtype,
        ..CALL
    },
];
