//! Calibration: ranges by each observer, static quantization by them, and the damage, node by node.

use super::*;
use tenure::quantize::{self, Calibration, Comparison, Observer, Scheme};
use tenure::random::Generator;

const WIDTH: usize = 64;
const OBSERVERS: [Observer; 4] =
    [Observer::MinMax, Observer::MovingAverage(0.25), Observer::Percentile(0.9), Observer::Mse];

fn normal<const N: usize>(seed: u64, shape: [usize; N]) -> Tensor<f32> {
    Generator::new(seed).normal(0.0, 1.0, shape).unwrap()
}

/// Three layers. The second one has an activation that is far larger than the others, and weights
/// that are as much smaller, where `outlier` is not 1.
fn weights(outlier: f32) -> [SharedTensor<f32>; 3] {
    let mut weights: [Tensor<f32>; 3] =
        [1, 2, 3].map(|seed| Generator::new(seed).normal(0.0, 0.18, [WIDTH, WIDTH]).unwrap());
    for i in 0..WIDTH {
        weights[0][[i, 5]] *= outlier;
        weights[1][[5, i]] /= outlier;
    }
    weights.map(Tensor::into_shared)
}

fn network<'g>(x: Traced<'g, f32>, weights: &[SharedTensor<f32>; 3]) -> Traced<'g, f32> {
    let [first, second, third] = weights.each_ref().map(|weight| x.graph().constant(weight));
    x.matmul(first).relu().matmul(second).relu().matmul(third)
}

/// The program of the network behind `change`.
fn program_of(
    weights: &[SharedTensor<f32>; 3],
    change: impl for<'g> FnOnce(Graph<'g>, Traced<'g, f32>) -> Traced<'g, f32>,
) -> Result<Program<(f32,), f32>> {
    Program::trace(|graph| {
        let x = graph.input::<f32>((graph.extent("rows", 5000), WIDTH));
        graph.program((x,), change(graph, network(x, weights)))
    })
}

/// A program that gives the calibrated values.
type Observed = Program<(f32,), Vec<f32>>;

/// A calibration of one value, the input of a product, and the program that gives it.
fn of_one_value(observer: Observer) -> Result<(Calibration, Observed)> {
    let mut calibration = Calibration::new(observer)?;
    let weight = normal(1, [WIDTH, WIDTH]).into_shared();
    let observed = Program::trace(|graph| {
        let x = graph.input::<f32>((graph.extent("rows", 5000), WIDTH));
        let y = x.matmul(graph.constant(&weight));
        graph.program((x,), graph.observe(y, &mut calibration))
    })?;
    Ok((calibration, observed))
}

fn calibrated(observer: Observer, batches: &[Tensor<f32>]) -> Result<(Calibration, [f32; 2])> {
    let (mut calibration, observed) = of_one_value(observer)?;
    for batch in batches {
        calibration.add(&observed.run((batch,))?)?;
    }
    let ranges = calibration.ranges()?;
    assert_eq!((calibration.batches(), ranges.len()), (batches.len() as u64, 1));
    let range = [ranges[0].low, ranges[0].high];
    Ok((calibration, range))
}

/// Batches of different sizes, each ten times as large as the one before.
fn growing() -> Vec<Tensor<f32>> {
    [(1, 20, 0.1_f32), (2, 7, 1.0), (3, 50, 10.0)]
        .map(|(seed, rows, size)| (normal(seed, [rows, WIDTH]).expr() * size).eval().unwrap())
        .into()
}

/// Squared error of the numbers as `u8` of this range.
fn squared_error(numbers: &Tensor<f32>, [low, high]: [f32; 2]) -> Result<f64> {
    let numbers = numbers.as_view().flatten()?;
    let ends = quantize::dynamic::<u8, _>(&[low, high], Scheme::per_tensor().affine())?;
    let (scales, zeros) = (ends.scales().as_view(), ends.zeros().unwrap().as_view());
    let values = quantize::by_scales(numbers, &scales, Some(&zeros))?;
    let quantized =
        quantize::Quantized::from_parts(values, scales.to_tensor()?, Some(zeros.to_tensor()?))?;
    let back = quantize::dequantize::<f32, _>(&quantized)?;
    ops::sum_all((&back - numbers).square().eval()?.cast::<f64>()?)
}

