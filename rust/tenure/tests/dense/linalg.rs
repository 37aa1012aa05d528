//! Solvers of dense matrices: residuals within the bounds of LAPACK's tests, values compared with
//! NumPy's, and refusals.
#![cfg(feature = "linalg")]
#![allow(clippy::needless_borrows_for_generic_args, reason = "as users have operands")]

use tenure::linalg::{
    Cholesky, Ldlt, Lu, PivotedQr, Qr, cholesky, det, eigh, eigvalsh, inv, lstsq, pinv, qr, solve,
    svd, svdvals,
};
use tenure::{
    AsView, ErrorKind, NativeFloat, Real, Tensor, TensorView,
    linalg::matmul,
    ops::{cast, mul, sub},
};

use crate::split_mix::Random;

/// The bound of LAPACK's tests, in units of the last place.
const THRESHOLD: f64 = 30.0;

/// Elements from -1 to 1, in memory of its own.
fn uniform(rows: usize, cols: usize, seed: u64) -> Tensor<f64> {
    let mut random = Random::new(seed);
    let elements =
        (0..rows * cols).map(|_| (random.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0);
    Tensor::from_vec(elements.collect(), [rows, cols]).unwrap()
}

/// The largest sum of magnitudes of a column.
fn norm(a: &Tensor<f64>) -> f64 {
    let [rows, cols] = [a.shape()[0], a.shape()[1]];
    let sum = |col| (0..rows).map(|row| a[[row, col]].abs()).sum();
    (0..cols).map(sum).fold(0.0, f64::max)
}

fn widened<T: NativeFloat + Real>(a: &Tensor<T>) -> Tensor<f64> {
    cast(a).unwrap()
}

fn epsilon<T: NativeFloat>() -> f64 {
    if size_of::<T>() == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON }
}

/// Asserts a bound on the norm of a difference, in units of the last place of `of`.
#[track_caller]
fn assert_within<T: NativeFloat>(what: &str, difference: f64, of: f64, extent: usize) {
    let of = of * extent.max(1) as f64 * epsilon::<T>();
    assert!(difference <= THRESHOLD * of, "{what}: {difference:e} is {} units", difference / of);
}

fn minus(a: &Tensor<f64>, b: &Tensor<f64>) -> f64 {
    norm(&sub(a, b).unwrap())
}

/// The largest difference of two vectors.
fn farthest(a: &Tensor<f64>, b: &Tensor<f64>) -> f64 {
    sub(a, b).unwrap().iter().fold(0.0, |most, one| one.abs().max(most))
}

fn zeros(rows: usize) -> Tensor<f64> {
    Tensor::zeros([rows, 1]).unwrap()
}

fn identity(order: usize) -> Tensor<f64> {
    let mut identity = Tensor::zeros([order, order]).unwrap();
    (0..order).for_each(|place| identity[[place, place]] = 1.0);
    identity
}

/// ||I - Qᵀ Q||, in units of the last place.
#[track_caller]
fn assert_orthonormal<T: NativeFloat>(what: &str, q: &Tensor<f64>) {
    let product = matmul(q.view().t(), q).unwrap();
    let [rows, cols] = [q.shape()[0], q.shape()[1]];
    assert_within::<T>(what, minus(&product, &identity(cols)), 1.0, rows.max(cols));
}

/// Rows of `a` at these indices.
fn rows_at(a: &Tensor<f64>, indices: &[usize]) -> Tensor<f64> {
    let mut out = Tensor::zeros(a.shape()).unwrap();
    for (row, &from) in indices.iter().enumerate() {
        (0..a.shape()[1]).for_each(|col| out[[row, col]] = a[[from, col]]);
    }
    out
}

/// Matrices like those of LAPACK's generators, by name; of the last, rank is not full. Rows are
/// graded within what the type that has `small` can tell from a rank that is not full.
fn samples(rows: usize, cols: usize, small: f64) -> Vec<(&'static str, Tensor<f64>)> {
    let seed = (rows * 1000 + cols) as u64;
    let random = uniform(rows, cols, seed);
    let mut graded = uniform(rows, cols, seed + 1);
    for row in 0..rows {
        let scale = if small < 1e-99 { 10.0_f64 } else { 4.0 }.powi(row as i32 % 7 - 3);
        (0..cols).for_each(|col| graded[[row, col]] *= scale);
    }
    let rank = (rows.min(cols) / 2).max(1);
    let deficient = matmul(uniform(rows, rank, seed + 2), uniform(rank, cols, seed + 3)).unwrap();
    let tiny = mul(&random, small).unwrap();
    let huge = mul(&random, 1.0 / small).unwrap();
    let far = if small < 1e-99 { FAR_OF_F64 } else { FAR_OF_F32 };
    let columns = mul(&random, &far_apart(cols, far)[0]).unwrap();
    let rows = mul(&random, as_column(&far_apart(rows, far)[0])).unwrap();
    let named = [("random", random), ("graded", graded), ("tiny", tiny), ("huge", huge)];
    let others = [("far columns", columns), ("far rows", rows), ("deficient", deficient)];
    named.into_iter().chain(others).collect()
}

