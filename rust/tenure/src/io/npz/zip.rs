//! Archives that are read: their contents, and members as NumPy writes them, stored or deflated.

use std::io::Read;

use flate2::Crc;
use flate2::read::DeflateDecoder;

use crate::error::{Error, ErrorKind, Result};
use crate::io::npy::MAGIC;

pub(crate) const LOCAL: u32 = 0x0403_4b50;
pub(crate) const CENTRAL: u32 = 0x0201_4b50;
pub(crate) const END: u32 = 0x0605_4b50;
pub(crate) const END64: u32 = 0x0606_4b50;
pub(crate) const LOCATOR64: u32 = 0x0706_4b50;
/// Marks a 32-bit size whose number is in the ZIP64 field.
pub(crate) const IN_FIELD64: u32 = u32::MAX;

pub(crate) const STORED: u16 = 0;
pub(crate) const DEFLATED: u16 = 8;

/// Flags: the content is encrypted, the name is UTF-8.
pub(crate) const ENCRYPTED: u16 = 1;
pub(crate) const UTF8: u16 = 1 << 11;

/// One byte of deflated data stands for at most 1032: a match of 258 takes two bits.
const MOST_INFLATED: u64 = 1032;

/// An archive, as its directory describes it.
#[derive(Clone, Copy)]
pub(crate) struct Archive<'a> {
    /// From the first byte of the archive on: offsets count from there.
    bytes: &'a [u8],
    /// The entries.
    directory: &'a [u8],
    count: u64,
}

/// The directory of an archive, as its end record states it.
#[derive(Clone, Copy)]
pub(crate) struct Directory {
    pub(crate) count: u64,
    pub(crate) start: u64,
    pub(crate) length: u64,
    /// Offset of the record that follows the directory.
    pub(crate) end: usize,
}

/// A member, as the directory describes it.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) crc: u32,
    pub(crate) packed_bytes: u64,
    pub(crate) size_bytes: u64,
    /// Offset of its own header.
    pub(crate) local: u64,
}

/// The content of a member, unpacked as it is read.
pub(crate) struct Member<'a> {
    name: String,
    content: Content<'a>,
    crc: Crc,
    wanted_crc: u32,
    /// Bytes that have not been read.
    left: u64,
}

enum Content<'a> {
    Stored(&'a [u8]),
    Deflated(Box<DeflateDecoder<&'a [u8]>>),
}

/// Little-endian numbers, one after the other; `None` at the end of the bytes.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    fn at(bytes: &'a [u8], offset: u64) -> Option<Fields<'a>> {
        bytes.get(usize::try_from(offset).ok()?..).map(Fields)
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }
}

#[cold]
fn no_archive(why: &str) -> Error {
    Error::invalid(format!("no .npz file: {why}"))
}