#[test]
fn observers_have_their_ranges() -> Result<()> {
    let batches = growing();
    let ends = |batch: &Tensor<f32>| [ops::min_all(batch).unwrap(), ops::max_all(batch).unwrap()];
    let (_, range) = calibrated(Observer::MinMax, &batches)?;
    assert_eq!(range, ends(&batches[2]));

    let (_, range) = calibrated(Observer::MovingAverage(0.25), &batches)?;
    let each: Vec<[f32; 2]> = batches.iter().map(ends).collect();
    for end in [0, 1] {
        let expected = (each[0][end] * 0.75 + each[1][end] * 0.25) * 0.75 + each[2][end] * 0.25;
        assert!((range[end] / expected - 1.0).abs() < 1e-5, "{range:?} {expected}");
    }

    // Quantiles of all elements together.
    let all = ops::concat(&batches, 0)?;
    let (_, range) = calibrated(Observer::Percentile(0.9), &batches)?;
    let expected = ops::quantiles(&all, &[0.05, 0.95], ..)?.to_vec();
    let width = (ops::max_all(&all)? - ops::min_all(&all)?) / 1024.0;
    for end in [0, 1] {
        assert!((range[end] - expected[end]).abs() < 2.0 * width, "{range:?} {expected:?}");
    }
    let (_, range) = calibrated(Observer::Percentile(1.0), &batches)?;
    assert_eq!(range, ends(&batches[2]));
    Ok(())
}

#[test]
fn the_least_squared_error_is_that_of_a_search() -> Result<()> {
    // A normal distribution with a few large numbers: the ends of it are not worth their steps.
    let mut numbers = normal(4, [5000, WIDTH]);
    for (nth, far) in [(3, 25.0_f32), (7, -12.0), (11, 30.0)] {
        numbers[[nth, nth]] = far;
    }
    let (_, whole) = calibrated(Observer::MinMax, std::slice::from_ref(&numbers))?;
    let (_, range) = calibrated(Observer::Mse, std::slice::from_ref(&numbers))?;
    assert_eq!(whole, [-12.0, 30.0]);
    let error = squared_error(&numbers, range)?;
    assert!(error < 0.9 * squared_error(&numbers, whole)?, "{range:?} {error}");
    let mut least = f64::INFINITY;
    for low in 1..=20 {
        for high in 1..=20 {
            let part = |end: f32, parts: i32| end * parts as f32 / 20.0;
            let range = [part(whole[0], low), part(whole[1], high)];
            least = least.min(squared_error(&numbers, range)?);
        }
    }
    assert!(error < 1.02 * least, "{range:?} {error} {least}");

    // Numbers of one sign: the other end is 0.
    let positive = ops::abs(&numbers)?;
    let (_, range) = calibrated(Observer::Mse, std::slice::from_ref(&positive))?;
    assert!(range[0] == 0.0 && range[1] > 2.0 && range[1] <= 30.0, "{range:?}");
    let (calibration, range) = calibrated(Observer::Mse, &[Tensor::zeros([3, WIDTH])?])?;
    assert_eq!(range, [0.0, 0.0]);
    let weight = normal(1, [WIDTH, WIDTH]).into_shared();
    let of_zeros = Program::<(f32,), f32>::trace(|graph| {
        let x = graph.input::<f32>([2, WIDTH]);
        let y = x.matmul(graph.constant(&weight));
        graph.program((x,), graph.quantize_static(y, &calibration, &[]))
    })?;
    let zeros = Tensor::zeros([2, WIDTH])?;
    assert_eq!(of_zeros.run((&zeros,))?, zeros);
    Ok(())
}

#[test]
fn histograms_do_not_depend_on_the_order_of_batches() -> Result<()> {
    let mut batches = growing();
    batches.push(Tensor::zeros([2, WIDTH])?); // the narrowest bins that there are
    batches.push(Tensor::full([1, WIDTH], -3e38)?);
    batches.push(Tensor::full([1, WIDTH], 1e-40)?);
    for observer in [Observer::Percentile(0.99), Observer::Mse] {
        let (expected, range) = calibrated(observer, &batches)?;
        let all = ops::concat(&batches, 0)?;
        let (of_one, range_of_one) = calibrated(observer, &[all])?;
        assert_eq!(range, range_of_one);
        assert_eq!(of_one.batches(), 1);
        for turn in 1..batches.len() {
            batches.rotate_left(1);
            assert_eq!(calibrated(observer, &batches)?.0, expected, "{turn}");
        }
        batches.rotate_left(1);
    }
    Ok(())
}

