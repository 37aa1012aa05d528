//! Runs that refuse NaN and infinities: the node that they name.

use half::{bf16, f16};
use num_complex::Complex;
use tenure::train::mse;

use super::*;

/// The message of a refused run: the place in the source replaced by `#` and the distance in lines
/// from `line`.
#[track_caller]
fn refusal<T>(run: Result<T>, line: u32) -> String {
    let error = run.err().expect("the run is refused");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    let mut text = error.message().to_owned();
    let file = format!("{}:", file!());
    while let Some(at) = text.find(&file) {
        let rest = &text[at + file.len()..];
        let (number, rest) = rest.split_once(':').unwrap();
        let column = rest.find(|c: char| !c.is_ascii_digit()).unwrap();
        let lines = number.parse::<i64>().unwrap() - i64::from(line);
        text = format!("{}#{lines}{}", &text[..at], &rest[column..]);
    }
    text
}

#[test]
fn the_first_node_is_named_in_a_fused_chain() -> Result<()> {
    let line = line!();
    for made in traced(|graph| {
        let x = graph.input_named::<f32>("x", [2, 3]);
        let y = (x + 1.0).abs();
        let z = (y * 0.5 + x).ln(); // 4 lines below
        graph.program(x, z.square().sum(1) + 3.0)
    }) {
        let program = made?;
        let x = Tensor::from([[1.0_f32, 2.0, 3.0], [0.0, -1.5, -2.0]]);
        assert!(program.run(&x)?.to_vec()[1].is_nan());
        let text = refusal(program.clone().refusing_nan().run(&x), line);
        let expected = "ln at #4: the result, value 7, f32 of shape [2, 3], has a NaN at [1, 1]; \
                        all operands are finite";
        assert_eq!(text, expected);
    }
    Ok(())
}

#[test]
fn a_run_without_nan_has_the_same_bits() -> Result<()> {
    let layer = |graph: Graph<'_>| {
        let rows = graph.extent("rows", 16);
        let (x, w) = (graph.input::<f32>((rows, 8)), graph.input::<f32>([8, 4]));
        let y = (x.matmul(w) + graph.copy_constant(&[0.5, -0.5, 0.25, 0.0])).relu().softmax(1);
        let loss = (y.ln() * y).sum(..);
        graph.program((x, w), (y, loss, graph.gradients(loss, w)))
    };
    let (x, w) = (floats(1, [5, 8]), floats(2, [8, 4]));
    for program in traced(layer) {
        let program = program?;
        let expected = program.run((&x, &w))?;
        for debugged in [program.clone().refusing_nan(), program.refusing_non_finite()] {
            for threads in [1, 2] {
                let found = Context::with_threads(threads)?.install(|| debugged.run((&x, &w)))?;
                assert_eq!(found, expected);
                // Strides that the run before had not.
                let w = w.t().to_tensor()?;
                let found = debugged.run((&x, w.t()))?;
                assert_eq!(found, expected);
            }
        }
    }
    Ok(())
}

#[test]
fn operands_are_named() -> Result<()> {
    let line = line!();
    let program = Program::trace(|graph| {
        let (a, b) = (graph.input_named::<f64>("a", [3]), graph.input::<f64>([2, 3]));
        let table = graph.copy_constant(&[0.0, f64::INFINITY, 1.0]);
        graph.program((a, b), (a.reshape([1, 3]) * b, b + table, b * f64::NAN))
    })?
    .refusing_nan();
    let nan = f64::NAN;
    let ok = [[1.0, 2.0, 3.0], [0.0, 1.0, 2.0]];
    let text = refusal(program.run((&[0.0, nan, nan], &ok)), line);
    let of = "f64 of shape [2, 3], has a NaN at";
    let named = format!(
        "mul at #4: the result, value 4, {of} [0, 1]; operands[0] is input a and has a NaN at [0, 1]"
    );
    assert_eq!(text, named);
    let infinite = [[1.0, 2.0, 3.0], [0.0, -f64::INFINITY, 2.0]];
    let text = refusal(program.run((&[0.0; 3], &infinite)), line);
    let named = format!(
        "mul at #4: the result, value 4, {of} [1, 1]; operands[1] is input 1 and has an infinity at [1, 1]"
    );
    assert_eq!(text, named);
    let text = refusal(program.run((&[1.0; 3], &infinite)), line);
    assert!(
        text.starts_with(
            "add at #4: the result, value 5, f64 of shape [2, 3], has a NaN at [1, 1]"
        ),
        "{text}"
    );
    let text = refusal(program.run((&[1.0; 3], &ok)), line);
    assert!(text.ends_with("operands[1] is a number and has a NaN at []"), "{text}");
    Ok(())
}

