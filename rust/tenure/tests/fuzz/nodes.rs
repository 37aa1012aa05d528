//! Invalid nodes in valid graphs: a refused node changes nothing, and an accepted node is scheduled
//! and run.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::ptr;

use tenure::program::file::GraphHandle;
use tenure_sys::*;

use super::graphs::{self, Builder, attributes, counting, dtype_of, view_of};
use super::{Random, fuzz, kinds};

const KIND: u32 = !0xffff;
/// Bytes of attributes that a test may change: more than any node has.
const MOST_ATTRIBUTE_BYTES: usize = 512;
/// Graphs that ask for more are not run.
const MOST_ELEMENTS: i64 = 1 << 12;
const MOST_BLOCK_BYTES: u64 = 1 << 20;
const MOST_ITERATIONS: i64 = 50;

fn message() -> String {
    // SAFETY: the message is the calling thread's, and ends with a 0.
    unsafe { CStr::from_ptr((*tnr_last_error()).message.as_ptr()) }.to_string_lossy().into_owned()
}

/// A node, with memory of its own.
#[derive(Clone)]
struct Node {
    code: u32,
    dtype: tnr_dtype,
    flags: u32,
    operands: Vec<u32>,
    numbers: Vec<i64>,
    /// They begin with their size, and are that long at least.
    attributes: Option<[u64; MOST_ATTRIBUTE_BYTES / 8]>,
}

impl Node {
    fn raw(&self) -> tnr_graph_node {
        tnr_graph_node {
            struct_size: size_of::<tnr_graph_node>() as u64,
            code: self.code,
            dtype: self.dtype,
            operands: self.operands.as_ptr(),
            numbers: self.numbers.as_ptr(),
            attributes: self.attributes.as_ref().map_or(ptr::null(), |of| of.as_ptr().cast()),
            operand_count: self.operands.len() as u32,
            number_count: self.numbers.len() as u32,
            flags: self.flags,
            copy: 0,
            marks: 0,
            reserved: 0,
        }
    }
}

// SAFETY of all calls below: handles are alive and used by one thread, arrays have the stated count
// of elements, structs that are written have the size that they begin with.

fn described(graph: *const tnr_graph) -> tnr_graph_info {
    let mut info = attributes(|_| {});
    // SAFETY: as above.
    graphs::ok(unsafe { tnr_graph_describe(graph, &mut info) });
    info
}

fn value_of(graph: *const tnr_graph, value: u32) -> tnr_value_info {
    let mut info = attributes(|_| {});
    // SAFETY: as above.
    graphs::ok(unsafe { tnr_graph_describe_value(graph, value, &mut info) });
    info
}

fn node_of(graph: *const tnr_graph, index: u32) -> Node {
    let mut info: tnr_graph_node = attributes(|_| {});
    // SAFETY: as above; the arrays are the graph's, and attributes as long as they say.
    unsafe {
        graphs::ok(tnr_graph_describe_node(graph, index, &mut info));
        let mut own = [0; MOST_ATTRIBUTE_BYTES / 8];
        let attributes = (!info.attributes.is_null()).then(|| {
            let bytes = info.attributes.cast::<u64>().read() as usize;
            assert!(bytes <= MOST_ATTRIBUTE_BYTES);
            own.as_mut_ptr().cast::<u8>().copy_from(info.attributes.cast(), bytes);
            own
        });
        let listed = |data: *const u32, count| match count {
            0 => Vec::new(),
            _ => std::slice::from_raw_parts(data, count as usize).to_vec(),
        };
        let numbers = match info.number_count {
            0 => Vec::new(),
            count => std::slice::from_raw_parts(info.numbers, count as usize).to_vec(),
        };
        let operands = listed(info.operands, info.operand_count);
        Node {
            code: info.code,
            dtype: info.dtype,
            flags: info.flags,
            operands,
            numbers,
            attributes,
        }
    }
}

/// A number as graphs have it: small, an extent, or anything.
fn number(random: &mut Random) -> i64 {
    match random.below(4) {
        0 => TNR_EXTENT + random.below(12) as i64,
        _ => random.number(),
    }
}