#[test]
fn numbers_that_are_not_finite_are_named() -> Result<()> {
    for observer in OBSERVERS {
        for (number, text) in
            [(f32::NAN, "NaN"), (f32::INFINITY, "inf"), (f32::NEG_INFINITY, "-inf")]
        {
            let (mut calibration, observed) = of_one_value(observer)?;
            let mut batch = normal(1, [3, WIDTH]);
            calibration.add(&observed.run((&batch,))?)?;
            let before = calibration.clone();
            batch[[2, 40]] = number;
            let error = calibration.add(&observed.run((&batch,))?).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            let message = error.message();
            let begins = "the left operand of node 0, matmul at ";
            let ends = format!("has {text} but all its elements must be finite");
            assert!(message.starts_with(begins) && message.ends_with(&ends), "{message}");
            assert_eq!(calibration, before);
        }
    }
    Ok(())
}

#[test]
fn calibrations_that_do_not_fit_are_refused() -> Result<()> {
    for (observer, why) in [
        (Observer::MovingAverage(0.0), "momentum is 0 but must be above 0 and at most 1"),
        (Observer::MovingAverage(f32::NAN), "momentum is NaN but must be above 0 and at most 1"),
        (Observer::Percentile(1.5), "share is 1.5 but must be above 0 and at most 1"),
    ] {
        assert_eq!(Calibration::new(observer).unwrap_err().message(), why);
    }
    let none: [Tensor<f32>; 0] = [];
    let error = Calibration::new(Observer::MinMax)?.add(&none).unwrap_err();
    assert!(
        error.message().starts_with("the calibration has no values: Graph::observe"),
        "{error}"
    );

    let (mut calibration, observed) = of_one_value(Observer::MinMax)?;
    assert_eq!(calibration.ranges().unwrap_err().message(), "the calibration has seen no batch");
    let one = weights(1.0);
    let quantized = |calibration: &Calibration| {
        said(|graph| {
            let x = graph.input::<f32>([4, WIDTH]);
            graph.program((x,), graph.quantize_static(network(x, &one), calibration, &[]))
        })
    };
    let message = quantized(&calibration);
    assert!(message.starts_with("quantize_static at "), "{message}");
    assert!(message.ends_with("the calibration has seen no batch"), "{message}");

    let x = normal(1, [3, WIDTH]);
    let outputs = observed.run((&x,))?;
    let error = calibration.add(&[&outputs[0], &outputs[0]]).unwrap_err();
    assert_eq!(error.message(), "the batch has 2 outputs but the calibration has 1 values");
    calibration.add(&[Tensor::<f32>::zeros([0, WIDTH])?])?;
    let error = calibration.ranges().unwrap_err();
    assert!(error.message().starts_with("the calibration has seen no element of "), "{error}");

    // A network with more values, and one with other nodes.
    calibration.add(&outputs)?;
    let message = quantized(&calibration);
    assert!(message.ends_with("the calibration has 1 values but the graph has 3"), "{message}");
    let shifted = said(|graph| {
        let x = graph.input::<f32>([4, WIDTH]);
        let y = x.exp().matmul(graph.constant(&one[0]));
        graph.program((x,), graph.quantize_static(y, &calibration, &[]))
    });
    let why = "value 0 of the calibration is the left operand of node 0, matmul, but that of the \
        graph is the left operand of node 1, matmul at ";
    assert!(shifted.contains(why), "{shifted}");
    let message = said(|graph| {
        let x = graph.input::<f32>([4, WIDTH]);
        let mut again = calibration.clone();
        graph.program((x,), graph.observe(network(x, &one), &mut again))
    });
    assert!(message.ends_with("the calibration has 1 values but the graph has 3"), "{message}");
    let message = said(|graph| {
        let x = graph.input::<f32>([4, WIDTH]);
        let mut calibration = Calibration::new(Observer::Mse)?;
        graph.program((x,), graph.observe(x.exp(), &mut calibration))
    });
    assert!(
        message.starts_with("observe at ") && message.contains("no node to quantize"),
        "{message}"
    );
    Ok(())
}

