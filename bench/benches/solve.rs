//! Iterations of solvers of sparse systems. SciPy takes turns with them, where `BENCH_PYTHON` names
//! an interpreter that has it.

use std::cell::RefCell;
use std::hint::black_box;

use bench::Scale;
use bench::python::Python;
use bench::subject::{Case, Subject};
use tenure::{
    CsrMatrix, Ilu0, Jacobi, Krylov, LinearOperator, Lsqr, Solution, Unsolved,
    linalg::{bicgstab, cg, lsqr},
    sparse::gallery,
};

/// Iterations of each pass: few enough for a round, enough to outweigh the first ones.
const ITERATIONS: usize = 20;

/// A name, products of each iteration, and what makes some iterations.
type Method<'a> = (&'static str, usize, &'a dyn Fn() -> Unsolved<f64>);

fn main() {
    let mut subject = Subject::open("solve");
    let side = if subject.scale() == Scale::Smoke { 8 } else { 100 };
    let a: CsrMatrix<f64> = gallery::poisson([side; 3]).expect("there is room");
    let points = a.rows();
    let b: Vec<f64> = (0..points).map(|place| (place * 7 % 11) as f64 - 5.0).collect();
    let jacobi = Jacobi::new(a.view()).expect("a diagonal of 6");
    let ilu = Ilu0::new(a.view()).expect("coalesced");
    let peers =
        Python::start("solve_peers.py", &[side, ITERATIONS].map(|number| number.to_string()));
    let peers = peers.map(RefCell::new);

    let endless = Krylov::new().relative_tolerance(0.0).max_iterations(ITERATIONS);
    let least = Lsqr::new().a_tolerance(0.0).b_tolerance(0.0).condition_limit(0.0);
    let least = least.max_iterations(ITERATIONS);
    let methods: [Method<'_>; 5] = [
        ("cg", 1, &|| reached(cg(&a, &b, endless))),
        ("cg, Jacobi", 1, &|| reached(cg(&a, &b, endless.preconditioner(&jacobi)))),
        ("cg, ILU(0)", 1, &|| reached(cg(&a, &b, endless.preconditioner(&ilu)))),
        ("bicgstab", 2, &|| reached(bicgstab(&a, &b, endless))),
        ("lsqr", 2, &|| reached(lsqr(&a, &b, least))),
    ];
    let bytes = (a.nnz() * 12 + points * 4) as u64;
    for (name, products, method) in methods {
        let operation = format!("{ITERATIONS} iterations of {name}, Poisson {side}^3");
        let mut cases = vec![Case::repeated("tenure", "allocates", || _ = black_box(method()))];
        // SciPy has no ILU(0).
        if let Some(peers) = peers.as_ref().filter(|_| name != "cg, ILU(0)") {
            let once = move || peers.borrow_mut().time(name);
            let passes = move |passes| (0..passes).map(|_| once()).sum();
            cases.push(Case::timed("SciPy", "allocates", passes));
        }
        let traffic = (ITERATIONS * products) as u64 * bytes;
        subject.measure(&operation, bytes, 1, traffic, cases);
    }
    triangles(&mut subject, &a, &ilu, &b);
    subject.close();
}

/// The state of a method, which never reaches its tolerance of 0.
fn reached(result: Result<Solution<f64>, Unsolved<f64>>) -> Unsolved<f64> {
    let unsolved = result.expect_err("a tolerance of 0");
    assert_eq!(unsolved.reached().expect("it began").iterations, ITERATIONS);
    unsolved
}

/// Both substitutions of incomplete factors, and those that look for the diagonal.
fn triangles(subject: &mut Subject, a: &CsrMatrix<f64>, ilu: &Ilu0<'_, f64>, b: &[f64]) {
    let [mut out, mut between] = [vec![0.0; b.len()], vec![0.0; b.len()]];
    let mut other = out.clone();
    let cases = vec![
        Case::repeated("tenure", "Ilu0", || ilu.apply_into(b, &mut out).expect("it fits")),
        Case::repeated("tenure", "solve_triangular", || {
            let (lower, upper) = (tenure::Triangle::UnitLower, tenure::Triangle::Upper);
            a.view().solve_triangular_into(lower, b, &mut between).expect("a diagonal of 6");
            a.view().solve_triangular_into(upper, &between, &mut other).expect("a diagonal of 6");
        }),
    ];
    let bytes = (a.nnz() * 12) as u64;
    subject.measure("two substitutions", bytes, 1, bytes, cases);
}
