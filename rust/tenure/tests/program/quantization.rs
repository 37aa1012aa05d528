//! Quantized numbers in graphs: the bits of the functions, packed constants, files, refusals.

use super::*;
use tenure::quantize::{self, Scheme, Weights, linear};

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
fn a_graph_of_four_bits_has_the_bits_of_the_functions() -> Result<()> {
    let (w, x) = (floats(11, [128, 80]).into_shared(), floats(2, [6, 128]));
    let bias = floats(3, [80]);
    let layer = |graph: Graph<'_>, group: usize| {
        let x = graph.input::<f32>((graph.extent("rows", 9), 128));
        let y = (x.matmul(graph.constant(&w)) + graph.copy_constant(&bias)).gelu();
        graph.program((x,), graph.quantize_four_bits(y, group, &[]))
    };
    let with = || Matmul::new().bias(&bias).activation(Activation::Gelu);
    let packing = Passes::DEFAULT.with(Passes::PACKING);
    for group in [32, 64, 128] {
        let expected = linear(&x, &Weights::four_bits(&w, group)?, with())?;
        for passes in [Passes::DEFAULT, Passes::NONE, packing] {
            let program = Program::trace_with(passes, |graph| layer(graph, group))?;
            assert_eq!(program.run((&x,))?, expected, "{group}");
        }
    }
    let expected = linear(&x, &Weights::four_bits(&w, 32)?, with())?;
    let program = Program::trace_with(packing, |graph| layer(graph, 32))?;
    let packed = program.packed()?.into_shared();
    // Panels of 32 columns, and a line of each of two headers.
    assert!(packed.len() <= 128 * 96 * 5 / 8 + 256, "{}", packed.len());
    let lent = Program::trace_packed(&packed, |graph| layer(graph, 32))?;
    assert_eq!(lent.run((&x,))?, expected);
    let other = Program::trace_packed(&packed, |graph| layer(graph, 64)).err().unwrap();
    assert!(other.to_string().contains("another program"), "{other}");
    let refused = Program::trace(|graph| layer(graph, 16)).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
    assert!(refused.to_string().contains("16 but must be 0, 32, 64 or 128"), "{refused}");
    let none = Program::trace(|graph| layer(graph, 0)).err().unwrap();
    assert_eq!(none.kind(), ErrorKind::InvalidArgument);
    Ok(())
}

#[test]
#[cfg(feature = "programs")]
fn a_file_computes_the_same() -> Result<()> {
    let (w, x) = (weights(), floats(2, [6, 70]));
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>((graph.extent("rows", 9), 70));
        graph.program((x,), graph.quantize(x.matmul(graph.constant(&w)), &[]))
    })?;
    let mut bytes = Vec::new();
    program.write(&mut bytes)?;
    let file =
        tenure::program::file::ProgramFile::new(Tensor::from_vec(bytes.clone(), bytes.len())?)?;
    let read = Program::<(f32,), f32>::from_file(&file, Vec::new())?;
    assert_eq!(read.run((&x,))?, program.run((&x,))?);
    Ok(())
}

#[test]
fn refusals_name_the_call() {
    let refused = said(|graph| {
        let x = graph.input::<f32>([4, 70]);
        graph.program((x,), graph.quantize(x.exp(), &[]))
    });
    assert!(refused.starts_with("quantize at "), "{refused}");
    assert!(refused.contains("there is no product to quantize"), "{refused}");
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