/// Even exponents for which quotients of two powers leave the range of the type.
const FAR_OF_F64: i32 = 532;
const FAR_OF_F32: i32 = 64;

/// Powers of two far from 1: in turn, in turn the other way, rising, falling, and all alike.
fn far_apart(extent: usize, far: i32) -> [Tensor<f64>; 6] {
    let last = extent.max(2) as i32 - 1;
    let exponents: [&dyn Fn(i32) -> i32; 6] = [
        &|place| if place % 2 == 0 { far } else { -far },
        &|place| if place % 2 == 0 { -far } else { far },
        &|place| far * place / last * 2 - far,
        &|place| far - far * place / last * 2,
        &|_| far,
        &|_| -far,
    ];
    exponents.map(|exponent| {
        let powers = (0..extent as i32).map(|place| 2.0_f64.powi(exponent(place)));
        Tensor::from_vec(powers.collect(), extent).unwrap()
    })
}

/// Checks one matrix in several memory layouts.
fn layouts<T: NativeFloat>(a: &Tensor<T>, check: impl Fn(TensorView<'_, T>)) {
    check(a.view());
    let turned = a.view().t().to_tensor().unwrap();
    check(turned.view().t());
    let [rows, cols] = [a.shape()[0], a.shape()[1]];
    let mut wide = Tensor::<T>::zeros([2 * rows + 1, 3 * cols + 1]).unwrap();
    let mut at = |row: usize, col: usize, element| wide[[row, col]] = element;
    for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
        at(2 * (rows - 1 - row), 3 * (cols - 1 - col), a[[row, col]]);
    }
    let view = wide.view().slice(0, ..2 * rows - 1).unwrap().slice_step(0, .., -2).unwrap();
    let view = view.slice(1, ..3 * cols - 2).unwrap().slice_step(1, .., -3).unwrap();
    assert_eq!(view.to_vec(), a.to_vec());
    check(view);
}

const SQUARE: [usize; 6] = [1, 2, 3, 7, 17, 40];
/// Extents beyond one block, and beyond the algorithms that do not divide the matrix.
const LARGE: [usize; 2] = [150, 135];
const OBLONG: [[usize; 2]; 8] =
    [[1, 5], [5, 1], [2, 3], [9, 4], [4, 9], [40, 11], [11, 40], [35, 33]];

/// So small that squares of it are not numbers of the type.
fn small<T: NativeFloat>() -> f64 {
    if size_of::<T>() == 4 { 2.0_f64.powi(-100) } else { 2.0_f64.powi(-900) }
}

