//! Graphs for tests of their files, built and run by the C functions.

use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use tenure::program::file::{CustomOperation, GraphHandle};
use tenure::{DType, Element, bf16, f16};
use tenure_sys::*;

/// A graph that is being built.
pub struct Builder {
    graph: *mut tnr_graph,
}

pub fn dtype_of<T: Element>() -> tnr_dtype {
    raw_dtype(T::DTYPE)
}

pub fn raw_dtype(dtype: DType) -> tnr_dtype {
    let (code, bits, lanes) = dtype.to_dlpack();
    tnr_dtype(u32::from(code) | u32::from(bits) << 8 | u32::from(lanes) << 16)
}

/// A view of bytes, row-major.
pub fn view_of(data: *const c_void, dtype: tnr_dtype, shape: &[i64]) -> tnr_view {
    let mut view = tnr_view {
        data,
        base: data,
        size_bytes: 0,
        owner: 0,
        dtype,
        rank: shape.len() as u32,
        device: tnr_device { kind: tnr_device_kind::CPU, index: 0 },
        flags: 0,
        bit_offset: 0,
        reserved: 0,
        shape: [0; 8],
        strides: [0; 8],
    };
    let mut count = 1;
    for axis in (0..shape.len()).rev() {
        (view.shape[axis], view.strides[axis]) = (shape[axis], count);
        count *= shape[axis];
    }
    // SAFETY: takes a number.
    view.size_bytes = count as u64 * unsafe { tnr_dtype_size_bytes(dtype) } as u64;
    view
}

#[track_caller]
pub fn ok(status: tnr_status) {
    // SAFETY: the message is the calling thread's, and ends with a 0.
    let message = unsafe { std::ffi::CStr::from_ptr((*tnr_last_error()).message.as_ptr()) };
    assert_eq!(status, tnr_status::OK, "{message:?}");
}

// SAFETY of all calls below: the arrays have the stated count of elements and live during the call,
// outputs are writable, and one thread uses the graph.
impl Builder {
    pub fn new() -> Self {
        // SAFETY: as above.
        Builder { graph: unsafe { tnr_graph_create() } }
    }

    pub fn finish(self) -> GraphHandle {
        // SAFETY: the handle is alive, and no other code uses it from here on.
        unsafe { GraphHandle::from_raw(self.graph) }.unwrap()
    }

    pub fn extent(&mut self, name: &str, maximum: i64) -> i64 {
        let (name, mut number) = (CString::new(name).unwrap(), 0);
        // SAFETY: as above.
        ok(unsafe { tnr_graph_add_extent(self.graph, name.as_ptr(), maximum, &mut number) });
        number
    }

    pub fn combined(&mut self, op: tnr_extent_op, a: i64, b: i64) -> i64 {
        let mut number = 0;
        // SAFETY: as above.
        ok(unsafe { tnr_graph_combine_extents(self.graph, op, a, b, &mut number) });
        number
    }

    pub fn input(&mut self, dtype: tnr_dtype, shape: &[i64]) -> u32 {
        let (rank, mut value) = (shape.len() as u32, 0);
        // SAFETY: as above.
        ok(unsafe { tnr_graph_add_input(self.graph, dtype, rank, shape.as_ptr(), &mut value) });
        value
    }

    /// Held by the graph, in a blob of its own.
    pub fn constant<T: Element>(&mut self, elements: &[T], shape: &[i64]) -> u32 {
        let mut view = view_of(ptr::null(), dtype_of::<T>(), shape);
        assert_eq!(view.size_bytes as usize, size_of_val(elements));
        self.constant_laid(elements, &mut view)
    }

    /// A constant with the strides of a transposed matrix.
    pub fn constant_transposed<T: Element>(&mut self, elements: &[T], shape: [i64; 2]) -> u32 {
        let mut view = view_of(ptr::null(), dtype_of::<T>(), &shape);
        (view.strides[0], view.strides[1]) = (1, shape[0]);
        self.constant_laid(elements, &mut view)
    }

