//! Custom operations that change their answers, in graphs that are drawn: whatever they answer, a
//! run is refused or writes its outputs, and no other memory.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tenure::*;
use tenure_sys::*;

use super::random::mixed;
use super::{Random, fuzz};

/// Most elements of an input.
const MOST: usize = 12;
/// Elements before and behind an output, and the value of all elements before a run.
const GUARD: usize = 600;
const UNTOUCHED: f32 = -77.0;
/// Outputs of more elements are not made.
const MOST_ELEMENTS: usize = 1 << 12;

// ---- operations --------------------------------------------------------------------------------

/// The answers of the shape functions of one graph.
struct Answers {
    seed: u64,
    asked: AtomicU64,
    /// The number of the first answer that may be a lie.
    first: u64,
    /// One answer in `share` is a lie.
    share: u64,
}

impl Answers {
    /// The generator of the lie that is due, if any; equal calls by number get equal generators.
    fn lie(&self) -> Option<Random> {
        let call = self.asked.fetch_add(1, Relaxed);
        let mut random = Random::new(mixed(self.seed ^ call));
        (call >= self.first && random.next() % self.share == 0).then_some(random)
    }
}

/// A dtype of C, known or not.
fn dtype(random: &mut Random) -> tnr_dtype {
    tnr_dtype(*random.pick(&[0x1_2002, 0x1_4002, 0x1_2000, 0x1_0800, 0x1_1002, 0x7777, 0]))
}

/// An extent small enough for an immediate allocation, or too large for any memory.
fn extent(random: &mut Random) -> i64 {
    match random.number() {
        number if (64..1 << 50).contains(&number) => number % 64,
        number => number,
    }
}

/// The dtype and shape of the operand, or a lie.
///
/// # Safety
///
/// - The conditions of `tnr_infer_fn`, and `context` is an `Answers`.
unsafe extern "C" fn infer(
    context: *mut c_void,
    operands: *const tnr_view,
    _: u32,
    _: *const i64,
    _: u32,
    dtype_out: *mut tnr_dtype,
    rank_out: *mut u32,
    shape: *mut i64,
) -> tnr_status {
    // SAFETY: by this function's contract; there is one operand, and room for any rank.
    let (answers, operand, shape) = unsafe {
        let shape = std::slice::from_raw_parts_mut(shape, TNR_MAX_RANK);
        (&*context.cast::<Answers>(), &*operands, shape)
    };
    let (mut of, mut rank, mut status) = (operand.dtype, operand.rank, tnr_status::OK);
    shape.copy_from_slice(&operand.shape);
    if let Some(mut random) = answers.lie() {
        match random.below(9) {
            0 => of = dtype(&mut random),
            1 => rank = random.below(10) as u32,
            2 => rank = random.next() as u32,
            3 => shape[random.below(2)] = extent(&mut random),
            4 => shape[..2].fill(random.below(40) as i64),
            5 => shape.fill(random.below(4) as i64),
            6 => status = tnr_status(random.below(40) as i32 - 4),
            7 => return tnr_status::OK, // without an answer
            _ => {
                (of, rank) = (dtype(&mut random), random.below(10) as u32);
                shape.fill(random.below(3) as i64);
            }
        }
    }
    // SAFETY: by this function's contract.
    unsafe { (*dtype_out, *rank_out) = (of, rank) };
    status
}

/// Ones, of whatever dtype and shape. Reads all of the operand.
///
/// # Safety
///
/// - The conditions of `tnr_compute_fn`.
unsafe extern "C" fn compute(
    _: *mut c_void,
    operands: *const tnr_view,
    _: u32,
    _: *const i64,
    _: u32,
    out: *const tnr_view_mut,
) -> tnr_status {
    let mut one = tnr_scalar { dtype: tnr_dtype(0x1_4000), reserved: 0, bytes: [0; 16] };
    one.bytes[..8].copy_from_slice(&1_i64.to_ne_bytes());
    // SAFETY: by this function's contract; the copy has as many bytes as the operand has elements.
    unsafe {
        // All of both is memory that the run has.
        assert_eq!(tnr_view_check(operands), tnr_status::OK);
        assert_eq!(tnr_view_check_mut(out), tnr_status::OK);
        let (null, mut to) = (ptr::null_mut(), *operands);
        let count = tnr_view_count(operands) as usize;
        let mut copy = vec![0_u8; count * tnr_dtype_size_bytes(to.dtype)];
        (to.data, to.base) = (copy.as_mut_ptr().cast(), copy.as_mut_ptr().cast());
        (to.size_bytes, to.owner) = (copy.len() as u64, 0);
        let mut stride = 1;
        for axis in (0..to.rank as usize).rev() {
            to.strides[axis] = stride;
            stride *= to.shape[axis];
        }
        if count > 0 {
            let copied = tnr_copy(null, operands, ptr::null(), &tnr_view_mut { view: to });
            assert_eq!(copied, tnr_status::OK);
        }
        tnr_fill(null, &one, ptr::null(), out)
    }
}