fn each_square<T: NativeFloat + Real>(check: impl Fn(&str, &Tensor<f64>, TensorView<'_, T>)) {
    for order in SQUARE {
        for (name, sample) in samples(order, order, small::<T>()) {
            let narrow: Tensor<T> = cast(&sample).unwrap();
            let exact = widened(&narrow);
            layouts(&narrow, |a| check(&format!("{name} {order}"), &exact, a));
        }
    }
    let large: Tensor<T> = cast(&uniform(LARGE[0], LARGE[0], 7)).unwrap();
    check("large", &widened(&large), large.view());
}

fn each_matrix<T: NativeFloat + Real>(check: impl Fn(&str, &Tensor<f64>, TensorView<'_, T>)) {
    for [rows, cols] in OBLONG.into_iter().chain(SQUARE.map(|order| [order, order])) {
        for (name, sample) in samples(rows, cols, small::<T>()) {
            let narrow: Tensor<T> = cast(&sample).unwrap();
            let exact = widened(&narrow);
            layouts(&narrow, |a| check(&format!("{name} {rows} x {cols}"), &exact, a));
        }
    }
    let large: Tensor<T> = cast(&uniform(LARGE[0], LARGE[1], 7)).unwrap();
    check("large", &widened(&large), large.view());
}

/// `a + aᵀ`, whose rank is as deficient as that of `a`, or `a aᵀ + n I`, scaled as `a` is.
fn symmetric<T: NativeFloat + Real>(a: &Tensor<f64>, is_definite: bool) -> Tensor<T> {
    let order = a.shape()[0];
    let scale = norm(a).max(f64::MIN_POSITIVE);
    let a = mul(a, 1.0 / scale).unwrap();
    let mut whole = matmul(&a, a.view().t()).unwrap();
    if is_definite {
        (0..order).for_each(|place| whole[[place, place]] += 0.01);
    } else {
        whole = tenure::ops::add(&a, a.view().t()).unwrap();
    }
    cast(&mul(&whole, scale).unwrap()).unwrap()
}

/// Each test below for both types.
macro_rules! of_both {
    ($($test:ident: $check:ident;)*) => {$(
        #[test]
        fn $test() {
            $check::<f64>();
            $check::<f32>();
        }
    )*};
}

of_both! {
    lu_multiplies_back_and_solves: lu;
    cholesky_multiplies_back_and_solves: definite;
    ldlt_multiplies_back_and_solves: indefinite;
    qr_multiplies_back: plain_qr;
    pivoted_qr_multiplies_back_and_shows_the_rank: pivoted;
    least_squares_leave_a_residual_across: least_squares;
    eigenvectors_diagonalise: eigen;
    singular_vectors_diagonalise: singular;
    pseudo_inverses_are_those_of_penrose: pseudo_inverse;
    columns_may_be_far_apart: far_columns;
    rows_and_columns_may_be_far_apart: far_rows_and_columns;
}

fn lu<T: NativeFloat + Real>() {
    each_square::<T>(|name, a, view| {
        let order = a.shape()[0];
        if name.starts_with("deficient") && order > 1 {
            return;
        }
        let factors = Lu::new(view).unwrap();
        let product = matmul(widened(&factors.l().unwrap()), widened(&factors.u().unwrap()));
        let difference = minus(&product.unwrap(), &rows_at(a, factors.permutation()));
        assert_within::<T>(&format!("lu of {name}"), difference, norm(a), order);

        let truth: Tensor<T> = cast(&uniform(order, 3, 5)).unwrap();
        let b: Tensor<T> = cast(&matmul(a, widened(&truth)).unwrap()).unwrap();
        for b in [b.view(), b.to_tensor().unwrap().view().t().to_tensor().unwrap().view().t()] {
            let x = widened(&solve(view, b).unwrap());
            let residual = minus(&matmul(a, &x).unwrap(), &widened(&b.to_tensor().unwrap()));
            let of = norm(a) * norm(&x);
            assert_within::<T>(&format!("solve {name}"), residual, of, order);
        }
        // A vector is solved for as a column is.
        let column = widened(&solve(view, b.view().index(1, 0).unwrap()).unwrap());
        let column = column.view().unsqueeze(1).unwrap().to_tensor().unwrap();
        let whole = widened(&solve(view, &b).unwrap()).view().slice(1, ..1).unwrap().to_tensor();
        let residual =
            minus(&matmul(a, sub(&column, whole.unwrap()).unwrap()).unwrap(), &zeros(order));
        assert_within::<T>(&format!("vector {name}"), residual, norm(a) * norm(&column), order);

        let inverse = widened(&inv(view).unwrap());
        let product = matmul(a, &inverse).unwrap();
        let of = norm(a) * norm(&inverse);
        assert_within::<T>(&format!("inv {name}"), minus(&product, &identity(order)), of, order);
    });
}

fn definite<T: NativeFloat + Real>() {
    each_square::<T>(|name, a, _| {
        let order = a.shape()[0];
        let whole = symmetric::<T>(a, true);
        let exact = widened(&whole);
        layouts(&whole, |view| {
            let factors = Cholesky::new(view).unwrap();
            let l = widened(&factors.l().to_tensor().unwrap());
            let product = matmul(&l, l.view().t()).unwrap();
            assert_within::<T>(
                &format!("cholesky {name}"),
                minus(&product, &exact),
                norm(&exact),
                order,
            );
            let b: Tensor<T> = cast(&mul(&uniform(order, 2, 5), norm(&exact)).unwrap()).unwrap();
            let x = widened(&factors.solve(&b).unwrap());
            let residual = minus(&matmul(&exact, &x).unwrap(), &widened(&b));
            assert_within::<T>(&format!("solve {name}"), residual, norm(&exact) * norm(&x), order);
        });
        // Nobody reads the elements above the diagonal.
        let mut lower = whole.try_clone().unwrap();
        let nan = cast::<T, _>(f32::NAN).unwrap()[[]];
        (0..order).for_each(|row| (row + 1..order).for_each(|col| lower[[row, col]] = nan));
        assert_eq!(cholesky(&lower).unwrap().to_vec(), cholesky(&whole).unwrap().to_vec());
    });
}

fn indefinite<T: NativeFloat + Real>() {
    each_square::<T>(|name, a, _| {
        if name.starts_with("deficient") {
            return;
        }
        let order = a.shape()[0];
        let mut whole = symmetric::<T>(a, false);
        // No diagonal to divide by.
        (0..order & !1).for_each(|place| whole[[place, place]] = T::default());
        let exact = widened(&whole);
        layouts(&whole, |view| {
            let factors = Ldlt::new(view).unwrap();
            let l = widened(&factors.l().to_tensor().unwrap());
            let d = widened(&factors.d().unwrap());
            let product = matmul(matmul(&l, &d).unwrap(), l.view().t()).unwrap();
            let both = rows_at(&exact, factors.permutation()).view().t().to_tensor().unwrap();
            let both = rows_at(&both, factors.permutation());
            assert_within::<T>(
                &format!("ldlt {name}"),
                minus(&product, &both),
                norm(&exact),
                order,
            );
            let b: Tensor<T> = cast(&matmul(&exact, uniform(order, 2, 5)).unwrap()).unwrap();
            let x = widened(&factors.solve(&b).unwrap());
            let residual = minus(&matmul(&exact, &x).unwrap(), &widened(&b));
            assert_within::<T>(&format!("solve {name}"), residual, norm(&exact) * norm(&x), order);
        });
    });
}

fn plain_qr<T: NativeFloat + Real>() {
    each_matrix::<T>(|name, a, view| {
        let [q, r] = qr(view).unwrap().map(|factor| widened(&factor));
        let [rows, cols] = [a.shape()[0], a.shape()[1]];
        assert_eq!(
            (q.shape(), r.shape()),
            (&[rows, rows.min(cols)][..], &[rows.min(cols), cols][..])
        );
        for (row, col) in
            (0..r.shape()[0]).flat_map(|row| (0..row.min(cols)).map(move |col| (row, col)))
        {
            assert_eq!(r[[row, col]], 0.0, "{name}");
        }
        let difference = minus(&matmul(&q, &r).unwrap(), a);
        assert_within::<T>(&format!("qr {name}"), difference, norm(a), rows.max(cols));
        assert_orthonormal::<T>(name, &q);
    });
}

fn pivoted<T: NativeFloat + Real>() {
    each_matrix::<T>(|name, a, view| {
        let factors = PivotedQr::new(view).unwrap();
        let [q, r] = [factors.q().unwrap(), factors.r().unwrap()].map(|factor| widened(&factor));
        let [rows, cols] = [a.shape()[0], a.shape()[1]];
        let turned = rows_at(&a.view().t().to_tensor().unwrap(), factors.permutation());
        let ordered = turned.view().t().to_tensor().unwrap();
        let difference = minus(&matmul(&q, &r).unwrap(), &ordered);
        assert_within::<T>(&format!("pivoted {name}"), difference, norm(a), rows.max(cols));
        assert_orthonormal::<T>(name, &q);
        let least = rows.min(cols);
        let rank = if name.starts_with("deficient") { (least / 2).max(1) } else { least };
        if !name.starts_with("far") {
            assert_eq!(factors.rank(), rank, "{name}");
        }
    });
}

fn least_squares<T: NativeFloat + Real>() {
    each_matrix::<T>(|name, a, view| {
        let [rows, cols] = [a.shape()[0], a.shape()[1]];
        let scale = norm(a);
        let b: Tensor<T> = cast(&mul(&uniform(rows, 2, 9), scale).unwrap()).unwrap();
        let x = widened(&lstsq(view, &b).unwrap());
        assert_eq!(x.shape(), [cols, 2]);
        // Divided by the scale twice, lest products leave the range.
        let turned = mul(a.view().t(), 1.0 / scale).unwrap();
        let assert_across = |method: &str, x: &Tensor<f64>| {
            let residual = sub(widened(&b), matmul(a, x).unwrap()).unwrap();
            let across = matmul(&turned, mul(&residual, 1.0 / scale).unwrap()).unwrap();
            let of = norm(&widened(&b)) / scale + norm(x);
            assert_within::<T>(&format!("{method} {name}"), norm(&across), of, rows.max(cols));
        };
        assert_across("lstsq", &x);
        if rows >= cols && PivotedQr::new(view).unwrap().rank() == cols {
            assert_across("qr", &widened(&Qr::new(view).unwrap().solve(&b).unwrap()));
        }
        // The shortest of all is a sum of rows of a.
        let narrow: Tensor<T> = cast(&x).unwrap();
        let weights = widened(&lstsq(view.t(), &narrow).unwrap());
        let sums = matmul(a.view().t(), &weights).unwrap();
        let of = norm(a) * norm(&weights) + norm(&x);
        assert_within::<T>(&format!("rows, {name}"), minus(&sums, &x), of, rows.max(cols));
    });
}

fn eigen<T: NativeFloat + Real>() {
    each_square::<T>(|name, a, _| {
        let order = a.shape()[0];
        let whole = symmetric::<T>(a, false);
        let exact = widened(&whole);
        layouts(&whole, |view| {
            let [values, vectors] = eigh(view).unwrap().map(|factor| widened(&factor));
            assert_orthonormal::<T>(name, &vectors);
            let product = matmul(mul(&vectors, &values).unwrap(), vectors.view().t()).unwrap();
            assert_within::<T>(
                &format!("eigh {name}"),
                minus(&product, &exact),
                norm(&exact),
                order,
            );
            assert!(values.to_vec().is_sorted(), "{name}");
            let alone = widened(&eigvalsh(view).unwrap());
            assert_within::<T>(
                &format!("eigvalsh {name}"),
                farthest(&alone, &values),
                norm(&exact),
                order,
            );
        });
    });
}

fn singular<T: NativeFloat + Real>() {
    each_matrix::<T>(|name, a, view| {
        let [u, s, vt] = svd(view).unwrap().map(|factor| widened(&factor));
        let [rows, cols] = [a.shape()[0], a.shape()[1]];
        assert_orthonormal::<T>(name, &u);
        assert_orthonormal::<T>(name, &vt.view().t().to_tensor().unwrap());
        let product = matmul(mul(&u, &s).unwrap(), &vt).unwrap();
        assert_within::<T>(&format!("svd {name}"), minus(&product, a), norm(a), rows.max(cols));
        assert!(s.to_vec().is_sorted_by(|one, next| one >= next), "{name}");
        assert!(s.iter().all(|&one| one >= 0.0), "{name}");
        let alone = widened(&svdvals(view).unwrap());
        assert_within::<T>(
            &format!("svdvals {name}"),
            farthest(&alone, &s),
            norm(a),
            rows.max(cols),
        );
    });
}

fn pseudo_inverse<T: NativeFloat + Real>() {
    each_matrix::<T>(|name, a, view| {
        let inverse = widened(&pinv(view).unwrap());
        let [rows, cols] = [a.shape()[0], a.shape()[1]];
        assert_eq!(inverse.shape(), [cols, rows]);
        let extent = rows.max(cols);
        let condition = norm(a) * norm(&inverse);
        let [left, right] = [matmul(a, &inverse).unwrap(), matmul(&inverse, a).unwrap()];
        let back = matmul(&left, a).unwrap();
        assert_within::<T>(&format!("a p a, {name}"), minus(&back, a), norm(a) * condition, extent);
        let back = matmul(&right, &inverse).unwrap();
        let of = norm(&inverse) * condition;
        assert_within::<T>(&format!("p a p, {name}"), minus(&back, &inverse), of, extent);
        for product in [left, right] {
            let turned = product.view().t().to_tensor().unwrap();
            assert_within::<T>(
                &format!("symmetry, {name}"),
                minus(&product, &turned),
                condition,
                extent,
            );
        }
    });
}

#[track_caller]
fn assert_near(found: impl AsView<f64>, expected: &[f64]) {
    let found = found.as_view().to_vec();
    assert_eq!(found.len(), expected.len());
    for (one, other) in found.iter().zip(expected) {
        assert!((one - other).abs() <= 1e-13 * other.abs().max(1.0), "{found:?}");
    }
}

/// A matrix that is far from singular, of elements of the type.
fn dominant<T: NativeFloat + Real>(order: usize) -> Tensor<f64> {
    let diagonal = mul(&identity(order), order as f64).unwrap();
    let sum = tenure::ops::add(&uniform(order, order, 7), &diagonal).unwrap();
    widened(&cast::<T, f64>(&sum).unwrap())
}

fn as_column(scale: &Tensor<f64>) -> TensorView<'_, f64> {
    scale.view().unsqueeze(1).unwrap()
}

/// Each pair of an order and scales for it.
fn each_scale<T: NativeFloat>(check: impl Fn(&str, usize, &Tensor<f64>)) {
    let far = if size_of::<T>() == 4 { FAR_OF_F32 } else { FAR_OF_F64 };
    for order in [1, 2, 3, 4, 7, 17] {
        for (index, scale) in far_apart(order, far).iter().enumerate() {
            check(&format!("{order} with scales {index}"), order, scale);
        }
    }
}

/// Columns that are multiplied by powers of two divide elements of a solution, to the last bit.
fn far_columns<T: NativeFloat + Real>() {
    each_scale::<T>(|name, order, scale| {
        let base = dominant::<T>(order);
        let a: Tensor<T> = cast(&mul(&base, scale).unwrap()).unwrap();
        let b: Tensor<T> = cast(&matmul(&base, uniform(order, 2, 9)).unwrap()).unwrap();
        let solutions = [
            ("lu", solve(&a, &b).unwrap()),
            ("qr", Qr::new(&a).unwrap().solve(&b).unwrap()),
            ("inv", inv(&a).unwrap()),
        ];
        for (method, x) in solutions {
            let x = mul(&widened(&x), as_column(scale)).unwrap();
            let of = norm(&base) * norm(&x);
            let expected = if method == "inv" { identity(order) } else { widened(&b) };
            let residual = minus(&matmul(&base, &x).unwrap(), &expected);
            assert_within::<T>(&format!("{method} of {name}"), residual, of, order);
        }
        let [q, r] = qr(&a).unwrap().map(|factor| widened(&factor));
        let product = matmul(&q, tenure::ops::div(&r, scale).unwrap()).unwrap();
        assert_within::<T>(&format!("qr of {name}"), minus(&product, &base), norm(&base), order);
        assert_orthonormal::<T>(name, &q);
    });
}

#[test]
fn least_squares_of_numbers_far_from_1_are_in_range() {
    for exponent in [530, 1000, -530, -1000] {
        let a = Tensor::from_vec(vec![2.0_f64.powi(exponent)], [1, 1]).unwrap();
        for of_b in [exponent, exponent / 2, exponent.signum() * 1000] {
            let x = lstsq(&a, &[2.0_f64.powi(of_b)]).unwrap();
            assert_near(&[x[[0]] / 2.0_f64.powi(of_b - exponent)], &[1.0]);
        }
    }
}

fn far_rows_and_columns<T: NativeFloat + Real>() {
    each_scale::<T>(|name, order, scale| {
        let base = dominant::<T>(order);
        let base = tenure::ops::add(&base, base.view().t()).unwrap();
        let roots = tenure::ops::sqrt(scale).unwrap();
        let columns = mul(&base, &roots).unwrap();
        let a: Tensor<T> = cast(&mul(&columns, as_column(&roots)).unwrap()).unwrap();
        let b: Tensor<T> = cast(&matmul(&base, uniform(order, 2, 9)).unwrap()).unwrap();
        let b = widened(&b);
        let right: Tensor<T> = cast(&mul(&b, as_column(&roots)).unwrap()).unwrap();
        let solutions = [
            ("cholesky", Cholesky::new(&a).unwrap().solve(&right).unwrap()),
            ("ldlt", Ldlt::new(&a).unwrap().solve(&right).unwrap()),
            ("lu", solve(&a, &right).unwrap()),
        ];
        for (method, x) in solutions {
            let x = mul(&widened(&x), as_column(&roots)).unwrap();
            let residual = minus(&matmul(&base, &x).unwrap(), &b);
            let of = norm(&base) * norm(&x);
            assert_within::<T>(&format!("{method} of {name}"), residual, of, order);
        }
    });
}

#[test]
fn determinants_are_products_whatever_their_order() {
    for scale in far_apart(4, FAR_OF_F64).iter().take(4) {
        let diagonal = mul(&identity(4), scale).unwrap();
        assert_eq!(det(&diagonal).unwrap(), scale.iter().map(|x| x.log2()).sum::<f64>().exp2());
    }
    let [huge, tiny] = [1000, -1000].map(|exponent| 2.0_f64.powi(exponent));
    let of_diagonal = |values: [f64; 3]| det(mul(&identity(3), &values).unwrap()).unwrap();
    assert_eq!(of_diagonal([huge, -huge, tiny]), -huge);
    assert_eq!(of_diagonal([tiny, tiny, huge]), tiny);
    assert_eq!(of_diagonal([huge, -huge, 1.0]), f64::NEG_INFINITY);
    assert_eq!(of_diagonal([tiny, tiny, 1.0]), 0.0);
    let [huge, tiny] = [100, -100].map(|exponent| 2.0_f32.powi(exponent));
    assert_eq!(det(&[[huge, 0.0, 0.0], [0.0, huge, 0.0], [0.0, 0.0, tiny]]).unwrap(), huge);
}

const A: [[f64; 4]; 4] =
    [[4.0, -2.0, 1.0, 3.0], [1.0, 5.0, -3.0, 2.0], [2.0, 0.0, 6.0, -1.0], [-1.0, 2.0, 2.0, 7.0]];

#[test]
fn values_are_those_of_numpy() {
    let b = [1.0, 2.0, 3.0, 4.0];
    let x = [0.17188823031329376, 0.5410668924640135, 0.4928027095681626, 0.30059271803556314];
    assert_near(solve(&A, &b).unwrap(), &x);
    assert_near(det(&A).unwrap(), &[1181.0]);
    let mut ends = Tensor::<f64>::zeros([4, 4]).unwrap();
    [1e200, 1e200, 1e-200, 3e-200].into_iter().enumerate().for_each(|(i, x)| ends[[i, i]] = x);
    assert_near(det(&ends).unwrap(), &[3.0]);
    let first =
        [0.17104149026248944, 0.1066892464013548, 0.05673158340389499, -0.09568162574089753];
    assert_near(inv(&A).unwrap().view().index(0, 0).unwrap(), &first);
    let values = [5.759996356804981, 6.294666506296104, 15.284434179218257, 16.660902957680662];
    let turned = TensorView::from_slice(A.as_flattened(), [4, 4]).unwrap().t();
    assert_near(eigvalsh(tenure::ops::add(&A, turned).unwrap()).unwrap(), &values);
    let values = [8.459219566582458, 7.769188128666117, 4.43144794658911, 4.05506957306692];
    assert_near(svdvals(&A).unwrap(), &values);
    let last = [2.73861278752583, 2.9738307367175416, 1.025638740027607, 6.372157870322155];
    let l = cholesky(matmul(&A, turned).unwrap()).unwrap();
    assert_near(l.view().index(0, 3).unwrap(), &last);

    // The rank is 2.
    let a = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [10.0, 11.0, 12.0]];
    let x = [-0.7277777777777771, -0.04444444444444334, 0.6388888888888872];
    assert_near(lstsq(&a, &[1.0, 0.0, 2.0, -1.0]).unwrap(), &x);
    let first =
        [-0.4833333333333336, -0.24444444444444383, -0.005555555555555336, 0.23333333333333284];
    assert_near(pinv(&a).unwrap().view().index(0, 0).unwrap(), &first);
}

