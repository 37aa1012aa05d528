//! The time that a graph takes before its first run: a perceptron of many layers is traced, its
//! gradients are added, a program is made of it (passes), and scheduled with a memory plan.

use std::time::{Duration, Instant};

use bench::Scale;
use tenure::train::mse;
use tenure::{Program, Tensor, Traced, Tree};

/// Rows, and the extent of each layer.
const SHAPE: [usize; 2] = [8, 16];
/// Nodes of a layer: product, bias, activation.
const OF_LAYER: usize = 3;

fn main() {
    let (counts, rounds): (&[usize], usize) = match Scale::asked_for() {
        Scale::Smoke => (&[30], 1),
        _ => (&[1_000, 2_000, 5_000], 5),
    };
    println!("nodes of the forward; ms, the least of {rounds} rounds");
    println!("  nodes    traced  gradients   program  schedule    all but the forward");
    for &count in counts {
        let times = (0..rounds).map(|_| once(count / OF_LAYER));
        let least = times.reduce(|a, b| std::array::from_fn(|i| a[i].min(b[i])));
        let [traced, gradients, program, schedule] =
            least.unwrap_or_default().map(|time| time.as_secs_f64() * 1e3);
        println!(
            "{count:7} {traced:9.2} {gradients:10.2} {program:9.2} {schedule:9.2} {:22.2}",
            gradients + program + schedule
        );
    }
}

fn layer<'g>(x: Traced<'g, f32>, of: &[Traced<'g, f32>]) -> Traced<'g, f32> {
    (x.matmul(of[0]) + of[1]).relu()
}

/// Times of the four parts, for a number of layers.
fn once(layers: usize) -> [Duration; 4] {
    let [rows, width] = SHAPE;
    let mut weights = Vec::new();
    for _ in 0..layers {
        weights.push(Tensor::<f32>::full([width, width], 0.1).expect("it fits"));
        weights.push(Tensor::zeros(width).expect("it fits"));
    }
    let (mut traced, mut gradients, mut end) = Default::default();
    let start = Instant::now();
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>((graph.extent("rows", rows), width));
        let inputs = graph.inputs(&weights);
        let loss = mse(inputs.chunks(2).fold(x, layer), x);
        traced = start.elapsed();
        let by = graph.gradients(loss, &inputs);
        gradients = start.elapsed();
        let [next] = graph.map_trees([&inputs, &by], |[w, g]| [w - g * 0.1]);
        end = start.elapsed();
        graph.program((x, inputs.updated_by(next)), loss)
    })
    .expect("the shapes agree");
    let made = start.elapsed();
    let x = Tensor::full(SHAPE, 0.5_f32).expect("it fits");
    program.memory((&x, &mut weights)).expect("the shapes agree");
    let scheduled = start.elapsed();
    [traced, gradients - traced, made - end, scheduled - made]
}
