#![forbid(unsafe_code)]
//! Converts files of sparse matrices: SciPy's `.npz` and Matrix Market's `.mtx`, each to each.
//!
//! `cargo run --release --features npz --example sparse_files -- IN OUT [IN OUT]...`

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tenure::io::matrix_market::{self, Field, Layout, Value};
use tenure::{Bool8, Complex, CooMatrix, DType, f16, io::npz};

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> ExitCode {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if paths.is_empty() || paths.len() % 2 == 1 {
        eprintln!("usage: sparse_files IN OUT [IN OUT]...");
        return ExitCode::from(2);
    }
    for pair in paths.chunks(2) {
        if let Err(error) = convert(&pair[0], &pair[1]) {
            eprintln!("sparse_files: {}: {error}", pair[0].display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Whether a path names a Matrix Market file; else it is one of SciPy's.
fn is_market(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "mtx")
}

fn convert(from: &Path, to: &Path) -> Outcome {
    let bytes = fs::read(from)?;
    if is_market(from) {
        let reader = matrix_market::Reader::new(&bytes)?;
        return match reader.field() {
            Field::Integer => convert_market::<i64>(&reader, to),
            Field::UnsignedInteger => convert_market::<u64>(&reader, to),
            Field::Complex => convert_market::<Complex<f64>>(&reader, to),
            _ => convert_market::<f64>(&reader, to),
        };
    }
    let reader = npz::Reader::new(&bytes)?;
    match reader.dtype() {
        DType::F64 => convert_npz::<f64>(&reader, to),
        DType::F32 => convert_npz::<f32>(&reader, to),
        DType::F16 => convert_npz::<f16>(&reader, to),
        DType::I8 => convert_npz::<i8>(&reader, to),
        DType::I16 => convert_npz::<i16>(&reader, to),
        DType::I32 => convert_npz::<i32>(&reader, to),
        DType::I64 => convert_npz::<i64>(&reader, to),
        DType::U8 => convert_npz::<u8>(&reader, to),
        DType::U16 => convert_npz::<u16>(&reader, to),
        DType::U32 => convert_npz::<u32>(&reader, to),
        DType::U64 => convert_npz::<u64>(&reader, to),
        DType::BOOL8 => convert_npz::<Bool8>(&reader, to),
        DType::C64 => convert_npz::<Complex<f32>>(&reader, to),
        DType::C128 => convert_npz::<Complex<f64>>(&reader, to),
        other => Err(format!("values of {other} are not converted").into()),
    }
}

fn convert_market<T: Value>(reader: &matrix_market::Reader<'_>, to: &Path) -> Outcome {
    let writer = matrix_market::Writer::new().symmetry(reader.symmetry());
    if reader.layout() == Layout::Array {
        if !is_market(to) {
            return Err("an array is dense, which SciPy's sparse files are not".into());
        }
        return Ok(writer.save(to, &reader.to_dense::<T>()?)?);
    }
    let matrix: CooMatrix<T, i64> = reader.to_coo()?;
    if is_market(to) {
        Ok(writer.save(to, &matrix)?)
    } else {
        Ok(npz::Writer::new().deflated().save(to, &matrix)?)
    }
}

fn convert_npz<T: Value>(reader: &npz::Reader<'_>, to: &Path) -> Outcome {
    match reader.format() {
        npz::Format::Coo => write(&reader.to_coo::<T, i64>()?, to),
        npz::Format::Csr => write(&reader.to_csr::<T, i64>()?, to),
        npz::Format::Csc => write(&reader.to_csc::<T, i32>()?, to),
        npz::Format::Bsr => write(&reader.to_bsr::<T, i32>()?, to),
        other => Err(format!("{other} is not converted").into()),
    }
}

fn write<T: Value>(
    matrix: &(impl npz::ScipyMatrix + matrix_market::WritableMatrix<T>),
    to: &Path,
) -> Outcome {
    if is_market(to) {
        matrix_market::Writer::new().save(to, matrix)?;
    } else {
        npz::Writer::new().save(to, matrix)?;
    }
    Ok(())
}