#[test]
fn matrices_without_elements_are_taken_as_numpy_does() {
    let none = Tensor::<f64>::zeros([0, 0]).unwrap();
    assert_eq!(det(&none).unwrap(), 1.0);
    assert_eq!(Lu::new(&none).unwrap().det(), 1.0);
    assert_eq!(inv(&none).unwrap().shape(), [0, 0]);
    let vector = Tensor::<f64>::zeros(0).unwrap();
    assert_eq!(solve(&none, &vector).unwrap().shape(), [0]);
    let columns = Tensor::<f64>::zeros([0, 3]).unwrap();
    assert_eq!(solve(&none, &columns).unwrap().shape(), [0, 3]);
    assert_eq!(cholesky(&none).unwrap().shape(), [0, 0]);
    let factors = Ldlt::new(&none).unwrap();
    assert_eq!((factors.d().unwrap().shape(), factors.permutation().len()), (&[0, 0][..], 0));
    assert_eq!(factors.solve(&columns).unwrap().shape(), [0, 3]);
    let [values, vectors] = eigh(&none).unwrap();
    assert_eq!((values.shape(), vectors.shape()), (&[0][..], &[0, 0][..]));
    assert_eq!(eigvalsh(&none).unwrap().shape(), [0]);
    for shape in [[0, 3], [3, 0]] {
        let [rows, cols] = shape;
        let none = Tensor::<f64>::zeros(shape).unwrap();
        let [u, s, vt] = svd(&none).unwrap();
        assert_eq!((u.shape(), s.shape(), vt.shape()), (&[rows, 0][..], &[0][..], &[0, cols][..]));
        let [q, r] = qr(&none).unwrap();
        assert_eq!((q.shape(), r.shape()), (&[rows, 0][..], &[0, cols][..]));
        assert_eq!(pinv(&none).unwrap().shape(), [cols, rows]);
        let b = Tensor::<f64>::full(rows, 1.0).unwrap();
        assert_eq!(lstsq(&none, &b).unwrap().to_vec(), vec![0.0; cols]);
    }
    // Systems without a right side.
    let no_columns = Tensor::<f64>::zeros([4, 0]).unwrap();
    assert_eq!(solve(&A, &no_columns).unwrap().shape(), [4, 0]);
    assert_eq!(lstsq(&A, &no_columns).unwrap().shape(), [4, 0]);
}