#[test]
fn a_nan_that_nothing_passes_on_is_no_error() -> Result<()> {
    let line = line!();
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([4]);
        let clean = x.is_nan().select(0.0, x);
        graph.program(x, (clean.sqrt().sum(..), x.gt(0.0), x))
    })?
    .refusing_nan();
    let (sum, positive, _) = program.run(&[4.0, f32::NAN, 9.0, 0.0])?;
    assert_eq!(
        (sum.item(), positive.to_vec()),
        (Some(5.0), [true, false, true, false].map(Bool8::from).to_vec())
    );
    let text = refusal(program.run(&[4.0, f32::NAN, -9.0, 0.0]), line);
    assert!(text.starts_with("sqrt at #4"), "{text}");
    Ok(())
}

#[test]
fn marked_values_are_accepted() -> Result<()> {
    let program = |is_marked: bool| {
        Program::trace(|graph| {
            let (a, b) = (graph.input::<f32>([2]), graph.input::<f32>([2]));
            let mut quotient = a / b;
            if is_marked {
                quotient = quotient.allow_non_finite();
            }
            // Both marks stay.
            let quotient = quotient.keep();
            graph.program((a, b), b.eq(0.0).select(0.0, quotient))
        })
    };
    let inputs = (&[0.0, 4.0], &[0.0, 2.0]);
    assert!(program(false)?.refusing_nan().run(inputs).is_err());
    assert_eq!(program(true)?.refusing_nan().run(inputs)?, [0.0, 2.0]);
    Ok(())
}

#[test]
fn a_loop_names_the_iteration() -> Result<()> {
    let line = line!();
    let program = Program::trace(|graph| {
        let x = graph.input::<f64>([2]);
        let (y, _) = graph.while_loop(
            10,
            (x, graph.copy_constant(&0_i64)),
            (),
            |body, (_, n), ()| body.outputs(n.lt(5)),
            |body, (x, n), ()| body.outputs(((x - 1.0).sqrt(), n + 1)),
        )?;
        graph.program(x, y)
    })?
    .refusing_nan();
    let text = refusal(program.run(&[100.0, 9.0]), line);
    // 9, 2.83, 1.35, 0.59
    let expected = "while_loop at #3: iteration 3, sqrt at #8: the result, value 4, f64 of shape \
                    [2], has a NaN at [1]; all operands are finite";
    assert_eq!(text, expected);
    let text = refusal(program.run(&[100.0, f64::NAN]), line);
    assert!(text.starts_with("while_loop at #3: iteration 0, sub at #8: "), "{text}");
    assert!(text.ends_with("operands[0] is inputs[0] and has a NaN at [1]"), "{text}");
    Ok(())
}

#[test]
fn conditions_and_branches() -> Result<()> {
    let line = line!();
    let program = Program::trace(|graph| {
        let x = graph.input_named::<f32>("x", [0_usize; 0]);
        let y = graph.cond(
            x.gt(0.0),
            x,
            |body, x| body.outputs(x.ln()),
            |body, x| body.outputs((x - x) / (x - x)), // 7 lines below
        )?;
        let (z, _) = graph.while_loop(
            5,
            (x, y),
            (),
            |body, (x, y), ()| body.outputs((y / (x - 2.0)).gt(0.0)),
            |body, (x, y), ()| body.outputs((x - 1.0, y * 0.0)),
        )?;
        graph.program(x, (y, z))
    })?
    .refusing_nan();
    let text = refusal(program.run(&-1.0), line);
    assert!(text.starts_with("cond at #3: div at #7: the result, value "), "{text}");
    // 4 and ln(4), 3 and 0: stops.
    assert!(program.run(&4.0).is_ok());
    // 3 and ln(3), 2 and 0: the condition divides 0 by 0.
    let text = refusal(program.run(&3.0), line);
    assert!(text.starts_with("while_loop at #9: iteration 1, div at #13: "), "{text}");
    // A branch that hands a NaN on gives one.
    let handed = Program::trace(|graph| {
        let x = graph.input_named::<f32>("x", [0_usize; 0]);
        let y = graph.cond(x.eq(0.0), x, |body, x| body.outputs(x), |body, x| body.outputs(x))?;
        graph.program(x, y)
    })?;
    let text = refusal(handed.refusing_nan().run(&f32::NAN), line);
    assert!(text.ends_with("operands[1] is input x and has a NaN at []"), "{text}");
    Ok(())
}

#[test]
fn gradients_name_the_operation_that_they_derive() -> Result<()> {
    let line = line!();
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([3]);
        let norm = (x * 0.0).sqrt() * 0.0; // 3 lines below
        let by_x = graph.gradients(norm.sum(..), x);
        graph.program(x, by_x)
    })?
    .refusing_nan();
    // The derivative of the root is infinite at 0.
    let text = refusal(program.run(&[1.0, 2.0, 3.0]), line);
    let expected = "gradients at #4: in the derivative of sqrt at #3: the result, value ";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("f32 of shape [3], has a NaN at [0]"), "{text}");
    Ok(())
}

