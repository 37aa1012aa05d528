//! Calls that quantize graphs.

use std::ptr;

use tenure_sys as sys;

use super::{GraphHandle, length};
use crate::error::Result;
use crate::raw::check;

impl GraphHandle {
    /// The values `of` with products and convolutions of integers, as new values; with a group by
    /// weights of 4 bits.
    pub(crate) fn add_quantized(
        &self,
        of: &[u32],
        ranges: &[sys::tnr_value_range],
        weight_group: u32,
        keep: &[u32],
    ) -> Result<Vec<u32>> {
        let attributes = attributes(ranges, weight_group, keep);
        let mut quantized = vec![sys::TNR_OPERAND_NONE; of.len()];
        // SAFETY:
        // - the handle is alive: `self` owns it;
        // - `of` and `quantized` have the length that is given;
        // - the attributes, and `ranges` and `keep` that they point to, live until the call ends;
        // - numbers of values are checked by the library.
        check(unsafe {
            sys::tnr_graph_quantize(
                self.0.as_ptr(),
                of.as_ptr(),
                length(of.len()),
                &attributes,
                quantized.as_mut_ptr(),
            )
        })?;
        Ok(quantized)
    }

    /// The nodes that `add_quantized` replaces.
    pub(crate) fn quantizable(
        &self,
        of: &[u32],
        keep: &[u32],
    ) -> Result<Vec<sys::tnr_quantizable>> {
        let attributes = attributes(&[], 0, keep);
        let list = |capacity: usize, found: *mut sys::tnr_quantizable| -> Result<usize> {
            let mut count = 0;
            // SAFETY:
            // - the handle is alive: `self` owns it;
            // - `of` has the length that is given, and `found` has room for `capacity` elements;
            // - the attributes, and `keep` that they point to, live until the call ends;
            // - numbers of values are checked by the library.
            check(unsafe {
                sys::tnr_graph_quantizable(
                    self.0.as_ptr(),
                    of.as_ptr(),
                    length(of.len()),
                    &attributes,
                    length(capacity),
                    found,
                    &mut count,
                )
            })?;
            Ok(count as usize)
        };
        let none = sys::tnr_quantizable { result: 0, operand: 0, code: 0, reserved: 0 };
        let mut found = vec![none; list(0, ptr::null_mut())?];
        let count = list(found.len(), found.as_mut_ptr())?;
        found.truncate(count);
        Ok(found)
    }
}

fn attributes(
    ranges: &[sys::tnr_value_range],
    weight_group: u32,
    keep: &[u32],
) -> sys::tnr_graph_quantize_attributes {
    sys::tnr_graph_quantize_attributes {
        struct_size: size_of::<sys::tnr_graph_quantize_attributes>() as u64,
        keep: keep.as_ptr(),
        keep_count: length(keep.len()),
        range_count: length(ranges.len()),
        ranges: ranges.as_ptr(),
        weight_group,
        reserved: 0,
    }
}
