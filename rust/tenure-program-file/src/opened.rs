//! Programs of files that have arrays for their inputs and outputs, which C finds by name.

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem;
use std::ptr;

use tenure::program::file::ProgramFile;
use tenure_sys::{
    TNR_OPERAND_NONE, tnr_bound, tnr_bound_attributes, tnr_bound_create, tnr_bound_release,
    tnr_bound_run, tnr_context, tnr_dtype, tnr_dtype_size_bytes, tnr_graph, tnr_graph_describe,
    tnr_graph_describe_output, tnr_graph_describe_value, tnr_graph_info, tnr_last_error,
    tnr_program_create, tnr_program_release, tnr_status, tnr_value_info, tnr_value_source,
    tnr_view, tnr_view_count, tnr_view_lend_mut, tnr_view_mut,
};

use crate::{Refusal, guarded, invalid, mapped, path_of};

/// A program that is bound to arrays of its own. C knows only its address.
#[expect(non_camel_case_types, reason = "the name that C has")]
pub struct tnr_program_file {
    bound: *mut tnr_bound,
    inputs: Vec<Array>,
    outputs: Vec<Array>,
    /// The views that a run lends: of the inputs, and of the program's outputs in their order. An
    /// output that updates an input has the input's view.
    lent: (Vec<tnr_view>, Vec<tnr_view_mut>),
    pointers: (Vec<*const tnr_view>, Vec<*const tnr_view_mut>),
}

/// The alignment of a cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "C and the core use it")] [u8; 64]);

/// Elements in row-major order, zeros at first.
struct Array {
    name: CString,
    view: tnr_view_mut,
    /// The memory of the view.
    _memory: Vec<Line>,
}

impl Drop for tnr_program_file {
    fn drop(&mut self) {
        // SAFETY: the handle is this program's only one.
        let _ = unsafe { tnr_bound_release(self.bound) };
    }
}

/// The status of the calling thread's last call of the core, with its message.
fn checked(status: tnr_status) -> Result<(), Refusal> {
    if status == tnr_status::OK { Ok(()) } else { Err(refusal()) }
}

/// Why the calling thread's last call of the core failed.
fn refusal() -> Refusal {
    // SAFETY: the core has an error for each thread, whose message ends with a 0.
    let (status, message) = unsafe {
        let error = &*tnr_last_error();
        (error.status, CStr::from_ptr(error.message.as_ptr()))
    };
    Refusal(status, message.to_string_lossy().into_owned())
}

impl Array {
    fn of(name: &str, value: &tnr_value_info) -> Result<Array, Refusal> {
        let shape = &value.shape[..value.rank as usize];
        // SAFETY: any dtype.
        let width = unsafe { tnr_dtype_size_bytes(value.dtype) };
        let bytes = shape.iter().try_fold(width, |bytes, &extent| {
            usize::try_from(extent).ok().and_then(|extent| bytes.checked_mul(extent))
        });
        let too_large = || {
            let message = format!("{name} has shape {shape:?}, for which there is no memory");
            Refusal(tnr_status::OUT_OF_MEMORY, message)
        };
        let lines = bytes.ok_or_else(too_large)?.div_ceil(size_of::<Line>());
        let mut memory = Vec::new();
        memory.try_reserve_exact(lines).map_err(|_| too_large())?;
        memory.resize(lines, Line([0; 64]));
        let (base, size_bytes) = (memory.as_mut_ptr().cast(), lines * size_of::<Line>());
        // SAFETY: zeros are a value of a view.
        let mut view: tnr_view_mut = unsafe { mem::zeroed() };
        // SAFETY: the vector has that many bytes, which stay where they are when it is moved; the
        // shape has that many extents.
        checked(unsafe {
            tnr_view_lend_mut(
                base,
                size_bytes,
                0,
                value.dtype,
                value.rank,
                shape.as_ptr(),
                ptr::null(),
                &mut view,
            )
        })?;
        let name = CString::new(name).map_err(|_| invalid("a name has a byte of 0"))?;
        Ok(Array { name, view, _memory: memory })
    }

    /// The `count` elements of a dtype.
    fn elements(&self, dtype: tnr_dtype, count: u64) -> Result<*mut c_void, Refusal> {
        let view = &self.view.view;
        // SAFETY: the view is valid.
        let own = unsafe { tnr_view_count(view) } as u64;
        if (view.dtype, own) != (dtype, count) {
            return Err(invalid(format!(
                "{} has {own} elements of dtype {}, not {count} of dtype {}",
                self.name.to_string_lossy(),
                view.dtype.0,
                dtype.0
            )));
        }
        Ok(view.data.cast_mut())
    }
}

/// A graph and its description.
struct Described {
    graph: *const tnr_graph,
    info: tnr_graph_info,
}