    fn constant_laid<T: Element>(&mut self, elements: &[T], view: &mut tnr_view) -> u32 {
        let mut value = 0;
        // SAFETY: as above; the view is laid over the blob, which the graph retains.
        unsafe {
            let data = elements.as_ptr().cast();
            let blob = tnr_blob_copy(ptr::null_mut(), data, size_of_val(elements));
            view.data = tnr_blob_data(blob);
            view.base = view.data;
            view.owner = blob as u64;
            ok(tnr_graph_add_constant(self.graph, view, &mut value));
            ok(tnr_blob_release(blob));
        }
        value
    }

    pub fn scalar<T: Element>(&mut self, number: T) -> u32 {
        let (scalar, mut value) = (scalar_of(number), 0);
        // SAFETY: as above.
        ok(unsafe { tnr_graph_add_scalar(self.graph, &scalar, &mut value) });
        value
    }

    pub fn node(&mut self, code: u32, operands: &[u32], numbers: &[i64]) -> u32 {
        self.node_with::<()>(code, operands, numbers, None, 0, tnr_dtype(0))
    }

    /// With attributes of the struct that the kind takes.
    pub fn with<A>(&mut self, code: u32, operands: &[u32], attributes: &A) -> u32 {
        self.node_with(code, operands, &[], Some(attributes), 0, tnr_dtype(0))
    }

    pub fn node_with<A>(
        &mut self,
        code: u32,
        operands: &[u32],
        numbers: &[i64],
        attributes: Option<&A>,
        flags: u32,
        dtype: tnr_dtype,
    ) -> u32 {
        let node = tnr_graph_node {
            struct_size: size_of::<tnr_graph_node>() as u64,
            code,
            dtype,
            operands: operands.as_ptr(),
            numbers: numbers.as_ptr(),
            attributes: attributes
                .map_or(ptr::null(), |attributes| ptr::from_ref(attributes).cast()),
            operand_count: operands.len() as u32,
            number_count: numbers.len() as u32,
            flags,
            copy: 0,
            marks: 0,
            reserved: 0,
        };
        let mut value = 0;
        // SAFETY: as above.
        ok(unsafe { tnr_graph_add_node(self.graph, &node, &mut value) });
        value
    }

    pub fn output(&mut self, value: u32) {
        self.output_updating(value, TNR_OPERAND_NONE);
    }

    pub fn output_updating(&mut self, value: u32, updates: u32) {
        // SAFETY: as above.
        ok(unsafe { tnr_graph_add_output(self.graph, value, updates) });
    }

    pub fn custom(&mut self, operation: &tnr_custom_operation) -> u32 {
        let mut index = 0;
        // SAFETY: as above.
        ok(unsafe { tnr_graph_add_custom(self.graph, operation, &mut index) });
        index
    }
}

pub fn scalar_of<T: Element>(number: T) -> tnr_scalar {
    let mut scalar = tnr_scalar { dtype: dtype_of::<T>(), reserved: 0, bytes: [0; 16] };
    // SAFETY: an element has at most 16 bytes, and no padding.
    let bytes =
        unsafe { std::slice::from_raw_parts(ptr::from_ref(&number).cast::<u8>(), size_of::<T>()) };
    scalar.bytes[..bytes.len()].copy_from_slice(bytes);
    scalar
}

/// Zeros, with the size of the struct in front.
pub fn attributes<A>(set: impl FnOnce(&mut A)) -> A {
    // SAFETY: structs of attributes have integers, floats, and pointers that may be NULL, and begin
    // with their size.
    let mut attributes = unsafe {
        let mut zeros = std::mem::MaybeUninit::<A>::zeroed();
        zeros.as_mut_ptr().cast::<u64>().write(size_of::<A>() as u64);
        zeros.assume_init()
    };
    set(&mut attributes);
    attributes
}

