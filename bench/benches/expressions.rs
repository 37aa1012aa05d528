//! Expressions compared with separate calls, which write a temporary for each operation and read it
//! again: from 8 f32, where the calls themselves take the time, to sizes beyond every cache.

use std::hint::black_box;

use bench::subject::{Case, Subject};
use bench::{CountingAllocator, Scale, allocations_of};
use tenure::{Axes, Context, Tensor};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Columns of the arrays whose rows are reduced.
const COLS: usize = 1024;

fn main() {
    let mut subject = Subject::open("expressions");
    let counts: &[usize] = match subject.scale() {
        Scale::Smoke => &[8, 4096],
        Scale::Quick => &[8, 4096, 16 << 20],
        Scale::Full => &[8, 256, 4096, 64 << 10, 1 << 20, 16 << 20],
    };
    let context = Context::with_threads(2).expect("a thread can be had");
    for &count in counts {
        let memory = Memory::new(count);
        for threads in [1, 2] {
            let setup = Setup { memory: &memory, threads, context: &context };
            if threads == 2 && count < 1 << 20 {
                continue;
            }
            sum_of_product(&mut subject, &setup);
            function(&mut subject, &setup);
            polynomial(&mut subject, &setup);
            squared_error(&mut subject, &setup);
            if count >= COLS {
                standardized_rows(&mut subject, &setup);
            }
        }
    }
    subject.close();
}

/// Three arrays, of rows where there are some.
struct Memory {
    a: Tensor<f32>,
    b: Tensor<f32>,
    c: Tensor<f32>,
}

impl Memory {
    fn new(count: usize) -> Memory {
        let shape = [count.div_ceil(COLS), count.min(COLS)];
        let make = |scale: f32| {
            let at = |[row, col]: [usize; 2]| ((row * COLS + col) % 1000) as f32 * scale - 1.0;
            Tensor::from_fn(shape, at).expect("it fits")
        };
        Memory { a: make(0.002), b: make(0.001), c: make(0.003) }
    }

    fn bytes(&self) -> u64 {
        self.a.len() as u64 * 4
    }

    fn outs<const N: usize>(&self) -> [Tensor<f32>; N] {
        [(); N].map(|()| Tensor::zeros(self.a.shape()).expect("it fits"))
    }
}

/// The arrays and threads that all ways of one comparison share.
struct Setup<'a> {
    memory: &'a Memory,
    threads: usize,
    /// With which they run on two threads.
    context: &'a Context,
}

impl Setup<'_> {
    fn measure(&self, subject: &mut Subject, name: &str, arrays: u64, ways: Vec<Case<'_>>) {
        let ways = match self.threads {
            1 => ways,
            _ => ways.into_iter().map(|way| way.on(self.context)).collect(),
        };
        let bytes = self.memory.bytes();
        subject.measure(name, bytes, self.threads, bytes * arrays, ways);
    }
}

/// In one pass, which allocates nothing.
fn one_pass<'a>(way: &'static str, mut run: impl FnMut() + 'a) -> Case<'a> {
    assert_eq!(allocations_of(&mut run), 0, "allocations of {way}");
    Case::repeated("tenure", way, run)
}

fn calls<'a>(run: impl FnMut() + 'a) -> Case<'a> {
    Case::repeated("tenure", "calls", run)
}

fn sum_of_product(subject: &mut Subject, setup: &Setup<'_>) {
    let Memory { a, b, c } = setup.memory;
    let [mut out, mut again] = setup.memory.outs();
    let expression = one_pass("expression", || {
        let (a, b, c) = black_box((a, b, c));
        (a * b + c).eval_into(&mut out).expect("one shape");
    });
    let calls = calls(|| {
        let (a, b, c) = black_box((a, b, c));
        tenure::ops::mul_into(a, b, &mut again).expect("one shape");
        tenure::ops::add_assign(&mut again, c).expect("one shape");
    });
    let program = tenure::Program::trace(|graph| {
        let inputs = (graph.input(a.shape()), graph.input(b.shape()), graph.input(c.shape()));
        graph.program(inputs, inputs.0 * inputs.1 + inputs.2)
    });
    let [mut written] = setup.memory.outs();
    let bound = program.expect("one shape").bind((a, b, c), &mut written).expect("one shape");
    bound.run((a, b, c), &mut written).expect("the same layouts");
    let bound = one_pass("bound", || {
        bound.run(black_box((a, b, c)), &mut written).expect("the same layouts");
    });
    let mut ways = vec![expression, calls, bound];
    if setup.threads == 1 {
        ways.extend(peers(setup.memory));
    }
    setup.measure(subject, "a * b + c", 4, ways);
}

