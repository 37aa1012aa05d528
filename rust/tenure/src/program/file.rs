//! Files of graphs, with their constants: written from a graph of the C ABI, and built into one.
//!
//! | you have | and want | call | copied |
//! | --- | --- | --- | --- |
//! | a graph | a list of its contents | [`GraphRecord::of`] | 0: constants are lent by the graph |
//! | the list | a file | [`GraphRecord::save`] | 0; constants that are not dense and row-major are gathered first |
//! | an owner of a file's bytes, read or mapped | its contents | [`ProgramFile::new`] | 0: no constant is read |
//! | the same | a graph | [`ProgramFile::build`] | 0: the graph holds the bytes too |
//!
//! None of the bytes is trusted: this module checks each number, and the core checks its meaning as
//! if a program had called it. The elements of constants are neither read nor compared with a
//! checksum.
//!
//! The container is a header, the graph as a message of Protocol Buffers
//! (`docs/design/program.proto` has the schema), and the elements of constants, little-endian and
//! row-major, each from a multiple of 64 bytes on.

mod attributes;
mod container;
mod reader;
mod record;
pub(crate) mod save;
mod schema;

pub use crate::program::calls::custom::CustomOperation;
pub use crate::program::calls::graph_record::GraphHandle;
pub use reader::ProgramFile;
pub use record::GraphRecord;

use tenure_sys::{TNR_MAX_VALUES, tnr_dtype, tnr_scalar};

use crate::dtype::DType;
use crate::dtype::bytes;
use crate::error::{Error, Result};

/// Alignment of constants: a cache line, which is also what the widest registers load best.
const CONSTANT_ALIGNMENT: u64 = 64;

/// Most values, and so operands and outputs, of a graph.
const MOST_VALUES: usize = TNR_MAX_VALUES;

const NO_SCALAR: tnr_scalar = tnr_scalar { dtype: tnr_dtype(0), reserved: 0, bytes: [0; 16] };

/// The bytes that its dtype has, little-endian.
fn recorded_scalar(scalar: &tnr_scalar) -> schema::Scalar {
    let dtype = DType::from_raw(scalar.dtype);
    let mut bytes: Vec<u8> = scalar.bytes.iter().copied().take(dtype.size_bytes()).collect();
    if cfg!(target_endian = "big") {
        bytes::swap(&mut bytes, dtype);
    }
    schema::Scalar { dtype: scalar.dtype.0, bytes }
}

fn scalar_of(recorded: &schema::Scalar) -> Result<tnr_scalar> {
    let dtype = DType::from_raw(tnr_dtype(recorded.dtype));
    let mut scalar = tnr_scalar { dtype: dtype.raw(), ..NO_SCALAR };
    let (given, size_bytes) = (recorded.bytes.len(), dtype.size_bytes());
    match scalar.bytes.get_mut(..given) {
        Some(bytes) if given == size_bytes => {
            bytes.copy_from_slice(&recorded.bytes);
            if cfg!(target_endian = "big") {
                bytes::swap(bytes, dtype);
            }
            Ok(scalar)
        }
        _ => Err(Error::invalid(format!("a scalar of {dtype:?} has {given} bytes"))),
    }
}