/// The elements of each output, of a run on these inputs. An input that is updated is the output.
pub fn run(graph: &GraphHandle, inputs: &[tnr_view], updated: &[Option<usize>]) -> Vec<Vec<u8>> {
    let pointers: Vec<*const tnr_view> = inputs.iter().map(ptr::from_ref).collect();
    let input_count = inputs.len() as u32;
    let mut memory = Vec::new();
    let mut outs = Vec::new();
    // SAFETY: the handles are alive; views are laid over memory that lives, and outputs over memory
    // of their own, or that of the input that they update.
    unsafe {
        let program = tnr_program_create(ptr::null_mut(), graph.as_raw(), ptr::null());
        assert!(
            !program.is_null(),
            "{:?}",
            std::ffi::CStr::from_ptr((*tnr_last_error()).message.as_ptr())
        );
        for (output, updates) in updated.iter().enumerate() {
            let (mut dtype, mut rank, mut shape) = (tnr_dtype(0), 0, [0; 8]);
            ok(tnr_program_output_shape(
                program,
                pointers.as_ptr(),
                input_count,
                output as u32,
                &mut dtype,
                &mut rank,
                shape.as_mut_ptr(),
            ));
            let mut view = view_of(ptr::null(), dtype, &shape[..rank as usize]);
            // Words, so that elements are aligned.
            let mut bytes = vec![0_u128; (view.size_bytes as usize).div_ceil(16)];
            view.data = match updates {
                Some(input) => inputs[*input].data,
                None => bytes.as_mut_ptr().cast(),
            };
            view.base = view.data;
            memory.push(bytes);
            outs.push(tnr_view_mut { view });
        }
        let out_pointers: Vec<*const tnr_view_mut> = outs.iter().map(ptr::from_ref).collect();
        ok(tnr_program_run(
            ptr::null_mut(),
            program,
            pointers.as_ptr(),
            input_count,
            ptr::null(),
            out_pointers.as_ptr(),
            outs.len() as u32,
        ));
        ok(tnr_program_release(program));
        outs.iter()
            .map(|out| {
                let (data, len) = (out.view.data.cast::<u8>(), out.view.size_bytes as usize);
                std::slice::from_raw_parts(data, len).to_vec()
            })
            .collect()
    }
}

// ---- a custom operation ----

/// How often it was released.
pub static RELEASED: AtomicU32 = AtomicU32::new(0);

/// # Safety
///
/// - As `tnr_infer_fn`.
unsafe extern "C" fn infer(
    _context: *mut c_void,
    operands: *const tnr_view,
    _operand_count: u32,
    _numbers: *const i64,
    _number_count: u32,
    dtype: *mut tnr_dtype,
    rank: *mut u32,
    shape: *mut i64,
) -> tnr_status {
    // SAFETY: by this function's contract there are one operand, and room for all numbers.
    unsafe {
        (*dtype, *rank) = ((*operands).dtype, (*operands).rank);
        shape.copy_from((*operands).shape.as_ptr(), (*operands).rank as usize);
    }
    tnr_status::OK
}

/// `a * number`, of floats that lie in order.
///
/// # Safety
///
/// - As `tnr_compute_fn`.
unsafe extern "C" fn compute(
    _context: *mut c_void,
    operands: *const tnr_view,
    _operand_count: u32,
    numbers: *const i64,
    _number_count: u32,
    out: *const tnr_view_mut,
) -> tnr_status {
    // SAFETY: by this function's contract there are one operand and one number.
    unsafe {
        let (rows, cols) = ((*operands).shape[0], (*operands).shape[1]);
        for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
            let at = |view: &tnr_view| (row * view.strides[0] + col * view.strides[1]) as isize;
            let a = (*operands).data.cast::<f32>().offset(at(&*operands)).read();
            let to = (*out).view.data.cast_mut().cast::<f32>().offset(at(&(*out).view));
            to.write(a * *numbers as f32);
        }
    }
    tnr_status::OK
}

/// # Safety
///
/// - None.
unsafe extern "C" fn release(_context: *mut c_void) {
    RELEASED.fetch_add(1, Ordering::SeqCst);
}

/// Takes a matrix of floats and a number. The name ends with a 0.
pub fn scaling(name: &'static str) -> tnr_custom_operation {
    tnr_custom_operation {
        struct_size: size_of::<tnr_custom_operation>() as u64,
        name: name.as_ptr().cast(),
        infer: Some(infer),
        compute: Some(compute),
        user_context: ptr::null_mut(),
        release: Some(release),
        operand_count: 1,
        number_count: 1,
        flags: 0,
        reserved: 0,
        compute_on_device: None,
        derive: None,
    }
}

pub fn owned(operation: tnr_custom_operation) -> CustomOperation {
    // SAFETY: the functions above fulfil their contracts.
    unsafe { CustomOperation::from_raw(&operation) }.unwrap()
}

// ---- graphs ----