fn change(node: &mut Node, values: u32, random: &mut Random) {
    match random.below(9) {
        0 => node.code = (random.below(0x34) as u32) << 16 | node.code & !KIND,
        1 => node.code = node.code & KIND | random.below(60) as u32,
        2 => node.numbers.push(number(random)),
        3 => drop(node.operands.pop()),
        4 => node.operands.push(random.below(values as usize + 1) as u32),
        5 if !node.operands.is_empty() => {
            let at = random.below(node.operands.len());
            node.operands[at] = match random.below(8) {
                0 => TNR_OPERAND_NONE,
                1 => values + random.below(3) as u32,
                _ => random.below(values as usize) as u32,
            };
        }
        6 if !node.numbers.is_empty() => {
            let at = random.below(node.numbers.len());
            node.numbers[at] = number(random);
        }
        7 => match &mut node.attributes {
            // The size says no more than there is.
            Some(of) if random.below(4) == 0 => of[0] = random.below(MOST_ATTRIBUTE_BYTES) as u64,
            Some(of) => {
                let at = 1 + random.below(of.len() / 4);
                of[at] = match random.below(3) {
                    0 => random.next(),
                    1 => f64::to_bits(random.number() as f64),
                    _ => random.number() as u64,
                };
            }
            none => {
                let mut zeros = [0; MOST_ATTRIBUTE_BYTES / 8];
                zeros[0] = 8 * (1 + random.below(16) as u64);
                *none = Some(zeros);
            }
        },
        _ => match random.below(3) {
            0 => node.flags = random.number() as u32,
            1 => node.dtype = *random.pick(&[tnr_dtype(0), dtype_of::<f32>(), dtype_of::<i64>()]),
            _ => drop(node.numbers.pop()),
        },
    }
}

/// Whether the node was added. One that is refused leaves the graph as it was.
fn add(graph: *mut tnr_graph, node: &Node) -> bool {
    let (before, mut value) = (described(graph), 77);
    // SAFETY: as above.
    if unsafe { tnr_graph_add_node(graph, &node.raw(), &mut value) } == tnr_status::OK {
        assert_eq!(value, before.value_count);
        return true;
    }
    let after = described(graph);
    assert!(message().len() > 8, "{}", message());
    assert_eq!(
        (value, after.value_count, after.node_count),
        (77, before.value_count, before.node_count)
    );
    false
}

/// Numbers for the extents of a graph, those of nodes too; `None` where they make none.
fn sizes(graph: *const tnr_graph, random: &mut Random) -> Option<Vec<i64>> {
    let mut sizes: Vec<i64> = Vec::new();
    for index in 0..described(graph).extent_count {
        let mut info: tnr_extent_info = attributes(|_| {});
        // SAFETY: as above.
        graphs::ok(unsafe { tnr_graph_describe_extent(graph, index, &mut info) });
        let [a, b] = [info.a, info.b].map(|part| match part.checked_sub(TNR_EXTENT) {
            Some(extent) if extent >= 0 => sizes.get(extent as usize).copied().unwrap_or(0),
            _ => part,
        });
        let size = match info.op {
            tnr_extent_op::ADD => a.checked_add(b)?,
            tnr_extent_op::SUB => a.checked_sub(b)?,
            tnr_extent_op::MUL => a.checked_mul(b)?,
            tnr_extent_op::DIV => a.checked_div(b)?,
            tnr_extent_op::DIV_UP => (a.checked_add(b)? - 1).checked_div(b)?,
            tnr_extent_op::MIN => a.min(b),
            tnr_extent_op::MAX => a.max(b),
            _ => random.below(info.a as usize + 1) as i64,
        };
        sizes.push(size);
    }
    Some(sizes)
}

fn elements(shape: &[i64]) -> Option<i64> {
    let count = shape.iter().try_fold(1_i64, |count, extent| count.checked_mul(*extent))?;
    Some(count).filter(|count| (0..=MOST_ELEMENTS).contains(count))
}

