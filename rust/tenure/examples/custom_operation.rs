//! A custom operation in a program: the running median of a signal, which the library lacks,
//! between a product and a reduction of the library. The program is saved, and loaded with the same
//! operation.
//!
//! `cargo run -p tenure --features programs --example custom_operation`
#![forbid(unsafe_code)]

use tenure::program::file::ProgramFile;
use tenure::{CustomOperation, Program, Tensor, io};

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The median of each element and its two neighbours, along the last axis of a matrix.
fn running_median() -> tenure::Result<CustomOperation> {
    CustomOperation::new::<(f32,), f32>(
        "running_median",
        |[x]| match x {
            &[rows, cols] if cols >= 3 => Ok(vec![rows, cols - 2]),
            _ => Err(format!("x has shape {x:?} but must be a matrix of 3 or more columns").into()),
        },
        |(x,), mut out| {
            let (rows, cols) = (out.shape()[0], out.shape()[1]);
            for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
                let mut near = [x[[row, col]], x[[row, col + 1]], x[[row, col + 2]]];
                near.sort_by(f32::total_cmp);
                out[[row, col]] = near[1];
            }
            Ok(())
        },
    )
}

pub(crate) fn main() -> Result {
    let median = running_median()?;
    let program = Program::trace(|graph| {
        let samples = graph.extent("samples", 1 << 20);
        let (signals, gain) = (graph.input::<f32>((2, samples)), graph.input::<f32>(()));
        let smooth = graph.custom::<f32>(&median, (signals * gain,));
        graph.program((signals, gain), (smooth, smooth.max(1)))
    })?;

    // A click in each of two signals is gone.
    let signals = Tensor::from([[1.0_f32, 1.0, 9.0, 1.0, 2.0], [0.0, 3.0, 3.0, -7.0, 3.0]]);
    let (smooth, peak) = program.clone().checked().run((&signals, &2.0))?;
    assert_eq!(smooth, [[2.0, 2.0, 4.0], [6.0, 6.0, 6.0]]);
    assert_eq!(peak, [4.0, 6.0]);
    println!("smooth: {smooth}");

    // What the operation refuses is refused with its words and its place in the source.
    let short = Tensor::<f32>::zeros([2, 2])?;
    let refused = program.run((&short, &1.0)).expect_err("two have no neighbours");
    println!("refused: {refused}");

    // The file names the operation; whoever loads it gives one of the name.
    let path = std::env::temp_dir().join(format!("running-median-{}.tnrp", std::process::id()));
    program.save(&path)?;
    let file = ProgramFile::new(io::read(&path)?)?;
    std::fs::remove_file(&path)?;
    assert_eq!(file.custom_names(), ["running_median"]);
    let loaded = Program::<(f32, f32), (f32, f32)>::from_file(&file, vec![median])?;
    assert_eq!(loaded.run((&signals, &2.0))?.0, smooth);
    Ok(())
}