pub fn counting(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i * 7 % 11) as f32 * 0.25 - 1.0).collect()
}

/// A graph, the inputs of its runs, and the input that each output updates.
pub struct Example {
    pub graph: GraphHandle,
    pub names: Vec<&'static str>,
    pub elements: Vec<(Vec<f32>, Vec<i64>)>,
    pub indices: Vec<i64>,
    pub updated: Vec<Option<usize>>,
}

impl Example {
    pub fn run(&self, graph: &GraphHandle) -> Vec<Vec<u8>> {
        // An input that is updated is written.
        let mut elements = self.elements.clone();
        let mut inputs: Vec<tnr_view> = elements
            .iter_mut()
            .map(|(data, shape)| {
                view_of(data.as_mut_ptr().cast_const().cast(), dtype_of::<f32>(), shape)
            })
            .collect();
        if !self.indices.is_empty() {
            let (data, count) = (self.indices.as_ptr().cast(), self.indices.len() as i64);
            inputs.push(view_of(data, dtype_of::<i64>(), &[count]));
        }
        run(graph, &inputs, &self.updated)
    }
}

/// A few of each: a product with a bias and an activation, of a named number of rows.
pub fn small() -> Example {
    let mut b = Builder::new();
    let rows = b.extent("rows", 8);
    let x = b.input(dtype_of::<f32>(), &[rows, 3]);
    let weights = b.constant(&counting(6), &[3, 2]);
    let bias = b.constant(&[0.5_f32, -0.25], &[2]);
    let relu = attributes(|a: &mut tnr_matmul_attributes| a.activation = tnr_unary_op::RELU);
    let product = b.with(TNR_NODE_MATMUL, &[x, weights, bias], &relu);
    let two = b.scalar(2.0_f32);
    let result = b.node(TNR_NODE_BINARY | tnr_binary_op::MUL.0 as u32, &[product, two], &[]);
    b.output(result);
    Example {
        graph: b.finish(),
        names: Vec::new(),
        elements: vec![(counting(6), vec![2, 3])],
        indices: Vec::new(),
        updated: vec![None],
    }
}