#[test]
fn zeros_have_factors() {
    let zeros = Tensor::<f32>::zeros([3, 2]).unwrap();
    let factors = PivotedQr::new(&zeros).unwrap();
    assert_eq!((factors.rank(), factors.permutation()), (0, &[0, 1][..]));
    assert_eq!(factors.r().unwrap().to_vec(), [0.0; 4]);
    assert_orthonormal::<f32>("zeros", &widened(&factors.q().unwrap()));
    assert_eq!(lstsq(&zeros, &[1.0, 2.0, 3.0]).unwrap().to_vec(), [0.0; 2]);
    assert_eq!(svdvals(&zeros).unwrap().to_vec(), [0.0; 2]);
    assert_eq!(pinv(&zeros).unwrap().to_vec(), [0.0; 6]);
    assert_eq!(eigvalsh(&[[0.0; 3]; 3]).unwrap().to_vec(), [0.0; 3]);
    assert_eq!(det(&[[0.0; 3]; 3]).unwrap(), 0.0);
}

/// The message of a refusal.
#[track_caller]
fn refused<R>(result: tenure::Result<R>) -> String {
    let error = result.err().expect("it is refused");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    error.message().to_owned()
}

#[test]
fn shapes_that_do_not_fit_are_refused_whole() {
    let oblong = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let expected = "has shape [2, 3] but must be square";
    assert_eq!(refused(solve(&oblong, &[1.0, 2.0])), format!("solve: a {expected}"));
    assert_eq!(refused(inv(&oblong)), format!("inv: a {expected}"));
    assert_eq!(refused(det(&oblong)), format!("det: a {expected}"));
    assert_eq!(refused(Lu::new(&oblong)), format!("lu: a {expected}"));
    assert_eq!(refused(cholesky(&oblong)), format!("cholesky: a {expected}"));
    assert_eq!(refused(Ldlt::new(&oblong)), format!("ldlt: a {expected}"));
    assert_eq!(refused(eigh(&oblong)), format!("eigh: a {expected}"));
    assert_eq!(refused(eigvalsh(&oblong)), format!("eigvalsh: a {expected}"));

    let expected = "has shape [2] but must be a matrix, of rank 2";
    let vector = [1.0, 2.0];
    assert_eq!(refused(solve(&vector, &vector)), format!("solve: a {expected}"));
    assert_eq!(refused(lstsq(&vector, &vector)), format!("lstsq: a {expected}"));
    assert_eq!(refused(qr(&vector)), format!("qr: a {expected}"));
    assert_eq!(refused(svd(&vector)), format!("svd: a {expected}"));
    assert_eq!(refused(pinv(&vector)), format!("pinv: a {expected}"));
    assert_eq!(refused(det(1.0)), "det: a has shape [] but must be a matrix, of rank 2");

    let expected = "but a has shape [4, 4], so that b must be [4] or [4, k]";
    assert_eq!(refused(solve(&A, &[1.0; 3])), format!("solve: b has shape [3] {expected}"));
    assert_eq!(refused(lstsq(&A, &[[1.0; 4]; 3])), format!("lstsq: b has shape [3, 4] {expected}"));
    assert_eq!(refused(solve(&A, 1.0)), format!("solve: b has shape [] {expected}"));
    let factors = Lu::new(&A).unwrap();
    assert_eq!(refused(factors.solve(&[1.0; 5])), format!("lu solve: b has shape [5] {expected}"));
    let wide = Qr::new(&oblong).unwrap();
    assert_eq!(
        refused(wide.solve(&vector)),
        "qr solve: a has shape [2, 3], fewer rows than columns; lstsq takes it"
    );
}