impl Described {
    /// # Safety
    ///
    /// - `graph` is a handle that lives as long as this.
    unsafe fn new(graph: *const tnr_graph) -> Result<Self, Refusal> {
        // SAFETY: zeros are a value of the struct.
        let mut info: tnr_graph_info = unsafe { mem::zeroed() };
        info.struct_size = size_of::<tnr_graph_info>() as u64;
        // SAFETY: by this function's contract.
        checked(unsafe { tnr_graph_describe(graph, &mut info) })?;
        Ok(Described { graph, info })
    }

    fn value(&self, value: u32) -> Result<tnr_value_info, Refusal> {
        // SAFETY: zeros are a value of the struct.
        let mut info: tnr_value_info = unsafe { mem::zeroed() };
        info.struct_size = size_of::<tnr_value_info>() as u64;
        // SAFETY: the graph lives.
        checked(unsafe { tnr_graph_describe_value(self.graph, value, &mut info) })?;
        Ok(info)
    }

    /// The value of an output, and that of the input it updates, or `TNR_OPERAND_NONE`.
    fn output(&self, index: u32) -> Result<(u32, u32), Refusal> {
        let (mut value, mut updates) = (0, 0);
        // SAFETY: the graph lives.
        checked(unsafe { tnr_graph_describe_output(self.graph, index, &mut value, &mut updates) })?;
        Ok((value, updates))
    }
}

impl tnr_program_file {
    /// # Safety
    ///
    /// - `graph` is a handle of the file's graph.
    unsafe fn of(
        file: &ProgramFile,
        graph: *const tnr_graph,
        flags: u32,
    ) -> Result<Box<Self>, Refusal> {
        // SAFETY: by this function's contract.
        let graph = unsafe { Described::new(graph) }?;
        let [input_names, output_names] = file.names();
        let (mut inputs, mut values) = (Vec::new(), Vec::new());
        for value in 0..graph.info.value_count {
            let info = graph.value(value)?;
            if info.source == tnr_value_source::INPUT {
                inputs.push(Array::of(&input_names[inputs.len()], &info)?);
                values.push(value);
            }
        }
        let (mut outputs, mut out_views) = (Vec::new(), Vec::new());
        for index in 0..graph.info.output_count {
            let (value, updates) = graph.output(index)?;
            if let Some(input) = values.iter().position(|&value| value == updates) {
                out_views.push(inputs[input].view);
                continue;
            }
            debug_assert_eq!(updates, TNR_OPERAND_NONE);
            outputs.push(Array::of(&output_names[outputs.len()], &graph.value(value)?)?);
            out_views.extend(outputs.last().map(|array: &Array| array.view));
        }
        let views = inputs.iter().map(|array| array.view.view).collect();
        let pointers = (Vec::new(), Vec::new());
        let bound = ptr::null_mut();
        let mut program =
            Box::new(Self { bound, inputs, outputs, lent: (views, out_views), pointers });
        program.pointers.0 = program.lent.0.iter().map(ptr::from_ref).collect();
        program.pointers.1 = program.lent.1.iter().map(ptr::from_ref).collect();
        // SAFETY: the graph lives.
        unsafe { program.bind(graph.graph, flags) }?;
        Ok(program)
    }

    /// # Safety
    ///
    /// - `graph` is a handle of the graph that the views are for.
    unsafe fn bind(&mut self, graph: *const tnr_graph, flags: u32) -> Result<(), Refusal> {
        // SAFETY: by this function's contract.
        let program = unsafe { tnr_program_create(ptr::null_mut(), graph, ptr::null()) };
        if program.is_null() {
            return Err(refusal());
        }
        // SAFETY: zeros are a value of the struct.
        let mut attributes: tnr_bound_attributes = unsafe { mem::zeroed() };
        attributes.struct_size = size_of::<tnr_bound_attributes>() as u64;
        attributes.flags = flags;
        let (inputs, outputs) = &self.pointers;
        // SAFETY: the views are valid, over memory that this program has, and as many as the counts
        // say.
        let bound = unsafe {
            tnr_bound_create(
                ptr::null_mut(),
                program,
                inputs.as_ptr(),
                inputs.len() as u32,
                &attributes,
                outputs.as_ptr(),
                outputs.len() as u32,
            )
        };
        let refused = if bound.is_null() { Err(refusal()) } else { Ok(()) };
        self.bound = bound;
        // SAFETY: the handle is this function's; the bound program holds the program.
        checked(unsafe { tnr_program_release(program) })?;
        refused
    }
}