/// A calibration of the network on 300 rows, in batches of 64.
fn of_network(weights: &[SharedTensor<f32>; 3], observer: Observer) -> Result<Calibration> {
    let mut calibration = Calibration::new(observer)?;
    let observed = Program::trace(|graph| {
        let x = graph.input::<f32>((graph.extent("rows", 5000), WIDTH));
        graph.program((x,), graph.observe(network(x, weights), &mut calibration))
    })?;
    let mut batches = Loader::new(normal(9, [300, WIDTH]).into_shared(), 64)?.serial()?;
    while let Some(batch) = batches.next() {
        calibration.add(&observed.run((batch.unwrap().views(),))?)?;
    }
    assert_eq!(calibration.batches(), 5);
    Ok(calibration)
}

/// Ten times the logarithm of the squares of `exact` over those of the difference.
fn snr(exact: &Tensor<f32>, near: &Tensor<f32>) -> f64 {
    let power = |of: Tensor<f32>| ops::sum_all(&of.cast::<f64>().unwrap()).unwrap();
    let noise = power((near - exact).square().eval().unwrap());
    10.0 * (power(exact.expr().square().eval().unwrap()) / noise).log10()
}

#[test]
fn one_operand_of_several_products_has_one_range() -> Result<()> {
    let [first, second, _] = weights(1.0);
    let mut calibration = Calibration::new(Observer::MinMax)?;
    let observed = Observed::trace(|graph| {
        let x = graph.input::<f32>([4, WIDTH]);
        let y = x.matmul(graph.constant(&first)) + x.matmul(graph.constant(&second));
        graph.program((x,), graph.observe(y, &mut calibration))
    })?;
    calibration.add(&observed.run((&normal(1, [4, WIDTH]),))?)?;
    assert_eq!(calibration.ranges()?.len(), 1);
    Ok(())
}

