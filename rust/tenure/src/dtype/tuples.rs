//! Tuples of operands and of types.

/// Rows of one to eight names, for a macro that implements a trait for tuples.
macro_rules! up_to_eight {
    ($rows:ident) => {
        $rows! {
            A;
            A B;
            A B C;
            A B C D;
            A B C D E;
            A B C D E F;
            A B C D E F G;
            A B C D E F G H;
        }
    };
}
pub(crate) use up_to_eight;
