//! A folder with a model.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memmap2::Mmap;
use tenure::io::safetensors;
use tenure_encoder::{Bert, Tokens, TooLong, heads};

use crate::{Result, in_file};

/// A model whose weights are the memory of their file.
pub struct Model {
    pub bert: Bert,
    /// The file of the weights.
    pub weights: PathBuf,
    pub tokens: Tokens,
    /// From the file opened to views of its tensors.
    pub opening: Duration,
    pub reading_tokens: Duration,
}

impl Model {
    pub fn open(folder: &Path, too_long: TooLong) -> Result<Self> {
        let [weights, tokens, config] =
            ["model.safetensors", "tokenizer.json", "config.json"].map(|name| folder.join(name));
        let text = fs::read_to_string(&config).map_err(in_file(&config))?;
        let heads = heads(&text).map_err(in_file(&config))?;

        let start = Instant::now();
        let file = File::open(&weights).map_err(in_file(&weights))?;
        let map = map(&file).map_err(in_file(&weights))?;
        let shared = safetensors::Shared::new(map).map_err(in_file(&weights))?;
        let bert = Bert::new(&shared, heads).map_err(in_file(&weights))?;
        let opening = start.elapsed();

        let start = Instant::now();
        let tokens = Tokens::read(&tokens, &bert, too_long).map_err(in_file(&tokens))?;
        Ok(Self { bert, weights, tokens, opening, reading_tokens: start.elapsed() })
    }
}

/// The bytes of a file of the model.
pub fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: no process writes or shortens the file while this runs, as the README requires; a
    // file that replaces it under its name is another file, and changes nothing here.
    unsafe { Mmap::map(file) }
}

/// The page faults of this process so far: those that found their page in memory, and those that
/// waited for the disk. Linux counts them in fields 10 and 12; the second field ends at a ')'.
pub fn faults() -> Option<[u64; 2]> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let after_name: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some([after_name.get(7)?.parse().ok()?, after_name.get(9)?.parse().ok()?])
}
