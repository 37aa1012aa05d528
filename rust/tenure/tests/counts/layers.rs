//! Layers of networks and the training of them: extents, groups, counts.

use tenure::layers::{self, Conv, Resize, initial::Weights};
use tenure::random::Generator;
use tenure::train::{GradientCheck, LossScale};
use tenure::{Program, Result, Tensor};

use super::{Row, answered, done};

/// Convolves a sequence and a volume with these options.
fn convolved(of_sequence: Conv<1>, of_volume: Conv<3>) {
    done(Program::trace(|graph| {
        let (x, w) = (graph.input::<f32>((1, 2, 5)), graph.input::<f32>((2, 1, 2)));
        graph.program((x, w), layers::conv1d(x, w, None, of_sequence.groups(2)))
    }));
    done(Program::trace(|graph| {
        let (x, w) = (graph.input::<f32>((1, 1, 3, 3, 3)), graph.input::<f32>((1, 1, 2, 2, 2)));
        graph.program((x, w), layers::conv3d(x, w, None, of_volume))
    }));
}

fn first_weights(weights: &Weights) -> Result<Tensor<f32>> {
    weights.kaiming_uniform(&mut Generator::new(1), 1.0)
}

pub const ROWS: &[Row] = &[
    ("layers/conv.rs", "strides", |n| {
        convolved(Conv::new().strides([n]), Conv::new().strides([n; 3]));
    }),
    ("layers/conv.rs", "padding", |n| {
        convolved(Conv::new().padding([n]), Conv::new().padding([n; 3]));
    }),
    ("layers/conv.rs", "padding_around", |n| {
        convolved(Conv::new().padding_around([[n, 0]]), Conv::new().padding_around([[0, n]; 3]));
    }),
    ("layers/conv.rs", "dilations", |n| {
        convolved(Conv::new().dilations([n]), Conv::new().dilations([n; 3]));
    }),
    ("layers/conv.rs", "groups", |n| {
        done(Program::trace(|graph| {
            let (x, w) = (graph.input::<f32>((1, 2, 5)), graph.input::<f32>((2, 1, 2)));
            graph.program((x, w), layers::conv1d(x, w, None, Conv::new().groups(n)))
        }));
    }),
    ("layers/embedding.rs", "embedding", |n| {
        done(Program::trace(|graph| {
            let (table, words) = (graph.input::<f32>((3, 2)), graph.input::<i32>([4]));
            graph.program((table, words), layers::embedding(table, words, Some(n)))
        }));
    }),
    ("layers/embedding.rs", "positions", |n| {
        let program = Program::trace(|graph| {
            let x = graph.input::<i64>([1]);
            graph.program((x,), layers::positions(graph, n).sum(0) + x)
        });
        done(program.and_then(|program| program.run((&[0],)).map(drop)));
    }),
    ("layers/initial.rs", "factor", |n| {
        done(first_weights(&Weights::factor([n, 1])));
        done(first_weights(&Weights::factor([n, n])));
    }),
    ("layers/initial.rs", "filters", |n| {
        done(Weights::filters([n, 1, 1]).and_then(|of| first_weights(&of)));
        done(Weights::filters([1, n, n]).and_then(|of| first_weights(&of)));
    }),
    ("layers/norms.rs", "group_norm", |n| {
        done(Program::trace(|graph| {
            let x = graph.input::<f32>((2, 4, 3));
            graph.program((x,), layers::group_norm(x, n, None, None, 1e-5))
        }));
    }),
    ("layers/resize.rs", "resize", |n| {
        for with in [Resize::nearest(), Resize::linear()] {
            let program = Program::trace(|graph| {
                let x = graph.input::<f32>((2, 3));
                graph.program((x,), layers::resize(x, [n], with))
            });
            done(program.and_then(|program| program.run((&[[0.0; 3]; 2],)).map(drop)));
        }
    }),
    ("train/check.rs", "seed", |n| {
        let x = Tensor::from([1.0_f64, 2.0]);
        done(GradientCheck::new().seed(n as u64).run(&x, |_, x| x.square().sum(..)));
    }),
    ("train/loss_scale.rs", "interval", |n| {
        let scale = LossScale::new().interval(n as u32);
        answered(scale.first_state());
    }),
];
