//! Iterative solvers: iterations and solutions compared with SciPy's, plain reference
//! implementations, and refusals.
#![allow(clippy::needless_borrows_for_generic_args, reason = "as users have operands")]

use tenure::{
    CooView, CsrMatrix, CsrView, ErrorKind, Ilu0, Jacobi, Krylov, LinearOperator, Lsqr,
    NativeFloat, Result, Tensor, TensorView, Unsolved,
    linalg::{bicgstab, cg, lsqr},
    sparse::gallery,
};

/// The grid that the iterations of SciPy below are of, and its right side.
fn grid() -> (CsrMatrix<f64>, Vec<f64>) {
    let a: CsrMatrix<f64> = gallery::poisson([12, 11, 10]).unwrap();
    let b = (0..1320).map(|place| f64::from(place * 7 % 11) - 5.0).collect();
    (a, b)
}

/// The grid with a wind: not symmetric.
fn windy() -> CsrMatrix<f64> {
    let (a, _) = grid();
    let of_grid = a.view();
    let wind = (0..1319).flat_map(|place| [(place, place + 1, 0.5), (place + 1, place, -0.5)]);
    let entries = of_grid.iter().map(|(row, col, &value)| (row as i32, col as i32, value));
    coalesced(1320, 1320, entries.chain(wind))
}