impl<'a> Archive<'a> {
    /// Finds the directory.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self> {
        let end = find_end(bytes).ok_or_else(|| no_archive("it has no end of a directory"))?;
        let found = directory_of(bytes, end).ok_or_else(|| {
            no_archive(&format!("there is no ZIP64 record for the end of its directory at {end}"))
        })?;
        let bytes = &bytes[before(bytes, found)..];
        let Directory { count, start, length, end } = found;
        let directory = start
            .checked_add(length)
            .filter(|directory_end| *directory_end <= end as u64)
            .and_then(|directory_end| bytes.get(start as usize..directory_end as usize))
            .ok_or_else(|| {
                no_archive(&format!(
                    "its directory of {length} bytes at {start} does not end before {end}"
                ))
            })?;
        Ok(Archive { bytes, directory, count })
    }

    /// The member of this name, if there is one; the last of several, as Python's `zipfile` has it.
    pub(crate) fn member(&self, name: &str) -> Result<Option<Member<'a>>> {
        let entries = self.entries()?;
        let found = entries.iter().rev().find(|(found, _)| *found == name.as_bytes());
        found.map(|(_, entry)| self.open(name, *entry)).transpose()
    }

    /// All members by name, in the order of the directory.
    pub(crate) fn entries(&self) -> Result<Vec<(&'a [u8], Entry)>> {
        let mut fields = Fields(self.directory);
        let mut entries = Vec::new();
        // The archive states the count; the directory ends where its bytes do.
        for done in 0..self.count {
            let at = self.directory.len() - fields.0.len();
            entries.push(next_entry(&mut fields).ok_or_else(|| {
                no_archive(&format!(
                    "its directory states {} entries but has no whole one at byte {at} of {}, \
                     after {done}",
                    self.count,
                    self.directory.len()
                ))
            })?);
        }
        Ok(entries)
    }

    /// Whether a member begins as an array.
    pub(crate) fn is_array(&self, name: &str, entry: Entry) -> bool {
        let mut magic = [0; MAGIC.len()];
        let read = self.open(name, entry).and_then(|mut member| member.read(&mut magic));
        read.is_ok() && magic == *MAGIC
    }

    /// The member that an entry of this archive describes.
    pub(crate) fn open(&self, name: &str, entry: Entry) -> Result<Member<'a>> {
        if entry.flags & ENCRYPTED != 0 {
            return Err(Error::new(ErrorKind::Unsupported, format!("{name} is encrypted")));
        }
        let packed = self.packed(entry).ok_or_else(|| {
            Error::invalid(format!(
                "{name} has {} bytes at {} but the archive has {}",
                entry.packed_bytes,
                entry.local,
                self.bytes.len()
            ))
        })?;
        let (content, most) = match entry.method {
            STORED => (Content::Stored(packed), entry.packed_bytes),
            DEFLATED => {
                let most = entry.packed_bytes.saturating_mul(MOST_INFLATED);
                (Content::Deflated(Box::new(DeflateDecoder::new(packed))), most)
            }
            other => {
                let message = format!("{name} is packed by method {other}, not 0 or 8");
                return Err(Error::new(ErrorKind::Unsupported, message));
            }
        };
        if entry.size_bytes > most {
            return Err(Error::invalid(format!(
                "{name} has {} bytes by the directory but at most {most} by its packed bytes",
                entry.size_bytes
            )));
        }
        let (name, left) = (name.to_owned(), entry.size_bytes);
        Ok(Member { name, content, crc: Crc::new(), wanted_crc: entry.crc, left })
    }

    /// The bytes of a member behind its own header.
    fn packed(&self, entry: Entry) -> Option<&'a [u8]> {
        let mut fields = Fields::at(self.bytes, entry.local)?;
        (fields.u32()? == LOCAL).then_some(())?;
        fields.take(22)?;
        let (name_bytes, extra_bytes) = (fields.u16()?, fields.u16()?);
        fields.take(usize::from(name_bytes))?;
        fields.take(usize::from(extra_bytes))?;
        fields.take(usize::try_from(entry.packed_bytes).ok()?)
    }
}

/// Offset of the record that ends an archive: at most 65,535 bytes follow it. They are its comment;
/// of an archive with other bytes behind it, the last record whose comment is within the file.
pub(crate) fn find_end(bytes: &[u8]) -> Option<usize> {
    const END_BYTES: usize = 22;
    let last = bytes.len().checked_sub(END_BYTES)?;
    let comment = |end: &usize| usize::from(u16::from_le_bytes([bytes[end + 20], bytes[end + 21]]));
    let mut ends = (last.saturating_sub(usize::from(u16::MAX))..=last)
        .rev()
        .filter(|end| bytes[*end..].starts_with(&END.to_le_bytes()));
    let whole = ends.clone().find(|end| comment(end) == last - end);
    whole.or_else(|| ends.find(|end| comment(end) <= last - end))
}

/// The directory that the end record at `end` states; `None` where a ZIP64 record is missing.
pub(crate) fn directory_of(bytes: &[u8], end: usize) -> Option<Directory> {
    const LOCATOR_BYTES: usize = 20;
    const END64_BYTES: usize = 56;
    let mut fields = Fields(&bytes[end + 10..]);
    let count = u64::from(fields.u16()?);
    let (length, start) = (fields.u32()?, fields.u32()?);
    // The ZIP64 record is found through a locator in front of this one.
    let locator_at = end.saturating_sub(LOCATOR_BYTES);
    let mut locator = Fields(&bytes[locator_at..end]);
    if locator.u32() != Some(LOCATOR64) {
        return Some(Directory { count, start: start.into(), length: length.into(), end });
    }
    locator.u32()?;
    let stated = locator.u64()?;
    // In front of the locator, unless the record is longer: bytes before the archive move both.
    let end64 = [locator_at.checked_sub(END64_BYTES), usize::try_from(stated).ok()]
        .into_iter()
        .flatten()
        .find(|at| bytes.get(*at..).is_some_and(|rest| rest.starts_with(&END64.to_le_bytes())))?;
    let mut record = Fields(&bytes[end64..]);
    record.take(32)?;
    let (count, length, start) = (record.u64()?, record.u64()?, record.u64()?);
    Some(Directory { count, start, length, end: end64 })
}

