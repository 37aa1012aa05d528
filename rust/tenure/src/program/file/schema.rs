//! The messages of a graph, in Protocol Buffers (proto3). `docs/design/program.proto` has the same
//! for other languages, and a test compares the two.
//!
//! Field numbers are never used again. A field that is added, or means something new, raises the
//! version of the container: a reader refuses parts that it does not know, because a graph without
//! one of its parts computes something else.

use prost::{Message, Oneof};

/// A graph. Extents, values and outputs are in the order in which they were added.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub(super) extents: Vec<Extent>,
    /// Names of custom operations, by which nodes call them.
    #[prost(string, repeated, tag = "2")]
    pub(super) customs: Vec<String>,
    #[prost(message, repeated, tag = "3")]
    pub(super) values: Vec<Value>,
    #[prost(message, repeated, tag = "4")]
    pub(super) outputs: Vec<Output>,
    /// From version 2 on, which has one at least. They have custom operations from version 3 on,
    /// which has one at least.
    #[prost(message, repeated, tag = "5")]
    pub(super) subgraphs: Vec<Graph>,
}

/// A number that each run has: one by name, or `a op b`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Extent {
    /// A `tnr_extent_op`; 0 of a named one.
    #[prost(int32, tag = "1")]
    pub(super) op: i32,
    /// A named one has its maximum here.
    #[prost(int64, tag = "2")]
    pub(super) a: i64,
    #[prost(int64, tag = "3")]
    pub(super) b: i64,
    // No string: the core cuts names after 31 bytes, within a character where it has to.
    #[prost(bytes = "vec", tag = "4")]
    pub(super) name: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Value {
    #[prost(oneof = "StoredSource", tags = "1, 2, 3, 4, 5")]
    pub(super) source: Option<StoredSource>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum StoredSource {
    #[prost(message, tag = "1")]
    Input(Input),
    #[prost(message, tag = "2")]
    Constant(Constant),
    #[prost(message, tag = "3")]
    Scalar(Scalar),
    #[prost(message, tag = "4")]
    Node(Node),
    /// A further result of the node before, from 1 on. Only in files of version 2.
    #[prost(uint32, tag = "5")]
    Result(u32),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Input {
    /// DLPack's code, bits and lanes, as in `tnr_dtype`.
    #[prost(uint32, tag = "1")]
    pub(super) dtype: u32,
    /// Constants, or `TNR_EXTENT` plus the index of an extent.
    #[prost(int64, repeated, tag = "2")]
    pub(super) numbers: Vec<i64>,
    /// Not given: its number. Only in files of version 4, and not in subgraphs.
    #[prost(string, tag = "3")]
    pub(super) name: String,
}

/// Elements in the section of constants: little-endian and row-major.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Constant {
    #[prost(uint32, tag = "1")]
    pub(super) dtype: u32,
    #[prost(uint64, repeated, tag = "2")]
    pub(super) shape: Vec<u64>,
    /// Bytes from the beginning of the section: a multiple of 64.
    #[prost(uint64, tag = "3")]
    pub(super) offset: u64,
    #[prost(uint64, tag = "4")]
    pub(super) size_bytes: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Scalar {
    #[prost(uint32, tag = "1")]
    pub(super) dtype: u32,
    /// The bytes of one element of the dtype, little-endian.
    #[prost(bytes = "vec", tag = "2")]
    pub(super) bytes: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Node {
    /// The code as in `tnr_graph_node`: a kind plus the code of an operation.
    #[prost(uint32, tag = "1")]
    pub(super) code: u32,
    /// A cast has one, and nothing else.
    #[prost(uint32, tag = "2")]
    pub(super) dtype: u32,
    #[prost(uint32, tag = "3")]
    pub(super) flags: u32,
    /// Indices of earlier values; 0xffffffff of an optional one that is not given.
    #[prost(uint32, repeated, tag = "4")]
    pub(super) operands: Vec<u32>,
    #[prost(int64, repeated, tag = "5")]
    pub(super) numbers: Vec<i64>,
    /// Nodes that differ in it are not merged. Only in files of version 4.
    #[prost(uint32, tag = "6")]
    pub(super) copy: u32,
    /// `TNR_MARK_KEEP` and so on. Only in files of version 4.
    #[prost(uint32, tag = "7")]
    pub(super) marks: u32,
    #[prost(oneof = "Attributes", tags = "8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20")]
    pub(super) attributes: Option<Attributes>,
}

/// The fields of the struct of attributes, by their names. Not given: NULL.
#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Attributes {
    #[prost(message, tag = "8")]
    Reduce(Reduce),
    #[prost(message, tag = "9")]
    Normalize(Normalize),
    #[prost(message, tag = "10")]
    Matmul(Matmul),
    #[prost(message, tag = "11")]
    Conv2d(Conv2d),
    #[prost(message, tag = "12")]
    Pool2d(Pool2d),
    #[prost(message, tag = "13")]
    BatchNorm(BatchNorm),
    #[prost(message, tag = "14")]
    Pad(Pad),
    #[prost(message, tag = "15")]
    Triangle(Triangle),
    #[prost(message, tag = "16")]
    Einsum(Einsum),
    #[prost(message, tag = "17")]
    Ordering(Ordering),
    #[prost(message, tag = "18")]
    Histogram(Histogram),
    #[prost(message, tag = "19")]
    Random(Random),
    #[prost(message, tag = "20")]
    Sparse(Sparse),
}

// Floats are `optional`: a plain one that equals 0 is left out, and -0 would come back as 0.

#[derive(Clone, PartialEq, Message)]
pub(super) struct Reduce {
    #[prost(uint32, tag = "1")]
    pub(super) ddof: u32,
    #[prost(double, optional, tag = "2")]
    pub(super) power: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Normalize {
    #[prost(double, optional, tag = "1")]
    pub(super) eps: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Matmul {
    /// A `tnr_unary_op`; 0: none.
    #[prost(int32, tag = "1")]
    pub(super) activation: i32,
    #[prost(uint32, tag = "2")]
    pub(super) flags: u32,
    #[prost(double, optional, tag = "3")]
    pub(super) low: Option<f64>,
    #[prost(double, optional, tag = "4")]
    pub(super) high: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Conv2d {
    /// Two numbers.
    #[prost(int64, repeated, tag = "1")]
    pub(super) strides: Vec<i64>,
    /// Four.
    #[prost(int64, repeated, tag = "2")]
    pub(super) padding: Vec<i64>,
    /// Two.
    #[prost(int64, repeated, tag = "3")]
    pub(super) dilations: Vec<i64>,
    #[prost(int64, tag = "4")]
    pub(super) groups: i64,
    /// It means the same as in `Matmul`, like the fields behind it.
    #[prost(int32, tag = "5")]
    pub(super) activation: i32,
    #[prost(uint32, tag = "6")]
    pub(super) flags: u32,
    #[prost(double, optional, tag = "7")]
    pub(super) low: Option<f64>,
    #[prost(double, optional, tag = "8")]
    pub(super) high: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Pool2d {
    /// Two numbers.
    #[prost(int64, repeated, tag = "1")]
    pub(super) kernel: Vec<i64>,
    /// Two.
    #[prost(int64, repeated, tag = "2")]
    pub(super) strides: Vec<i64>,
    /// Four.
    #[prost(int64, repeated, tag = "3")]
    pub(super) padding: Vec<i64>,
    /// Two.
    #[prost(int64, repeated, tag = "4")]
    pub(super) dilations: Vec<i64>,
    #[prost(uint32, tag = "5")]
    pub(super) flags: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct BatchNorm {
    #[prost(double, optional, tag = "1")]
    pub(super) eps: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Pad {
    /// Eight numbers.
    #[prost(int64, repeated, tag = "1")]
    pub(super) before: Vec<i64>,
    /// Not given: bytes of 0.
    #[prost(message, optional, tag = "2")]
    pub(super) value: Option<Scalar>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Triangle {
    #[prost(int64, tag = "1")]
    pub(super) diagonal: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Einsum {
    /// Without the 0 at its end.
    #[prost(bytes = "vec", tag = "1")]
    pub(super) spec: Vec<u8>,
}

/// Attributes of all kinds of nodes that have only flags.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Ordering {
    #[prost(uint32, tag = "1")]
    pub(super) flags: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Histogram {
    #[prost(double, optional, tag = "1")]
    pub(super) low: Option<f64>,
    #[prost(double, optional, tag = "2")]
    pub(super) high: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Random {
    #[prost(double, optional, tag = "1")]
    pub(super) low: Option<f64>,
    #[prost(double, optional, tag = "2")]
    pub(super) high: Option<f64>,
    #[prost(double, optional, tag = "3")]
    pub(super) mean: Option<f64>,
    #[prost(double, optional, tag = "4")]
    pub(super) deviation: Option<f64>,
    #[prost(double, optional, tag = "5")]
    pub(super) probability: Option<f64>,
    #[prost(int64, tag = "6")]
    pub(super) least: i64,
    #[prost(int64, tag = "7")]
    pub(super) bound: i64,
}

/// Attributes of all kinds of nodes of sparse matrices.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Sparse {
    /// A `tnr_sparse_format`; 0: CSR.
    #[prost(int32, tag = "1")]
    pub(super) format: i32,
    #[prost(uint32, tag = "2")]
    pub(super) flags: u32,
    /// A `tnr_orientation`; 0: as it is.
    #[prost(int32, tag = "3")]
    pub(super) orientation: i32,
    #[prost(uint32, tag = "4")]
    pub(super) call_flags: u32,
    #[prost(uint32, tag = "5")]
    pub(super) block_rows: u32,
    #[prost(uint32, tag = "6")]
    pub(super) block_cols: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Output {
    #[prost(uint32, tag = "1")]
    pub(super) value: u32,
    /// The value of the input that it updates.
    #[prost(uint32, optional, tag = "2")]
    pub(super) updates: Option<u32>,
    /// Not given: its number. Only in files of version 4, not in subgraphs, and not of an output
    /// that updates an input.
    #[prost(string, tag = "3")]
    pub(super) name: String,
}
