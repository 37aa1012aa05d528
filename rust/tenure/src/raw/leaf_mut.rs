//! Views for writing that a run of a program is lent.

use tenure_sys::tnr_view_mut;

use super::LentMut;

/// A view for writing by one call, in any place: by its address, or by value.
// The invariant: a value is a view as `LentMut` promises it for 's.
pub struct LeafMut<'s>(pub(super) LendsMut<'s>);

pub(super) enum LendsMut<'s> {
    Address(LentMut<'s>),
    Value(tnr_view_mut),
}

impl<'s> From<LentMut<'s>> for LeafMut<'s> {
    #[inline]
    fn from(view: LentMut<'s>) -> Self {
        LeafMut(LendsMut::Address(view))
    }
}

impl LeafMut<'_> {
    /// # Safety
    ///
    /// - `view` has passed `layout::check` and `layout::check_distinct`.
    /// - Its elements are initialised, alive and touched by nothing else while the leaf lives.
    #[inline]
    pub(crate) unsafe fn of_value(view: tnr_view_mut) -> Self {
        LeafMut(LendsMut::Value(view))
    }
}
