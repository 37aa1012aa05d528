//! The six ways to hold memory.

use std::fmt;

/// How memory is held: who frees it, who may write it, when that ends. The table is in the
/// [crate's documentation](crate).
///
/// ```
/// use tenure::{Tensor, Tenure};
///
/// let tensor = Tensor::from_vec(vec![1, 2, 3], 3)?;
/// assert_eq!(tensor.tenure(), Tenure::Adopted);
/// assert_eq!(tensor.view().tenure().to_string(), "borrowed");
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tenure {
    /// The library allocated it and frees it; the holder may write.
    Allocated,
    /// The library allocated it, filled it with a copy and frees it; the holder may write.
    Copied,
    /// The caller's, handed over; the holder may write, and the owner is dropped or given back.
    Adopted,
    /// The caller's, held together with other holders; no one writes, and the owner is dropped at
    /// the end.
    Shared,
    /// The caller's, lent; no one writes while the loan lasts.
    Borrowed,
    /// The caller's, lent; only the borrower reads and writes while the loan lasts.
    BorrowedMut,
}

impl fmt::Display for Tenure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Tenure::Allocated => "allocated",
            Tenure::Copied => "copied",
            Tenure::Adopted => "adopted",
            Tenure::Shared => "shared",
            Tenure::Borrowed => "borrowed",
            Tenure::BorrowedMut => "borrowed mutably",
        })
    }
}
