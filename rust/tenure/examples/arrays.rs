#![forbid(unsafe_code)]
//! Converts files of dense arrays: NumPy's `.npy` and `.npz`, and `.safetensors`, each to each.
//!
//! `cargo run --release --features npz --example arrays -- IN OUT [IN OUT]...`

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tenure::{
    CopyMode, DynView, Loaded,
    io::{self, npy, npz, safetensors},
};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The name of the array in a file that has one without a name.
const ALONE: &str = "array";

fn main() -> ExitCode {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if paths.is_empty() || paths.len() % 2 == 1 {
        eprintln!("usage: arrays IN OUT [IN OUT]...");
        return ExitCode::from(2);
    }
    for pair in paths.chunks(2) {
        if let Err(error) = convert(&pair[0], &pair[1]) {
            eprintln!("arrays: {}: {error}", pair[0].display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn convert(from: &Path, to: &Path) -> Outcome<()> {
    let bytes = io::read(from)?;
    let arrays = load(from, bytes.as_ref())?;
    for (name, array) in &arrays {
        let (view, held) = (array.view(), if array.is_copied() { "copied" } else { "lent" });
        println!("{name}: {} {:?}, {held}", view.dtype(), view.shape());
    }
    let views: Vec<(&str, DynView<'_>)> =
        arrays.iter().map(|(name, array)| (name.as_str(), array.view())).collect();
    store(to, &views)
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

/// All arrays of a file: lent by its bytes where they can be.
fn load<'a>(path: &Path, bytes: &'a [u8]) -> Outcome<Vec<(String, Loaded<'a>)>> {
    let mode = CopyMode::IfNeeded;
    match extension(path) {
        "npy" => Ok(vec![(ALONE.to_owned(), npy::Array::new(bytes)?.load(mode)?)]),
        "npz" => {
            let archive = npz::Archive::new(bytes)?;
            let arrays =
                archive.names().map(|name| Ok((name.to_owned(), archive.load(name, mode)?)));
            arrays.collect()
        }
        "safetensors" => {
            let reader = safetensors::Reader::new(bytes)?;
            let names = reader.tensors().iter().map(|entry| entry.name());
            names.map(|name| Ok((name.to_owned(), reader.load(name, mode)?))).collect()
        }
        other => Err(format!("'{other}' is none of npy, npz, safetensors").into()),
    }
}

fn store(path: &Path, arrays: &[(&str, DynView<'_>)]) -> Outcome<()> {
    match (extension(path), arrays) {
        ("npy", [(_, array)]) => npy::save(path, array)?,
        ("npy", _) => return Err(format!("{} arrays are not one", arrays.len()).into()),
        ("npz", _) => npz::Writer::new().save_arrays(path, arrays)?,
        ("safetensors", _) => safetensors::Writer::new().save(path, arrays)?,
        (other, _) => return Err(format!("'{other}' is none of npy, npz, safetensors").into()),
    }
    Ok(())
}