/// Arrays of a run, in memory of their own.
struct Arrays {
    // Words, so that elements are aligned.
    _memory: Vec<Vec<u128>>,
    views: Vec<tnr_view_mut>,
}

impl Arrays {
    /// Small numbers, or anything.
    fn of(types: &[(tnr_dtype, Vec<i64>)], random: &mut Random) -> Arrays {
        let (mut memory, mut views) = (Vec::new(), Vec::new());
        for (dtype, shape) in types {
            let mut view = view_of(ptr::null(), *dtype, shape);
            let mut bytes = vec![0_u128; (view.size_bytes as usize).div_ceil(16) + 1];
            let is_small = random.below(3) != 0;
            for word in &mut bytes {
                let halves = [random.next(), random.next()].map(u128::from);
                *word = match is_small {
                    true => (halves[0] % 4) | (halves[1] % 4) << 64,
                    false => halves[0] | halves[1] << 64,
                };
            }
            view.data = bytes.as_mut_ptr().cast_const().cast();
            view.base = view.data;
            memory.push(bytes);
            views.push(tnr_view_mut { view });
        }
        Arrays { _memory: memory, views }
    }

    fn pointers(&self) -> Vec<*const tnr_view_mut> {
        self.views.iter().map(ptr::from_ref).collect()
    }
}

/// The inputs of a graph for some numbers of its extents.
fn inputs(graph: *const tnr_graph, random: &mut Random) -> Option<Vec<(tnr_dtype, Vec<i64>)>> {
    let (sizes, mut types) = (sizes(graph, random)?, Vec::new());
    for value in 0..described(graph).value_count {
        let info = value_of(graph, value);
        if info.source != tnr_value_source::INPUT {
            continue;
        }
        let numbers = &info.numbers[..info.rank as usize];
        let shape = numbers.iter().map(|number| match number.checked_sub(TNR_EXTENT) {
            Some(extent) if extent >= 0 => sizes.get(extent as usize).copied(),
            _ => Some(*number),
        });
        let shape: Vec<i64> = shape.collect::<Option<_>>()?;
        elements(&shape)?;
        types.push((info.dtype, shape));
    }
    Some(types)
}

/// Runs a program twice, and binds it in two ways, unless it asks for much. Whether a run went
/// well.
fn run(graph: *const tnr_graph, program: *const tnr_program, random: &mut Random) -> bool {
    let Some(types) = inputs(graph, random) else { return false };
    let arrays = Arrays::of(&types, random);
    // A view for writing begins with the view.
    let pointers: Vec<*const tnr_view> =
        arrays.pointers().into_iter().map(|view| view.cast()).collect();
    let (views, count) = (pointers.as_ptr(), pointers.len() as u32);
    let mut plan: tnr_memory_plan = attributes(|_| {});
    let mut outputs = Vec::new();
    // SAFETY: as above; views are over memory of their own.
    unsafe {
        if tnr_program_memory(program, views, count, &mut plan) != tnr_status::OK
            || plan.peak_bytes > MOST_BLOCK_BYTES
        {
            return false;
        }
        for output in 0..described(graph).output_count {
            let (mut dtype, mut rank, mut shape) = (tnr_dtype(0), 0, [0; 8]);
            let (shape_of, shape_at) = (tnr_program_output_shape, shape.as_mut_ptr());
            graphs::ok(shape_of(program, views, count, output, &mut dtype, &mut rank, shape_at));
            if elements(&shape[..rank as usize]).is_none() {
                return false;
            }
            outputs.push((dtype, shape[..rank as usize].to_vec()));
        }
        let outs = Arrays::of(&outputs, random);
        let (out, out_count) = (outs.pointers(), outputs.len() as u32);
        let mut found = vec![[-1_i64; TNR_MAX_RANK]; outputs.len()];
        let asked = attributes(|of: &mut tnr_program_run_attributes| {
            of.output_shapes = found.as_mut_ptr().cast();
        });
        let mut statuses = Vec::new();
        for _ in 0..2 {
            let context = ptr::null_mut();
            let (out, ran) = (out.as_ptr(), tnr_program_run);
            statuses.push(ran(context, program, views, count, &asked, out, out_count));
        }
        assert_eq!(statuses[0], statuses[1], "{}", message());
        for flags in [0, TNR_BOUND_PREALLOCATED] {
            let (context, out) = (ptr::null_mut(), out.as_ptr());
            let binding = attributes(|of: &mut tnr_bound_attributes| of.flags = flags);
            let bind = tnr_bound_create;
            let bound = bind(context, program, views, count, &binding, out, out_count);
            if !bound.is_null() {
                // It answers the same; a preallocated one may name shapes that it does not take.
                let none = ptr::null();
                let status = tnr_bound_run(context, bound, views, count, none, out, out_count);
                let is_same =
                    status == statuses[0] || (flags != 0 && status == tnr_status::UNSUPPORTED);
                assert!(is_same, "{status:?}: {}", message());
            }
            graphs::ok(tnr_bound_release(bound));
        }
        if statuses[0] != tnr_status::OK {
            return false;
        }
        for (found, (_, shape)) in found.iter().zip(&outputs) {
            assert!(found.iter().zip(shape).all(|(extent, most)| (0..=*most).contains(extent)));
        }
        true
    }
}