fn coalesced(
    rows: usize,
    cols: usize,
    entries: impl Iterator<Item = (i32, i32, f64)>,
) -> CsrMatrix<f64> {
    let (mut row_indices, mut col_indices, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (row, col, value) in entries {
        row_indices.push(row);
        col_indices.push(col);
        values.push(value);
    }
    let view = CooView::new(rows, cols, &row_indices, &col_indices, &values).unwrap();
    let summed = view.coalesce(tenure::Combine::Sum).unwrap();
    summed.view().to_csr().unwrap().check_coalesced().ok().unwrap()
}

/// Rows and columns times powers of ten.
fn graded() -> CsrMatrix<f64> {
    let (a, _) = grid();
    let scale = |place: usize| 10.0_f64.powi(place as i32 % 3);
    let entries = a.view();
    let entries = entries.iter().map(|(row, col, &value)| (row, col, value));
    let entries =
        entries.map(|(row, col, value)| (row as i32, col as i32, scale(row) * value * scale(col)));
    coalesced(1320, 1320, entries)
}

fn oblong() -> (CsrMatrix<f64>, Vec<f64>) {
    let places = (0..60).flat_map(|row| (0..20).map(move |col| (row, col)));
    let entries = places
        .filter(|(row, col)| (row * 3 + col * 5) % 7 == 0)
        .map(|(row, col)| (row, col, f64::from(row * col % 5) - 1.5));
    (coalesced(60, 20, entries), (0..60).map(|row| f64::from(row * 7 % 11) - 5.0).collect())
}

/// The length of b - a x.
fn residual(a: &impl LinearOperator<f64>, x: &Tensor<f64>, b: &[f64]) -> f64 {
    let mut product = vec![0.0; b.len()];
    a.apply_into(x.as_ref(), &mut product).unwrap();
    let squares = product.iter().zip(b).map(|(one, other)| (one - other) * (one - other));
    squares.sum::<f64>().sqrt()
}

fn length(a: &[f64]) -> f64 {
    a.iter().map(|one| one * one).sum::<f64>().sqrt()
}

/// Asserts a solution after SciPy's count of iterations, except for rounding.
#[track_caller]
fn assert_solved(
    a: &CsrMatrix<f64>,
    b: &[f64],
    solution: std::result::Result<tenure::Solution<f64>, Unsolved<f64>>,
    iterations: usize,
) {
    let solution = solution.unwrap();
    let allowed = 1 + iterations / 20;
    assert!(solution.iterations.abs_diff(iterations) <= allowed, "{}", solution.iterations);
    let residual = residual(a, &solution.x, b);
    assert!(residual <= 1.1e-8 * length(b), "{residual:e}");
    assert!((residual - solution.residual_norm).abs() <= 1e-10 * length(b));
}

const NEAR: Krylov<'static, f64> = Krylov::new().relative_tolerance(1e-8);

#[test]
fn cg_takes_the_iterations_of_scipy() {
    let (a, b) = grid();
    assert_solved(&a, &b, cg(&a, &b, NEAR), 47);
    let jacobi = Jacobi::new(a.view()).unwrap();
    assert_solved(&a, &b, cg(&a, &b, NEAR.preconditioner(&jacobi)), 47);
    let ilu = Ilu0::new(a.view().check_coalesced().unwrap()).unwrap();
    assert_solved(&a, &b, cg(&a, &b, NEAR.preconditioner(&ilu)), 18);

    let a = graded();
    assert_solved(&a, &b, cg(&a, &b, NEAR), 123);
    let jacobi = Jacobi::new(a.view()).unwrap();
    assert_solved(&a, &b, cg(&a, &b, NEAR.preconditioner(&jacobi)), 57);
    let by_columns = a.view().to_csc().unwrap();
    let jacobi = Jacobi::new(by_columns.view()).unwrap();
    assert_solved(&a, &b, cg(&by_columns, &b, NEAR.preconditioner(&jacobi)), 57);
}

#[test]
fn bicgstab_takes_the_iterations_of_scipy() {
    let (a, (_, b)) = (windy(), grid());
    assert_solved(&a, &b, bicgstab(&a, &b, NEAR), 42);
    let jacobi = Jacobi::new(a.view()).unwrap();
    assert_solved(&a, &b, bicgstab(&a, &b, NEAR.preconditioner(&jacobi)), 42);
    let ilu = Ilu0::new(a.view()).unwrap();
    assert_solved(&a, &b, bicgstab(&a, &b, NEAR.preconditioner(&ilu)), 12);
    // A factorisation that is complete leaves nothing to iterate.
    let entries = (0..50).flat_map(|row| [(row, row, 3.0), (row, (row + 1).min(49), -1.0)]);
    let a = coalesced(50, 50, entries);
    let ilu = Ilu0::new(a.view()).unwrap();
    let solution = bicgstab(&a, &b[..50], NEAR.preconditioner(&ilu)).unwrap();
    assert_eq!(solution.iterations, 1);
}

#[test]
fn lsqr_takes_the_iterations_of_scipy() {
    let (a, b) = oblong();
    let exact = Lsqr::new().a_tolerance(1e-10).b_tolerance(1e-10);
    let solution = lsqr(&a, &b, exact).unwrap();
    assert_eq!(solution.iterations, 14);
    assert!((solution.residual_norm - 20.944107806412998).abs() < 1e-9);
    let near = |solution: &tenure::Solution<f64>, expected: [f64; 4]| {
        let pairs = solution.x.iter().zip(expected);
        pairs.fold(0.0, |most: f64, (one, other)| most.max((one - other).abs())) < 1e-9
    };
    let x = [0.21999999999999986, -0.7142857142857142, -0.23954802259887018, 1.4];
    assert!(near(&solution, x));
    let damped = lsqr(&a, &b, exact.damping(0.5)).unwrap();
    let x = [0.21299381247025237, -0.6896821718051189, -0.22717823957192618, 1.3643943270227366];
    assert!(near(&damped, x) && damped.iterations == 14);
    assert!((damped.residual_norm - 20.947536319951908).abs() < 1e-9);

    let jacobi = Jacobi::of_columns(a.view()).unwrap();
    let solution = lsqr(&a, &b, exact.preconditioner(&jacobi)).unwrap();
    assert!(near(&solution, [0.21999999999999986, -0.7142857142857142, -0.23954802259887018, 1.4]));
    let start = lsqr(&a, &b, exact.start(&solution.x)).unwrap();
    assert!(
        start.iterations <= 14
            && near(&start, [0.22, -0.7142857142857142, -0.23954802259887018, 1.4])
    );

    // A square system, on the way that is solved and not made short.
    let (a, (_, b)) = (windy(), grid());
    let how = Lsqr::new().a_tolerance(1e-8).b_tolerance(1e-8);
    let solution = lsqr(&a, &b, how).unwrap();
    assert!(solution.iterations.abs_diff(148) <= 8, "{}", solution.iterations);
    assert!(residual(&a, &solution.x, &b) < 1e-4);
    let ilu = Ilu0::new(a.view()).unwrap();
    let preconditioned = lsqr(&a, &b, how.preconditioner(&ilu)).unwrap();
    assert!(preconditioned.iterations < solution.iterations / 2);
    assert!(residual(&a, &preconditioned.x, &b) < 1e-4);
}

#[test]
fn other_operators_and_types_are_taken() {
    let (a, b) = grid();
    let packed = a.view().pack().unwrap();
    assert_solved(&a, &b, cg(&packed, &b, NEAR), 47);
    let dense = a.view().row_range(..200).unwrap().to_block(.., ..200).unwrap().to_dense().unwrap();
    let b = &b[..200];
    let solution = cg(&dense, b, NEAR).unwrap();
    assert!(residual(&dense, &solution.x, b) <= 1.1e-8 * length(b));
    let solution = lsqr(dense.view().t(), b, Lsqr::new()).unwrap();
    assert!(residual(&dense, &solution.x, b) <= 1e-3 * length(b));
    let blocks = a.view().to_bsr([2, 2]).unwrap();
    let strided: Vec<f64> = grid().1.iter().flat_map(|&one| [one, 9.0]).collect();
    let every_other = TensorView::from_slice(&strided, [1320, 2]).unwrap();
    let every_other = every_other.index(1, 0).unwrap();
    assert_solved(&a, &grid().1, cg(&blocks, every_other, NEAR), 47);

    let narrow: CsrMatrix<f32, i64> = gallery::poisson([12, 11, 10]).unwrap();
    let b: Vec<f32> = grid().1.iter().map(|&one| one as f32).collect();
    let solution = cg(&narrow, &b, Krylov::new().relative_tolerance(1e-4)).unwrap();
    assert!(solution.iterations.abs_diff(27) <= 1, "{}", solution.iterations);
    let wide: Tensor<f64> = tenure::ops::cast(&solution.x).unwrap();
    assert!(residual(&a, &wide, &grid().1) <= 2e-4 * length(&grid().1));
}

#[test]
fn solvers_start_where_they_are_told() {
    let (a, b) = grid();
    let solution = cg(&a, &b, NEAR).unwrap();
    for again in [cg(&a, &b, NEAR.start(&solution.x)), bicgstab(&a, &b, NEAR.start(&solution.x))] {
        assert_eq!(again.unwrap().iterations, 0);
    }
    let zeros = cg(&a, &[0.0; 1320], Krylov::new()).unwrap();
    assert_eq!((zeros.iterations, zeros.residual_norm), (0, 0.0));
    assert_eq!(zeros.x.to_vec(), [0.0; 1320]);
    let near = cg(&a, &b, Krylov::new().relative_tolerance(0.0).absolute_tolerance(1.0)).unwrap();
    assert!(near.residual_norm <= 1.0 && near.iterations < 47);
    let none = Tensor::<f64>::zeros([0, 0]).unwrap();
    let nothing = Tensor::<f64>::zeros(0).unwrap();
    assert_eq!(cg(&none, &nothing, NEAR).unwrap().x.len(), 0);
    assert_eq!(bicgstab(&none, &nothing, NEAR).unwrap().iterations, 0);
    assert_eq!(lsqr(&none, &nothing, Lsqr::new()).unwrap().x.len(), 0);
    let (oblong, _) = oblong();
    assert_eq!(lsqr(&oblong, &[0.0; 60], Lsqr::new()).unwrap().x.to_vec(), [0.0; 20]);
}

/// Numbers near the ends of the range: their squares are beyond it.
#[test]
fn scale_does_not_matter() {
    let (a, b) = grid();
    let how = Lsqr::new().a_tolerance(1e-8).b_tolerance(1e-8);
    let expected = lsqr(&a, &b, how).unwrap();
    for scale in [1e-200, 1e200] {
        let b: Vec<f64> = b.iter().map(|one| one * scale).collect();
        let solution = lsqr(&a, &b, how).unwrap();
        assert_eq!(solution.iterations, expected.iterations);
        for (one, other) in solution.x.iter().zip(expected.x.iter()) {
            // The remaining tolerance, times the condition number.
            assert!((one / scale - other).abs() < 1e-5);
        }
    }
    let b: Vec<f64> = b.iter().map(|one| one * 1e-100).collect();
    assert_solved(&a, &b, cg(&a, &b, NEAR), 47);
}

/// An operator times a number.
struct Times<'a, T: NativeFloat>(&'a dyn LinearOperator<T>, T);

