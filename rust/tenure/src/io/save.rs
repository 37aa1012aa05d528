//! Writing a file as a whole.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::Result;

/// Writes a new file in the folder of `path`, and renames it to `path` when it is complete. A
/// process that has mapped the old file keeps it, and no reader sees half of the new one. Errors
/// name the file.
pub(crate) fn save(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<()>,
) -> Result<()> {
    let neighbour = neighbour_of(path);
    let saved = replace(path, &neighbour, write);
    if saved.is_err() {
        // It may not be there, and the error that matters is the first.
        let _ = fs::remove_file(&neighbour);
    }
    saved.map_err(|error| error.in_file(path))
}

/// A path that no other call has.
fn neighbour_of(path: &Path) -> OsString {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    // Relaxed: the numbers must differ, and nothing else matters.
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut neighbour = path.as_os_str().to_owned();
    neighbour.push(format!(".{}.{number}", std::process::id()));
    neighbour
}

fn replace(
    path: &Path,
    neighbour: &OsString,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<()>,
) -> Result<()> {
    let mut out = BufWriter::new(File::create_new(neighbour)?);
    write(&mut out)?;
    out.flush()?;
    Ok(fs::rename(neighbour, path)?)
}