/// # Safety
///
/// - `context` is an `Answers` of `Arc::into_raw`, and this is the one call with it.
unsafe extern "C" fn release(context: *mut c_void) {
    // SAFETY: by this function's contract.
    drop(unsafe { Arc::from_raw(context.cast_const().cast::<Answers>()) });
}

/// A custom operation in C, and one in Rust that only changes its shapes.
fn operations(answers: &Arc<Answers>) -> [CustomOperation; 2] {
    let raw = tnr_custom_operation {
        struct_size: size_of::<tnr_custom_operation>() as u64,
        name: c"liar".as_ptr(),
        infer: Some(infer),
        compute: Some(compute),
        user_context: Arc::into_raw(Arc::clone(answers)).cast_mut().cast(),
        release: Some(release),
        operand_count: 1,
        number_count: 0,
        flags: 0,
        reserved: 0,
        compute_on_device: None,
        derive: None,
    };
    let answers = Arc::clone(answers);
    let shape = move |[x]: [&[usize]; 1]| match answers.lie() {
        None => Ok(x.to_vec()),
        Some(mut random) => match random.below(6) {
            0 => Err("no shape".into()),
            // A panic without a message on the way.
            1 => std::panic::resume_unwind(Box::new("no shape")),
            _ => {
                let mut extents = vec![random.below(4); random.below(10)];
                if let Some(first) = extents.first_mut() {
                    *first = extent(&mut random) as usize;
                }
                Ok(extents)
            }
        },
    };
    let ones = CustomOperation::new::<(f32,), f32>("ones", shape, |(x,), mut out| {
        std::hint::black_box(x.iter().sum::<f32>());
        out.fill(1.0);
        Ok(())
    });
    // SAFETY: the functions fulfil their contracts for as long as the context lives.
    [unsafe { CustomOperation::from_raw(&raw) }.unwrap(), ones.unwrap()]
}

// ---- graphs ------------------------------------------------------------------------------------

/// Vectors of one common length, and the extent that the library gives for it, if any.
struct Vectors<'g> {
    of: Vec<Traced<'g, f32>>,
    length: Option<Extent<'g>>,
}

struct Growing<'g, 'o> {
    graph: Graph<'g>,
    operations: &'o [CustomOperation; 2],
    /// With the values themselves first.
    vectors: Vec<Vectors<'g>>,
    depth: usize,
}