macro_rules! times {
    ($($type:ident)*) => {$(
        impl LinearOperator<$type> for Times<'_, $type> {
            fn extents(&self) -> [usize; 2] {
                self.0.extents()
            }
            fn apply_into(&self, x: &[$type], out: &mut [$type]) -> Result<()> {
                self.0.apply_into(x, out)?;
                out.iter_mut().for_each(|out| *out *= self.1);
                Ok(())
            }
            fn apply_transposed_into(&self, x: &[$type], out: &mut [$type]) -> Result<()> {
                self.0.apply_transposed_into(x, out)?;
                out.iter_mut().for_each(|out| *out *= self.1);
                Ok(())
            }
        }
    )*};
}
times! { f32 f64 }

/// Every solver with each preconditioner and without, with a start and without. Powers of two times
/// b and the matrix, up to the ends of the range, change neither the iterations nor a bit.
macro_rules! scales {
    ($type:ident, $least:literal, $most:literal, $tolerance:literal) => {{
        type T = $type;
        let power = |exponent: i32| (2.0 as T).powi(exponent);
        let times = |vector: &[T], exponent: i32| -> Vec<T> {
            // In two steps: the power may overflow where the product does not.
            let [one, other] = [exponent / 2, exponent - exponent / 2].map(power);
            vector.iter().map(|x| x * one * other).collect()
        };
        let narrow = |values: &[f64]| -> Vec<T> { values.iter().map(|x| *x as T).collect() };
        let exponents = [$least, $least / 2, -40, -1, 1, 40, $most / 2, $most];
        let pairs = exponents.into_iter().flat_map(|of_b| {
            let of_a = [0, of_b, of_b / 2, -of_b / 3];
            of_a.into_iter()
                .chain((of_b == 1).then_some(exponents).into_iter().flatten())
                .map(move |of_a| (of_b, of_a))
        });
        // The solution has a number too.
        let pairs = pairs.filter(|(of_b, of_a)| ($least..=$most).contains(&(of_b - of_a)));
        let pairs: Vec<(i32, i32)> = pairs.collect();

        let ((grid, b), windy, (oblong, of_oblong)) = (small_grid(), small_wind(), oblong());
        for (name, a, b) in
            [("grid", &grid, &b), ("windy", &windy, &b), ("oblong", &oblong, &of_oblong)]
        {
            let (values, b) = (narrow(a.values()), narrow(b));
            let start: Vec<T> = (0..a.cols()).map(|i| (i % 5) as T / 8.0 - 0.2).collect();
            // The solution, the iterations and the residual of one of the ways.
            let solve = |of_b: i32, of_a: i32, way: usize| {
                let (values, b) = (times(&values, of_a), times(&b, of_b));
                let start = times(&start, of_b - of_a);
                let a = a.view().with_values(&values).unwrap();
                let is_started = way % 2 == 1;
                let jacobi = || match name {
                    "oblong" => Jacobi::of_columns(a),
                    _ => Jacobi::new(a),
                };
                let inverses: Option<Box<dyn LinearOperator<T>>> = match way / 2 {
                    0 => None,
                    1 => Some(Box::new(jacobi().unwrap())),
                    _ if name == "oblong" => None,
                    _ => Some(Box::new(Ilu0::new(a).unwrap())),
                };
                // A preconditioner of any scale is as good.
                let inverse = inverses.as_ref().map(|of| Times(&**of, power(of_b / 5)));
                let mut krylov = Krylov::new()
                    .relative_tolerance($tolerance)
                    .absolute_tolerance(1e-9 * f64::from(power(of_b)));
                let damping = 0.25 * f64::from(power(of_a));
                let mut lsqr_how = Lsqr::new().a_tolerance($tolerance).b_tolerance($tolerance);
                if way / 2 == 0 {
                    lsqr_how = lsqr_how.damping(damping);
                }
                if let Some(inverse) = &inverse {
                    krylov = krylov.preconditioner(inverse);
                    lsqr_how = lsqr_how.preconditioner(inverse);
                }
                if is_started {
                    krylov = krylov.start(&start);
                    lsqr_how = lsqr_how.start(&start);
                }
                let solution = match name {
                    "grid" => cg(a, &b, krylov),
                    "windy" => bicgstab(a, &b, krylov),
                    _ => lsqr(a, &b, lsqr_how),
                };
                let solution = solution.unwrap_or_else(|unsolved| {
                    panic!("{name} {of_b} {of_a} {way}: {}", unsolved.error())
                });
                (solution.x.to_vec(), solution.iterations, solution.residual_norm)
            };
            for way in 0..6 {
                let (x, iterations, residual) = solve(0, 0, way);
                assert!(iterations > 1, "{name} {way}");
                for &(of_b, of_a) in &pairs {
                    let (scaled, as_many, scaled_residual) = solve(of_b, of_a, way);
                    let case = format!("{name} {of_b} {of_a} {way}");
                    assert_eq!(as_many, iterations, "{case}");
                    assert_eq!(scaled, times(&x, of_b - of_a), "{case}");
                    let ratio = scaled_residual / (residual * f64::from(power(of_b)));
                    assert!((ratio - 1.0).abs() < 1e-3, "{case}: {ratio}");
                }
            }
        }
    }};
}

