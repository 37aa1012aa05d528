//! Graphs of the C ABI, listed and built: handles, and what each call takes and tells.

use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop};
use std::ptr::{self, NonNull};

use tenure_sys as sys;
use tenure_sys::{tnr_graph, tnr_scalar, tnr_view};

use super::custom::CustomOperation;
use super::{Given, NewNode, text_of};
use crate::dense::{DynView, SharedTensor};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::layout;
use crate::ops::results::Extents;
use crate::program::calls as program;
use crate::raw::{check, entered};

/// The only handle on a graph of the C ABI; dropping it ends the graph.
///
/// It is the way between files and whatever builds and runs graphs: this type neither adds to one
/// nor runs it.
#[derive(Debug)]
pub struct GraphHandle {
    graph: program::GraphHandle,
}

/// How an extent came about.
#[derive(Debug)]
pub(crate) enum Extent {
    Named { name: CString, maximum: i64 },
    Made { op: sys::tnr_extent_op, a: i64, b: i64 },
}

/// Where a value comes from: an input, or the index of a constant, a scalar or a node.
#[derive(Debug)]
pub(crate) enum ValueSource {
    Input {
        dtype: DType,
        numbers: Vec<i64>,
    },
    Constant(u32),
    Scalar(u32),
    Node(u32),
    /// A further result, by its number, of the node before.
    Result(u32),
}

/// A node, in memory of its own.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) code: u32,
    pub(crate) dtype: DType,
    pub(crate) flags: u32,
    pub(crate) copy: u32,
    pub(crate) marks: u32,
    pub(crate) operands: Vec<u32>,
    pub(crate) numbers: Vec<i64>,
    pub(crate) attributes: Option<Attributes>,
}

/// The bits of a node's code that are its kind.
pub(crate) const NODE_KIND: u32 = 0xffff_0000;

/// All structs of attributes, with the kinds of nodes that take each.
macro_rules! attributes {
    ($($($kind:ident)|+: $name:ident($attributes:ident)),* $(,)?) => {
        /// The attributes of a node. Views among them are NULL: they are operands.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Attributes {
            $($name(sys::$attributes)),*
        }

        impl Attributes {
            /// Zeros, as nodes of the kind of `code` take them; `None` where they take none.
            fn blank(code: u32) -> Option<Attributes> {
                match code & NODE_KIND {
                    $($(sys::$kind)|+ => {
                        // SAFETY: integers, floats, and pointers that may be NULL.
                        let zeros: sys::$attributes = unsafe { mem::zeroed() };
                        Some(Attributes::$name(zeros))
                    })*
                    _ => None,
                }
            }

            /// Whether nodes of the kind of `code` take these.
            pub(crate) fn are_of(&self, code: u32) -> bool {
                match self {
                    $(Attributes::$name(_) => matches!(code & NODE_KIND, $(sys::$kind)|+)),*
                }
            }

            fn given(&self) -> Given<'_> {
                let address = match self {
                    $(Attributes::$name(attributes) => ptr::from_ref(attributes).cast()),*
                };
                Given { address, _lent: PhantomData }
            }

            fn memory_mut(&mut self) -> (*mut u8, usize) {
                match self {
                    $(Attributes::$name(attributes) => {
                        (ptr::from_mut(attributes).cast(), size_of_val(attributes))
                    })*
                }
            }
        }
    };
}

tenure_sys::for_each_node_attributes!(attributes);

impl Attributes {
    /// A copy of those of a node.
    ///
    /// # Safety
    ///
    /// - `given` is readable as far as the `struct_size` says with which it begins.
    unsafe fn read(code: u32, given: *const c_void) -> Result<Attributes> {
        let mut known = Attributes::blank(code).ok_or_else(|| {
            Error::new(ErrorKind::Unsupported, format!("code 0x{code:08x} has no known attributes"))
        })?;
        let (memory, known_bytes) = known.memory_mut();
        // SAFETY: by this function's contract there are the bytes of `struct_size`, and as many as
        // it says.
        let bytes = unsafe {
            let size_bytes = given.cast::<u64>().read_unaligned();
            std::slice::from_raw_parts(given.cast::<u8>(), size_bytes as usize)
        };
        let (bytes, newer) = bytes.split_at(bytes.len().min(known_bytes));
        if newer.iter().any(|byte| *byte != 0) {
            let why = format!("the attributes have {} bytes that are not known", newer.len());
            return Err(Error::new(ErrorKind::Unsupported, why));
        }
        // SAFETY: there are at least as many bytes on both sides, which are different ones.
        // Whatever they are, they are integers, floats, and pointers that are not followed.
        unsafe { memory.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(known)
    }
}

/// Taking and giving handles of the C ABI.
impl GraphHandle {
    /// Takes a handle over.
    ///
    /// # Safety
    ///
    /// - `graph` is a handle of a graph, or NULL.
    /// - No other code uses or releases it while this value lives.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: NULL.
    pub unsafe fn from_raw(graph: *mut tnr_graph) -> Result<GraphHandle> {
        entered()?;
        let graph = NonNull::new(graph).ok_or_else(|| Error::invalid("the graph is NULL"))?;
        Ok(GraphHandle { graph: program::GraphHandle::own(graph) })
    }