impl<'g> Growing<'g, '_> {
    fn pick(&self, random: &mut Random) -> (usize, Traced<'g, f32>) {
        let at = random.below(self.vectors.len());
        (at, *random.pick(&self.vectors[at].of))
    }

    fn custom(&self, random: &mut Random, a: Traced<'g, f32>) -> Traced<'g, f32> {
        self.graph.custom(random.pick(self.operations), a)
    }

    /// A body that is handed this value, and gives what some steps make of it.
    fn body(&self, seed: u64, handed: Traced<'g, f32>) -> Traced<'g, f32> {
        let mut random = Random::new(seed);
        let vectors = vec![Vectors { of: vec![handed], length: None }];
        let mut within = Growing { vectors, depth: self.depth + 1, ..*self };
        (0..1 + random.below(3)).for_each(|_| within.step(&mut random));
        within.pick(&mut random).1
    }

    fn step(&mut self, random: &mut Random) {
        let (at, a) = self.pick(random);
        let b = *random.pick(&self.vectors[at].of);
        let made = match random.below(14) {
            0 => -a,
            1 => a + b,
            2 => a * b.sum(0),
            3..=6 => self.custom(random, a),
            7 if self.vectors.len() < 4 => {
                let name = format!("hits {} {}", self.depth, self.vectors.len());
                let (found, length) = a.masked_select(b.gt(0.0), &name, MOST);
                self.vectors.push(Vectors { of: vec![found], length: Some(length) });
                return;
            }
            8 if self.depth < 3 => {
                let (seeds, operations, depth) = ([random.next(); 2], self.operations, self.depth);
                let taken = self.graph.cond(
                    b.gt(0.0).any(0),
                    a,
                    |body, a| body.outputs(inner(body, operations, depth).body(seeds[0], a)),
                    |body, a| body.outputs(inner(body, operations, depth).body(seeds[1], a)),
                );
                match taken {
                    Ok(taken) => taken,
                    Err(_) => return,
                }
            }
            9 if self.depth < 3 => {
                let (seed, operations, depth) = (random.next(), self.operations, self.depth);
                let last = self.graph.while_loop(
                    9,
                    a,
                    (),
                    |body, a, ()| {
                        let within = inner(body, operations, depth);
                        let a = if seed % 2 == 0 { a } else { a * within.body(seed, a).max(0) };
                        body.outputs(a.sum(0).lt(40.0))
                    },
                    |body, a, ()| {
                        let made = inner(body, operations, depth).body(seed, a);
                        body.outputs(made.abs() + 10.0)
                    },
                );
                match last {
                    Ok(last) => last,
                    Err(_) => return,
                }
            }
            10 => match self.vectors[at].length {
                Some(length) => {
                    let column =
                        a.reshape((length, 1)) + self.graph.copy_constant(&[0.0, 0.0, 0.0]);
                    let weights = self.graph.copy_constant(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
                    self.custom(random, column).matmul(weights).sum(1)
                }
                None => a.square(),
            },
            11 => a + self.graph.concat([a, self.custom(random, b)], 0).sum(0),
            12 => self.custom(random, a).sort(0),
            _ => a.cumsum(0) - b.max(0),
        };
        self.vectors[at].of.push(made);
    }
}

fn inner<'h, 'o>(
    graph: Graph<'h>,
    operations: &'o [CustomOperation; 2],
    depth: usize,
) -> Growing<'h, 'o> {
    Growing { graph, operations, vectors: Vec::new(), depth }
}

type Drawn = Program<(f32,), Vec<f32>>;

/// The program of a seed, with these answers.
fn traced(seed: u64, answers: &Arc<Answers>) -> Result<Drawn> {
    let (operations, mut random) = (operations(answers), Random::new(seed));
    let passes = *random.pick(&[Passes::DEFAULT, Passes::NONE]);
    Program::trace_with(passes, |graph| {
        let length = graph.extent("n", MOST);
        let x = graph.input::<f32>([length]);
        let vectors = vec![Vectors { of: vec![x], length: Some(length) }];
        let mut growing = Growing { graph, operations: &operations, vectors, depth: 0 };
        (0..2 + random.below(8)).for_each(|_| growing.step(&mut random));
        let outputs: Vec<_> =
            (0..1 + random.below(3)).map(|_| growing.pick(&mut random).1).collect();
        graph.program((x,), outputs)
    })
}

// ---- runs --------------------------------------------------------------------------------------

/// Memory of an output, between guard elements that no code writes.
struct Output {
    memory: Vec<f32>,
    shape: Vec<usize>,
}

impl Output {
    fn all(shapes: &[Vec<usize>]) -> Vec<Output> {
        let output = |shape: &Vec<usize>| {
            let count: usize = shape.iter().product();
            Output { memory: vec![UNTOUCHED; count + 2 * GUARD], shape: shape.clone() }
        };
        shapes.iter().map(output).collect()
    }

    fn views(outputs: &mut [Output]) -> Vec<TensorViewMut<'_, f32>> {
        let view = |output: &'_ mut Output| {
            let end = output.memory.len() - GUARD;
            // A borrow of its own for each.
            let Output { memory, shape } = output;
            (&raw mut memory[GUARD..end], shape.clone())
        };
        let views = outputs.iter_mut().map(view).map(|(memory, shape)| {
            // SAFETY: parts of memory that is borrowed for as long as the views.
            TensorViewMut::from_slice(unsafe { &mut *memory }, &shape[..]).unwrap()
        });
        views.collect()
    }

    fn check(outputs: &[Output]) {
        for Output { memory, .. } in outputs {
            let (before, rest) = memory.split_at(GUARD);
            let behind = &rest[rest.len() - GUARD..];
            assert!(before.iter().chain(behind).all(|element| *element == UNTOUCHED));
        }
    }
}