/// Bytes before the archive, of a program that unpacks it for example: a directory is in front of
/// its end, and this far behind the offset that is stated.
fn before(bytes: &[u8], directory: Directory) -> usize {
    let Directory { start, length, end, .. } = directory;
    let found = usize::try_from(length).ok().and_then(|length| end.checked_sub(length));
    let found = found.filter(|at| bytes[*at..].starts_with(&CENTRAL.to_le_bytes()));
    let before = found.and_then(|at| at.checked_sub(usize::try_from(start).ok()?));
    before.unwrap_or_default()
}

/// The next line of the directory: a name, and the member.
pub(crate) fn next_entry<'a>(fields: &mut Fields<'a>) -> Option<(&'a [u8], Entry)> {
    (fields.u32()? == CENTRAL).then_some(())?;
    fields.take(4)?;
    let (flags, method) = (fields.u16()?, fields.u16()?);
    fields.take(4)?;
    let (crc, packed, size) = (fields.u32()?, fields.u32()?, fields.u32()?);
    let (name_bytes, extra_bytes, comment_bytes) = (fields.u16()?, fields.u16()?, fields.u16()?);
    fields.take(8)?;
    let local = fields.u32()?;
    let name = fields.take(usize::from(name_bytes))?;
    let extra = fields.take(usize::from(extra_bytes))?;
    fields.take(usize::from(comment_bytes))?;
    let [size_bytes, packed_bytes, local] = wide([size, packed, local], extra)?;
    Some((name, Entry { flags, method, crc, packed_bytes, size_bytes, local }))
}

/// Sizes and offset with what the ZIP64 field says in their place: it has those that are in need of
/// it, in this order.
fn wide(narrow: [u32; 3], extra: &[u8]) -> Option<[u64; 3]> {
    let mut extra = Fields(extra);
    let mut field64 = Fields(&[]);
    while let (Some(kind), Some(length)) = (extra.u16(), extra.u16()) {
        let field = extra.take(usize::from(length))?;
        if kind == 1 {
            field64 = Fields(field);
        }
    }
    let mut numbers = narrow.map(u64::from);
    for number in numbers.iter_mut().filter(|number| **number == u64::from(IN_FIELD64)) {
        *number = field64.u64()?;
    }
    Some(numbers)
}

impl<'a> Member<'a> {
    /// All of its content, where that is not packed.
    pub(crate) fn stored(&self) -> Option<&'a [u8]> {
        match self.content {
            Content::Stored(content) => Some(content),
            Content::Deflated(_) => None,
        }
    }

    /// Its name in the archive.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Bytes that have not been read.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Fills `bytes`.
    pub(crate) fn read(&mut self, bytes: &mut [u8]) -> Result<()> {
        let count = bytes.len() as u64;
        if count > self.left {
            return Err(Error::invalid(format!(
                "{} ends {} bytes too early",
                self.name,
                count - self.left
            )));
        }
        let read = match &mut self.content {
            Content::Stored(rest) => rest.read_exact(bytes),
            Content::Deflated(decoder) => decoder.read_exact(bytes),
        };
        read.map_err(|why| self.damaged(&why.to_string()))?;
        self.crc.update(bytes);
        self.left -= count;
        Ok(())
    }

    /// That all was read, and is as it was written.
    pub(crate) fn finish(mut self) -> Result<()> {
        if self.left > 0 {
            let message = format!("{} goes on for {} bytes after its end", self.name, self.left);
            return Err(Error::invalid(message));
        }
        let more = match &mut self.content {
            Content::Stored(rest) => Ok(rest.len()),
            Content::Deflated(decoder) => decoder.read(&mut [0]),
        };
        match more {
            Ok(0) => {}
            Ok(_) => return Err(self.damaged("more bytes than the directory says")),
            Err(why) => return Err(self.damaged(&why.to_string())),
        }
        let (found, wanted) = (self.crc.sum(), self.wanted_crc);
        if found != wanted {
            return Err(self.damaged(&format!("checksum {found:08x} but {wanted:08x} is stated")));
        }
        Ok(())
    }

    #[cold]
    fn damaged(&self, why: &str) -> Error {
        Error::invalid(format!("{} is damaged: {why}", self.name))
    }
}
