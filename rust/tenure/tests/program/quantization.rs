//! Quantized numbers in graphs: the bits of the functions, packed constants, files, refusals.

use super::*;
use tenure::quantize::{self, Quantized, Scheme, Weights, linear};
use tenure::random::Generator;

fn weights() -> SharedTensor<f32> {
    floats(11, [70, 80]).into_shared()
}

#[test]
fn values_have_the_bits_of_functions() -> Result<()> {
    let (x, w) = (floats(1, [5, 70]), weights());
    for scheme in [Scheme::per_row(), Scheme::per_tensor().affine(), Scheme::per_group(10)] {
        for traced in traced(|graph| {
            let x = graph.input::<f32>((graph.extent("rows", 9), 70));
            let parts = x.quantize_dynamic::<i8>(scheme);
            let again = x.quantize(parts.scales, parts.zeros);
            graph.program((x,), (parts.values, parts.scales, again, parts.dequantize::<f32>()))
        }) {
            let (values, scales, again, numbers) = traced?.run((&x,))?;
            let expected = quantize::dynamic::<i8, _>(&x, scheme)?;
            assert_eq!(values, *expected.values());
            assert_eq!(scales, *expected.scales());
            assert_eq!(again, values);
            assert_eq!(numbers, quantize::dequantize::<f32, _>(&expected)?);
        }
    }
    let with = || Matmul::new().activation(Activation::Tanh);
    let columns = quantize::dynamic::<i8, _>(&w, Scheme::per_axis(1))?;
    let rows = quantize::dynamic::<u8, _>(&x, Scheme::per_row().affine())?;
    for traced in traced(|graph| {
        let x = graph.input::<f32>((graph.extent("rows", 9), 70));
        let w = graph.constant(&w).quantize_dynamic::<i8>(Scheme::per_axis(1));
        let rows = x.quantize_dynamic::<u8>(Scheme::per_row().affine());
        let both = (x.quantized_matmul(w, None, with()), rows.matmul(w, None, with()));
        graph.program((x,), both)
    }) {
        let (of_rows, of_integers) = traced?.run((&x,))?;
        assert_eq!(of_rows, linear(&x, &Weights::of(&columns)?, with())?);
        assert_eq!(of_integers, quantize::matmul(&rows, &columns, with())?);
    }
    Ok(())
}

#[test]
fn a_quantized_graph_multiplies_integers() -> Result<()> {
    let (w, x) = (weights(), floats(2, [6, 70]));
    let bias = floats(3, [80]);
    let layer = |graph: Graph<'_>, is_quantized: bool| {
        let x = graph.input::<f32>((graph.extent("rows", 9), 70));
        let y = (x.matmul(graph.constant(&w)) + graph.copy_constant(&bias)).gelu();
        let y = if is_quantized { graph.quantize(y, &[]) } else { y };
        graph.program((x,), y)
    };
    let exact = Program::trace(|graph| layer(graph, false))?.run((&x,))?;
    let with = Matmul::new().bias(&bias).activation(Activation::Gelu);
    let rows = quantize::dynamic::<u8, _>(&x, Scheme::per_row().affine())?;
    let columns = quantize::dynamic::<i8, _>(&w, Scheme::per_axis(1))?;
    let expected = quantize::matmul(&rows, &columns, with)?;
    let packing = Passes::DEFAULT.with(Passes::PACKING);
    for passes in [Passes::DEFAULT, Passes::NONE, packing] {
        let program = Program::trace_with(passes, |graph| layer(graph, true))?;
        let result = program.run((&x,))?;
        assert_eq!(result, expected);
        let greatest = exact.to_vec().into_iter().fold(0.0, f32::max);
        for (a, b) in result.to_vec().iter().zip(exact.to_vec()) {
            assert!((a - b).abs() < 0.01 * greatest, "{a}, {b}, of {greatest}");
        }
    }
    // Its packed integers are lent to another process.
    let program = Program::trace_with(packing, |graph| layer(graph, true))?;
    let packed = program.packed()?.into_shared();
    assert!(packed.len() < 80 * 80 * 2, "{}", packed.len());
    let lent = Program::trace_packed(&packed, |graph| layer(graph, true))?;
    assert_eq!(lent.run((&x,))?, expected);
    Ok(())
}