    /// The handle, which stays this value's.
    pub fn as_raw(&self) -> *mut tnr_graph {
        self.graph.0.as_ptr()
    }

    /// Gives the handle up: it is the caller's to release.
    pub fn into_raw(self) -> *mut tnr_graph {
        ManuallyDrop::new(self).as_raw()
    }
}

impl From<program::GraphHandle> for GraphHandle {
    fn from(graph: program::GraphHandle) -> Self {
        GraphHandle { graph }
    }
}

/// Building, in the order in which the parts were added before.
impl GraphHandle {
    /// Builds a program like [`program::GraphHandle::program`].
    pub(crate) fn program(
        &self,
        passes: [u32; 2],
        packed: Option<&SharedTensor<u8>>,
        counts: [usize; 3],
    ) -> Result<program::ProgramHandle> {
        self.graph.program(passes, packed, 0, counts)
    }

    /// The dtype of a value, and its shape where all extents are at their maxima.
    pub(crate) fn type_of(&self, value: u32) -> Result<(DType, Extents)> {
        Ok((self.graph.dtype_of(value)?, self.graph.shape_of(value)?))
    }

    #[cfg(feature = "onnx")]
    /// The shape of a value as numbers of the graph.
    pub(crate) fn numbers_of(&self, value: u32) -> Result<Vec<i64>> {
        let (numbers, rank) = self.graph.sizes_of(value)?;
        Ok(numbers[..rank].to_vec())
    }

    /// A number of a shape in messages: itself, or the name of an extent.
    pub(crate) fn number_text(&self, number: i64) -> Result<String> {
        if number < sys::TNR_EXTENT {
            return Ok(number.to_string());
        }
        Ok(match self.extent((number - sys::TNR_EXTENT) as u32)? {
            Extent::Named { name, .. } => name.to_string_lossy().into_owned(),
            Extent::Made { .. } => "?".into(),
        })
    }

    pub(crate) fn create() -> Result<GraphHandle> {
        Ok(GraphHandle { graph: program::GraphHandle::new()? })
    }

    pub(crate) fn add_extent(&mut self, extent: &Extent) -> Result<i64> {
        match extent {
            Extent::Named { name, maximum } => self.graph.add_extent(name, *maximum),
            Extent::Made { op, a, b } => self.graph.combine_extents(*op, *a, *b),
        }
    }

    pub(crate) fn add_input(&mut self, dtype: DType, numbers: &[i64]) -> Result<u32> {
        self.graph.add_input(dtype, numbers)
    }

    /// Adds elements that lie in `bytes`, which the graph then holds too.
    pub(crate) fn add_constant(
        &mut self,
        bytes: &SharedTensor<u8>,
        offset_bytes: usize,
        dtype: DType,
        shape: &[usize],
    ) -> Result<u32> {
        let held = bytes.owned_raw();
        let (data, len) = (held.base.cast::<u8>(), held.size_bytes as usize);
        let mut view = layout::dense_in_bytes(data, len, offset_bytes, dtype, shape)?;
        view.owner = held.owner;
        // SAFETY: the elements are the blob's, which are not written, and any bytes are elements.
        unsafe { self.graph.add_constant(&view) }
    }

    pub(crate) fn add_scalar(&mut self, scalar: &tnr_scalar) -> Result<u32> {
        self.graph.add_scalar(scalar)
    }