/// Copies the values of a graph into `graph`, with nodes that `change` alters. Returns the count of
/// alterations that the graph accepted.
fn rebuilt(
    of: *const tnr_graph,
    graph: *mut tnr_graph,
    added: &mut BTreeSet<u32>,
    random: &mut Random,
) -> u32 {
    let (info, mut changed) = (described(of), 0);
    for index in 0..info.extent_count {
        let (mut info, mut number): (tnr_extent_info, _) = (attributes(|_| {}), 0);
        // SAFETY: as above.
        unsafe {
            graphs::ok(tnr_graph_describe_extent(of, index, &mut info));
            graphs::ok(match info.op {
                tnr_extent_op(0) => {
                    tnr_graph_add_extent(graph, info.name.as_ptr(), info.a, &mut number)
                }
                op => tnr_graph_combine_extents(graph, op, info.a, info.b, &mut number),
            });
        }
    }
    for index in 0..info.subgraph_count {
        let mut number = 0;
        // SAFETY: as above; the copy is the caller's.
        unsafe {
            let body = tnr_graph_copy_subgraph(of, index);
            graphs::ok(tnr_graph_add_subgraph(graph, body, &mut number));
            graphs::ok(tnr_graph_release(body));
        }
    }
    for value in 0..info.value_count {
        let info = value_of(of, value);
        let mut number = 0;
        // SAFETY: as above.
        let status = unsafe {
            match info.source {
                tnr_value_source::INPUT => {
                    let numbers = info.numbers.as_ptr();
                    tnr_graph_add_input(graph, info.dtype, info.rank, numbers, &mut number)
                }
                tnr_value_source::CONSTANT => {
                    let mut view = std::mem::zeroed();
                    graphs::ok(tnr_graph_describe_constant(of, info.index, &mut view));
                    tnr_graph_add_constant(graph, &view, &mut number)
                }
                tnr_value_source::SCALAR => {
                    let mut scalar = std::mem::zeroed();
                    graphs::ok(tnr_graph_describe_scalar(of, info.index, &mut scalar));
                    tnr_graph_add_scalar(graph, &scalar, &mut number)
                }
                _ if info.result > 0 => continue,
                _ => {
                    let node = node_of(of, info.index);
                    let mut other = node.clone();
                    let values = described(graph).value_count;
                    while random.below(6) == 0 {
                        change(&mut other, values, random);
                    }
                    if add(graph, &other) {
                        added.insert(other.code & KIND);
                        changed += u32::from(other.raw().code != node.code);
                        changed += u32::from(other.operands != node.operands);
                        changed += u32::from(other.numbers != node.numbers);
                    } else if !add(graph, &node) {
                        // Its operand is another value now.
                        return changed;
                    }
                    tnr_status::OK
                }
            }
        };
        if status != tnr_status::OK {
            return changed;
        }
    }
    changed
}

