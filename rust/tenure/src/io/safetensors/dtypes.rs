//! The format's names of dtypes.

use crate::dtype::DType;

/// A name, how many bits an element has, and the dtype, where elements are whole bytes.
const DTYPES: [(&str, usize, Option<DType>); 22] = [
    ("F64", 64, Some(DType::F64)),
    ("F32", 32, Some(DType::F32)),
    ("F16", 16, Some(DType::F16)),
    ("BF16", 16, Some(DType::BF16)),
    ("I64", 64, Some(DType::I64)),
    ("I32", 32, Some(DType::I32)),
    ("I16", 16, Some(DType::I16)),
    ("I8", 8, Some(DType::I8)),
    ("U64", 64, Some(DType::U64)),
    ("U32", 32, Some(DType::U32)),
    ("U16", 16, Some(DType::U16)),
    ("U8", 8, Some(DType::U8)),
    ("BOOL", 8, Some(DType::BOOL8)),
    ("C64", 64, Some(DType::C64)),
    // DLPack's codes. They are carried: nothing here computes on them.
    ("F8_E4M3", 8, Some(DType::from_dlpack(10, 8, 1))),
    ("F8_E4M3FNUZ", 8, Some(DType::from_dlpack(11, 8, 1))),
    ("F8_E5M2", 8, Some(DType::from_dlpack(12, 8, 1))),
    ("F8_E5M2FNUZ", 8, Some(DType::from_dlpack(13, 8, 1))),
    ("F8_E8M0", 8, Some(DType::from_dlpack(14, 8, 1))),
    ("F6_E2M3", 6, None),
    ("F6_E3M2", 6, None),
    ("F4", 4, None),
];

/// Bits of an element and the dtype; `None` for a name that is not known.
pub(super) fn named(name: &str) -> Option<(usize, Option<DType>)> {
    DTYPES.iter().find(|(known, ..)| *known == name).map(|(_, bits, dtype)| (*bits, *dtype))
}

/// The format's name of a dtype, if it has one.
pub(super) fn name_of(dtype: DType) -> Option<&'static str> {
    DTYPES.iter().find(|(.., known)| *known == Some(dtype)).map(|(name, ..)| *name)
}