    pub(crate) fn add_node(&mut self, node: &Node) -> Result<u32> {
        if let Some(attributes) = node.attributes.as_ref().filter(|it| !it.are_of(node.code)) {
            let why = format!("code 0x{:08x} takes no {attributes:?}", node.code);
            return Err(Error::invalid(why));
        }
        self.graph.add_node(&NewNode {
            code: node.code,
            dtype: Some(node.dtype),
            flags: node.flags,
            copy: node.copy,
            marks: node.marks,
            operands: &node.operands,
            numbers: &node.numbers,
            attributes: node.attributes.as_ref().map_or(Given::NONE, Attributes::given),
        })
    }

    /// The gradients of a value by others, as new values.
    pub(crate) fn add_gradients(&mut self, of: u32, seed: u32, by: &[u32]) -> Result<Vec<u32>> {
        self.graph.add_gradients(of, Some(seed), by)
    }

    pub(crate) fn add_output(&mut self, value: u32, updates: Option<u32>) -> Result<()> {
        self.graph.add_output(value, updates)
    }

    pub(crate) fn add_subgraph(&mut self, body: &GraphHandle) -> Result<u32> {
        self.graph.add_subgraph(&body.graph)
    }

    pub(crate) fn add_custom(&mut self, operation: &CustomOperation) -> Result<u32> {
        self.graph.add_custom(operation)
    }
}

/// Listing.
impl GraphHandle {
    pub(crate) fn info(&self) -> Result<sys::tnr_graph_info> {
        self.graph.info()
    }

    pub(crate) fn extent(&self, index: u32) -> Result<Extent> {
        let mut info = sys::tnr_extent_info {
            struct_size: size_of::<sys::tnr_extent_info>() as u64,
            op: sys::tnr_extent_op(0),
            reserved: 0,
            a: 0,
            b: 0,
            name: [0; 32],
        };
        // SAFETY: the handle is alive, and no other code uses it; `info` is writable as far as its
        // size says.
        check(unsafe { sys::tnr_graph_describe_extent(self.as_raw(), index, &mut info) })?;
        if info.op != sys::tnr_extent_op(0) {
            return Ok(Extent::Made { op: info.op, a: info.a, b: info.b });
        }
        let name = CString::new(text_of(&info.name)).unwrap_or_default();
        Ok(Extent::Named { name, maximum: info.a })
    }

    pub(crate) fn source(&self, value: u32) -> Result<ValueSource> {
        let info = self.graph.describe_value(value)?;
        match info.source {
            sys::tnr_value_source::INPUT => {
                let numbers = info.numbers.iter().copied().take(info.rank as usize).collect();
                Ok(ValueSource::Input { dtype: DType::from_raw(info.dtype), numbers })
            }
            sys::tnr_value_source::CONSTANT => Ok(ValueSource::Constant(info.index)),
            sys::tnr_value_source::SCALAR => Ok(ValueSource::Scalar(info.index)),
            sys::tnr_value_source::NODE if info.result > 0 => Ok(ValueSource::Result(info.result)),
            sys::tnr_value_source::NODE => Ok(ValueSource::Node(info.index)),
            source => {
                let why = format!("value {value} has the source {}, which is not known", source.0);
                Err(Error::new(ErrorKind::Unsupported, why))
            }
        }
    }

    pub(crate) fn node(&self, index: u32) -> Result<Node> {
        let mut info = sys::tnr_graph_node {
            struct_size: size_of::<sys::tnr_graph_node>() as u64,
            code: 0,
            dtype: sys::tnr_dtype(0),
            operands: ptr::null(),
            numbers: ptr::null(),
            attributes: ptr::null(),
            operand_count: 0,
            number_count: 0,
            flags: 0,
            copy: 0,
            marks: 0,
            reserved: 0,
        };
        // SAFETY: the handle is alive, and no other code uses it; `info` is writable as far as its
        // size says.
        check(unsafe { sys::tnr_graph_describe_node(self.as_raw(), index, &mut info) })?;
        // SAFETY: the arrays are the graph's, which is not changed while it is borrowed here; the
        // attributes begin with their size.
        unsafe {
            let attributes = match info.attributes.is_null() {
                true => None,
                false => Some(Attributes::read(info.code, info.attributes)?),
            };
            Ok(Node {
                code: info.code,
                dtype: DType::from_raw(info.dtype),
                flags: info.flags,
                copy: info.copy,
                marks: info.marks,
                operands: copied(info.operands, info.operand_count),
                numbers: copied(info.numbers, info.number_count),
                attributes,
            })
        }
    }