#[test]
fn convolutions_have_the_bits_of_the_function() -> Result<()> {
    let (x, filters, bias) = (floats(4, [2, 16, 6, 5]), floats(5, [32, 16, 3, 3]), floats(6, [32]));
    let filters = filters.into_shared();
    let with = || Conv2d::new().padding([1, 1]).activation(Activation::Relu);
    let images = quantize::dynamic::<u8, _>(&x, Scheme::per_tensor().affine())?;
    let of_filters = quantize::dynamic::<i8, _>(&filters, Scheme::per_axis(0))?;
    let expected = quantize::conv2d(&images, &of_filters, with().bias(&bias))?;
    for traced in traced(|graph| {
        let x = graph.input::<f32>((graph.extent("batch", 4), 16, 6, 5));
        let (filters, bias) = (graph.constant(&filters), graph.copy_constant(&bias));
        let a = x.quantize_dynamic::<u8>(Scheme::per_tensor().affine());
        let by = filters.quantize_dynamic::<i8>(Scheme::per_axis(0));
        let rewritten = graph.quantize(x.conv2d(filters, Some(bias), with()), &[]);
        graph.program((x,), (a.conv2d(by, Some(bias), with()), rewritten))
    }) {
        let (by_nodes, rewritten) = traced?.run((&x,))?;
        assert_eq!(by_nodes, expected);
        assert_eq!(rewritten, expected);
    }
    Ok(())
}

#[test]
fn ranges_choose_the_scales() -> Result<()> {
    let mut random = Generator::new(3);
    let x: Tensor<f32> = random.normal(0.0, 0.5, [6, 70])?;
    let w = random.normal(0.0, 0.5, [70, 80])?.into_shared();
    let square = random.normal(0.0, 0.1, [80, 80])?.into_shared();
    let layers = |graph: Graph<'_>, is_shown: bool| {
        let x = graph.input::<f32>((graph.extent("rows", 9), 70));
        let first = x.matmul(graph.constant(&w)).relu();
        let square = graph.constant(&square);
        let last = first.matmul(square);
        let ranges = [(x, -0.75..1.5), (first, 0.0..9.0)];
        let (last, first) = match is_shown {
            true => graph.quantize_by_ranges((last, first), &ranges, &[]),
            false => (graph.quantize_by_ranges(last, &ranges, &[]), first),
        };
        graph.program((x,), (last, first))
    };
    // With zero points by the definition, of one scale for all.
    let scale = 1.5_f32 / 255.0 + 0.75 / 255.0;
    let zero = (0.75 / scale).round_ties_even() as u8;
    let (scale, zero) = (Tensor::full([1], scale)?, Tensor::full([1], zero)?);
    let values = quantize::by_scales::<u8, _>(&x, &scale, Some(&zero))?;
    let rows = Quantized::from_parts(values, scale, Some(zero))?;
    let columns = quantize::dynamic::<i8, _>(&w, Scheme::per_axis(1))?;
    let with = Matmul::new().activation(Activation::Relu);
    let expected = quantize::matmul(&rows, &columns, with)?;
    // The numbers in between are an output, or integers: the results have the same bits.
    let (last, first) = Program::trace(|graph| layers(graph, true))?.run((&x,))?;
    assert_eq!(first, expected);
    let is_inside = |x: &&f32| **x > 0.0 && **x < 9.0;
    assert!(first.to_vec().iter().filter(is_inside).count() > 100);
    for fused in traced(|graph| layers(graph, false)) {
        assert_eq!(fused?.run((&x,))?.0, last);
    }
    Ok(())
}

#[test]
fn rows_that_a_run_finds_are_quantized() -> Result<()> {
    let mut random = Generator::new(2);
    let x: Tensor<f32> = random.normal(0.0, 1.0, [9, 70])?;
    let w = random.normal(0.0, 0.1, [70, 80])?.into_shared();
    let square = random.normal(0.0, 0.1, [80, 80])?.into_shared();
    for traced in traced(|graph| {
        let x = graph.input::<f32>((graph.extent("rows", 9), 70));
        let first = x.matmul(graph.constant(&w)).relu();
        let sums = first.sum(1);
        let (places, count) = sums.gt(sums.mean(..)).nonzero("found", 9);
        let some = first.take(0, places.reshape(count));
        let last = some.matmul(graph.constant(&square));
        let ranges = [(some, 0.0..9.0), (x, -3.0..3.0)];
        let fast = graph.quantize_by_ranges((last, some), &ranges, &[]);
        let dynamic = graph.quantize(some.matmul(graph.constant(&square)), &[]);
        graph.program((x,), (fast.0, fast.1, dynamic))
    }) {
        let (last, some, dynamic) = traced?.run((&x,))?;
        assert!(some.shape()[0] > 0 && some.shape()[0] < 9, "{:?}", some.shape());
        let scale = Tensor::full([1], 9.0_f32 / 255.0)?;
        let values = quantize::by_scales::<u8, _>(&some, &scale, None::<&Tensor<u8>>)?;
        let rows = Quantized::from_parts(values, scale, None)?;
        let columns = quantize::dynamic::<i8, _>(&square, Scheme::per_axis(1))?;
        assert_eq!(last, quantize::matmul(&rows, &columns, Matmul::new())?);
        assert_eq!(dynamic.shape()[1], 80);
    }
    Ok(())
}

