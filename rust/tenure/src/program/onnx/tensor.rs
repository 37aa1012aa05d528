//! Constants of a model: the bytes of their elements, and where those are.

use std::cell::Cell;

use prost::bytes::Bytes;

use super::external::External;
use super::schema;
use crate::dtype::{DType, bytes};
use crate::error::{Error, ErrorKind, Result};

/// The element type of a model: integers of 2 and 4 bits have a byte each here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ElementType {
    pub(super) dtype: DType,
    /// The bits of a number, if they are fewer than those of the dtype.
    pub(super) narrow_bits: Option<u8>,
}

impl From<DType> for ElementType {
    fn from(dtype: DType) -> Self {
        ElementType { dtype, narrow_bits: None }
    }
}

impl ElementType {
    /// The type of a number of `TensorProto.DataType`.
    pub(super) fn of(code: i32) -> Result<ElementType> {
        const NAMES: [&str; 27] = [
            "UNDEFINED",
            "FLOAT",
            "UINT8",
            "INT8",
            "UINT16",
            "INT16",
            "INT32",
            "INT64",
            "STRING",
            "BOOL",
            "FLOAT16",
            "DOUBLE",
            "UINT32",
            "UINT64",
            "COMPLEX64",
            "COMPLEX128",
            "BFLOAT16",
            "FLOAT8E4M3FN",
            "FLOAT8E4M3FNUZ",
            "FLOAT8E5M2",
            "FLOAT8E5M2FNUZ",
            "UINT4",
            "INT4",
            "FLOAT4E2M1",
            "FLOAT8E8M0",
            "UINT2",
            "INT2",
        ];
        Ok(match code {
            1 => DType::F32.into(),
            2 => DType::U8.into(),
            3 => DType::I8.into(),
            4 => DType::U16.into(),
            5 => DType::I16.into(),
            6 => DType::I32.into(),
            7 => DType::I64.into(),
            9 => DType::BOOL8.into(),
            10 => DType::F16.into(),
            11 => DType::F64.into(),
            12 => DType::U32.into(),
            13 => DType::U64.into(),
            16 => DType::BF16.into(),
            21 => ElementType { dtype: DType::U8, narrow_bits: Some(4) },
            22 => ElementType { dtype: DType::I8, narrow_bits: Some(4) },
            25 => ElementType { dtype: DType::U8, narrow_bits: Some(2) },
            26 => ElementType { dtype: DType::I8, narrow_bits: Some(2) },
            _ => {
                let name = usize::try_from(code).ok().and_then(|code| NAMES.get(code));
                let name = name.map_or_else(|| code.to_string(), |name| (*name).to_owned());
                let why = format!("elements of the type {name} are not supported");
                return Err(Error::new(ErrorKind::Unsupported, why));
            }
        })
    }

    /// Whether its numbers are integers of 8 bits.
    pub(super) fn is_byte(self) -> bool {
        matches!(self.dtype, DType::I8 | DType::U8) && self.narrow_bits.is_none()
    }

    /// The least and the greatest number of an integer type.
    pub(super) fn range(self) -> Option<(f64, f64)> {
        let (bits, is_signed) = match self.dtype {
            DType::U8 => (self.narrow_bits.unwrap_or(8), false),
            DType::I8 => (self.narrow_bits.unwrap_or(8), true),
            DType::U16 => (16, false),
            DType::I16 => (16, true),
            _ => return None,
        };
        let count = f64::from(1_u32 << bits);
        Some(if is_signed { (-count / 2.0, count / 2.0 - 1.0) } else { (0.0, count - 1.0) })
    }
}

/// A tensor whose elements are known before a run.
#[derive(Debug)]
pub(super) struct Constant {
    pub(super) of: ElementType,
    pub(super) shape: Vec<usize>,
    /// In the order of this machine, row-major.
    pub(super) data: Bytes,
    /// Its value in the graph, once it has one.
    pub(super) value: Cell<Option<u32>>,
}

/// The number of elements of a shape, where it is one.
pub(super) fn count_of(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1_usize, |count, extent| count.checked_mul(*extent))
}

impl Constant {
    pub(super) fn new(of: ElementType, shape: Vec<usize>, data: Bytes) -> Result<Constant> {
        if shape.len() > tenure_sys::TNR_MAX_RANK {
            let (rank, most) = (shape.len(), tenure_sys::TNR_MAX_RANK);
            return Err(Error::invalid(format!("it has rank {rank} but the most is {most}")));
        }
        let needed = count_of(&shape).and_then(|count| count.checked_mul(of.dtype.size_bytes()));
        if needed != Some(data.len()) {
            let (there, dtype) = (data.len(), of.dtype);
            let why = format!("it has {there} bytes, which is not {dtype} of shape {shape:?}");
            return Err(Error::invalid(why));
        }
        Ok(Constant { of, shape, data, value: Cell::new(None) })
    }

    /// Elements as 64-bit integers.
    pub(super) fn of_integers(shape: Vec<usize>, integers: &[i64]) -> Result<Constant> {
        let data: Vec<u8> = integers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        Constant::new(DType::I64.into(), shape, data.into())
    }