#[test]
fn the_worst_node_comes_first_and_its_repair_is_that_of_the_output() -> Result<()> {
    let weights = weights(300.0);
    let x = normal(5, [200, WIDTH]);
    let exact = program_of(&weights, |_, y| y)?.run((&x,))?;
    let calibration = of_network(&weights, Observer::MinMax)?;
    for calibration in [None, Some(&calibration)] {
        let mut comparison = Comparison::new();
        let compared = Program::trace(|graph| {
            let x = graph.input::<f32>((graph.extent("rows", 5000), WIDTH));
            let y = network(x, &weights);
            graph.program((x,), graph.compare_quantized(y, calibration, &mut comparison, &[]))
        })?;
        for first in [0, 70, 140] {
            let batch = x.slice(0, first..(first + 70).min(200))?;
            comparison.add(&compared.run((batch,))?)?;
        }
        let report = comparison.report()?;
        let quantized = |keep: usize| {
            program_of(&weights, |graph, y| {
                let keep = graph.worst_quantized(y, &report, keep);
                match calibration {
                    Some(calibration) => graph.quantize_static(y, calibration, &keep),
                    None => graph.quantize(y, &keep),
                }
            })
        };
        // The second layer, behind the product and relu of the first.
        let worst = &report.nodes[0];
        assert_eq!((report.nodes.len(), worst.node, report.batches), (3, 2, 3));
        assert!(worst.name.starts_with("matmul at "), "{worst:?}");
        assert!(worst.share > 0.9, "{report}");
        assert!((report.nodes.iter().map(|it| it.share).sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(report.nodes.iter().all(|it| it.damage.cosine <= 1.0 + 1e-9), "{report}");
        assert!(worst.damage.snr_db + 15.0 < report.nodes[1].damage.snr_db, "{report}");

        // The figures are those of both programs.
        let all = quantized(0)?.run((&x,))?;
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-4 * b.abs();
        assert!(near(report.output.snr_db, snr(&exact, &all)), "{report}");
        let largest = ops::max_all((&all - &exact).abs().eval()?)?;
        assert!(near(report.output.largest_error, largest.into()), "{report}");
        let repaired = quantized(1)?.run((&x,))?;
        assert!(snr(&exact, &repaired) > snr(&exact, &all) + 15.0, "{report}");

        // Without the worst node the others remain, and their damage by itself is the same.
        let mut rest = Comparison::new();
        let compared = Program::trace(|graph| {
            let x = graph.input::<f32>((graph.extent("rows", 5000), WIDTH));
            let y = network(x, &weights);
            let keep = graph.worst_quantized(y, &report, 1);
            graph.program((x,), graph.compare_quantized(y, calibration, &mut rest, &keep))
        })?;
        rest.add(&compared.run((&x,))?)?;
        let rest = rest.report()?;
        assert_eq!(rest.nodes.len(), 2);
        assert!(near(rest.output.snr_db, snr(&exact, &repaired)), "{rest}");
        for node in &rest.nodes {
            let before = report.nodes.iter().find(|it| it.node == node.node).unwrap();
            assert!(near(node.damage.snr_db, before.damage.snr_db), "{report}\n{rest}");
        }

        // Times, by the numbers of nodes.
        let float = program_of(&weights, |_, y| y)?.measure((&x,), 3)?;
        let integers = quantized(0)?.measure((&x,), 3)?;
        let timed = report.clone().with_times(&float, &integers);
        let of_second = |of: &program::report::Report| -> u64 {
            let steps = of.steps.iter().filter(|step| step.node == Some(2));
            steps.map(|step| step.nanoseconds.unwrap()).sum()
        };
        assert_eq!(timed.nodes[0].float_nanoseconds, Some(of_second(&float)));
        assert_eq!(timed.nodes[0].integer_nanoseconds, Some(of_second(&integers)));
        let copies = Program::trace(|graph| {
            let x = graph.input::<f32>([3]);
            graph.program((x,), x)
        })?;
        let copied = copies.measure((&[1.0; 3],), 1)?;
        assert_eq!(copied.steps[0].node, None);
        let untimed = report.clone().with_times(&copied, &copied);
        assert!(untimed.nodes.iter().all(|it| it.float_nanoseconds.is_none()));
        assert!(timed.float_nanoseconds == float.nanoseconds());
        for node in &timed.nodes {
            let [of_float, of_integers] = [node.float_nanoseconds, node.integer_nanoseconds];
            assert!(of_float.unwrap() > 0 && of_integers.unwrap() > 0, "{timed}");
        }
        let text = timed.to_string();
        assert_eq!(text.lines().count(), 5, "{text}");
        assert!(text.lines().next().unwrap().ends_with("faster"), "{text}");
        assert!(!report.to_string().contains("faster"), "without times there are no such columns");
        let svg = timed.to_svg();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
        let count = |of: &str| svg.matches(of).count();
        assert_eq!((count("#e34a33"), count("#9ecae1"), count("#3182bd")), (3, 3, 3), "{svg}");
        assert!(svg.contains("2  matmul at "), "{svg}");
    }
    Ok(())
}

/// Two convolutions, the first one behind normalizations, and a product.
fn images<'g>(x: Traced<'g, f32>, weights: &[SharedTensor<f32>; 3]) -> Traced<'g, f32> {
    let graph = x.graph();
    let [first, second, third] = weights.each_ref().map(|weight| graph.constant(weight));
    let row = |from: f32| {
        graph.copy_constant(&Tensor::from_fn([32], |[i]| from + 0.02 * i as f32).unwrap())
    };
    let with = Conv2d::new().padding([1, 1]);
    let y = x.conv2d(first, None, with);
    let y = y.batch_norm(row(-0.2), row(0.8), Some(row(0.5)), Some(row(-0.1)), 1e-5);
    let y = y.relu().max_pool2d(Pool2d::new([2, 2]));
    let y = y.conv2d(second, None, with.activation(Activation::Relu));
    y.reshape((x.size(0), 512)).matmul(third).tanh()
}