    /// # Safety
    ///
    /// - The graph, or one whose copy it is a part of, lives for `'a`.
    unsafe fn constant<'a>(&self, index: u32) -> Result<DynView<'a>> {
        let mut view = mem::MaybeUninit::<tnr_view>::uninit();
        // SAFETY: the handle is alive, and no other code uses it; the view is writable, and written
        // where the answer is OK. Its elements live as long as a graph that has the constant, by
        // this function's contract, and are not written.
        unsafe {
            let graph = self.as_raw();
            check(sys::tnr_graph_describe_constant(graph, index, view.as_mut_ptr()))?;
            Ok(DynView::from_raw(view.assume_init()))
        }
    }

    /// A copy of a subgraph, whose constants are those that this holds.
    fn subgraph(&self, index: u32) -> Result<GraphHandle> {
        // SAFETY: the handle is alive, and no other code uses it.
        let copy = unsafe { sys::tnr_graph_copy_subgraph(self.as_raw(), index) };
        let copy = NonNull::new(copy).ok_or_else(crate::raw::last_failure)?;
        Ok(GraphHandle { graph: program::GraphHandle::own(copy) })
    }

    /// The names of all custom operations.
    pub(crate) fn custom_names(&self) -> Result<Vec<String>> {
        (0..self.info()?.custom_count).map(|index| self.custom_name(index)).collect()
    }

    /// The name of a custom operation.
    fn custom_name(&self, index: u32) -> Result<String> {
        let mut info = sys::tnr_custom_info {
            struct_size: size_of::<sys::tnr_custom_info>() as u64,
            operand_count: 0,
            number_count: 0,
            flags: 0,
            reserved: 0,
            name: [0; 32],
        };
        // SAFETY: the handle is alive, and no other code uses it; `info` is writable as far as its
        // size says.
        check(unsafe { sys::tnr_graph_describe_custom(self.as_raw(), index, &mut info) })?;
        String::from_utf8(text_of(&info.name))
            .map_err(|_| Error::invalid(format!("the name of operation {index} is no UTF-8")))
    }

    pub(crate) fn scalar(&self, index: u32) -> Result<tnr_scalar> {
        let mut scalar = tnr_scalar { dtype: sys::tnr_dtype(0), reserved: 0, bytes: [0; 16] };
        // SAFETY: the handle is alive, and no other code uses it; the scalar is writable.
        check(unsafe { sys::tnr_graph_describe_scalar(self.as_raw(), index, &mut scalar) })?;
        Ok(scalar)
    }

    /// An output's value, and that of the input that it updates.
    pub(crate) fn output(&self, index: u32) -> Result<(u32, Option<u32>)> {
        let (mut value, mut updates) = (0, sys::TNR_OPERAND_NONE);
        // SAFETY: the handle is alive, and no other code uses it; both numbers are writable.
        check(unsafe {
            let graph = self.as_raw();
            sys::tnr_graph_describe_output(graph, index, &mut value, &mut updates)
        })?;
        Ok((value, Some(updates).filter(|updates| *updates != sys::TNR_OPERAND_NONE)))
    }
}

/// A graph, or one that is within it, whose constants the graph holds for `'a`.
pub(crate) enum Listed<'a> {
    Whole(&'a GraphHandle),
    Part(GraphHandle, PhantomData<&'a GraphHandle>),
}

impl<'a> Listed<'a> {
    pub(crate) fn graph(&self) -> &GraphHandle {
        match self {
            Listed::Whole(graph) => graph,
            Listed::Part(copy, _) => copy,
        }
    }

    pub(crate) fn constant(&self, index: u32) -> Result<DynView<'a>> {
        // SAFETY: the whole graph is borrowed for 'a, and nothing is taken out of a graph.
        unsafe { self.graph().constant(index) }
    }

    pub(crate) fn subgraph(&self, index: u32) -> Result<Listed<'a>> {
        Ok(Listed::Part(self.graph().subgraph(index)?, PhantomData))
    }
}

/// # Safety
///
/// - `data` is readable for `count` elements; it may be NULL where there are none.
unsafe fn copied<E: Copy>(data: *const E, count: u32) -> Vec<E> {
    if count == 0 {
        return Vec::new();
    }
    // SAFETY: by this function's contract.
    unsafe { std::slice::from_raw_parts(data, count as usize) }.to_vec()
}
