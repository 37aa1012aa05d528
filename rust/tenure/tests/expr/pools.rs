//! Threads: the same bits.

use super::*;

#[test]
fn threads_change_no_bit() {
    let random = &mut Random::new(9);
    let a = tensor(random, [300, 700], f32::any);
    let (row, column) = (tensor(random, [700], f32::any), tensor(random, [300, 1], f32::any));
    let expressions = [
        (&a * &row + &column).tanh(),
        (&a - a.expr().mean(Axes::keep(-1))) / (a.expr().var(Axes::keep(-1), 0) + 1e-5).sqrt(),
        (&a * &row).sum(0),
        (&a * &row).sum(..),
        (&a + &column).softmax(-1),
    ];
    let alone: Vec<_> = expressions.iter().map(Expr::eval).collect();
    for count in [2, 3] {
        let context = Context::with_threads(count).unwrap();
        let together: Vec<_> = context.install(|| expressions.iter().map(Expr::eval).collect());
        for (together, alone) in together.iter().zip(&alone) {
            assert_same(together, alone, "threads");
        }
    }
}