#[test]
fn singular_and_indefinite_matrices_are_refused() {
    let singular = [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]];
    let expected = "a is singular: pivot 2 of its factorisation is 0";
    assert_eq!(refused(solve(&singular, &[1.0; 3])), format!("solve: {expected}"));
    assert_eq!(refused(inv(&singular)), format!("inv: {expected}"));
    assert_eq!(refused(Lu::new(&singular)), format!("lu: {expected}"));
    assert_eq!(det(&singular).unwrap(), 0.0);
    let zeros = [[0.0; 2]; 2];
    let expected = "a is singular: pivot 0 of its factorisation is 0";
    assert_eq!(refused(Ldlt::new(&zeros)), format!("ldlt: {expected}"));
    assert_eq!(refused(Lu::new(&zeros)), format!("lu: {expected}"));
    let factors = Qr::new(&zeros).unwrap();
    assert_eq!(refused(factors.solve(&[1.0, 1.0])), format!("qr solve: {expected}"));
    // Rows behind a pivot that is 0 are no numbers, and not looked at.
    let mut large = uniform(60, 60, 3);
    (0..60).for_each(|row| large[[row, 20]] = 0.0);
    assert_eq!(det(&large).unwrap(), 0.0);

    let expected = "a is not positive definite: its leading minor of order";
    let indefinite = [[1.0, 2.0], [2.0, 1.0]];
    assert_eq!(refused(cholesky(&indefinite)), format!("cholesky: {expected} 2 is not positive"));
    assert_eq!(refused(cholesky(&zeros)), format!("cholesky: {expected} 1 is not positive"));
}

