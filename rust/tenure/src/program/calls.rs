//! Graphs that are being built; and programs, in the modules below.

mod blank;
mod bound;
pub(crate) mod custom;
mod fresh;
#[cfg_attr(not(feature = "programs"), allow(dead_code, reason = "for files"))]
pub(crate) mod graph_record;
pub(crate) mod lent;
mod report;
mod run;

use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use tenure_sys as sys;
use tenure_sys::{tnr_extent_op, tnr_graph, tnr_graph_node, tnr_scalar, tnr_value_info, tnr_view};

pub use crate::raw::call::ProgramCall;
pub use blank::OutputMemory;
pub(crate) use blank::RunExtents;
pub(crate) use bound::{Binding, BoundHandle, Refusal};
pub use fresh::Fresh;
pub(crate) use report::StepInfo;
pub(crate) use run::{Options, ProgramHandle, REFUSED_VALUES};

use crate::dense::SharedTensor;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::ops::results::Extents;
use crate::raw::context::current;
use crate::raw::{Lent, check, entered, last_failure};

/// The bytes before a 0.
pub(crate) fn text_of(name: &[c_char]) -> Vec<u8> {
    name.iter().map(|byte| *byte as u8).take_while(|byte| *byte != 0).collect()
}

/// A handle on a graph. The only one, which ends the graph when it is dropped, while programs made
/// of it stay; or a lent one.
// Calls on a graph are not to meet: `NonNull` is not Sync, so that they are all on one thread.
#[derive(Debug)]
pub(crate) struct GraphHandle(pub(super) NonNull<tnr_graph>, Lifetime);

#[derive(Debug)]
enum Lifetime {
    Own,
    Lent,
}

// SAFETY: the handle is a token, and the library takes it from any thread.
unsafe impl Send for GraphHandle {}

impl Drop for GraphHandle {
    fn drop(&mut self) {
        if let Lifetime::Own = self.1 {
            // SAFETY: the handle is alive and not used again.
            unsafe { sys::tnr_graph_release(self.0.as_ptr()) };
        }
    }
}

/// Attributes of a node, as the ABI has them, or none.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(super) address: *const c_void,
    pub(super) _lent: PhantomData<&'a ()>,
}

impl Given<'_> {
    pub(crate) const NONE: Given<'static> = Given { address: ptr::null(), _lent: PhantomData };
}

/// Each begins with its size, beyond which the library reads nothing, whatever the node is.
macro_rules! attributes {
    ($($type:ident)*) => {$(
        impl<'a> From<&'a sys::$type> for Given<'a> {
            fn from(attributes: &'a sys::$type) -> Given<'a> {
                assert!(attributes.struct_size == size_of::<sys::$type>() as u64);
                Given { address: ptr::from_ref(attributes).cast(), _lent: PhantomData }
            }
        }
    )*};
}
attributes! {
    tnr_reduce_attributes tnr_normalize_attributes tnr_conv2d_attributes tnr_matmul_attributes
    tnr_pool2d_attributes tnr_batch_norm_attributes tnr_pad_attributes tnr_triangle_attributes
    tnr_sort_attributes tnr_histogram_attributes tnr_random_attributes tnr_einsum_node_attributes
    tnr_sparse_node_attributes
}

/// Attributes of nodes that have nothing but flags: their structs differ only in their names.
pub(crate) fn flags_of_node(flags: u32) -> sys::tnr_sort_attributes {
    let struct_size = size_of::<sys::tnr_sort_attributes>() as u64;
    sys::tnr_sort_attributes { struct_size, flags, reserved: 0 }
}

/// Attributes of a node that has a spec, which is to end within them.
pub(crate) fn einsum_of_node(spec: &[u8]) -> Result<sys::tnr_einsum_node_attributes> {
    let struct_size = size_of::<sys::tnr_einsum_node_attributes>() as u64;
    let mut attributes = sys::tnr_einsum_node_attributes { struct_size, spec: [0; 120] };
    if let Some(position) = spec.iter().position(|byte| *byte == 0) {
        let why = format!("spec[{position}] is byte 0x00, but must be a letter");
        return Err(Error::invalid(why));
    }
    let most = attributes.spec.len() - 1;
    let Some(to) = attributes.spec[..most].get_mut(..spec.len()) else {
        let len = spec.len();
        let why = format!("the spec has {len} bytes but a graph takes at most {most}");
        return Err(Error::invalid(why));
    };
    for (to, from) in to.iter_mut().zip(spec) {
        *to = *from as c_char;
    }
    Ok(attributes)
}

