//! Triangles of matrices.

use tenure_sys::{TNR_SOLVE_UNIT_DIAGONAL, TNR_SOLVE_UPPER};

/// Which triangle of a matrix is meant; entries of the other one are not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Triangle {
    /// On and below the diagonal.
    Lower,
    /// Below the diagonal, which is 1 whatever its entries are.
    UnitLower,
    /// On and above the diagonal.
    Upper,
    /// Above the diagonal, which is 1 whatever its entries are.
    UnitUpper,
}

impl Triangle {
    pub(crate) fn flags(self) -> u32 {
        match self {
            Triangle::Lower => 0,
            Triangle::UnitLower => TNR_SOLVE_UNIT_DIAGONAL,
            Triangle::Upper => TNR_SOLVE_UPPER,
            Triangle::UnitUpper => TNR_SOLVE_UPPER | TNR_SOLVE_UNIT_DIAGONAL,
        }
    }
}
