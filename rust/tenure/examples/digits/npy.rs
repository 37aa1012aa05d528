//! Reads `.npy` files: the header with `npyz`, the payload straight into a `Vec` of its own type,
//! so that it is aligned and nothing moves it again.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use bytemuck::Pod;
use half::f16;
use npyz::{DType, Endianness, NpyHeader, TypeChar, TypeStr};
use tenure::Order;

/// An array as its file holds it.
pub struct Npy {
    /// The extent of each axis.
    pub shape: Vec<usize>,
    /// In which order the payload runs through the shape.
    pub order: Order,
    /// The elements.
    pub payload: Payload,
}

/// Elements of one of the dtypes that this program computes on.
#[allow(missing_docs, reason = "each variant is named after its dtype")]
pub enum Payload {
    F64(Vec<f64>),
    F32(Vec<f32>),
    F16(Vec<f16>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    /// Truth values, as the bytes that they are.
    Bool(Vec<u8>),
}

/// Why a file cannot be read: one line, with the value and the bound.
#[derive(Debug)]
pub struct NpyError(String);

impl fmt::Display for NpyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NpyError {}

impl From<io::Error> for NpyError {
    fn from(error: io::Error) -> Self {
        NpyError(error.to_string())
    }
}

type Result<T> = std::result::Result<T, NpyError>;

fn refuse<T>(message: impl Into<String>) -> Result<T> {
    Err(NpyError(message.into()))
}

/// Reads the file at `path`.
pub fn read(path: &Path) -> Result<Npy> {
    let mut file = File::open(path)?;
    let file_bytes = file.metadata()?.len();
    let header_bytes = read_header_bytes(&mut file, file_bytes)?;
    check_extents(&header_bytes)?;
    let header = NpyHeader::from_reader(&header_bytes[..])?;
    let dtype = element_type(&header)?;

    let size = dtype.num_bytes().unwrap_or(0) as u64;
    let declared = header.len().checked_mul(size).ok_or_else(|| too_large(&header))?;
    let stored = file_bytes - header_bytes.len() as u64;
    if declared != stored {
        let shape = header.shape();
        return refuse(format!(
            "shape {shape:?} of '{dtype}' takes {declared} bytes but the file holds {stored}"
        ));
    }
    Ok(Npy {
        shape: header.shape().iter().map(|extent| *extent as usize).collect(),
        order: match header.order() {
            npyz::Order::C => Order::RowMajor,
            npyz::Order::Fortran => Order::ColumnMajor,
        },
        payload: read_payload(&mut file, &dtype, header.len() as usize)?,
    })
}

/// Everything before the payload, bounded by the file's size before any memory is taken.
fn read_header_bytes(file: &mut File, file_bytes: u64) -> Result<Vec<u8>> {
    let mut bytes = vec![0; 12];
    if file_bytes < bytes.len() as u64 {
        return refuse(format!("no .npy file: it has {file_bytes} bytes, a header at least 12"));
    }
    file.read_exact(&mut bytes)?;
    // Version 1 gives the length of the text in two bytes, later ones in four.
    let (prefix, text) = match bytes[6] {
        1 => (10, u64::from(u16::from_le_bytes([bytes[8], bytes[9]]))),
        _ => (12, u64::from(u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]))),
    };
    let (is_npy, end) = (bytes.starts_with(b"\x93NUMPY"), prefix + text);
    if !is_npy {
        return refuse("no .npy file: it does not begin with \\x93NUMPY");
    }
    if end > file_bytes {
        return refuse(format!("the header ends at byte {end} but the file has {file_bytes}"));
    }
    let read = bytes.len();
    bytes.resize((end as usize).max(read), 0);
    file.read_exact(&mut bytes[read..])?;
    Ok(bytes)
}

/// Refuses extents whose product overflows: `npyz` multiplies them unchecked.
fn check_extents(header: &[u8]) -> Result<()> {
    let text = String::from_utf8_lossy(header);
    if text.contains('[') {
        return refuse("structured dtypes are not read");
    }
    let tuples: Vec<&str> = text.split('(').skip(1).collect();
    let [tuple] = tuples[..] else {
        return refuse("the header does not state one shape");
    };
    let mut count = 1_u64;
    let inside = tuple.split(')').next().unwrap_or("");
    for extent in inside.split(',').map(str::trim) {
        if extent.is_empty() {
            continue;
        }
        let Ok(extent) = extent.parse::<u64>() else {
            return refuse(format!("extent {extent} is not a number from 0 to {}", u64::MAX));
        };
        count = match count.checked_mul(extent.max(1)) {
            Some(count) if count <= i64::MAX as u64 => count,
            _ => return refuse(format!("shape ({inside}) counts beyond {}", i64::MAX)),
        };
    }
    Ok(())
}

fn too_large(header: &NpyHeader) -> NpyError {
    NpyError(format!("shape {:?} takes more than {} bytes", header.shape(), u64::MAX))
}

/// The element type, if it is one number in this machine's byte order.
fn element_type(header: &NpyHeader) -> Result<TypeStr> {
    let DType::Plain(dtype) = header.dtype() else {
        return refuse("structured dtypes are not read");
    };
    let machine = Endianness::of_machine();
    match dtype.endianness() {
        Endianness::Irrelevant => Ok(dtype),
        endianness if endianness == machine => Ok(dtype),
        _ => refuse(format!(
            "dtype '{dtype}' has foreign byte order: this machine reads '{}'",
            machine.to_str()
        )),
    }
}

fn read_payload(file: &mut File, dtype: &TypeStr, count: usize) -> Result<Payload> {
    Ok(match (dtype.type_char(), dtype.size_field()) {
        (TypeChar::Float, 8) => Payload::F64(read_vec(file, count)?),
        (TypeChar::Float, 4) => Payload::F32(read_vec(file, count)?),
        (TypeChar::Float, 2) => Payload::F16(read_vec(file, count)?),
        (TypeChar::Int, 1) => Payload::I8(read_vec(file, count)?),
        (TypeChar::Int, 2) => Payload::I16(read_vec(file, count)?),
        (TypeChar::Int, 4) => Payload::I32(read_vec(file, count)?),
        (TypeChar::Int, 8) => Payload::I64(read_vec(file, count)?),
        (TypeChar::Uint, 1) => Payload::U8(read_vec(file, count)?),
        (TypeChar::Uint, 2) => Payload::U16(read_vec(file, count)?),
        (TypeChar::Uint, 4) => Payload::U32(read_vec(file, count)?),
        (TypeChar::Uint, 8) => Payload::U64(read_vec(file, count)?),
        (TypeChar::Bool, 1) => Payload::Bool(read_vec(file, count)?),
        _ => return refuse(format!("dtype '{dtype}' is neither a real number nor a truth value")),
    })
}

/// Reads `count` elements to where they stay.
fn read_vec<T: Pod>(file: &mut File, count: usize) -> Result<Vec<T>> {
    let mut elements = vec![T::zeroed(); count];
    file.read_exact(bytemuck::cast_slice_mut(&mut elements))?;
    Ok(elements)
}