fn small_grid() -> (CsrMatrix<f64>, Vec<f64>) {
    let a: CsrMatrix<f64> = gallery::poisson([5, 4, 3]).unwrap();
    (a, (0..60).map(|place| f64::from(place * 7 % 11) - 4.5).collect())
}

fn small_wind() -> CsrMatrix<f64> {
    let (a, _) = small_grid();
    let wind = (0..59).flat_map(|place| [(place, place + 1, 0.5), (place + 1, place, -0.5)]);
    let of_grid = a.view();
    let entries = of_grid.iter().map(|(row, col, &value)| (row as i32, col as i32, value));
    coalesced(60, 60, entries.chain(wind))
}

#[test]
fn powers_of_two_change_no_bit() {
    // Elements of the vectors are a few powers of two away.
    scales!(f64, -980, 980, 1e-8);
    scales!(f32, -100, 100, 1e-4);
}

/// Systems and starts with squares beyond the range of the type.
#[test]
fn scales_of_a_system_lead_to_its_solution() {
    let a = [[4.0, 1.0], [1.0, 3.0]];
    for exponent in (-300..=300).step_by(10) {
        let scale = 10.0_f64.powi(exponent);
        let a = TensorView::from_slice(a.as_flattened(), [2, 2]).unwrap();
        let larger = a.to_vec().into_iter().map(|x| x * scale).collect::<Vec<_>>();
        let larger = TensorView::from_slice(&larger, [2, 2]).unwrap();
        let b = [6.0 * scale, 7.0 * scale];
        for (a, b, x) in [(a, b, [scale, 2.0 * scale]), (larger, b, [1.0, 2.0])] {
            let how = Krylov::new().relative_tolerance(1e-12);
            let exact = Lsqr::new().a_tolerance(1e-12).b_tolerance(1e-12);
            // One start is in proportion, the others are much too large and much too small.
            for start in [None, Some(0.5 * x[0]), Some(1e290), Some(1e-290)] {
                let start = start.map(|start| [start, -start]);
                let (mut how, mut exact) = (how, exact);
                if let Some(start) = &start {
                    (how, exact) = (how.start(start), exact.start(start));
                }
                for found in [cg(a, &b, how), bicgstab(a, &b, how), lsqr(a, &b, exact)] {
                    let found = found.unwrap_or_else(|unsolved| panic!("{start:?}: {unsolved}"));
                    let errors = [found.x[[0]] / x[0] - 1.0, found.x[[1]] / x[1] - 1.0];
                    assert!(errors.iter().all(|error| error.abs() < 1e-9), "{exponent} {start:?}");
                    assert!(found.iterations <= 3, "{exponent} {start:?}");
                }
            }
        }
    }
    for exponent in -36..=36 {
        let scale = 10.0_f32.powi(exponent);
        let a = [4.0, 1.0, 1.0, 3.0];
        let larger = a.map(|x| x * scale);
        let b = [6.0 * scale, 7.0 * scale];
        for (a, x) in [(&a, scale), (&larger, 1.0)] {
            let a = TensorView::from_slice(a, [2, 2]).unwrap();
            for start in [[0.0; 2], [0.5 * x, x], [1e36, -1e36], [1e-36, 1e-36]] {
                let how = Krylov::new().start(&start);
                let exact = Lsqr::new().start(&start);
                for found in [cg(a, &b, how), bicgstab(a, &b, how), lsqr(a, &b, exact)] {
                    let found = found.unwrap_or_else(|unsolved| panic!("{start:?}: {unsolved}"));
                    let errors = [found.x[[0]] / x - 1.0, found.x[[1]] / x - 2.0];
                    assert!(errors.iter().all(|error| error.abs() < 1e-3), "{exponent} {start:?}");
                }
            }
        }
    }
}