/// Every kind of extent, value, node and attribute.
#[expect(clippy::too_many_lines, reason = "a list")]
pub fn everything() -> Example {
    let mut builder = Builder::new();
    let b = &mut builder;
    let mut outputs = Vec::new();
    let n = b.extent("n", 8);
    let twice = b.combined(tnr_extent_op::MUL, n, 2);
    let mut sizes = vec![twice];
    sizes.push(b.combined(tnr_extent_op::ADD, n, 1));
    sizes.push(b.combined(tnr_extent_op::SUB, twice, 1));
    sizes.push(b.combined(tnr_extent_op::DIV, twice, 3));
    sizes.push(b.combined(tnr_extent_op::DIV_UP, twice, 3));
    sizes.push(b.combined(tnr_extent_op::MIN, n, 3));
    sizes.push(b.combined(tnr_extent_op::MAX, n, 3));

    let x = b.input(dtype_of::<f32>(), &[n, 6]);
    let y = b.input(dtype_of::<f32>(), &[n, 6]);
    let image = b.input(dtype_of::<f32>(), &[2, 4, 6, 6]);
    let state = b.input(dtype_of::<f32>(), &[n, 6]);
    let indices = b.input(dtype_of::<i64>(), &[3]);
    let one = b.scalar(1.0_f32);
    let row = b.constant(&counting(1), &[1]);
    for size in sizes {
        outputs.push(b.node(TNR_NODE_BROADCAST, &[row], &[size]));
    }

    // Constants and scalars of every dtype, and of every layout.
    outputs.push(b.constant_transposed(&counting(24), [4, 6]));
    outputs.push(b.constant(&[0_f32; 0], &[0, 3]));
    outputs.push(b.constant(&[7.5_f32], &[]));
    macro_rules! of_dtype {
        ($($number:expr),*) => {$(
            let array = b.constant(&[$number; 3], &[3]);
            let number = b.scalar($number);
            outputs.push(b.node(TNR_NODE_BINARY | tnr_binary_op::ADD.0 as u32, &[array, number], &[]));
        )*};
    }
    of_dtype!(1.5_f64, -2.5_f32, f16::from_f32(0.5), bf16::from_f32(3.0), -3_i8, -300_i16, 7_i32);
    of_dtype!(-1_i64 << 40, 200_u8, 60_000_u16, 4_000_000_000_u32, 1_u64 << 50);
    of_dtype!(tenure::Complex::new(1.0_f32, -2.0), tenure::Complex::new(0.5_f64, 4.0));
    outputs.push(b.constant(&[tenure::Bool8::from(true), tenure::Bool8::from(false)], &[2]));

    // Element-wise.
    outputs.push(b.node(TNR_NODE_UNARY | tnr_unary_op::GELU.0 as u32, &[x], &[]));
    outputs.push(b.node(TNR_NODE_BINARY | tnr_binary_op::SUB.0 as u32, &[one, x], &[]));
    outputs.push(b.node(TNR_NODE_TERNARY | tnr_ternary_op::FMA.0 as u32, &[x, y, x], &[]));
    let less = b.node(TNR_NODE_COMPARE | tnr_compare_op::LT.0 as u32, &[x, y], &[]);
    outputs.push(less);
    outputs.push(b.node(TNR_NODE_SELECT, &[less, x, y], &[]));
    let no = None::<&tnr_reduce_attributes>;
    outputs.push(b.node_with(TNR_NODE_CAST, &[x], &[], no, 0, dtype_of::<i16>()));

    // Reductions and normalizations.
    let reduce = |op: tnr_reduce_op| TNR_NODE_REDUCE | op.0 as u32;
    let none = tnr_dtype(0);
    outputs.push(b.node_with(reduce(tnr_reduce_op::SUM), &[x], &[], no, 1, none));
    let ddof = attributes(|a: &mut tnr_reduce_attributes| a.ddof = 1);
    let flags = 2 | TNR_NODE_KEEP_AXES;
    outputs.push(b.node_with(reduce(tnr_reduce_op::VAR), &[x], &[], Some(&ddof), flags, none));
    let power = attributes(|a: &mut tnr_reduce_attributes| a.power = 3.0);
    outputs.push(b.node_with(reduce(tnr_reduce_op::NORM), &[x], &[], Some(&power), 2, none));
    let normalize = |op: tnr_normalize_op| TNR_NODE_NORMALIZE | op.0 as u32;
    outputs.push(b.node_with(normalize(tnr_normalize_op::SOFTMAX), &[x], &[], no, 2, none));
    let eps = attributes(|a: &mut tnr_normalize_attributes| a.eps = 1e-3);
    let six = b.constant(&counting(6), &[6]);
    let layer_norm = normalize(tnr_normalize_op::LAYER_NORM);
    outputs.push(b.node_with(layer_norm, &[x, six, six], &[], Some(&eps), 2, none));
    let missing = TNR_OPERAND_NONE;
    outputs.push(b.node_with(layer_norm, &[x, missing, six], &[], Some(&eps), 2, none));

    // Products and images.
    let weights = b.constant(&counting(24), &[6, 4]);
    let four = b.constant(&counting(4), &[4]);
    outputs.push(b.node(TNR_NODE_MATMUL, &[x, weights], &[]));
    let clamped = attributes(|a: &mut tnr_matmul_attributes| {
        a.activation = tnr_unary_op::SILU;
        (a.flags, a.low, a.high) = (TNR_EPILOGUE_CLAMP, -0.0, 0.75);
    });
    outputs.push(b.with(TNR_NODE_MATMUL, &[x, weights, four], &clamped));
    let filters = b.constant(&counting(4 * 2 * 9), &[4, 2, 3, 3]);
    let convolution = attributes(|a: &mut tnr_conv2d_attributes| {
        (a.strides, a.padding, a.dilations, a.groups) = ([2, 1], [1, 2, 0, 1], [1, 2], 2);
        a.activation = tnr_unary_op::RELU;
        (a.flags, a.low, a.high) = (TNR_EPILOGUE_CLAMP, 0.25, 6.0);
    });
    outputs.push(b.with(TNR_NODE_CONV2D, &[image, filters, four], &convolution));
    let pool = |op: tnr_reduce_op| TNR_NODE_POOL2D | op.0 as u32;
    let windows = attributes(|a: &mut tnr_pool2d_attributes| {
        (a.kernel, a.strides, a.padding, a.dilations) = ([2, 3], [2, 1], [1, 0, 0, 1], [2, 1]);
    });
    outputs.push(b.with(pool(tnr_reduce_op::MAX), &[image], &windows));
    let counted = attributes(|a: &mut tnr_pool2d_attributes| {
        (a.kernel, a.padding) = ([3, 3], [1; 4]);
        a.flags = TNR_POOL2D_COUNT_PADDING;
    });
    outputs.push(b.with(pool(tnr_reduce_op::MEAN), &[image], &counted));
    let adaptive = attributes(|a: &mut tnr_pool2d_attributes| a.flags = TNR_POOL2D_ADAPTIVE);
    let mean = pool(tnr_reduce_op::MEAN);
    outputs.push(b.node_with(mean, &[image], &[2, 3], Some(&adaptive), 0, none));
    let variance = b.constant(&[0.5_f32, 1.0, 2.0, 0.25], &[4]);
    let eps = attributes(|a: &mut tnr_batch_norm_attributes| a.eps = 1e-2);
    outputs.push(b.with(TNR_NODE_BATCH_NORM, &[image, four, variance, missing, four], &eps));

    // Movement.
    outputs.push(b.node(TNR_NODE_RESHAPE, &[x], &[twice, 3]));
    outputs.push(b.node(TNR_NODE_PERMUTE, &[image], &[3, 0, 1, 2]));
    outputs.push(b.node(TNR_NODE_SLICE, &[x], &[1, 1, 6, 2]));
    outputs.push(b.node(TNR_NODE_CONCAT, &[x, y, x], &[1]));
    let border = attributes(|a: &mut tnr_pad_attributes| {
        (a.before[0], a.before[1], a.value) = (1, -2, scalar_of(0.125_f32));
    });
    let pad = TNR_NODE_PAD;
    outputs.push(b.node_with(pad, &[x], &[twice, 9], Some(&border), 0, none));
    let zeros = attributes(|a: &mut tnr_pad_attributes| a.before[1] = 1);
    outputs.push(b.node_with(pad, &[x], &[n, 9], Some(&zeros), 0, none));
    let mirrored = pad | tnr_pad_mode::REFLECT.0 as u32;
    outputs.push(b.node_with(mirrored, &[x], &[n, 9], Some(&zeros), 0, none));
    outputs.push(b.node(TNR_NODE_TAKE, &[x, indices], &[0]));
    let places = b.constant(&[0_i64, 3, 1, 5, 2, 0], &[1, 6]);
    let places = b.node(TNR_NODE_BROADCAST, &[places], &[n, 6]);
    outputs.push(b.node(TNR_NODE_GATHER, &[x, places], &[1]));
    let diagonal = attributes(|a: &mut tnr_triangle_attributes| a.diagonal = -1);
    let lower = TNR_NODE_TRIANGULAR | tnr_triangle::LOWER.0 as u32;
    outputs.push(b.with(lower, &[x], &diagonal));
    outputs.push(b.node(TNR_NODE_SCAN | tnr_scan_op::SUM.0 as u32, &[x], &[1]));

    // Custom operations.
    let first = b.custom(&scaling("scale\0"));
    let second = b.custom(&scaling("scale again\0"));
    let scaled = b.node(TNR_NODE_CUSTOM | second, &[x], &[3]);
    outputs.push(b.node(TNR_NODE_CUSTOM | first, &[scaled], &[-2]));

    for value in &outputs {
        b.output(*value);
    }
    let next = b.node(TNR_NODE_BINARY | tnr_binary_op::ADD.0 as u32, &[state, x], &[]);
    b.output_updating(next, state);
    let mut updated = vec![None; outputs.len()];
    updated.push(Some(3));
    let matrix = (counting(30), vec![5, 6]);
    let images = (counting(2 * 4 * 36), vec![2, 4, 6, 6]);
    let other = (matrix.0.iter().map(|number| 0.5 - number).collect(), vec![5, 6]);
    Example {
        graph: builder.finish(),
        names: vec!["scale", "scale again"],
        elements: vec![matrix.clone(), other, images, matrix],
        indices: vec![4, 0, 2],
        updated,
    }
}

/// Elements of a view, for messages.
pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|word| f32::from_ne_bytes(word.try_into().unwrap())).collect()
}