#[test]
fn shares_are_those_of_programs_with_one_quantized_node() -> Result<()> {
    let mut generator = Generator::new(8);
    let mut weight = |shape: &[usize]| generator.normal(0.0, 0.1, shape).map(Tensor::into_shared);
    let weights = [weight(&[32, 16, 3, 3])?, weight(&[32, 32, 3, 3])?, weight(&[512, 70])?];
    let x = normal(9, [20, 16, 8, 8]);
    let mut calibration = Calibration::new(Observer::MinMax)?;
    let observed = Program::trace(|graph| {
        let x = graph.input::<f32>((graph.extent("images", 50), 16, 8, 8));
        graph.program((x,), graph.observe(images(x, &weights), &mut calibration))
    })?;
    calibration.add(&observed.run((&x,))?)?;
    let mut comparison = Comparison::new();
    let compared = Program::trace(|graph| {
        let x = graph.input::<f32>((graph.extent("images", 50), 16, 8, 8));
        let y = images(x, &weights);
        let calibration = Some(&calibration);
        graph.program((x,), graph.compare_quantized(y, calibration, &mut comparison, &[]))
    })?;
    comparison.add(&compared.run((&x,))?)?;
    let report = comparison.report()?;
    assert_eq!(report.nodes.len(), 3, "{report}");

    // By the number of a node: the output with only this one quantized, by ranges of the test's own.
    let ranges = calibration.ranges()?;
    let program_of = |is_kept: &dyn Fn(usize) -> bool| {
        Program::<(f32,), f32>::trace(|graph| {
            let x = graph.input::<f32>((graph.extent("images", 50), 16, 8, 8));
            let y = images(x, &weights);
            let found = graph.quantizable(y, &[]);
            let keep: Vec<_> = found
                .iter()
                .enumerate()
                .filter(|(at, _)| is_kept(*at))
                .map(|(_, it)| it.result)
                .collect();
            let by = found.iter().zip(&ranges).map(|(it, of)| (it.operand, of.low..of.high));
            graph.program((x,), graph.quantize_by_ranges(y, &by.collect::<Vec<_>>(), &keep))
        })
    };
    let exact = Program::<(f32,), f32>::trace(|graph| {
        let x = graph.input::<f32>((graph.extent("images", 50), 16, 8, 8));
        graph.program((x,), images(x, &weights))
    })?
    .run((&x,))?;
    let noise = |near: &Tensor<f32>| -> Result<f64> {
        ops::sum_all((near - &exact).square().eval()?.cast::<f64>()?)
    };
    let mut noises = Vec::new();
    for quantized in 0..3 {
        noises.push(noise(&program_of(&|at| at != quantized)?.run((&x,))?)?);
    }
    let all: f64 = noises.iter().sum();
    for (noise, range) in noises.iter().zip(&ranges) {
        let node = report.nodes.iter().find(|it| it.node == range.node).unwrap();
        assert!((node.share - noise / all).abs() < 1e-4, "{report} {noises:?}");
        assert!(node.damage.snr_db > 20.0 && node.damage.largest_error > 0.0, "{report}");
    }
    let quantized = program_of(&|_| false)?.run((&x,))?;
    assert!((report.output.snr_db - snr(&exact, &quantized)).abs() < 0.01, "{report}");
    // The calibration itself gives the same bits.
    let by_calibration = Program::<(f32,), f32>::trace(|graph| {
        let x = graph.input::<f32>((graph.extent("images", 50), 16, 8, 8));
        graph.program((x,), graph.quantize_static(images(x, &weights), &calibration, &[]))
    })?;
    assert_eq!(by_calibration.run((&x,))?, quantized);
    Ok(())
}

#[test]
fn comparisons_that_do_not_fit_are_refused() -> Result<()> {
    let weights = weights(1.0);
    let mut comparison = Comparison::new();
    assert_eq!(comparison.report().unwrap_err().message(), "the comparison has seen no batch");
    let none: [Tensor<f64>; 0] = [];
    assert!(comparison.add(&none).unwrap_err().message().contains("1 outputs of 6 numbers"));
    let compared = Program::trace(|graph| {
        let x = graph.input::<f32>([4, WIDTH]);
        let y = network(x, &weights);
        graph.program((x,), graph.compare_quantized(y, None, &mut comparison, &[]))
    })?;
    let mut x = normal(1, [4, WIDTH]);
    let outputs: Vec<Tensor<f64>> = compared.run((&x,))?;
    assert!(comparison.add(&outputs[1..]).unwrap_err().message().contains("4 outputs of 6"));
    x[[0, 0]] = f32::INFINITY;
    let error = comparison.add(&compared.run((&x,))?).unwrap_err();
    let why = "the result of node 0, matmul at ";
    assert!(error.message().starts_with(why), "{error}");
    comparison.add(&outputs)?;
    let report = comparison.report()?;
    let message = said(|graph| {
        let x = graph.input::<f32>([4, WIDTH]);
        let y = x.matmul(graph.constant(&weights[0]));
        graph.program((x,), graph.compare_quantized(y, None, &mut comparison, &[]))
    });
    assert!(message.ends_with("the comparison has nodes of another network"), "{message}");
    let message = said(|graph| {
        let x = graph.input::<f32>([4, WIDTH]);
        let y = x.matmul(graph.constant(&weights[0]));
        graph.program((x,), graph.quantize(y, &graph.worst_quantized(y, &report, 3)))
    });
    assert!(message.starts_with("worst_quantized at "), "{message}");
    assert!(message.contains("the network has no quantizable node "), "{message}");
    Ok(())
}