#[test]
fn a_right_side_of_zeros_has_the_solution_0() {
    let a = [[4.0, 1.0], [1.0, 3.0]];
    let a = TensorView::from_slice(a.as_flattened(), [2, 2]).unwrap();
    for start in [[1.0, -2.0], [1e300, 1e-300], [0.0; 2]] {
        let how = Krylov::new().start(&start);
        let b = [0.0; 2];
        for found in [cg(a, &b, how), bicgstab(a, &b, how), lsqr(a, &b, Lsqr::new().start(&start))]
        {
            let found = found.unwrap();
            assert_eq!((found.x.to_vec(), found.iterations), (vec![0.0; 2], 0));
            assert_eq!(found.residual_norm, 0.0);
        }
    }
}

/// Columns whose squares leave the range are no columns of zeros.
#[test]
fn lengths_of_columns_have_any_scale() {
    for scale in [1e-300, 1e-170, 1.0, 1e170, 1e300] {
        let values = [3.0, 3.0 * scale, 0.0, 4.0, 4.0 * scale];
        let a = CsrView::new(2, 3, &[0, 3, 5], &[0, 1, 2, 0, 1], &values).unwrap();
        let mut out = [0.0_f64; 3];
        Jacobi::of_columns(a).unwrap().apply_into(&[5.0, 5.0 * scale, 1.0], &mut out).unwrap();
        assert!(out.iter().all(|x| (x - 1.0).abs() < 1e-15), "{scale}: {out:?}");
    }
}

