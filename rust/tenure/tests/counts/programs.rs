//! Programs: extents of a graph, shapes, counts and limits of its nodes.

use tenure::program::Size;
use tenure::quantize::Comparison;
use tenure::train::schedules;
use tenure::{
    Bool8, Conv2d, CustomOperation, Extent, PadMode, Program, Tensor, TensorView, TensorViewMut,
};

use super::{Row, answered, done};

/// Traces an expression of an input of four elements, or of the given shape, and runs it.
macro_rules! traced {
    (|$graph:ident, $x:ident: $type:ty| $made:expr) => {
        traced!([4], |$graph, $x: $type| $made)
    };
    ($shape:expr, |$graph:ident, $x:ident: $type:ty| $made:expr) => {{
        let program = Program::trace(|$graph| {
            let $x = $graph.input::<$type>($shape);
            let made = $made;
            $graph.program(($x,), made)
        });
        done(program.and_then(|program| {
            let input = Tensor::from_fn($shape, |_| <$type>::default())?;
            program.memory((&input,))?;
            program.run((&input,)).map(drop)
        }));
    }};
}

/// The sizes that can be made of a count, in a graph with an extent of 4.
fn sizes<'g>(n: usize, four: Extent<'g>) -> [Size<'g>; 8] {
    [
        n.into(),
        (n as isize).into(),
        (n as i32).into(),
        (four + n).into(),
        (four * n).into(),
        (four - n).into(),
        (n / four).into(),
        (four / n).into(),
    ]
}

fn combined(n: usize, call: impl for<'g> Fn(Extent<'g>, Size<'g>) -> Extent<'g>) {
    for at in 0..8 {
        let program = Program::trace(|graph| {
            let four = graph.extent("four", 100);
            let x = graph.input::<u8>(four);
            graph.program((x,), x.slice(0, 0, 1).broadcast(call(four, sizes(n, four)[at])))
        });
        done(program.and_then(|program| program.run((&[0; 4],)).map(drop)));
    }
}

/// An ONNX model of a `Relu` of `f32`, whose input `x` has one extent, `n`.
#[cfg(feature = "onnx")]
const MODEL: &[u8] = b"\x08\x08\x42\x02\x10\x11\x3a\x35\x0a\x0c\x0a\x01x\x12\x01y\x22\x04Relu\
    \x12\x01g\x5a\x10\x0a\x01x\x12\x0b\x0a\x09\x08\x01\x12\x05\x0a\x03\x12\x01n\
    \x62\x10\x0a\x01y\x12\x0b\x0a\x09\x08\x01\x12\x05\x0a\x03\x12\x01n";

/// Runs the model on four numbers.
#[cfg(feature = "onnx")]
fn model(settings: tenure::onnx::Settings) {
    let program = tenure::onnx::Model::from_bytes(MODEL).unwrap().program(&settings);
    done(program.and_then(|program| {
        program.run_dyn(&[(&Tensor::<f32>::zeros([4])?).into()], &mut []).map(drop)
    }));
}

