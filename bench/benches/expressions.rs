//! Expressions beside the calls one by one, which write a temporary for each operation and read it
//! again: from 8 f32, where the calls themselves are what takes time, to what no cache holds.

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
            if threads == 1 || count >= 1 << 20 {
                sum_of_product(&mut subject, &memory, threads, &context);
                function(&mut subject, &memory, threads, &context);
                polynomial(&mut subject, &memory, threads, &context);
                squared_error(&mut subject, &memory, threads, &context);
            }
            if count >= COLS && (threads == 1 || count >= 1 << 20) {
                standardized_rows(&mut subject, &memory, threads, &context);
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

    fn out(&self) -> Tensor<f32> {
        Tensor::zeros(self.a.shape()).expect("it fits")
    }
}

/// The expression, and the calls; on two threads both within the context.
fn measure<'a>(
    subject: &mut Subject,
    name: &str,
    memory: &Memory,
    (threads, context): (usize, &'a Context),
    arrays: u64,
    mut expression: impl FnMut() + 'a,
    calls: impl FnMut() + 'a,
    peers: Vec<Case<'a>>,
) {
    let made = allocations_of(&mut expression);
    assert_eq!(made, 0, "allocations of {name}");
    let mut cases = vec![
        Case::repeated("tenure", "expression", expression),
        Case::repeated("tenure", "calls", calls),
    ];
    match threads {
        1 => cases.extend(peers),
        _ => cases = cases.into_iter().map(|case| case.on(context)).collect(),
    }
    subject.measure(name, memory.bytes(), threads, memory.bytes() * arrays, cases);
}

fn sum_of_product(subject: &mut Subject, memory: &Memory, threads: usize, context: &Context) {
    let Memory { a, b, c } = memory;
    let (mut out, mut again) = (memory.out(), memory.out());
    let expression = || {
        let (a, b, c) = black_box((a, b, c));
        (a * b + c).eval_into(&mut out).expect("one shape");
    };
    let calls = || {
        let (a, b, c) = black_box((a, b, c));
        tenure::mul_into(a, b, &mut again).expect("one shape");
        tenure::add_assign(&mut again, c).expect("one shape");
    };
    let peers = peers(memory);
    measure(subject, "a * b + c", memory, (threads, context), 4, expression, calls, peers);
}

fn function(subject: &mut Subject, memory: &Memory, threads: usize, context: &Context) {
    let Memory { a, b, c } = memory;
    let (mut out, mut again) = (memory.out(), memory.out());
    let expression = || {
        let (a, b, c) = black_box((a, b, c));
        (a * b + c).tanh().eval_into(&mut out).expect("one shape");
    };
    let calls = || {
        let (a, b, c) = black_box((a, b, c));
        tenure::mul_into(a, b, &mut again).expect("one shape");
        tenure::add_assign(&mut again, c).expect("one shape");
        tenure::tanh_assign(&mut again).expect("one shape");
    };
    let name = "tanh(a * b + c)";
    measure(subject, name, memory, (threads, context), 4, expression, calls, Vec::new());
}

/// Of degree 6, by Horner's rule.
fn polynomial(subject: &mut Subject, memory: &Memory, threads: usize, context: &Context) {
    let a = &memory.a;
    let (mut out, mut again) = (memory.out(), memory.out());
    const FACTORS: [f32; 6] = [0.5, -0.25, 0.125, 2.0, -1.5, 1.0];
    let expression = || {
        let a = black_box(a);
        let first = a * 0.1_f32;
        let sum = FACTORS.iter().fold(first, |sum, factor| (sum + *factor) * a);
        sum.eval_into(&mut out).expect("one shape");
    };
    let calls = || {
        let a = black_box(a);
        tenure::mul_into(a, 0.1_f32, &mut again).expect("one shape");
        for factor in FACTORS {
            tenure::add_assign(&mut again, factor).expect("one shape");
            tenure::mul_assign(&mut again, a).expect("one shape");
        }
    };
    let name = "a polynomial of degree 7";
    measure(subject, name, memory, (threads, context), 2, expression, calls, Vec::new());
}

fn squared_error(subject: &mut Subject, memory: &Memory, threads: usize, context: &Context) {
    let Memory { a, b, .. } = memory;
    let mut again = memory.out();
    let (mut sum, mut sum_again) = (0.0_f32, 0.0_f32);
    let expression = || {
        let (a, b) = black_box((a, b));
        let mut sum = tenure::TensorViewMut::from_mut(&mut sum);
        (a - b).square().sum(..).eval_into(&mut sum).expect("one shape");
    };
    let calls = || {
        let (a, b) = black_box((a, b));
        tenure::sub_into(a, b, &mut again).expect("one shape");
        tenure::square_assign(&mut again).expect("one shape");
        let mut sum = tenure::TensorViewMut::from_mut(&mut sum_again);
        tenure::sum_into(&again, .., &mut sum).expect("one shape");
    };
    let name = "the sum of (a - b)^2";
    measure(subject, name, memory, (threads, context), 2, expression, calls, Vec::new());
}

/// A layer norm without weights, in place.
fn standardized_rows(subject: &mut Subject, memory: &Memory, threads: usize, context: &Context) {
    let (mut out, mut again) = (memory.out(), memory.out());
    tenure::copy_into(&memory.a, &mut out).expect("one shape");
    tenure::copy_into(&memory.a, &mut again).expect("one shape");
    let expression = || {
        let update = out.update(|x| {
            let centred = x.clone() - x.clone().mean(Axes::keep(-1));
            centred * (x.var(Axes::keep(-1), 0) + 1e-5).rsqrt()
        });
        update.expect("one shape");
    };
    let calls = || {
        let (mean, var) = tenure::moments(&again, Axes::keep(-1), 0).expect("one shape");
        let scale = tenure::rsqrt(tenure::add(&var, 1e-5).expect("it fits")).expect("it fits");
        tenure::sub_assign(&mut again, &mean).expect("one shape");
        tenure::mul_assign(&mut again, &scale).expect("one shape");
    };
    let name = "rows of mean 0 and variance 1, in place";
    measure(subject, name, memory, (threads, context), 2, expression, calls, Vec::new());
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