    /// The tensor of a model. Raw data are not copied, where this machine has their order.
    pub(super) fn read(tensor: &schema::Tensor, files: &External) -> Result<Constant> {
        let of = ElementType::of(tensor.data_type)?;
        let extent = |dim: &i64| {
            usize::try_from(*dim).map_err(|_| Error::invalid(format!("it has an extent of {dim}")))
        };
        let shape: Vec<usize> = tensor.dims.iter().map(extent).collect::<Result<_>>()?;
        let count = count_of(&shape)
            .filter(|count| *count as u64 <= tenure_sys::TNR_MAX_ELEMENTS as u64)
            .ok_or_else(|| Error::invalid(format!("its shape {shape:?} is larger than memory")))?;
        let raw = match tensor.data_location {
            0 => tensor.raw_data.clone(),
            1 => Some(files.bytes_of(&tensor.external_data)?),
            other => return Err(Error::invalid(format!("its data location is {other}"))),
        };
        let data = match raw {
            Some(raw) if of.narrow_bits.is_none() => in_own_order(raw, of.dtype),
            Some(raw) => raw,
            None => listed(tensor, of.dtype),
        };
        let data = match of.narrow_bits {
            Some(bits) => unpacked(&data, count, bits, of.dtype == DType::I8)?,
            None => data,
        };
        Constant::new(of, shape, data)
    }

    /// The elements, where they are integers or flags, at most this many.
    pub(super) fn integers(&self, most: usize) -> Option<Vec<i64>> {
        if count_of(&self.shape)? > most {
            return None;
        }
        macro_rules! integers {
            ($($dtype:ident $element:ty;)*) => {
                match self.of.dtype {
                    $(DType::$dtype => {
                        let elements = self.data.chunks_exact(size_of::<$element>());
                        let element = |bytes: &[u8]| {
                            let bytes = bytes.try_into().ok()?;
                            i64::try_from(<$element>::from_ne_bytes(bytes)).ok()
                        };
                        elements.map(element).collect()
                    })*
                    DType::BOOL8 => Some(self.data.iter().map(|flag| i64::from(*flag != 0)).collect()),
                    _ => None,
                }
            };
        }
        integers! { I64 i64; I32 i32; I16 i16; I8 i8; U8 u8; U16 u16; U32 u32; U64 u64; }
    }

    /// The elements as f64, where they are real, at most this many.
    pub(super) fn floats(&self, most: usize) -> Option<Vec<f64>> {
        if let Some(numbers) = self.integers(most) {
            return Some(numbers.into_iter().map(|number| number as f64).collect());
        }
        if count_of(&self.shape)? > most {
            return None;
        }
        macro_rules! floats {
            ($($dtype:ident $element:ty;)*) => {
                match self.of.dtype {
                    $(DType::$dtype => {
                        let elements = self.data.chunks_exact(size_of::<$element>());
                        let element = |bytes: &[u8]| {
                            Some(f64::from(<$element>::from_ne_bytes(bytes.try_into().ok()?)))
                        };
                        elements.map(element).collect()
                    })*
                    _ => None,
                }
            };
        }
        floats! { F64 f64; F32 f32; F16 half::f16; BF16 half::bf16; }
    }
}

/// Elements that are little-endian, as this machine has them.
fn in_own_order(raw: Bytes, dtype: DType) -> Bytes {
    if cfg!(target_endian = "little") || dtype.size_bytes() == 1 {
        return raw;
    }
    let mut swapped = raw.to_vec();
    bytes::swap(&mut swapped, dtype);
    swapped.into()
}

/// Integers of a few bits, the lowest of a byte first, as a byte each.
fn unpacked(packed: &[u8], count: usize, bits: u8, is_signed: bool) -> Result<Bytes> {
    let in_byte = usize::from(8 / bits);
    if packed.len() != count.div_ceil(in_byte) {
        let (there, needed) = (packed.len(), count.div_ceil(in_byte));
        return Err(Error::invalid(format!("it has {there} bytes but its shape takes {needed}")));
    }
    let number = |nth: usize| {
        let highest = packed[nth / in_byte] << (8 - bits * (nth % in_byte + 1) as u8);
        match is_signed {
            true => (highest as i8 >> (8 - bits)) as u8,
            false => highest >> (8 - bits),
        }
    };
    Ok((0..count).map(number).collect::<Vec<u8>>().into())
}

/// The elements of the field that lists those of the dtype. Types of at most 32 bits share one.
fn listed(tensor: &schema::Tensor, dtype: DType) -> Bytes {
    macro_rules! bytes {
        ($field:ident as $element:ty) => {
            tensor.$field.iter().flat_map(|number| (*number as $element).to_ne_bytes()).collect()
        };
    }
    let bytes: Vec<u8> = match dtype {
        DType::F32 => bytes!(float_data as f32),
        DType::F64 => bytes!(double_data as f64),
        DType::I64 => bytes!(int64_data as i64),
        DType::U64 => bytes!(uint64_data as u64),
        DType::U32 => bytes!(uint64_data as u32),
        DType::I32 => bytes!(int32_data as i32),
        DType::I16 => bytes!(int32_data as i16),
        DType::U16 | DType::F16 | DType::BF16 => bytes!(int32_data as u16),
        DType::BOOL8 => tensor.int32_data.iter().map(|flag| u8::from(*flag != 0)).collect(),
        _ => bytes!(int32_data as u8),
    };
    bytes.into()
}
