//! Archives that are written.

use std::io::{self, Write};

use flate2::Crc;
use flate2::write::DeflateEncoder;

use super::zip::{
    CENTRAL, DEFLATED, END, END64, Entry, IN_FIELD64, LOCAL, LOCATOR64, STORED, UTF8,
};

/// Alignment of the content of stored members: at a cache line's beginning, as the elements behind
/// a header of NumPy's do.
const CONTENT_ALIGNMENT: u64 = 64;

/// Bytes of a local header up to its name.
const LOCAL_BYTES: u64 = 30;

/// The compression of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Stored,
    Deflated,
}

/// Writes an archive from its beginning to its end.
pub(crate) struct ArchiveWriter<W> {
    out: W,
    written: u64,
    packing: Packing,
    directory: Vec<u8>,
    count: u64,
}

impl<W: Write> ArchiveWriter<W> {
    pub(crate) fn new(out: W, packing: Packing) -> Self {
        ArchiveWriter { out, written: 0, packing, directory: Vec::new(), count: 0 }
    }

    /// Writes a member: a header, and the bytes that follow it.
    pub(crate) fn member(&mut self, name: &str, head: &[u8], body: &[u8]) -> io::Result<()> {
        let mut crc = Crc::new();
        crc.update(head);
        crc.update(body);
        let size_bytes = (head.len() + body.len()) as u64;
        let (method, packed) = match self.packing {
            Packing::Stored => (STORED, None),
            Packing::Deflated => {
                let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(head)?;
                encoder.write_all(body)?;
                (DEFLATED, Some(encoder.finish()?))
            }
        };
        let packed_bytes = packed.as_ref().map_or(size_bytes, |packed| packed.len() as u64);
        let flags = if name.is_ascii() { 0 } else { UTF8 };
        let (crc, local) = (crc.sum(), self.written);
        let entry = Entry { flags, method, crc, packed_bytes, size_bytes, local };
        self.put(&local_header(name, &entry))?;
        match packed {
            Some(packed) => self.put(&packed)?,
            None => {
                self.put(head)?;
                self.put(body)?;
            }
        }
        self.directory.extend(central_header(name, &entry));
        self.count += 1;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Writes the directory.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let (start, length) = (self.written, self.directory.len() as u64);
        let directory = std::mem::take(&mut self.directory);
        self.put(&directory)?;
        let end64 = self.written;
        if start >= u64::from(IN_FIELD64) {
            let mut record = Vec::new();
            record.extend(END64.to_le_bytes());
            record.extend(44_u64.to_le_bytes());
            // Made and to be read by version 4.5, on no other disk.
            record.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            for number in [self.count, self.count, length, start] {
                record.extend(number.to_le_bytes());
            }
            record.extend(LOCATOR64.to_le_bytes());
            record.extend(0_u32.to_le_bytes());
            record.extend(end64.to_le_bytes());
            record.extend(1_u32.to_le_bytes());
            self.put(&record)?;
        }
        let mut record = Vec::new();
        record.extend(END.to_le_bytes());
        record.extend([0; 4]);
        record.extend([(self.count as u16).to_le_bytes(); 2].as_flattened());
        record.extend((length as u32).to_le_bytes());
        record.extend(narrow(start).to_le_bytes());
        record.extend([0; 2]);
        self.put(&record)?;
        self.out.flush()
    }
}

/// A number as its 32 bits say it.
fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(IN_FIELD64)
}

/// The ZIP64 field of those numbers that 32 bits do not say.
fn field64(numbers: &[u64]) -> Vec<u8> {
    let wide: Vec<u8> = numbers
        .iter()
        .filter(|number| narrow(**number) == IN_FIELD64)
        .flat_map(|number| number.to_le_bytes())
        .collect();
    if wide.is_empty() {
        return wide;
    }
    [&1_u16.to_le_bytes()[..], &(wide.len() as u16).to_le_bytes(), &wide].concat()
}

/// The fields that local and central headers share, from the version needed to the lengths.
fn common_header(name: &str, entry: &Entry, sizes: [u64; 2], extra: &Extra) -> Vec<u8> {
    let mut header = Vec::new();
    header.extend(extra.version().to_le_bytes());
    header.extend(entry.flags.to_le_bytes());
    header.extend(entry.method.to_le_bytes());
    // The first of January 1980, at midnight: the same bytes whenever the same matrix is written.
    header.extend(0_u16.to_le_bytes());
    header.extend(0x21_u16.to_le_bytes());
    header.extend(entry.crc.to_le_bytes());
    for size in sizes {
        header.extend(narrow(size).to_le_bytes());
    }
    header.extend((name.len() as u16).to_le_bytes());
    header.extend((extra.field64.len() as u16 + extra.padding).to_le_bytes());
    header
}

/// The extra field behind a name in a header.
struct Extra {
    field64: Vec<u8>,
    /// Bytes of a field that readers skip.
    padding: u16,
}