fn function(subject: &mut Subject, setup: &Setup<'_>) {
    let Memory { a, b, c } = setup.memory;
    let [mut out, mut again] = setup.memory.outs();
    let expression = one_pass("expression", || {
        let (a, b, c) = black_box((a, b, c));
        (a * b + c).tanh().eval_into(&mut out).expect("one shape");
    });
    let calls = calls(|| {
        let (a, b, c) = black_box((a, b, c));
        tenure::ops::mul_into(a, b, &mut again).expect("one shape");
        tenure::ops::add_assign(&mut again, c).expect("one shape");
        tenure::ops::tanh_assign(&mut again).expect("one shape");
    });
    let name = "tanh(a * b + c)";
    setup.measure(subject, name, 4, vec![expression, calls]);
}

/// A polynomial by Horner's rule.
fn polynomial(subject: &mut Subject, setup: &Setup<'_>) {
    let a = &setup.memory.a;
    let [mut out, mut again] = setup.memory.outs();
    const FACTORS: [f32; 6] = [0.5, -0.25, 0.125, 2.0, -1.5, 1.0];
    let expression = one_pass("expression", || {
        let a = black_box(a);
        let first = a * 0.1_f32;
        let sum = FACTORS.iter().fold(first, |sum, factor| (sum + *factor) * a);
        sum.eval_into(&mut out).expect("one shape");
    });
    let calls = calls(|| {
        let a = black_box(a);
        tenure::ops::mul_into(a, 0.1_f32, &mut again).expect("one shape");
        for factor in FACTORS {
            tenure::ops::add_assign(&mut again, factor).expect("one shape");
            tenure::ops::mul_assign(&mut again, a).expect("one shape");
        }
    });
    let name = "a polynomial of degree 7";
    setup.measure(subject, name, 2, vec![expression, calls]);
}

fn squared_error(subject: &mut Subject, setup: &Setup<'_>) {
    let Memory { a, b, .. } = setup.memory;
    let [mut again] = setup.memory.outs();
    let (mut sum, mut sum_again) = (0.0_f32, 0.0_f32);
    let expression = one_pass("expression", || {
        let (a, b) = black_box((a, b));
        let mut sum = tenure::TensorViewMut::from_mut(&mut sum);
        (a - b).square().sum(..).eval_into(&mut sum).expect("one shape");
    });
    let calls = calls(|| {
        let (a, b) = black_box((a, b));
        tenure::ops::sub_into(a, b, &mut again).expect("one shape");
        tenure::ops::square_assign(&mut again).expect("one shape");
        let mut sum = tenure::TensorViewMut::from_mut(&mut sum_again);
        tenure::ops::sum_into(&again, .., &mut sum).expect("one shape");
    });
    let name = "the sum of (a - b)^2";
    setup.measure(subject, name, 2, vec![expression, calls]);
}

/// A layer norm without weights, in place.
fn standardized_rows(subject: &mut Subject, setup: &Setup<'_>) {
    let [mut out, mut again] = setup.memory.outs();
    tenure::ops::copy_into(&setup.memory.a, &mut out).expect("one shape");
    tenure::ops::copy_into(&setup.memory.a, &mut again).expect("one shape");
    let expression = one_pass("expression", || {
        let update = out.update(|x| {
            let centred = x.clone() - x.clone().mean(Axes::keep(-1));
            centred * (x.var(Axes::keep(-1), 0) + 1e-5).rsqrt()
        });
        update.expect("one shape");
    });
    let calls = calls(|| {
        let (mean, var) = tenure::ops::moments(&again, Axes::keep(-1), 0).expect("one shape");
        let scale =
            tenure::ops::rsqrt(tenure::ops::add(&var, 1e-5).expect("it fits")).expect("it fits");
        tenure::ops::sub_assign(&mut again, &mean).expect("one shape");
        tenure::ops::mul_assign(&mut again, &scale).expect("one shape");
    });
    let name = "rows of mean 0 and variance 1, in place";
    setup.measure(subject, name, 2, vec![expression, calls]);
}

#[cfg_attr(not(feature = "peers"), expect(unused_variables))]
fn peers(memory: &Memory) -> Vec<Case<'_>> {
    #[cfg_attr(not(feature = "peers"), expect(unused_mut))]
    let mut cases = Vec::new();
    #[cfg(feature = "peers")]
    {
        let array = |tensor: &Tensor<f32>| ndarray::Array1::from(tensor.to_vec());
        let (a, b, c) = (array(&memory.a), array(&memory.b), array(&memory.c));
        let mut out = ndarray::Array1::<f32>::zeros(a.len());
        cases.push(Case::repeated("ndarray", "Zip", move || {
            ndarray::Zip::from(black_box(&mut out))
                .and(black_box(&a))
                .and(black_box(&b))
                .and(black_box(&c))
                .for_each(|out, a, b, c| *out = a * b + c);
        }));
    }
    cases
}
