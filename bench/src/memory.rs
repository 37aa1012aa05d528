//! The memory that an operation takes in addition to its inputs and results.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{proc_bytes, resident_bytes};

/// Microseconds, and bytes.
pub type Curve = Vec<(u64, u64)>;

/// Memory that one operation took, measured once.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    /// The operation.
    pub operation: String,
    /// Who does it.
    pub library: String,
    /// Bytes that go in, which were resident before.
    pub input: u64,
    /// Bytes that come out.
    pub output: u64,
    /// By how many bytes the process grew, at most.
    pub peak: u64,
    /// Time since the start, and the growth until then; empty where it was not followed.
    pub curve: Curve,
}

impl Growth {
    /// Bytes beyond the result.
    pub fn above(&self) -> i64 {
        self.peak as i64 - self.output as i64
    }

    fn to_json(&self) -> Value {
        json!({
            "operation": self.operation, "library": self.library, "input": self.input,
            "output": self.output, "peak": self.peak, "curve": self.curve,
        })
    }

    fn from_json(json: &Value) -> Option<Growth> {
        let text = |name: &str| Some(json[name].as_str()?.to_owned());
        let point = |point: &Value| Some((point[0].as_u64()?, point[1].as_u64()?));
        Some(Growth {
            operation: text("operation")?,
            library: text("library")?,
            input: json["input"].as_u64()?,
            output: json["output"].as_u64()?,
            peak: json["peak"].as_u64()?,
            curve: json["curve"].as_array()?.iter().map(point).collect::<Option<_>>()?,
        })
    }
}

/// Writes `NAME.json` into `folder`.
pub fn write(folder: &Path, name: &str, rows: &[Growth]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let rows: Vec<Value> = rows.iter().map(Growth::to_json).collect();
    fs::write(folder.join(name).with_extension("json"), format!("{:#}\n", json!(rows)))
}

/// Reads the records of `write`, or of `sparse_peers.py` in the same form; empty without a file.
pub fn read(folder: &Path, name: &str) -> Vec<Growth> {
    let text = fs::read_to_string(folder.join(name).with_extension("json")).unwrap_or_default();
    let json: Value = serde_json::from_str(&text).unwrap_or_default();
    json.as_array().into_iter().flatten().filter_map(Growth::from_json).collect()
}

/// Does `work` once, and returns its result and the largest growth of the process meanwhile; `None`
/// where the system does not tell.
pub fn peak_of<R>(work: impl FnOnce() -> R) -> Option<(R, u64)> {
    crate::give_back_memory();
    // "To reset the peak resident set size to the process's current value": proc(5).
    fs::write("/proc/self/clear_refs", "5").ok()?;
    let before = resident_bytes();
    let made = work();
    let peak = proc_bytes("/proc/self/status", "VmHWM:")?;
    Some((made, peak.saturating_sub(before)))
}

/// Like `peak_of`, with the growth over time, sampled every half millisecond.
pub fn curve_of<R>(work: impl FnOnce() -> R) -> Option<(R, u64, Curve)> {
    let pages = File::open("/proc/self/statm").ok()?;
    let is_over = AtomicBool::new(false);
    let resident = || {
        let mut text = [0; 128];
        let count = pages.read_at(&mut text, 0).unwrap_or(0);
        let text = String::from_utf8_lossy(&text[..count]);
        let pages: Option<u64> = text.split(' ').nth(1).and_then(|number| number.parse().ok());
        pages.unwrap_or(0) * 4096
    };
    thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let (start, before) = (Instant::now(), resident());
            let mut curve = Vec::new();
            while !is_over.load(Ordering::Acquire) {
                let growth = resident().saturating_sub(before);
                curve.push((start.elapsed().as_micros() as u64, growth));
                thread::sleep(Duration::from_micros(500));
            }
            curve
        });
        let made = peak_of(work);
        is_over.store(true, Ordering::Release);
        let curve = watch.join().expect("it does not panic");
        made.map(|(made, peak)| (made, peak, curve))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_what_was_written_to() {
        let Some((made, peak, curve)) = curve_of(|| vec![1_u8; 64 << 20]) else { return };
        assert_eq!(made.len(), 64 << 20);
        let growth = Growth {
            operation: "fill".to_owned(),
            library: "tenure".to_owned(),
            input: 0,
            output: 64 << 20,
            peak,
            curve,
        };
        // Other tests of this process may take some, too.
        assert!(growth.above().abs() < 64 << 20, "{growth:?}");
        assert!(growth.peak > 48 << 20, "{growth:?}");
        let folder = std::env::temp_dir().join(format!("tenure-memory-{}", std::process::id()));
        write(&folder, "memory", std::slice::from_ref(&growth)).expect("it can be written");
        assert_eq!(read(&folder, "memory"), [growth]);
        fs::remove_dir_all(&folder).expect("made above");
    }
}