#[test]
#[cfg(feature = "serde")]
fn a_calibration_is_read_as_it_was_written() -> Result<()> {
    let weights = weights(1.0);
    for observer in OBSERVERS {
        let calibration = of_network(&weights, observer)?;
        let json = serde_json::to_string(&calibration).unwrap();
        let mut read: Calibration = serde_json::from_str(&json).unwrap();
        assert_eq!(read, calibration);
        assert_eq!(read.ranges()?, calibration.ranges()?);
        // It goes on where it was.
        let observed = Observed::trace(|graph| {
            let x = graph.input::<f32>((graph.extent("rows", 5000), WIDTH));
            graph.program((x,), graph.observe(network(x, &weights), &mut read))
        })?;
        read.add(&observed.run((&normal(10, [3, WIDTH]),))?)?;
        assert_eq!(read.batches(), 6);
    }
    Ok(())
}

#[test]
#[cfg(feature = "serde")]
fn calibrations_that_no_batches_give_are_refused() -> Result<()> {
    let calibration = of_network(&weights(1.0), Observer::Mse)?;
    let json = serde_json::to_value(&calibration).unwrap();
    let changed = |path: &str, to: serde_json::Value| {
        let mut json = json.clone();
        *json.pointer_mut(path).unwrap() = to;
        serde_json::from_value::<Calibration>(json).err().map(|error| error.to_string())
    };
    assert_eq!(changed("/batches", 5.into()), None);
    // Counts that no more can be added to stay.
    let mut full = json.clone();
    *full.pointer_mut("/batches").unwrap() = u64::MAX.into();
    for value in 0..3 {
        let counts = full.pointer_mut(&format!("/values/{value}/histogram/counts")).unwrap();
        let counts = counts.as_array_mut().unwrap();
        let all: u64 = counts.iter().map(|count| count.as_u64().unwrap()).sum();
        let first = counts[0].as_u64().unwrap();
        counts[0] = (u64::MAX - (all - first)).into();
    }
    let mut full: Calibration = serde_json::from_value(full).unwrap();
    full.add(&[[0.0_f32; 9]; 3])?;
    assert_eq!((full.batches(), full.ranges()?.len()), (u64::MAX, 3));
    let why = "no batches give the range and the histogram of the left operand of node 0, matmul";
    for (path, to) in [
        ("/batches", 0.into()),
        ("/values/0/range/0", 1e9.into()),
        ("/values/0/range", serde_json::Value::Null),
        ("/values/0/histogram", serde_json::Value::Null),
        ("/values/0/histogram/exponent", 100_000.into()),
        ("/values/0/histogram/first", i64::MAX.into()),
        ("/values/0/histogram/counts", serde_json::json!([1])),
        ("/values/0/histogram/counts/0", 0.into()),
        ("/values/0/histogram/counts/1", u64::MAX.into()),
        ("/values/0/histogram/counts/2047", 1.into()),
    ] {
        let refused = changed(path, to).unwrap_or_else(|| panic!("{path}"));
        assert!(refused.starts_with(why), "{path}: {refused}");
    }
    let refused = changed("/observer", serde_json::json!({"Percentile": 2.0})).unwrap();
    assert!(refused.starts_with("share is 2"), "{refused}");
    assert!(changed("/observer", serde_json::json!({"Percentile": 0.5})).is_none());
    assert!(changed("/observer", serde_json::json!("MinMax")).unwrap().starts_with(why));
    Ok(())
}

#[test]
#[cfg(feature = "serde")]
fn a_damage_report_is_json() -> Result<()> {
    let weights = weights(1.0);
    let mut comparison = Comparison::new();
    let compared = Program::trace(|graph| {
        let x = graph.input::<f32>([4, WIDTH]);
        let y = network(x, &weights);
        graph.program((x,), graph.compare_quantized(y, None, &mut comparison, &[]))
    })?;
    comparison.add(&compared.run((&normal(1, [4, WIDTH]),))?)?;
    let report = comparison.report()?;
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["nodes"].as_array().unwrap().len(), 3);
    assert_eq!(json["nodes"][0]["node"], report.nodes[0].node);
    assert_eq!(json["nodes"][0]["damage"]["cosine"], report.nodes[0].damage.cosine);
    assert_eq!(json["batches"], 1);
    Ok(())
}