/// Compares the factorisation and its substitutions with a dense reference implementation.
#[test]
fn incomplete_factors_are_those_of_the_plain_way() {
    let a = coalesced(40, 40, {
        let of_diagonal = (0..40).map(|place| (place, place, 5.0 + f64::from(place % 3)));
        let others = (0..40)
            .flat_map(|row| [(row, (row * 7 + 3) % 40, -1.0), (row, (row * 11 + 5) % 40, 0.75)]);
        of_diagonal.chain(others)
    });
    let dense = a.to_dense().unwrap();
    let mut factors = dense.try_clone().unwrap();
    for row in 0..40 {
        for pivot in (0..row).filter(|&pivot| dense[[row, pivot]] != 0.0) {
            factors[[row, pivot]] /= factors[[pivot, pivot]];
            for col in (pivot + 1..40).filter(|&col| dense[[row, col]] != 0.0) {
                let product = factors[[row, pivot]] * factors[[pivot, col]];
                factors[[row, col]] -= product;
            }
        }
    }
    let substitute = |x: &[f64], is_turned: bool| {
        let at = |row, col| if is_turned { factors[[col, row]] } else { factors[[row, col]] };
        let mut out = x.to_vec();
        for row in 0..40 {
            (0..row).for_each(|col| out[row] -= at(row, col) * out[col]);
            out[row] /= if is_turned { at(row, row) } else { 1.0 };
        }
        for row in (0..40).rev() {
            (row + 1..40).for_each(|col| out[row] -= at(row, col) * out[col]);
            out[row] /= if is_turned { 1.0 } else { at(row, row) };
        }
        out
    };
    let ilu = Ilu0::new(a.view()).unwrap();
    let x: Vec<f64> = (0..40).map(|place| f64::from(place * 13 % 17) - 8.0).collect();
    let mut out = vec![0.0; 40];
    for is_turned in [false, true] {
        match is_turned {
            false => ilu.apply_into(&x, &mut out).unwrap(),
            true => ilu.apply_transposed_into(&x, &mut out).unwrap(),
        }
        for (one, other) in out.iter().zip(substitute(&x, is_turned)) {
            assert!((one - other).abs() < 1e-13 * other.abs().max(1.0), "{one} {other}");
        }
    }
}

/// A range of rows, whose offsets do not begin at 0.
#[test]
fn parts_of_a_matrix_have_factors() {
    let (offsets, columns, values) = ([1, 2, 4], [0, 0, 0, 1], [9.0, 2.0, 1.0, 4.0]);
    let mut out = [0.0; 2];
    let lower = CsrView::new(2, 2, &offsets, &columns, &values);
    let part = lower.unwrap().check_coalesced().unwrap();
    Ilu0::new(part).unwrap().apply_into(&[2.0, 5.0], &mut out).unwrap();
    assert_eq!(out, [1.0, 1.0]);
}