/// A body that keeps the elements of its operand above a bound.
fn selecting(bound: f32, most: i64) -> GraphHandle {
    let mut b = Builder::new();
    let (x, own) = (b.input(dtype_of::<f32>(), &[20]), b.extent("own", most));
    let bound = b.scalar(bound);
    let above = TNR_NODE_COMPARE | tnr_compare_op::GT.0 as u32;
    let above = b.node(above, &[x, bound], &[]);
    let kept = b.node(TNR_NODE_MASKED_SELECT, &[x, above], &[own]);
    b.output(kept);
    b.finish()
}

/// A condition: whether the vector that it is handed has an element above a bound.
fn has_above(bound: f32) -> GraphHandle {
    let mut b = Builder::new();
    let (x, bound) = (b.input(dtype_of::<f32>(), &[20]), b.scalar(bound));
    let above = TNR_NODE_COMPARE | tnr_compare_op::GT.0 as u32;
    let above = b.node(above, &[x, bound], &[]);
    let no = None::<&tnr_reduce_attributes>;
    let any = TNR_NODE_REDUCE | tnr_reduce_op::ANY.0 as u32;
    let any = b.node_with(any, &[above], &[], no, 1, tnr_dtype(0));
    b.output(any);
    b.finish()
}

/// A body that halves its operand, and keeps the elements above a bound.
fn shrinking() -> GraphHandle {
    let mut b = Builder::new();
    let (x, own) = (b.input(dtype_of::<f32>(), &[20]), b.extent("left", 20));
    let (half, bound) = (b.scalar(0.5_f32), b.scalar(0.25_f32));
    let halved = b.node(TNR_NODE_BINARY | tnr_binary_op::MUL.0 as u32, &[x, half], &[]);
    let above = TNR_NODE_COMPARE | tnr_compare_op::GT.0 as u32;
    let above = b.node(above, &[halved, bound], &[]);
    let kept = b.node(TNR_NODE_MASKED_SELECT, &[halved, above], &[own]);
    b.output(kept);
    b.finish()
}

/// Nodes whose work the data decide: counts, branches and loops, also within each other.
fn deciding() -> GraphHandle {
    let body = |code: Option<u32>| {
        let mut b = Builder::new();
        let x = b.input(dtype_of::<f32>(), &[]);
        let half = b.scalar(0.5_f32);
        let value = match code {
            Some(code) => b.node(code, &[x, half], &[]),
            None => x,
        };
        b.output(value);
        b.finish()
    };
    let (times, less) = (TNR_NODE_BINARY | tnr_binary_op::MUL.0 as u32, tnr_compare_op::GT.0);
    let bodies = [
        body(Some(times)),
        body(None),
        body(Some(TNR_NODE_COMPARE | less as u32)),
        selecting(1.0, 20),
        selecting(0.5, 4),
        has_above(2.0),
        shrinking(),
    ];
    let mut b = Builder::new();
    let (n, hits, some) = (b.extent("n", 8), b.extent("hits", 6), b.extent("some", 20));
    let half = b.combined(tnr_extent_op::DIV_UP, some, 2);
    let x = b.input(dtype_of::<f32>(), &[n, 3]);
    let flags = b.input(dtype_of::<tenure::Bool8>(), &[n]);
    let places = b.node(TNR_NODE_NONZERO, &[flags], &[hits]);
    let places = b.node(TNR_NODE_RESHAPE, &[places], &[hits]);
    let rows = b.node(TNR_NODE_TAKE, &[x, places], &[0]);
    let weights = b.constant(&counting(6), &[3, 2]);
    let product = b.node(TNR_NODE_MATMUL, &[rows, weights], &[]);
    let one = b.scalar(0.1_f32);
    let above = b.node(TNR_NODE_COMPARE | less as u32, &[x, one], &[]);
    let chosen = b.node(TNR_NODE_MASKED_SELECT, &[x, above], &[some]);
    let part = b.node(TNR_NODE_SLICE, &[chosen], &[0, 0, half, 1]);
    let selection = chosen;
    let sum = TNR_NODE_REDUCE | tnr_reduce_op::SUM.0 as u32;
    let no = None::<&tnr_reduce_attributes>;
    let total = b.node_with(sum, &[part], &[], no, 1, tnr_dtype(0));
    let any = TNR_NODE_REDUCE | tnr_reduce_op::ANY.0 as u32;
    let flag = b.node_with(any, &[flags], &[], no, 1, tnr_dtype(0));
    let graph = b.finish();
    for body in bodies {
        let mut index = 0;
        // SAFETY: as above.
        graphs::ok(unsafe { tnr_graph_add_subgraph(graph.as_raw(), body.as_raw(), &mut index) });
    }
    let node = |code, operands: &[u32], numbers: &[i64]| Node {
        code,
        dtype: tnr_dtype(0),
        flags: 0,
        operands: operands.to_vec(),
        numbers: numbers.to_vec(),
        attributes: None,
    };
    assert!(add(graph.as_raw(), &node(TNR_NODE_COND, &[flag, total], &[0, 1])), "{}", message());
    let chosen = described(graph.as_raw()).value_count - 1;
    let looping = node(TNR_NODE_WHILE, &[chosen], &[2, 0, MOST_ITERATIONS]);
    assert!(add(graph.as_raw(), &looping), "{}", message());
    assert!(add(graph.as_raw(), &node(times, &[product, chosen], &[])), "{}", message());
    // Bodies that find by themselves, and a state that shrinks.
    let value = described(graph.as_raw()).value_count;
    let selected = node(TNR_NODE_COND, &[flag, selection], &[3, 4]);
    assert!(add(graph.as_raw(), &selected), "{}", message());
    let shrunk = node(TNR_NODE_WHILE, &[value], &[5, 6, MOST_ITERATIONS]);
    assert!(add(graph.as_raw(), &shrunk), "{}", message());
    graph
}