#[test]
fn updated_inputs_are_untouched() -> Result<()> {
    let line = line!();
    for made in traced(|graph| {
        let (w, x) = (graph.input::<f32>([2]), graph.input::<f32>([2]));
        let loss = mse(w * x, x.ln());
        let by_w = graph.gradients(loss, w);
        graph.program((w.updated_by(w - by_w * 0.1), x), loss + (w * 2.0 - x).ln().sum(..) * 0.0)
    }) {
        let step = made?.refusing_nan();
        let mut w = Tensor::from([2.0, 3.0]);
        // The update of the first run is complete before its last operations give the NaN.
        let text = refusal(step.run((&mut w, &[9.0, 1.0])), line);
        assert!(text.starts_with("ln at #5"), "{text}");
        assert_eq!(w, [2.0, 3.0]);
        step.run((&mut w, &[1.0, 1.0]))?;
        assert_ne!(w, [2.0, 3.0]);
    }
    Ok(())
}

#[test]
fn floats_of_all_types() -> Result<()> {
    fn quotients<T: Field>(zero: T, one: T) -> Result<()> {
        let program = Program::trace(|graph| {
            let x = graph.input::<T>([2, 2]);
            graph.program(x, x.t() / x)
        })?
        .refusing_nan();
        let error = program.run(&[[one, one], [one, zero]]).unwrap_err();
        assert!(error.message().contains("has a NaN at [1, 1]"), "{error}");
        let ones = Tensor::<T>::full([2, 2], one)?;
        assert_eq!(program.run(&ones)?, ones);
        Ok(())
    }
    quotients(0.0_f32, 1.0)?;
    quotients(0.0_f64, 1.0)?;
    quotients(f16::ZERO, f16::ONE)?;
    quotients(bf16::ZERO, bf16::ONE)?;
    quotients(Complex::<f32>::ZERO, Complex::ONE)?;
    quotients(Complex::<f64>::ZERO, Complex::ONE)
}

#[test]
fn sparse_values() -> Result<()> {
    let line = line!();
    let program = Program::trace(|graph| {
        let (values, x) = (graph.input::<f32>([3]), graph.input::<f32>([3, 2]));
        let offsets = graph.copy_constant(&[0_i64, 2, 3]);
        let matrix = TracedCsr::new(2, 3, offsets, graph.copy_constant(&[0_i64, 2, 1]), values);
        graph.program((values, x), matrix.softmax_rows().matmul(x)) // 5 lines below
    })?
    .refusing_nan();
    let x = Tensor::full([3, 2], 1.0)?;
    assert!(program.run((&[1.0, 2.0, 3.0], &x)).is_ok());
    let text = refusal(program.run((&[1.0, 2.0, f32::NAN], &x)), line);
    assert!(text.contains("at #5: the result, value "), "{text}");
    assert!(text.contains("f32 of shape [3], has a NaN at [2]"), "{text}");
    Ok(())
}

#[test]
fn counts_that_a_run_finds() -> Result<()> {
    let line = line!();
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([4]);
        let (kept, _) = x.masked_select(x.ne(0.0), "kept", 4);
        graph.program(x, kept.ln() + 1.0)
    })?
    .refusing_nan();
    assert_eq!(program.run(&[1.0, 0.0, 0.0, 1.0])?, [1.0, 1.0]);
    let text = refusal(program.run(&[1.0, 0.0, -1.0, 0.0]), line);
    assert!(text.starts_with("ln at #4"), "{text}");
    assert!(text.contains("f32 of shape [2], has a NaN at [1]"), "{text}");
    assert_eq!(program.run(&[0.0; 4])?, [0.0; 0]);
    Ok(())
}

#[test]
fn refusals_of_runs() -> Result<()> {
    let line = line!();
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([graph.extent("n", 100)]);
        graph.program(x, x.ln().exp())
    })?
    .refusing_nan();
    let (x, mut out) = ([1.0, -2.0], [0.0; 2]);
    let error = program.bind_preallocated(&x, &mut out).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("does not look at results"), "{error}");
    let error = program.measure(&x, 1).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.message().contains("step_nanoseconds"), "{error}");
    let bound = program.bind(&x, &mut out)?;
    let text = refusal(bound.run(&x, &mut out).map_err(Error::from), line);
    assert!(text.starts_with("ln at #3: the result"), "{text}");
    bound.run(&[1.0, 1.0], &mut out)?;
    assert_eq!(out, [1.0, 1.0]);
    assert_eq!(program.run(&[0.0; 0])?, [0.0; 0]);
    Ok(())
}