#[track_caller]
fn message<T: NativeFloat>(
    result: std::result::Result<tenure::Solution<T>, Unsolved<T>>,
    kind: ErrorKind,
) -> String {
    let unsolved = result.expect_err("it is refused");
    assert_eq!(unsolved.reached().is_some(), kind == ErrorKind::NoConvergence);
    let (error, _) = unsolved.into_parts();
    assert_eq!(error.kind(), kind);
    error.message().to_owned()
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |result| message::<f64>(result, ErrorKind::InvalidArgument);
    let (a, b) = oblong();
    assert_eq!(refused(cg(&a, &b, NEAR)), "cg: a has shape [60, 20] but must be square");
    assert_eq!(
        refused(bicgstab(&a, &b, NEAR)),
        "bicgstab: a has shape [60, 20] but must be square"
    );
    assert_eq!(
        refused(lsqr(&a, &b[1..], Lsqr::new())),
        "lsqr: b has shape [59] but a has shape [60, 20], so that it must be [60]"
    );
    assert_eq!(
        refused(lsqr(&a, &b, Lsqr::new().start(&b))),
        "lsqr: start has shape [60] but a has shape [60, 20], so that it must be [20]"
    );
    let square = [[2.0, 0.0], [0.0, 3.0]];
    let square = TensorView::from_slice(square.as_flattened(), [2, 2]).unwrap();
    assert_eq!(
        refused(cg(square, &[[1.0], [2.0]], NEAR)),
        "cg: b has shape [2, 1] but a has shape [2, 2], so that it must be [2]"
    );
    let (grid, _) = grid();
    let jacobi = Jacobi::new(grid.view()).unwrap();
    assert_eq!(
        refused(bicgstab(square, &[1.0, 2.0], NEAR.preconditioner(&jacobi))),
        "bicgstab: the preconditioner has shape [1320, 1320] but a has shape [2, 2], so that it \
         must be [2, 2]"
    );
    assert!(
        refused(lsqr(square, &[1.0, 2.0], Lsqr::new().preconditioner(&jacobi)))
            .starts_with("lsqr: the p")
    );
    let none = Krylov::new().absolute_tolerance(f64::NAN);
    assert_eq!(
        refused(cg(square, &[1.0, 2.0], none)),
        "cg: absolute_tolerance is NaN but must be 0 at least"
    );
    assert_eq!(
        refused(lsqr(square, &[1.0, 2.0], Lsqr::new().damping(-1.0))),
        "lsqr: damping is -1 but must be 0 at least"
    );
    assert_eq!(
        refused(cg(square, &[1.0, f64::INFINITY], NEAR)),
        "cg: b[1] is inf but must be finite"
    );
    assert_eq!(
        refused(bicgstab(square, &[1.0, 2.0], NEAR.start(&[f64::NAN, 0.0]))),
        "bicgstab: start[0] is NaN but must be finite"
    );

    let refused = |result: Result<Jacobi<f64>>| result.err().unwrap().message().to_owned();
    assert_eq!(refused(Jacobi::new(a.view())), "jacobi: a has shape [60, 20] but must be square");
    let holed =
        CsrView::new(2, 2, &[0, 1, 2], &[0, 0], &[1.0, 1.0]).unwrap().check_coalesced().unwrap();
    assert_eq!(refused(Jacobi::new(holed)), "jacobi: a[1, 1] is 0, which has no finite reciprocal");
    let large = CsrView::new(1, 1, &[0, 1], &[0], &[f64::INFINITY]).unwrap();
    assert_eq!(
        refused(Jacobi::of_columns(large)),
        "jacobi: column 0 of a has length inf, which has no finite reciprocal"
    );
    let refused = |a| Ilu0::<f64>::new(a).err().unwrap().message().to_owned();
    assert_eq!(refused(a.view()), "ilu0: a has shape [60, 20] but must be square");
    assert_eq!(refused(holed), "ilu0: a has no entry on the diagonal in row 1");
    let unknown = CsrView::new(1, 1, &[0, 1], &[0], &[1.0]).unwrap();
    assert!(refused(unknown).starts_with("ilu0: a is not known to be coalesced"));
    let zero = CsrView::new(2, 2, &[0, 2, 4], &[0, 1, 0, 1], &[1.0, 1.0, 1.0, 1.0]).unwrap();
    assert_eq!(
        refused(zero.check_coalesced().unwrap()),
        "ilu0: the pivot of row 1 is 0, which has no finite reciprocal"
    );
}