#[test]
fn a_list_has_the_nodes_in_their_order() -> Result<()> {
    let w = weights();
    Program::trace(|graph| {
        let x = graph.input::<f32>([4, 70]);
        let images = graph.input::<f32>([1, 16, 6, 5]);
        let filtered =
            images.conv2d(graph.copy_constant(&floats(5, [32, 16, 3, 3])), None, Conv2d::new());
        let of = x.tanh();
        let product = of.matmul(graph.constant(&w));
        let found = graph.quantizable((product.relu(), filtered), &[]);
        let kinds: Vec<_> = found.iter().map(|node| node.kind).collect();
        assert_eq!(kinds, ["conv2d", "matmul"]);
        assert_eq!(graph.quantizable(product, &[product]).len(), 0);
        // Values that other calls take, and results of a program.
        let ranges = [(found[1].operand, -1.0..1.0), (found[0].operand, -1.0..1.0)];
        let keep = [found[0].result];
        let quantized = graph.quantize_by_ranges((product, filtered), &ranges, &keep);
        graph.program((x, images), (quantized, found[1].result))
    })?
    .run((&floats(1, [4, 70]), &floats(3, [1, 16, 6, 5])))?;
    Ok(())
}

#[test]
#[cfg(feature = "programs")]
fn a_file_has_the_integers() -> Result<()> {
    let (w, x) = (floats(11, [512, 512]).into_shared(), floats(2, [6, 512]));
    for is_static in [false, true] {
        let program = Program::trace(|graph| {
            let x = graph.input::<f32>((graph.extent("rows", 9), 512));
            let w = graph.constant(&w);
            let y = x.matmul(w).gelu().matmul(w);
            let ranges = [(x, -1.0..1.0)];
            let y = graph.quantize_by_ranges(y, &ranges[..usize::from(is_static)], &[]);
            graph.program((x,), y)
        })?;
        let mut bytes = Vec::new();
        program.write(&mut bytes)?;
        // Both products read one factor, which the file has once.
        let share = bytes.len() as f64 / (512.0 * 512.0 * 4.0);
        assert!(share > 0.25 && share < 0.27, "{share}");
        let file =
            tenure::program::file::ProgramFile::new(Tensor::from_vec(bytes.clone(), bytes.len())?)?;
        let read = Program::<(f32,), f32>::from_file(&file, Vec::new())?;
        assert_eq!(read.run((&x,))?, program.run((&x,))?);
        let mut again = Vec::new();
        read.write(&mut again)?;
        assert_eq!(again, bytes);
    }
    Ok(())
}

#[test]
fn refusals_name_the_call() {
    let refused = said(|graph| {
        let x = graph.input::<f32>([4, 70]);
        graph.program((x,), graph.quantize(x.exp(), &[]))
    });
    assert!(refused.starts_with("quantize at "), "{refused}");
    assert!(refused.contains("there is nothing to quantize"), "{refused}");
    let refused = said(|graph| {
        let x = graph.input::<f32>([4, 70]);
        let y = x.matmul(graph.copy_constant(&floats(1, [70, 80])));
        graph.program((x,), graph.quantize_by_ranges(y, &[(x, 0.0..f32::NAN)], &[]))
    });
    assert!(refused.starts_with("quantize_by_ranges at "), "{refused}");
    assert!(refused.contains("ranges[0], of value 0, is 0 to nan"), "{refused}");
    let refused = said(|graph| {
        let x = graph.input::<f32>([4, 70]);
        let found = graph.quantizable(x, &[x.exp()]);
        assert_eq!(found.len(), 0);
        // Nothing is listed behind a refusal.
        assert_eq!(graph.quantizable(x, &[]).len(), 0);
        graph.program((x,), x)
    });
    assert!(refused.starts_with("quantizable at "), "{refused}");
    assert!(refused.contains("which no value of `of` depends on"), "{refused}");
    let refused = said(|graph| {
        let x = graph.input::<f32>((4, graph.extent("columns", 12)));
        graph.program((x,), x.quantize_dynamic::<i8>(Scheme::per_group(4)).values)
    });
    assert!(refused.contains("groups are of axis 1, whose extent has a name"), "{refused}");
    let refused = said(|graph| {
        let x = graph.input::<f32>([4, 12]);
        graph.program((x,), x.quantize_dynamic::<u8>(Scheme::per_row()).values)
    });
    assert!(refused.contains("u8, which needs zero points"), "{refused}");
}
