//! The text of this repository.

use std::path::Path;
use std::{fs, io};

use tenure::random::Generator;
use tenure::{Result, Tensor};

/// Every 10th file is held out.
const HELD_OUT: usize = 10;
/// The most windows of the text held out whose loss is measured.
const MOST_WINDOWS: usize = 512;
/// Windows in a run.
const ROWS: usize = 32;

/// Bytes to learn, and bytes that are held out, of different files.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// To learn.
    pub learned: Vec<u8>,
    /// Held out.
    pub held_out: Vec<u8>,
}

impl Text {
    /// The pages in Markdown and the documentation comments of the crate `tenure`.
    ///
    /// # Errors
    ///
    /// Errors of reading files.
    pub fn of_repository() -> io::Result<Text> {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let mut files = Vec::new();
        for name in ["README.md", "CONTRIBUTING.md", "docs", "rust/tenure/src"] {
            add_texts(&root.join(name), &mut files)?;
        }
        let mut text = Text::default();
        for (number, file) in files.iter().enumerate() {
            let held_out = number % HELD_OUT == HELD_OUT - 1;
            let part = if held_out { &mut text.held_out } else { &mut text.learned };
            part.extend_from_slice(file.as_bytes());
        }
        Ok(text)
    }

    /// Windows of the bytes to learn, `[count, length]`, from random places.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a text that is not longer than a window.
    pub fn learned_windows(
        &self,
        count: usize,
        length: usize,
        generator: &mut Generator,
    ) -> Result<Tensor<u8>> {
        let last = self.learned.len().saturating_sub(length) as i64;
        let starts = generator.integers::<i64>(0..last, count)?.to_vec();
        let byte = |[row, at]: [usize; 2]| self.learned[starts[row] as usize + at];
        Tensor::from_fn([count, length], byte)
    }

    /// Windows of the bytes that are held out, one after the other, `[count, length]` at a time.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    pub fn held_out_windows(&self, length: usize) -> Result<Vec<Tensor<u8>>> {
        let windows: Vec<&[u8]> = self.held_out.chunks_exact(length).take(MOST_WINDOWS).collect();
        let tensor = |rows: &[&[u8]]| Tensor::copy_from_slice(&rows.concat(), [rows.len(), length]);
        windows.chunks(ROWS).map(tensor).collect()
    }

    /// The cross entropy of single bytes: the mean bits of a byte that is held out, by how often it
    /// is among those to learn.
    pub fn bits_of_single_bytes(&self) -> f64 {
        // One more of each, so that none is impossible.
        let mut counts = [1.0_f64; 256];
        self.learned.iter().for_each(|byte| counts[usize::from(*byte)] += 1.0);
        let all: f64 = counts.iter().sum();
        let bits = self.held_out.iter().map(|byte| (all / counts[usize::from(*byte)]).log2());
        bits.sum::<f64>() / self.held_out.len() as f64
    }
}

/// Adds the texts of a file, or of the files in a folder by their names.
fn add_texts(path: &Path, texts: &mut Vec<String>) -> io::Result<()> {
    if path.is_dir() {
        let mut entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(|entry| entry.file_name());
        return entries.iter().try_for_each(|entry| add_texts(&entry.path(), texts));
    }
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("md") => texts.push(fs::read_to_string(path)?),
        Some("rs") => texts.push(comments(&fs::read_to_string(path)?)),
        _ => {}
    }
    Ok(())
}

/// The documentation comments of a source in Rust.
fn comments(source: &str) -> String {
    let text = |line: &str| {
        let line = line.trim_start();
        let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
        Some(format!("{}\n", text.strip_prefix(' ').unwrap_or(text)))
    };
    source.lines().filter_map(text).collect()
}