/// A node to be added.
pub(crate) struct NewNode<'a> {
    pub(crate) code: u32,
    /// The dtype of a cast.
    pub(crate) dtype: Option<DType>,
    pub(crate) flags: u32,
    pub(crate) copy: u32,
    pub(crate) marks: u32,
    /// Values, or `TNR_OPERAND_NONE`.
    pub(crate) operands: &'a [u32],
    pub(crate) numbers: &'a [i64],
    pub(crate) attributes: Given<'a>,
}

fn length(count: usize) -> u32 {
    // More than the library takes of anything.
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl GraphHandle {
    pub(crate) fn new() -> Result<GraphHandle> {
        entered()?;
        // SAFETY: takes nothing.
        let graph = unsafe { sys::tnr_graph_create() };
        let graph = NonNull::new(graph).ok_or_else(last_failure)?;
        Ok(GraphHandle::own(graph))
    }

    pub(super) fn own(graph: NonNull<tnr_graph>) -> GraphHandle {
        GraphHandle(graph, Lifetime::Own)
    }

    /// A handle that another owner ends. The library refuses it afterwards.
    pub(super) fn lent(graph: NonNull<tnr_graph>) -> GraphHandle {
        GraphHandle(graph, Lifetime::Lent)
    }

    pub(crate) fn add_extent(&self, name: &CStr, maximum: i64) -> Result<i64> {
        let mut number = 0;
        // SAFETY: the handle is alive, and the name ends with a 0.
        check(unsafe {
            sys::tnr_graph_add_extent(self.0.as_ptr(), name.as_ptr(), maximum, &mut number)
        })?;
        Ok(number)
    }

    pub(crate) fn combine_extents(&self, op: tnr_extent_op, a: i64, b: i64) -> Result<i64> {
        let mut number = 0;
        // SAFETY: the handle is alive; numbers are checked by the library.
        check(unsafe { sys::tnr_graph_combine_extents(self.0.as_ptr(), op, a, b, &mut number) })?;
        Ok(number)
    }

    pub(crate) fn add_input(&self, dtype: DType, shape: &[i64]) -> Result<u32> {
        let mut value = 0;
        let rank = length(shape.len());
        // SAFETY: the handle is alive, and there are `rank` numbers.
        check(unsafe {
            let shape = shape.as_ptr();
            sys::tnr_graph_add_input(self.0.as_ptr(), dtype.raw(), rank, shape, &mut value)
        })?;
        Ok(value)
    }

    /// A constant that is a copy of these elements.
    pub(crate) fn copy_constant(&self, view: Lent<'_>) -> Result<u32> {
        // SAFETY: what `Lent` promises is what the call asks: no owner is named, so that the
        // elements are copied.
        unsafe { self.add_constant(view.raw()) }
    }

    /// # Safety
    ///
    /// - The elements are readable; they are those of the blob that the view names, which is not
    ///   written from here on, or it names none.
    pub(super) unsafe fn add_constant(&self, view: &tnr_view) -> Result<u32> {
        let mut value = 0;
        // SAFETY: the handle is alive; the view by this function's contract.
        check(unsafe { sys::tnr_graph_add_constant(self.0.as_ptr(), view, &mut value) })?;
        Ok(value)
    }

    /// A constant that is the memory of a shared tensor, which is held for as long as a program is.
    pub(crate) fn hold_constant<T: Element>(&self, shared: &SharedTensor<T>) -> Result<u32> {
        // SAFETY: a view of the blob that it names, which is not written until its last holder
        // gives it back; the library is one of them from here on.
        unsafe { self.add_constant(&shared.owned_raw()) }
    }

    pub(crate) fn add_scalar(&self, given: &tnr_scalar) -> Result<u32> {
        let mut value = 0;
        // SAFETY: the handle and the scalar are alive.
        check(unsafe { sys::tnr_graph_add_scalar(self.0.as_ptr(), given, &mut value) })?;
        Ok(value)
    }

    pub(crate) fn add_node(&self, node: &NewNode<'_>) -> Result<u32> {
        let mut value = 0;
        let given = tnr_graph_node {
            struct_size: size_of::<tnr_graph_node>() as u64,
            code: node.code,
            dtype: node.dtype.map_or(sys::tnr_dtype(0), DType::raw),
            operands: node.operands.as_ptr(),
            numbers: node.numbers.as_ptr(),
            attributes: node.attributes.address,
            operand_count: length(node.operands.len()),
            number_count: length(node.numbers.len()),
            flags: node.flags,
            copy: node.copy,
            marks: node.marks,
            reserved: 0,
        };
        // SAFETY: the handle is alive, the arrays have the lengths that are given, and attributes
        // begin with their size; the library checks all that they name.
        check(unsafe { sys::tnr_graph_add_node(self.0.as_ptr(), &given, &mut value) })?;
        Ok(value)
    }

    /// The number of a copy of what `body` is now.
    pub(crate) fn add_subgraph(&self, body: &GraphHandle) -> Result<u32> {
        let mut index = 0;
        // SAFETY: the handles are alive.
        check(unsafe {
            sys::tnr_graph_add_subgraph(self.0.as_ptr(), body.0.as_ptr(), &mut index)
        })?;
        Ok(index)
    }

    /// The gradients of a value by others, as new values.
    pub(crate) fn add_gradients(&self, of: u32, seed: Option<u32>, by: &[u32]) -> Result<Vec<u32>> {
        let seed = seed.unwrap_or(sys::TNR_OPERAND_NONE);
        let mut gradients = vec![sys::TNR_OPERAND_NONE; by.len()];
        // SAFETY: the handle is alive, and both arrays have the length that is given; values are
        // checked by the library.
        check(unsafe {
            sys::tnr_graph_add_gradients(
                self.0.as_ptr(),
                of,
                seed,
                by.as_ptr(),
                length(by.len()),
                ptr::null(),
                gradients.as_mut_ptr(),
            )
        })?;
        Ok(gradients)
    }

    /// The values `of` in mixed precision, as new values.
    pub(crate) fn add_mixed_precision(
        &self,
        of: &[u32],
        dtype: DType,
        keep: &[u32],
    ) -> Result<Vec<u32>> {
        let attributes = sys::tnr_precision_attributes {
            struct_size: size_of::<sys::tnr_precision_attributes>() as u64,
            keep: keep.as_ptr(),
            keep_count: length(keep.len()),
            reserved: 0,
        };
        let mut lowered = vec![sys::TNR_OPERAND_NONE; of.len()];
        // SAFETY: the handle is alive, the arrays have the lengths that are given, and the attributes
        // live until the call ends; values are checked by the library.
        check(unsafe {
            sys::tnr_graph_add_mixed_precision(
                self.0.as_ptr(),
                of.as_ptr(),
                length(of.len()),
                dtype.raw(),
                &attributes,
                lowered.as_mut_ptr(),
            )
        })?;
        Ok(lowered)
    }

    /// The values `of` with products of integers, as new values; with a group by weights of 4 bits.
    pub(crate) fn add_quantized(
        &self,
        of: &[u32],
        keep: &[u32],
        weight_group: u32,
    ) -> Result<Vec<u32>> {
        let attributes = sys::tnr_graph_quantize_attributes {
            struct_size: size_of::<sys::tnr_graph_quantize_attributes>() as u64,
            keep: keep.as_ptr(),
            keep_count: length(keep.len()),
            weight_group,
        };
        let mut quantized = vec![sys::TNR_OPERAND_NONE; of.len()];
        // SAFETY:
        // - the handle is alive: `self` owns it;
        // - `of` and `quantized` have the length that is given, and `keep` that of the attributes;
        // - the attributes and `keep` live until the call ends;
        // - numbers of values are checked by the library.
        check(unsafe {
            sys::tnr_graph_quantize(
                self.0.as_ptr(),
                of.as_ptr(),
                length(of.len()),
                &attributes,
                quantized.as_mut_ptr(),
            )
        })?;
        Ok(quantized)
    }

    /// The numbers of values, nodes and so on.
    pub(crate) fn info(&self) -> Result<sys::tnr_graph_info> {
        let mut info = sys::tnr_graph_info {
            struct_size: size_of::<sys::tnr_graph_info>() as u64,
            value_count: 0,
            extent_count: 0,
            input_count: 0,
            constant_count: 0,
            scalar_count: 0,
            node_count: 0,
            output_count: 0,
            custom_count: 0,
            subgraph_count: 0,
            reserved: 0,
        };
        // SAFETY: the handle is alive, and `info` is writable as far as its `struct_size` says.
        check(unsafe { sys::tnr_graph_describe(self.0.as_ptr(), &mut info) })?;
        Ok(info)
    }

    /// Sets the marks of nodes.
    pub(crate) fn mark(&self, first: u32, count: u32, marks: u32) -> Result<()> {
        // SAFETY: the handle is alive; numbers are checked by the library.
        check(unsafe { sys::tnr_graph_mark(self.0.as_ptr(), first, count, marks) })
    }

    pub(crate) fn add_output(&self, value: u32, updates: Option<u32>) -> Result<()> {
        let updates = updates.unwrap_or(sys::TNR_OPERAND_NONE);
        // SAFETY: the handle is alive; values are checked by the library.
        check(unsafe { sys::tnr_graph_add_output(self.0.as_ptr(), value, updates) })
    }

    /// The source, dtype and shape of a value.
    pub(crate) fn describe_value(&self, value: u32) -> Result<tnr_value_info> {
        let mut info = tnr_value_info {
            struct_size: size_of::<tnr_value_info>() as u64,
            source: sys::tnr_value_source(0),
            dtype: sys::tnr_dtype(0),
            rank: 0,
            index: 0,
            shape: [0; 8],
            numbers: [0; 8],
            result: 0,
            reserved: 0,
        };
        // SAFETY: the handle is alive, and `info` is writable as far as its `struct_size` says.
        check(unsafe { sys::tnr_graph_describe_value(self.0.as_ptr(), value, &mut info) })?;
        Ok(info)
    }

    /// The shape of a value as numbers of the graph.
    pub(crate) fn sizes_of(&self, value: u32) -> Result<([i64; 8], usize)> {
        let rank = self.describe_value(value)?.rank as usize;
        let mut numbers = [0; 8];
        // SAFETY: the handle is alive, and there is room for 8 numbers.
        check(unsafe {
            sys::tnr_graph_describe_shape(self.0.as_ptr(), value, numbers.as_mut_ptr())
        })?;
        Ok((numbers, rank))
    }

    pub(crate) fn dtype_of(&self, value: u32) -> Result<DType> {
        Ok(DType::from_raw(self.describe_value(value)?.dtype))
    }

    /// The shape of a value where all extents are at their maxima.
    pub(crate) fn shape_of(&self, value: u32) -> Result<Extents> {
        let info = self.describe_value(value)?;
        Ok(Extents::of(&info.shape.map(|extent| extent as usize)[..info.rank as usize]))
    }

    /// A program of what there is now, of whose outputs the last `update_count` update inputs.
    pub(crate) fn program(
        &self,
        [disabled_passes, enabled_passes]: [u32; 2],
        packed: Option<&SharedTensor<u8>>,
        budget_bytes: u64,
        [input_count, output_count, update_count]: [usize; 3],
    ) -> Result<ProgramHandle> {
        let packed = packed.map(SharedTensor::owned_raw);
        let attributes = sys::tnr_program_attributes {
            struct_size: size_of::<sys::tnr_program_attributes>() as u64,
            disabled_passes,
            enabled_passes,
            packed: packed.as_ref().map_or(ptr::null(), ptr::from_ref),
            budget_bytes,
        };
        // SAFETY: the handle is alive; the library checks the context. `packed` is a view of the
        // blob that it names, which is not written until its last holder gives it back; the program
        // is one of them.
        let program = unsafe { sys::tnr_program_create(current(), self.0.as_ptr(), &attributes) };
        let program = NonNull::new(program).ok_or_else(last_failure)?;
        Ok(ProgramHandle::new(program, [input_count, output_count, update_count]))
    }
}