#[test]
fn elements_that_are_not_finite_are_refused_with_their_index() {
    let mut a = A;
    a[2][1] = f64::NAN;
    let expected = "a[2, 1] is NaN but must be finite";
    assert_eq!(refused(solve(&a, &[1.0; 4])), format!("solve: {expected}"));
    assert_eq!(refused(det(&a)), format!("det: {expected}"));
    assert_eq!(refused(cholesky(&a)), format!("cholesky: {expected}"));
    assert_eq!(refused(Ldlt::new(&a)), format!("ldlt: {expected}"));
    assert_eq!(refused(qr(&a)), format!("qr: {expected}"));
    assert_eq!(refused(lstsq(&a, &[1.0; 4])), format!("lstsq: {expected}"));
    assert_eq!(refused(eigh(&a)), format!("eigh: {expected}"));
    assert_eq!(refused(svd(&a)), format!("svd: {expected}"));
    assert_eq!(refused(pinv(&a)), format!("pinv: {expected}"));
    let mut b = [[1.0_f32, 2.0]; 3];
    b[1][1] = f32::NEG_INFINITY;
    let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    assert_eq!(refused(solve(&identity, &b)), "solve: b[1, 1] is -inf but must be finite");
    let b = [1.0, 1.0, f32::INFINITY];
    assert_eq!(refused(lstsq(&identity, &b)), "lstsq: b[2] is inf but must be finite");
    // Sums of these overflow, and they are finite.
    let large = [[f32::MAX, 0.0], [f32::MAX, f32::MAX]];
    assert_eq!(svdvals(&large).unwrap().len(), 2);
    let x = widened(&solve(&large, &[f32::MAX, f32::MAX]).unwrap());
    assert!((x[[0]] - 1.0).abs() < 1e-6 && x[[1]].abs() < 1e-6);
}

#[test]
fn more_memory_than_there_is_is_refused() {
    let wide = Tensor::<f64>::zeros([0, 1 << 60]).unwrap();
    let none = Tensor::<f64>::zeros(0).unwrap();
    for error in [PivotedQr::new(&wide).err().unwrap(), lstsq(&wide, &none).err().unwrap()] {
        assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
    }
}