impl Extra {
    /// The version of the format that reads it.
    fn version(&self) -> u16 {
        if self.field64.is_empty() { 20 } else { 45 }
    }

    /// The number of the field that Android's zipalign pads by: its readers know to skip it.
    const PADDING: u16 = 0xd935;

    /// Pads a local header, which ends at byte `end` without, so that the content begins at a
    /// multiple of 64: stored arrays can then be lent as they lie.
    fn pad_to_content(&mut self, end: u64) {
        const FIELD_BYTES: u64 = 6;
        if end % CONTENT_ALIGNMENT != 0 {
            let begin = (end + FIELD_BYTES).next_multiple_of(CONTENT_ALIGNMENT);
            self.padding = (begin - end) as u16;
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.field64.clone();
        if self.padding > 0 {
            bytes.extend(Self::PADDING.to_le_bytes());
            bytes.extend((self.padding - 4).to_le_bytes());
            bytes.extend((CONTENT_ALIGNMENT as u16).to_le_bytes());
            bytes.resize(self.field64.len() + usize::from(self.padding), 0);
        }
        bytes
    }
}

fn local_header(name: &str, entry: &Entry) -> Vec<u8> {
    let mut sizes = [entry.packed_bytes, entry.size_bytes];
    // Here the field has both sizes or none.
    if sizes.iter().any(|size| narrow(*size) == IN_FIELD64) {
        sizes = [u64::MAX; 2];
    }
    let field64 = match sizes {
        [u64::MAX, _] => {
            let sizes = [entry.size_bytes.to_le_bytes(), entry.packed_bytes.to_le_bytes()];
            [&[1, 0, 16, 0][..], sizes.as_flattened()].concat()
        }
        _ => Vec::new(),
    };
    let mut extra = Extra { field64, padding: 0 };
    if entry.method == STORED {
        extra.pad_to_content(entry.local + LOCAL_BYTES + (name.len() + extra.field64.len()) as u64);
    }
    let common = common_header(name, entry, sizes, &extra);
    [&LOCAL.to_le_bytes()[..], &common, name.as_bytes(), &extra.bytes()].concat()
}

fn central_header(name: &str, entry: &Entry) -> Vec<u8> {
    let sizes = [entry.packed_bytes, entry.size_bytes];
    let field64 = field64(&[entry.size_bytes, entry.packed_bytes, entry.local]);
    let extra = Extra { field64, padding: 0 };
    let mut header = CENTRAL.to_le_bytes().to_vec();
    header.extend(45_u16.to_le_bytes());
    header.extend(common_header(name, entry, sizes, &extra));
    // No comment, the first disk, no attributes.
    header.extend([0; 10]);
    header.extend(narrow(entry.local).to_le_bytes());
    [&header, name.as_bytes(), &extra.bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::npz::zip::{Archive, Fields, directory_of, find_end, next_entry};

    #[test]
    fn sizes_beyond_32_bits_stand_in_the_field_for_them() {
        for [size_bytes, packed_bytes, local] in [
            [1, 2, 3],
            [1 << 33, 2, 3],
            [1, 1 << 33, 3],
            [1, 2, 1 << 33],
            [u64::from(u32::MAX), u64::from(u32::MAX) - 1, u64::MAX],
        ] {
            let entry = Entry { flags: 0, method: 0, crc: 7, packed_bytes, size_bytes, local };
            let header = central_header("a.npy", &entry);
            let mut fields = Fields(&header);
            let (name, found) = next_entry(&mut fields).unwrap();
            assert_eq!((name, fields.0.len(), found.crc), (&b"a.npy"[..], 0, 7));
            assert_eq!(
                [found.size_bytes, found.packed_bytes, found.local],
                [size_bytes, packed_bytes, local]
            );
        }
    }

    #[test]
    fn a_directory_beyond_32_bits_is_found_through_its_record() {
        // Pretends that 2^32 bytes have been written; the member begins at byte 0 of `out`.
        let mut out = Vec::new();
        let mut writer = ArchiveWriter::new(&mut out, Packing::Stored);
        writer.written = 1 << 32;
        writer.member("a.npy", b"head", b"body").unwrap();
        let member_bytes = writer.written - (1 << 32);
        writer.finish().unwrap();
        let end = find_end(&out).unwrap();
        let record = out.windows(4).position(|bytes| bytes == END64.to_le_bytes()).unwrap();
        let found = directory_of(&out, end).unwrap();
        assert_eq!((found.count, found.start), (1, (1 << 32) + member_bytes));
        assert_eq!((found.length, found.end), (record as u64 - member_bytes, record));
        // The directory lies beyond the bytes that there are: a message.
        let error = Archive::new(&out).err().unwrap();
        assert!(error.message().contains("does not end before"), "{error}");
    }
}