/// How often programs ran, and were refused.
#[derive(Default)]
struct Counts {
    ran: u32,
    refused: u32,
}

impl Counts {
    fn add(&mut self, is_run: bool) {
        *(if is_run { &mut self.ran } else { &mut self.refused }) += 1;
    }
}

fn is_small(shapes: &[Vec<usize>]) -> bool {
    let count = |shape: &Vec<usize>| {
        shape.iter().try_fold(1_usize, |count, extent| count.checked_mul(*extent))
    };
    shapes.iter().all(|shape| count(shape).is_some_and(|count| count <= MOST_ELEMENTS))
}

/// One run on these numbers. `honest` are the shapes of outputs where nothing lies.
fn run(
    program: &Drawn,
    x: &TensorView<'_, f32>,
    honest: &[Vec<usize>],
    random: &mut Random,
) -> bool {
    match random.below(5) {
        0 => match program.output_shapes((x,)) {
            Ok(shapes) if is_small(&shapes) => match program.run((x,)) {
                Ok(outputs) => {
                    let sum = |output: &Tensor<f32>| output.iter().sum::<f32>();
                    std::hint::black_box(outputs.iter().map(sum).sum::<f32>());
                    true
                }
                Err(_) => false,
            },
            _ => false,
        },
        1 => {
            let shapes = program.output_shapes((x,)).unwrap_or_default();
            if shapes.is_empty() || !is_small(&shapes) {
                return false;
            }
            let mut outputs = Output::all(&shapes);
            let ran = program.run_into_shapes((x,), Output::views(&mut outputs));
            Output::check(&outputs);
            ran.is_ok_and(|written| {
                let within = |(written, shape): (&Vec<usize>, &Vec<usize>)| {
                    written.len() == shape.len() && written.iter().zip(shape).all(|(a, b)| a <= b)
                };
                assert!(written.iter().zip(&shapes).all(within), "{written:?} of {shapes:?}");
                true
            })
        }
        2 | 3 => {
            let mut outputs = Output::all(honest);
            let views = Output::views(&mut outputs);
            let ran = match random.below(2) {
                0 => program.run_into((x,), views),
                _ => program.clone().checked().run_into((x,), views),
            };
            Output::check(&outputs);
            ran.is_ok()
        }
        _ => {
            let mut outputs = Output::all(honest);
            let bound = match random.below(2) {
                0 => program.bind((x,), Output::views(&mut outputs)),
                _ => program.bind_preallocated((x,), Output::views(&mut outputs)),
            };
            let ran = bound.is_ok_and(|bound| {
                let first = bound.run((x,), Output::views(&mut outputs)).is_ok();
                bound.run((x,), Output::views(&mut outputs)).is_ok() || first
            });
            Output::check(&outputs);
            ran
        }
    }
}

#[test]
fn custom_operations() {
    let (mut honest_counts, mut counts) = (Counts::default(), Counts::default());
    fuzz(1_500, |random| {
        let seed = random.next();
        let truth = Answers { seed, asked: AtomicU64::new(0), first: u64::MAX, share: 1 };
        let Ok(honest) = traced(seed, &Arc::new(truth)) else { return };
        let (first, share) = (random.below(40) as u64, 1 + random.below(8) as u64);
        let answers = Arc::new(Answers { seed, asked: AtomicU64::new(0), first, share });
        let lying = traced(seed, &answers);
        for _ in 0..4 {
            let count = 1 + random.below(MOST);
            let mut number = || random.below(9) as f32 * 0.5 - 1.5;
            let memory: Vec<f32> = (0..2 * MOST).map(|_| number()).collect();
            let step = 1 + random.below(2) as isize;
            let x = TensorView::from(&memory[..]);
            let x = x.slice_step(0, ..count * step as usize, step).unwrap();
            let Ok(shapes) = honest.output_shapes((&x,)) else { continue };
            let draw = random.next();
            honest_counts.add(run(&honest, &x, &shapes, &mut Random::new(draw)));
            let has_run = |program: &Drawn| run(program, &x, &shapes, &mut Random::new(draw));
            counts.add(lying.as_ref().is_ok_and(has_run));
        }
    });
    let [ran, refused] = [counts.ran, counts.refused];
    println!(
        "{} honest runs; of those with lies {ran} ran, {refused} were refused",
        honest_counts.ran
    );
    assert!(honest_counts.ran > 4 * honest_counts.refused && ran > 100 && refused > 100);
}
