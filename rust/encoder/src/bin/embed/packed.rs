//! Packed weights, in a separate file next to the model's, which later runs map.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use tenure::{Passes, SharedTensor};
use tenure_encoder::Embedding;

use crate::model::{Model, map};
use crate::{Arguments, Result, in_file};

/// The file begins with the stamp of the weights that were packed. The packed weights come after
/// it, as aligned as the library needs them.
const STAMP: usize = 64;

/// A program whose weights are packed: as the file has them, if it is of these weights and for this
/// processor, else anew, and then into that file. Also a message for the user, which says which.
pub fn program(arguments: &Arguments, model: &Model) -> Result<(Embedding, String)> {
    let (bert, weights) = (&model.bert, &model.weights);
    let name = match arguments {
        Arguments { int8: true, .. } => "packed.int8",
        Arguments { int4: true, .. } => "packed.int4",
        Arguments { bf16: true, .. } => "packed.bf16",
        _ => "packed.f32",
    };
    let program_of = |packed: SharedTensor<u8>| match arguments {
        Arguments { int8: true, .. } => bert.quantized_program_packed(&packed),
        Arguments { int4: true, .. } => bert.four_bit_program_packed(&packed),
        _ => bert.program_packed(&packed),
    };
    let path = weights.with_file_name(name);
    let stamp = stamp(weights, name).map_err(in_file(weights))?;
    let refused = match lent(&path, &stamp).and_then(|packed| Ok(program_of(packed)?)) {
        Ok(program) => return Ok((program, format!("mapped from {}", path.display()))),
        Err(refused) => refused,
    };
    let program = arguments.program(bert, Passes::DEFAULT.with(Passes::PACKING))?;
    let kept = match keep(&path, &stamp, &program) {
        Ok(()) => format!("kept in {}", path.display()),
        Err(error) => format!("not kept: {}: {error}", path.display()),
    };
    Ok((program, format!("packed now ({refused}), {kept}")))
}

/// The size of the weights and when they were last written: others have another stamp.
fn stamp(weights: &Path, name: &str) -> io::Result<[u8; STAMP]> {
    let about = fs::metadata(weights)?;
    let written = about.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut text = format!("{name} {} {}", about.len(), written.as_nanos()).into_bytes();
    text.resize(STAMP, 0);
    Ok(text.try_into().expect("so many bytes"))
}

fn lent(path: &Path, stamp: &[u8; STAMP]) -> Result<SharedTensor<u8>> {
    let file = File::open(path)?;
    let map = map(&file)?;
    if map.get(..STAMP) != Some(stamp) {
        return Err("they are of other weights".into());
    }
    let count = map.len() - STAMP;
    Ok(SharedTensor::from_bytes(map, STAMP, count)?)
}

/// Under its name when it is whole: another run may be looking for it.
fn keep(path: &Path, stamp: &[u8; STAMP], program: &Embedding) -> Result<()> {
    let new = PathBuf::from(format!("{}.{}", path.display(), std::process::id()));
    let packed = program.packed()?;
    let write = || {
        let mut file = File::create(&new)?;
        file.write_all(stamp)?;
        file.write_all(packed.as_slice().expect("a new tensor is row-major"))?;
        fs::rename(&new, path)
    };
    write().inspect_err(|_| drop(fs::remove_file(&new)))?;
    Ok(())
}