/// Loops that go on for long are not run.
fn is_short(graph: *const tnr_graph) -> bool {
    (0..described(graph).node_count)
        .map(|index| node_of(graph, index))
        .all(|node| node.code & KIND != TNR_NODE_WHILE || node.numbers[2] <= MOST_ITERATIONS)
}

#[test]
fn nodes() {
    let corpus = [
        deciding(),
        graphs::everything().graph,
        kinds::ordered_random_and_sparse().graph,
        graphs::small().graph,
    ];
    let (mut added, mut changed, mut ran) = (BTreeSet::new(), 0, 0);
    fuzz(3_000, |random| {
        // Half of the graphs are the first one, where a run decides most shapes.
        let of = if random.below(2) == 0 { &corpus[0] } else { random.pick(&corpus) };
        // SAFETY: as above; the program ends before its graph.
        unsafe {
            let graph = tnr_graph_create();
            changed += rebuilt(of.as_raw(), graph, &mut added, random);
            let values = described(graph).value_count;
            for _ in 0..1 + random.below(3) {
                let value = values - 1 - random.below(values.min(4) as usize) as u32;
                // A scalar is none.
                let _ = tnr_graph_add_output(graph, value, TNR_OPERAND_NONE);
            }
            // Constants are not folded: a graph may ask for any amount of work.
            let attributes = attributes(|of: &mut tnr_program_attributes| {
                of.disabled_passes = random.next() as u32 & 0xff | TNR_PASS_CONSTANT_FOLDING;
            });
            let program = tnr_program_create(ptr::null_mut(), graph, &attributes);
            if !program.is_null() && is_short(graph) {
                ran += u32::from(run(graph, program, random));
            }
            graphs::ok(tnr_program_release(program));
            graphs::ok(tnr_graph_release(graph));
        }
    });
    println!("{changed} changes of {} kinds were taken, and {ran} graphs ran", added.len());
    for kind in [TNR_NODE_NONZERO, TNR_NODE_MASKED_SELECT, TNR_NODE_COND, TNR_NODE_WHILE] {
        assert!(added.contains(&kind), "{kind:#x}");
    }
    assert!(added.len() > 40 && changed > 300 && ran > 300);
}