/// # Safety
///
/// - `path` is NULL, or ends with a 0. No code writes the file, or makes it shorter, while the
///   program lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tnr_program_file_open(
    path: *const c_char,
    flags: u32,
) -> *mut tnr_program_file {
    let opened = guarded(|| {
        // SAFETY: by this function's contract.
        let path = unsafe { path_of(path) }?;
        // SAFETY: by this function's contract no code changes the file.
        let file = unsafe { mapped(&path) }?;
        let graph = file.build(Vec::new()).map_err(|error| error.in_file(&path))?.into_raw();
        // SAFETY: the handle is this function's.
        let program = unsafe { tnr_program_file::of(&file, graph, flags) };
        // SAFETY: the handle is this function's, and no other code has it.
        checked(unsafe { tenure_sys::tnr_graph_release(graph) })?;
        Ok(Box::into_raw(program?))
    });
    opened.unwrap_or(ptr::null_mut())
}

/// The array of a name.
///
/// # Safety
///
/// - `name` is NULL, or ends with a 0.
unsafe fn named(arrays: &[Array], name: *const c_char) -> Result<&Array, Refusal> {
    if name.is_null() {
        return Err(invalid("the name is NULL"));
    }
    // SAFETY: by this function's contract.
    let name = unsafe { CStr::from_ptr(name) };
    arrays.iter().find(|array| *array.name == *name).ok_or_else(|| {
        let names: Vec<_> = arrays.iter().map(|array| array.name.to_string_lossy()).collect();
        let name = name.to_string_lossy();
        invalid(format!("{name} is none of the names {}", names.join(", ")))
    })
}

/// # Safety
///
/// - `program` is NULL, or what `tnr_program_file_open` returned and no code released.
unsafe fn opened<'p>(program: *const tnr_program_file) -> Result<&'p tnr_program_file, Refusal> {
    // SAFETY: by this function's contract.
    unsafe { program.as_ref() }.ok_or_else(|| invalid("the program is NULL"))
}

/// # Safety
///
/// - `program` is NULL, or what `tnr_program_file_open` returned and no code released.
/// - `name` is NULL, or ends with a 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tnr_program_file_input(
    program: *mut tnr_program_file,
    name: *const c_char,
    dtype: tnr_dtype,
    count: u64,
) -> *mut c_void {
    // SAFETY: by this function's contract.
    let found =
        guarded(|| unsafe { named(&opened(program)?.inputs, name) }?.elements(dtype, count));
    found.unwrap_or(ptr::null_mut())
}

/// # Safety
///
/// - `program` is NULL, or what `tnr_program_file_open` returned and no code released.
/// - `name` is NULL, or ends with a 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tnr_program_file_output(
    program: *const tnr_program_file,
    name: *const c_char,
    dtype: tnr_dtype,
    count: u64,
) -> *const c_void {
    // SAFETY: by this function's contract.
    let found =
        guarded(|| unsafe { named(&opened(program)?.outputs, name) }?.elements(dtype, count));
    found.unwrap_or(ptr::null_mut())
}

/// # Safety
///
/// - `program` is NULL, or what `tnr_program_file_open` returned and no code released.
/// - `name` and `view` are NULL, or writable for one of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tnr_program_file_describe_input(
    program: *mut tnr_program_file,
    index: u32,
    name: *mut *const c_char,
    view: *mut tnr_view_mut,
) -> tnr_status {
    let described = guarded(|| {
        // SAFETY: by this function's contract.
        let inputs = &unsafe { opened(program) }?.inputs;
        let input = inputs.get(index as usize).ok_or_else(|| {
            invalid(format!("index is {index} but the program has {} inputs", inputs.len()))
        })?;
        // SAFETY: by this function's contract.
        unsafe {
            if let Some(name) = name.as_mut() {
                *name = input.name.as_ptr();
            }
            if let Some(view) = view.as_mut() {
                *view = input.view;
            }
        }
        Ok(())
    });
    described.err().unwrap_or(tnr_status::OK)
}

/// # Safety
///
/// - `program` is what `tnr_program_file_open` returned and no code released.
/// - No other thread uses it, or its arrays, during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tnr_program_file_run(
    context: *mut tnr_context,
    program: *mut tnr_program_file,
) -> tnr_status {
    // A preallocated run takes no memory, which keeping a message would.
    // SAFETY: by this function's contract.
    let Some(program) = (unsafe { program.as_ref() }) else {
        return guarded(|| Err::<(), _>(invalid("the program is NULL")))
            .err()
            .unwrap_or(tnr_status::OK);
    };
    let (inputs, outputs) = &program.pointers;
    // SAFETY: the views are valid, over memory that this program has, and as many as the counts say.
    unsafe {
        tnr_bound_run(
            context,
            program.bound,
            inputs.as_ptr(),
            inputs.len() as u32,
            ptr::null(),
            outputs.as_ptr(),
            outputs.len() as u32,
        )
    }
}

/// # Safety
///
/// - `program` is NULL, or what `tnr_program_file_open` returned and no code released. No code uses
///   it, or its arrays, from now on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tnr_program_file_release(program: *mut tnr_program_file) {
    if !program.is_null() {
        // SAFETY: by this function's contract it is a box that no code uses.
        drop(unsafe { Box::from_raw(program) });
    }
}
