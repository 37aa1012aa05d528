//! Rows of f32 by weights in integers of 8 and of 4 bits, which are packed before, next to weights of
//! f32: the rows are quantized in each call. For a row, the roof is reading the weights; for more,
//! products of 8-bit integers, where the processor has an instruction for them.

use std::cell::RefCell;

use bench::Scale;
use bench::roofs::{self, kernels::Arrays};
use bench::subject::{Case, Subject};
use tenure::quantize::{Weights, linear};
use tenure::random::Generator;
use tenure::{Context, Matmul, PackedFactor, Tensor, linalg};

fn main() {
    let mut subject = Subject::open("quantized");
    let context = Context::with_threads(2).expect("a thread can be had");
    let sides: &[usize] = match subject.scale() {
        Scale::Smoke => &[64],
        Scale::Quick => &[64, 1024, 4096],
        Scale::Full => &[64, 1024, 4096, 8192],
    };
    for side in sides.iter().copied() {
        let wanted: Vec<usize> = [1, 16, 64, 128, 256]
            .into_iter()
            .filter(|&rows| subject.wants(&name(rows, side)))
            .collect();
        if wanted.is_empty() {
            continue;
        }
        let weights = Of::new(side);
        for rows in wanted {
            for threads in [1, 2] {
                weights.measure(&mut subject, rows, threads, &context);
            }
        }
    }
    subject.close();
}

fn name(rows: usize, side: usize) -> String {
    format!("{rows} by {side}")
}

/// A square of weights in each form.
struct Of {
    side: usize,
    f32: PackedFactor<f32>,
    int8: Weights,
    int4: [Weights; 2],
}

impl Of {
    fn new(side: usize) -> Of {
        let weights: Tensor<f32> =
            Generator::new(1).normal(0.0, 0.1, [side, side]).expect("there is memory");
        let int4 = |group| Weights::four_bits(&weights, group).expect("the group fits");
        Of {
            side,
            f32: PackedFactor::pack(&weights).expect("there is memory"),
            int8: Weights::new(&weights).expect("there is memory"),
            int4: [int4(32), int4(64)],
        }
    }

    fn measure(&self, subject: &mut Subject, rows: usize, threads: usize, context: &Context) {
        let side = self.side;
        let arrays = (rows == 1).then(|| Arrays::if_they_fit(64 << 20)).flatten().map(RefCell::new);
        let x: Tensor<f32> =
            Generator::new(2).normal(0.0, 1.0, [rows, side]).expect("there is memory");
        let operations = (2 * rows * side * side) as u64;
        let reads = |bytes: usize| match rows {
            1 => bytes as u64,
            _ => operations,
        };
        let by = |how, weights| {
            let x = &x;
            Case::repeated("tenure", how, move || {
                std::hint::black_box(linear(x, weights, Matmul::new()).expect("it fits"));
            })
        };
        let of_f32 = Case::repeated("tenure", "f32", || {
            std::hint::black_box(linalg::matmul_packed(&x, &self.f32).expect("it fits"));
        });
        let mut cases = vec![
            of_f32.moving(reads(self.f32.size_bytes())),
            by("int8", &self.int8).moving(reads(self.int8.size_bytes())),
            by("int4, groups of 32", &self.int4[0]).moving(reads(self.int4[0].size_bytes())),
            by("int4, groups of 64", &self.int4[1]).moving(reads(self.int4[1].size_bytes())),
        ];
        if threads == 2 {
            cases = cases.into_iter().map(|case| case.on(context)).collect();
        }
        match &arrays {
            Some(arrays) => cases.extend(roofs::cases(arrays, roofs::READ, threads)),
            None => cases.extend(roofs::narrow(operations, threads)),
        }
        let bytes = self.int4[0].size_bytes() as u64;
        subject.measure(&name(rows, side), bytes, threads, operations, cases);
    }
}