pub const ROWS: &[Row] = &[
    #[cfg(feature = "onnx")]
    ("program/onnx/settings.rs", "extent", |n| {
        model(tenure::onnx::Settings::new().extent("n", n));
    }),
    #[cfg(feature = "onnx")]
    ("program/onnx/settings.rs", "extent_up_to", |n| {
        model(tenure::onnx::Settings::new().extent_up_to("n", n));
    }),
    ("program.rs", "with_budget", |n| {
        let program = Program::trace(|graph| {
            let x = graph.input::<f64>([100]);
            graph.program((x,), x.cumsum(0).cumsum(0))
        });
        done(program.unwrap().with_budget(n).run((&[1.0; 100],)));
    }),
    ("program/extent.rs", "div_up", |n| combined(n, |four, size| four.div_up(size))),
    ("program/extent.rs", "min", |n| combined(n, |four, size| four.min(size))),
    ("program/extent.rs", "max", |n| combined(n, |four, size| four.max(size))),
    ("program/graph.rs", "extent", |n| {
        let program = Program::trace(|graph| {
            let extent = graph.extent("n", n);
            let x = graph.input::<u8>(extent);
            graph.program((x,), (x.reshape((extent, 1)), x.broadcast((extent, extent))))
        });
        done(program.and_then(|program| {
            done(program.memory((&[0; 4],)));
            program.run((&[0; 4],)).map(drop)
        }));
    }),
    ("program/graph.rs", "input_named", |n| {
        for shape in super::shapes(n) {
            let program = Program::trace(|graph| {
                let x = graph.input_named::<f32>("x", shape);
                graph.program((x,), x.exp())
            });
            done(program.and_then(|program| program.run((&[[1.0]],)).map(drop)));
        }
    }),
    ("program/graph/quantization.rs", "quantize_by_ranges", |n| {
        let weights = Tensor::<f32>::zeros([64, 64]).unwrap().into_shared();
        traced!([2, 64], |graph, x: f32| {
            let rows = x.exp();
            let y = rows.matmul(graph.constant(&weights));
            graph.quantize_by_ranges(y, &[(rows, -(n as f32)..n as f32)], &[])
        });
    }),
    ("program/graph/recomputation.rs", "memory_budget", |n| {
        let program = Program::trace(|graph| {
            graph.memory_budget(n);
            let x = graph.input::<f32>([4]);
            let y = x.cumsum(0).square().cumsum(0).sum(0);
            graph.program((x,), graph.gradients(y, x))
        });
        done(program.and_then(|program| program.run((&[1.0; 4],)).map(drop)));
    }),
    ("program/graph/quantization.rs", "quantize_four_bits", |n| {
        let program = Program::trace(|graph| {
            let x = graph.input::<f32>([2, 64]);
            let y = x.matmul(graph.copy_constant(&[[1.0_f32; 64]; 64]));
            graph.program((x,), graph.quantize_four_bits(y, n, &[]))
        });
        done(program.and_then(|program| program.run((&[[1.0; 64]; 2],)).map(drop)));
    }),
    ("program/traced.rs", "unsqueeze", |n| {
        done(Program::trace(|graph| {
            let x = graph.input::<f32>([2, 3]);
            graph.program((x,), x.unsqueeze(n))
        }));
    }),
    ("train/schedules.rs", "warmup", |n| answered(schedules::warmup(n, n))),
    ("train/schedules.rs", "cosine", |n| answered(schedules::cosine(n, n))),
    ("train/schedules.rs", "linear", |n| answered(schedules::linear(n, n))),
    ("train/schedules.rs", "staircase", |n| answered(schedules::staircase(n, n, 0.5))),
    ("train/schedules.rs", "exponential", |n| answered(schedules::exponential(n, 0.5))),
    ("program/graph.rs", "input", |n| {
        for shape in super::shapes(n) {
            let program = Program::trace(|graph| {
                let x = graph.input::<f32>(shape);
                graph.program((x,), (x.t(), x.sum(0), x.exp().cumsum(1)))
            });
            done(program.and_then(|program| program.run((&[[1.0]],)).map(drop)));
        }
    }),
    ("program/found.rs", "nonzero", |n| {
        traced!(|graph, x: i32| x.nonzero("found", n).0);
    }),
    ("program/found.rs", "masked_select", |n| {
        traced!(|graph, x: i32| x.masked_select(x.eq(0), "found", n).0);
    }),
    ("program/control.rs", "while_loop", |n| {
        traced!(|graph, x: i32| {
            graph.while_loop(
                n,
                (x,),
                (),
                |body, (x,), ()| body.outputs(x.any(0)),
                |body, (x,), ()| body.outputs((x + 1,)),
            )?
        });
    }),
    ("program/custom.rs", "custom_with", |n| {
        let same = operation(4);
        traced!(|graph, x: u8| graph.custom_with::<u8>(&same, x, [n]));
    }),
    ("program/calls/custom/own.rs", "new", |n| {
        let of_n = operation(n);
        traced!(|graph, x: u8| graph.custom::<u8>(&of_n, x).sum(0));
    }),
    ("program/images.rs", "conv2d_transposed_to", |n| {
        for size in [[n, 2], [2, n], [n, n]] {
            traced!([1, 1, 2, 2], |graph, x: f32| {
                let weight = graph.copy_constant(&Tensor::<f32>::ones([1, 1, 1, 1])?);
                x.conv2d_transposed_to(weight, None, Conv2d::new(), size)
            });
        }
    }),
    ("program/images.rs", "adaptive_max_pool2d", |n| {
        traced!([1, 1, 2, 2], |graph, x: f32| x.adaptive_max_pool2d([n, 1]));
    }),
    ("program/images.rs", "adaptive_avg_pool2d", |n| {
        traced!([1, 1, 2, 2], |graph, x: f32| x.adaptive_avg_pool2d([1, n]));
    }),
    ("program/movement.rs", "reshape", |n| {
        for shape in super::shapes(n) {
            traced!(|graph, x: u8| x.reshape(shape));
        }
        traced!(|graph, x: u8| x.reshape((n as isize).wrapping_neg()));
    }),
    ("program/movement.rs", "broadcast", |n| {
        for shape in [[n, 4], [n, 1], [4, n]] {
            traced!(|graph, x: u8| x.broadcast(shape));
            traced!([4, 1], |graph, x: u8| x.broadcast(shape));
        }
    }),
    ("program/movement.rs", "slice", |n| {
        traced!(|graph, x: u8| (x.slice(0, 0, n), x.slice(0, n, n)));
        traced!(|graph, x: u8| x.slice(0, n, 4));
    }),
    ("program/movement.rs", "slice_step", |n| {
        traced!(|graph, x: u8| x.slice_step(0, 0, 4, n));
        traced!(|graph, x: u8| x.slice_step(0, n, n, 1));
    }),
    ("program/movement.rs", "pad_to", |n| {
        for mode in [PadMode::Constant(1), PadMode::Edge, PadMode::Reflect, PadMode::Wrap] {
            traced!(|graph, x: u8| x.pad_to(n, [0], mode));
            traced!(|graph, x: u8| x.pad_to(n, [n], mode));
            traced!(|graph, x: u8| x.pad_to(8, [n], mode));
        }
    }),
    ("program/movement.rs", "tril", |n| {
        traced!([2, 2], |graph, x: u8| x.tril(n as isize));
    }),
    ("program/movement.rs", "triu", |n| {
        traced!([2, 2], |graph, x: u8| x.triu((n as isize).wrapping_neg()));
    }),
    ("program/ordering.rs", "top_k", |n| traced!(|graph, x: f32| x.top_k(n, 0))),
    ("program/ordering.rs", "bottom_k", |n| traced!(|graph, x: f32| x.bottom_k(n, 0))),
    ("program/ordering.rs", "partition", |n| traced!(|graph, x: f32| x.partition(n, 0))),
    ("program/ordering.rs", "argpartition", |n| traced!(|graph, x: f32| x.argpartition(n, 0))),
    ("program/ordering.rs", "histogram", |n| traced!(|graph, x: f32| x.histogram(n, 0.0..=1.0))),
    ("program/ordering.rs", "bincount", |n| traced!(|graph, x: i32| x.bincount(n))),
    ("program/ordering.rs", "bincount_weighted", |n| {
        traced!(|graph, x: i32| x.bincount_weighted(x.cast::<f32>(), n));
    }),
    ("program/random.rs", "generator_at", |n| {
        traced!(|graph, x: f32| x + graph.generator_at(n as u64, n as u64).normal(0.0, 1.0, [4]));
    }),
    ("program/random.rs", "uniform", |n| {
        traced!(
            |graph, x: f32| x.sum(0) + graph.generator_at(1, 0).uniform::<f32>(0.0..1.0, n).sum(0)
        );
    }),
    ("program/random.rs", "normal", |n| {
        traced!(|graph, x: f32| x.sum(0)
            + graph.generator_at(1, 0).normal::<f32>(0.0, 1.0, [n, n]).sum([0, 1]));
    }),
    ("program/random.rs", "integers", |n| {
        traced!(|graph, x: i64| x + graph.generator_at(1, 0).integers(0..n as i64, [4]));
        traced!(|graph, x: i64| x.sum(0) + graph.generator_at(1, 0).integers::<i64>(0..2, n).sum(0));
    }),
    ("program/random.rs", "bernoulli", |n| {
        traced!(|graph, x: Bool8| x
            .any(0)
            .logical_and(graph.generator_at(1, 0).bernoulli(0.5, n).any(0)));
    }),
    ("program/random.rs", "permutation", |n| {
        traced!(|graph, x: i64| x.sum(0) + graph.generator_at(1, 0).permutation(n).sum(0));
    }),
    ("program/report.rs", "share_of_roof", |n| {
        let program = Program::trace(|graph| {
            let x = graph.input::<f32>([4]);
            graph.program((x,), x.exp())
        });
        let report = program.unwrap().report((&[1.0; 4],)).unwrap();
        answered(report.share_of_roof(n));
    }),
    ("program/bound.rs", "get", |n| {
        let program = Program::trace(|graph| {
            let x = graph.input::<f32>([4]);
            graph.program((x,), x.exp())
        });
        let bound = program.unwrap().bind((&[1.0; 4],), &mut [0.0; 4]).unwrap();
        assert_eq!(bound.shapes().get(n).is_some(), n == 0);
    }),
    ("program/sparse.rs", "csr_input", |n| {
        for [rows, cols, entries] in [[n, 2, 2], [2, n, 2], [2, 2, n], [n, n, n]] {
            let program = Program::trace(|graph| {
                let a = graph.csr_input::<f32, i64>(rows, cols, entries);
                let x = graph.input::<f32>([2]);
                graph.program((a.row_offsets(), a.col_indices(), a.values(), x), a.matmul(x))
            });
            done(program.and_then(|program| {
                program.run((&[0, 1, 2], &[0, 1], &[1.0, 2.0], &[1.0, 2.0])).map(drop)
            }));
            done(Program::trace(|graph| {
                let a = graph.csr_input::<f32, i32>(rows, cols, entries);
                graph.program((a.row_offsets(), a.col_indices(), a.values()), a.values().sum(0))
            }));
        }
    }),
    ("program/graph/calibration.rs", "worst_quantized", |n| {
        let weights = Tensor::<f32>::full([64, 64], 0.5).unwrap().into_shared();
        let mut comparison = Comparison::new();
        let compared = Program::trace(|graph| {
            let x = graph.input::<f32>([2, 64]);
            let y = x.matmul(graph.constant(&weights));
            graph.program((x,), graph.compare_quantized(y, None, &mut comparison, &[]))
        });
        let x = Tensor::<f32>::full([2, 64], 0.5).unwrap();
        comparison.add(&compared.unwrap().run((&x,)).unwrap()).unwrap();
        let report = comparison.report().unwrap();
        done(Program::<(f32,), f32>::trace(|graph| {
            let x = graph.input::<f32>([2, 64]);
            let y = x.matmul(graph.constant(&weights));
            assert_eq!(graph.worst_quantized(y, &report, n).len(), n.min(1));
            graph.program((x,), y)
        }));
    }),
    ("program/sparse.rs", "new", |n| {
        for [rows, cols] in [[n, 2], [1, n], [n, n]] {
            let program = Program::trace(|graph| {
                let (offsets, columns) = (graph.input::<i64>([2]), graph.input::<i64>([1]));
                let (values, x) = (graph.input::<f32>([1]), graph.input::<f32>([2]));
                let a = tenure::TracedCsr::new(rows, cols, offsets, columns, values);
                graph.program((offsets, columns, values, x), a.matmul(x))
            });
            done(
                program.and_then(|program| {
                    program.run((&[0, 1], &[0], &[1.0], &[1.0, 2.0])).map(drop)
                }),
            );
        }
    }),
];

/// An operation of bytes, with a result of any extent.
fn operation(n: usize) -> CustomOperation {
    let fill = |_: (TensorView<'_, u8>,), mut out: TensorViewMut<'_, u8>| {
        out.fill(1);
        Ok(())
    };
    CustomOperation::new::<(u8,), u8>("any", move |_| Ok(vec![n]), fill).unwrap()
}
