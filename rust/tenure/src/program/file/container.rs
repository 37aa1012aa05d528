//! The container: a header that says where the graph and the constants are.
//!
//! | bytes | |
//! | --- | --- |
//! | 0 to 7 | `89 54 4e 52 50 47 0d 0a`: "TNRPG" between bytes that a transfer as text changes |
//! | 8 to 11 | the version: 4 of a graph that names inputs or outputs, 3 of others whose subgraphs call custom operations, 2 of others with subgraphs, 1 of all others |
//! | 12 to 15 | bytes of the header, 64 |
//! | 16 to 23, 24 to 31 | the graph: where it begins, and its bytes |
//! | 32 to 39, 40 to 47 | the constants: where they begin, a multiple of 4096, and their bytes |
//! | 48 to 63 | 0 |
//!
//! Numbers are little-endian. The file ends where the constants do; without any, both of their
//! numbers are 0 and it ends where the graph does.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};

/// The newest version. A file has the oldest that says all of it.
pub(super) const VERSION: u32 = 4;

/// A cache line: room for what later versions have to say.
pub(super) const HEADER_BYTES: usize = 64;

/// A page, so that a map of the file has the constants on pages of their own.
pub(super) const SECTION_ALIGNMENT: u64 = 4096;

/// Most bytes of a graph. The largest one that the ABI allows has 65,536 values, which take some
/// 50 bytes each. It bounds the memory that a file can make a reader take: messages in memory have
/// at most 16 times the bytes that they have in the file.
pub(super) const MOST_GRAPH_BYTES: u64 = 16 << 20;

const MAGIC: [u8; 8] = *b"\x89TNRPG\r\n";

/// Where the parts of a file are.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sections {
    pub(super) version: u32,
    pub(super) graph: Range<usize>,
    pub(super) constants: Range<usize>,
}

impl Sections {
    /// For parts of these sizes.
    pub(super) fn of(version: u32, graph_bytes: u64, constants_bytes: u64) -> Result<Sections> {
        if graph_bytes > MOST_GRAPH_BYTES {
            return Err(Error::invalid(format!(
                "the graph has {graph_bytes} bytes but may have at most {MOST_GRAPH_BYTES}"
            )));
        }
        let graph_end = HEADER_BYTES as u64 + graph_bytes;
        let begin = match constants_bytes {
            0 => 0,
            _ => graph_end.next_multiple_of(SECTION_ALIGNMENT),
        };
        let end = begin.checked_add(constants_bytes).filter(|end| *end <= isize::MAX as u64);
        let end = end.ok_or_else(|| {
            Error::invalid(format!("the constants have {constants_bytes} bytes, more than a file"))
        })?;
        Ok(Sections {
            version,
            graph: HEADER_BYTES..graph_end as usize,
            constants: begin as usize..end as usize,
        })
    }

    pub(super) fn header(&self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        let numbers =
            [self.graph.start, self.graph.len(), self.constants.start, self.constants.len()];
        header[..8].copy_from_slice(&MAGIC);
        header[8..12].copy_from_slice(&self.version.to_le_bytes());
        header[12..16].copy_from_slice(&(HEADER_BYTES as u32).to_le_bytes());
        for (place, number) in header[16..48].chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&(number as u64).to_le_bytes());
        }
        header
    }

    /// Reads the sections of a file.
    pub(super) fn read(bytes: &[u8]) -> Result<Sections> {
        let there = bytes.len() as u64;
        let Some(header) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Err(Error::invalid(format!(
                "the file has {there} bytes but begins with a header of {HEADER_BYTES}"
            )));
        };
        if header[..8] != MAGIC {
            return Err(Error::invalid("the file is no program: its first 8 bytes are others"));
        }
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| header[at + byte]));
        let number = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << u32::BITS;
        let version = word(8);
        if !(1..=VERSION).contains(&version) {
            let why = match version {
                0 => "which is none",
                _ => "which a newer library has written",
            };
            let why =
                format!("the file has version {version}, {why}; this one reads 1 to {VERSION}");
            return Err(Error::new(ErrorKind::Unsupported, why));
        }
        if word(12) != HEADER_BYTES as u32 {
            return Err(Error::invalid(format!(
                "the header says that it has {} bytes but version {version} has {HEADER_BYTES}",
                word(12)
            )));
        }
        if let Some(at) = header.iter().skip(48).position(|byte| *byte != 0) {
            return Err(Error::invalid(format!("byte {} of the header is not 0", 48 + at)));
        }
        // Both parts are where a writer of this version puts them: other positions would have to be
        // tested, and have no use.
        let sections = Sections::of(version, number(24), number(40))?;
        for (name, at, expected) in [
            ("graph", 16, sections.graph.start),
            ("section of constants", 32, sections.constants.start),
        ] {
            if number(at) != expected as u64 {
                let begin = number(at);
                return Err(Error::invalid(format!(
                    "the {name} begins at byte {begin} but must at {expected}"
                )));
            }
        }
        let end = sections.graph.end.max(sections.constants.end) as u64;
        if end != there {
            return Err(Error::invalid(format!(
                "the header says that the file ends at byte {end} but it has {there} bytes"
            )));
        }
        Ok(sections)
    }
}
