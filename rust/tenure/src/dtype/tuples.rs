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

/// Rows of one to eight pairs of names.
macro_rules! pairs_up_to_eight {
    ($rows:ident) => {
        $rows! {
            A A1;
            A A1 B B1;
            A A1 B B1 C C1;
            A A1 B B1 C C1 D D1;
            A A1 B B1 C C1 D D1 E E1;
            A A1 B B1 C C1 D D1 E E1 F F1;
            A A1 B B1 C C1 D D1 E E1 F F1 G G1;
            A A1 B B1 C C1 D D1 E E1 F F1 G G1 H H1;
        }
    };
}
pub(crate) use pairs_up_to_eight;
