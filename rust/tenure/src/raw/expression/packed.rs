//! Views by value among the words of an expression.

use tenure_sys as sys;
use tenure_sys::{TNR_MAX_RANK, tnr_device_kind, tnr_view};

use super::store::Word;
use super::word_of;
use crate::dtype::DType;
use crate::layout;

/// A view in words: its dtype and rank, and whether strides are given, and an owner; index 0; where
/// strides are, the lowest byte and the count of bytes; the extents; the strides; and the owner, with
/// the device that it is on.
pub(super) struct Packed;

const STRIDED: usize = 1 << 63;
const OWNED: usize = 1 << 62;

impl Packed {
    pub(super) const MOST: usize = 6 + 2 * TNR_MAX_RANK;

    #[inline(never)]
    pub(super) fn of(view: &tnr_view) -> ([Word; Packed::MOST], usize) {
        let mut words = [std::ptr::null(); Packed::MOST];
        let rank = view.rank as usize;
        let is_strided = !layout::is_row_major(view);
        // For memory of the host the borrow is enough: no work of a device sees it.
        let is_owned = view.device.kind != tnr_device_kind::CPU;
        let strided = if is_strided { STRIDED } else { 0 };
        let owned = if is_owned { OWNED } else { 0 };
        words[0] = word_of((view.dtype.0 as usize) << 8 | rank | strided | owned);
        words[1] = view.data.cast();
        let mut count = 2;
        if is_strided {
            words[2] = view.base.cast();
            words[3] = word_of(view.size_bytes as usize);
            count = 4;
        }
        let strides = if is_strided { &view.strides[..rank] } else { &[] };
        for number in view.shape[..rank].iter().chain(strides) {
            words[count] = word_of(*number as usize);
            count += 1;
        }
        if is_owned {
            words[count] = word_of(view.owner as usize);
            words[count + 1] = word_of(view.device.index as usize);
            count += 2;
        }
        (words, count)
    }

    /// The number of words of the view that begins with this word.
    pub(super) fn word_count(first: Word) -> usize {
        let rank = first.addr() & 0xff;
        let shape = if first.addr() & STRIDED != 0 { 4 + 2 * rank } else { 2 + rank };
        if first.addr() & OWNED != 0 { shape + 2 } else { shape }
    }

    pub(super) fn view(words: &[Word]) -> tnr_view {
        let (first, data) = (words[0].addr(), words[1]);
        let rank = first & 0xff;
        let dtype = DType::from_raw(sys::tnr_dtype((first >> 8) as u32));
        let number = |word: &Word| word.addr();
        let extent_at = if first & STRIDED != 0 { 4 } else { 2 };
        let mut extents = [0; TNR_MAX_RANK];
        for (extent, word) in extents.iter_mut().zip(&words[extent_at..extent_at + rank]) {
            *extent = number(word);
        }
        let extents = &extents[..rank];
        // Wraps only where an extent of 0 makes the count 0.
        let count = extents.iter().fold(1_usize, |count, &extent| count.wrapping_mul(extent));
        let mut view = layout::exact(data.cast(), count, dtype, extents);
        if first & STRIDED != 0 {
            (view.base, view.size_bytes) = (words[2].cast(), number(&words[3]) as u64);
            for (stride, word) in view.strides.iter_mut().zip(&words[extent_at + rank..][..rank]) {
                *stride = number(word) as i64;
            }
        }
        if first & OWNED != 0 {
            let end = Self::word_count(words[0]);
            view.owner = number(&words[end - 2]) as u64;
            view.device = crate::raw::cuda::device(number(&words[end - 1]) as u32);
        }
        view
    }
}