#[test]
fn what_does_not_converge_says_how_far_it_got() {
    let said = |result| message::<f64>(result, ErrorKind::NoConvergence);
    let (a, b) = grid();
    let few = NEAR.max_iterations(3);
    let text = said(cg(&a, &b, few));
    assert!(
        text.starts_with("cg: no convergence after 3 iterations, with a residual of "),
        "{text}"
    );
    assert!(text.ends_with("was asked for: the iterations are used up"), "{text}");
    assert!(said(bicgstab(&a, &b, few)).starts_with("bicgstab: no convergence after 3 iterations"));
    let text = said(lsqr(&a, &b, Lsqr::new().max_iterations(3)));
    assert!(text.starts_with("lsqr: no convergence after 3 iterations"), "{text}");
    let reached = lsqr(&a, &b, Lsqr::new().max_iterations(3)).err().unwrap();
    let norm = reached.reached().unwrap().residual_norm;
    let shown = residual(&a, &reached.reached().unwrap().x, &b);
    assert!((norm - shown).abs() < 1e-9 * shown, "{norm} {shown}");

    // Neither definite nor, for its shadow, ever of use.
    let indefinite = [1.0, 0.0, 0.0, -1.0];
    let indefinite = TensorView::from_slice(&indefinite, [2, 2]).unwrap();
    assert!(
        said(cg(indefinite, &[1.0, 2.0], NEAR))
            .ends_with("breakdown, as a direction p times a p is -3e0")
    );
    let negative = CsrView::new(2, 2, &[0, 1, 2], &[0, 1], &[-1.0, -1.0]).unwrap();
    let inverse = Jacobi::new(negative).unwrap();
    assert!(
        said(cg(indefinite, &[1.0, 2.0], NEAR.preconditioner(&inverse)))
            .ends_with("the residual times the preconditioned residual is -5e0")
    );
    let turn = TensorView::from_slice(&[0.0, 1.0, -1.0, 0.0], [2, 2]).unwrap();
    assert!(
        said(bicgstab(turn, &[1.0, 0.0], NEAR))
            .ends_with("breakdown, as the shadow residual times a p is 0e0")
    );
    let step = TensorView::from_slice(&[1.0, 1.0, -1.0, 1.0], [2, 2]).unwrap();
    assert_eq!(bicgstab(step, &[1.0, 0.0], NEAR).unwrap().iterations, 2);
    let nan = TensorView::from_slice(&[1.0, f64::NAN, f64::NAN, 1.0], [2, 2]).unwrap();
    assert!(said(cg(nan, &[1.0, 1.0], NEAR)).ends_with("is NaN"));
    assert!(said(bicgstab(nan, &[1.0, 1.0], NEAR)).ends_with("is NaN"));
    assert!(
        said(lsqr(nan, &[1.0, 1.0], Lsqr::new())).ends_with("a number left the range of its type")
    );
    let steep = TensorView::from_slice(&[1.0, 0.0, 0.0, 1e-9], [2, 2]).unwrap();
    let how = Lsqr::new().a_tolerance(0.0).b_tolerance(0.0).condition_limit(1e6);
    assert!(said(lsqr(steep, &[1.0, 1.0], how)).ends_with("the condition of a is above its limit"));
}

#[test]
fn errors_of_operators_are_handed_on() {
    struct Refusing;
    impl LinearOperator<f64> for Refusing {
        fn extents(&self) -> [usize; 2] {
            [2, 2]
        }
        fn apply_into(&self, x: &[f64], out: &mut [f64]) -> Result<()> {
            tenure::ops::copy_into(x, &mut out[1..])
        }
    }
    for result in [cg(&Refusing, &[1.0, 2.0], NEAR), bicgstab(&Refusing, &[1.0, 2.0], NEAR)] {
        assert_eq!(result.err().unwrap().error().kind(), ErrorKind::InvalidArgument);
    }
    let unsolved = lsqr(&Refusing, &[1.0, 2.0], Lsqr::new()).err().unwrap();
    assert_eq!(unsolved.error().kind(), ErrorKind::Unsupported);
    assert!(unsolved.error().message().contains("apply_transposed_into"));
    let packed = CsrView::new(1, 1, &[0, 1], &[0], &[2.0]).unwrap().pack().unwrap();
    assert!(lsqr(&packed, &[1.0], Lsqr::new()).is_err());
}
