//! The tables of docs/migration.md: every piece of code in a column of Tenure's compiles and runs,
//! as it is written there. A new piece is refused until this file has it too.
#![allow(clippy::needless_borrows_for_generic_args, reason = "as the page has it")]
#![allow(clippy::op_ref, reason = "as the page has it")]
#![allow(clippy::reversed_empty_ranges, reason = "-1 is the last")]

use tenure::random::Generator;
use tenure::{
    Axes, BatchNorm, Bool8, Combine, Conv2d, CooView, CscMatrix, CscView, CsrMatrix, CsrView, Expr,
    Ilu0, Jacobi, Krylov, LayerNorm, Lsqr, Matmul, PadMode, Pool2d, Result, SharedTensor, Tensor,
    TensorView, TensorViewMut, Tolerance, Triangle, Triplets, f16,
    linalg::{bicgstab, cg, lsqr},
    s,
};

/// Runs expressions, and adds their source text to a list.
macro_rules! says {
    ($found:ident: $($code:expr;)+) => {$(
        let _ = $code;
        $found.push(squeezed(stringify!($code)));
    )+};
}

/// Like `says`, but runs the expressions only with the feature `linalg`; without it, the macro only
/// adds their text.
macro_rules! says_linalg {
    ($found:ident: $($code:expr;)+) => {$(
        #[cfg(feature = "linalg")]
        let _ = $code;
        $found.push(squeezed(stringify!($code)));
    )+};
}

fn squeezed(code: &str) -> String {
    code.chars().filter(|char| !char.is_whitespace()).collect()
}

/// The names in the tables, and the methods of the adjacent names.
#[expect(unused_imports, reason = "that they are there is what is asked")]
fn names() -> Vec<String> {
    use tenure::interop::dlpack::{Exported, Imported};
    use tenure::io::matrix_market::Reader;
    use tenure::{
        Error,
        nn::{global_avg_pool2d, rms_norm, softmax_assign, softmax_into},
        ops::{add_into, cast},
    };
    let _ = (
        Krylov::<'_, f32>::preconditioner,
        TensorView::<'_, f32>::to_vec,
        SharedTensor::<f32>::into_vec,
        Tensor::<f32>::try_clone,
        Expr::<'_, f32>::eval,
    );
    // Separate tests cover the names of the features `linalg` and `npz`.
    let names = [
        "SharedTensor",
        "CscView",
        "CscMatrix",
        "matrix_market::Reader",
        "tenure::Error",
        "tenure::s!",
        "zip_with",
        "cast",
        "dlpack::Exported",
        "dlpack::Imported",
        "to_vec()",
        "eval_into",
        "into_vec()",
        "matmul_into",
        "einsum_into",
        "global_avg_pool2d",
        "softmax_into",
        "softmax_assign",
        "rms_norm",
        "solve_triangular",
        "cg",
        "bicgstab",
        "lsqr",
        "Krylov::preconditioner",
        "linalg",
        "bottom_k",
        "nan_median",
        "nan_quantile",
        "Lu::solve",
        "Triplets",
        "from_diagonals",
        "random::Generator",
        "npz",
        "npz::Reader",
        "npz::Writer",
    ];
    names.into_iter().map(squeezed).collect()
}

fn dense() -> Result<Vec<String>> {
    let mut found = Vec::new();
    let vec = || vec![1.0_f32; 6];
    let (mut data, shape, axes) = (vec(), [2, 3], [1, 0]);
    says! { found: TensorViewMut::from_slice(&mut data, [2, 3])?; }
    says! { found: TensorView::from_slice(&data, [2, 3])?; TensorView::from_slice(&data, shape)?; }
    says! { found: Tensor::copy_from_slice(&data, shape)?; Tensor::<f32>::zeros([2, 3])?; }
    {
        let vec = vec();
        says! { found: Tensor::from_vec(vec, [2, 3])?; }
    }
    {
        let vec = vec();
        says! { found: Tensor::from_vec(vec, shape)?; }
    }
    let mut tensor = Tensor::copy_from_slice(&data, shape)?;
    let shared = tensor.try_clone()?.into_shared();
    says! { found: shared.clone(); tenure::ops::sum(&tensor, 0)?; tenure::nn::relu(&tensor)?; }
    says! { found: tenure::nn::softmax(&tensor, -1)?; tenure::ops::cumsum(&tensor, 0)?; }
    says! { found: tenure::nn::layer_norm(&tensor, -1, LayerNorm::new().eps(1e-6))?; }
    says! { found: tensor.cast::<f16>()?; tensor.to_csr()?; }
    let view = TensorView::from_slice(&data, shape)?;
    says! { found:
        view.slice_axes(s![1..2, ..])?; view.index(0, 1)?; view.chunks(0, 2)?;
        view.index(0, -1)?; view.index(1, -1)?; view.slice(0, 1..-1)?; view.reshape([3, -1])?;
        view.diagonal(0)?; view.split_into(0, 3)?; view.t(); view.permute(&axes)?; view.reshape([6])?;
        view[[1, 2]]; tenure::ops::mean(&view, 0)?; view.flip(0)?; view.unsqueeze(1)?;
        view.slice_axes(s![1.., ..;2])?;
    }
    {
        let n: usize = 3;
        says! { found: view.reshape((n, -1))?; }
    }
    let (b, m) = (vec(), [Bool8::TRUE; 6]);
    let b = TensorView::from_slice(&b, shape)?;
    let m = TensorView::from_slice(&m, shape)?;
    says! { found: tenure::ops::add_assign(&mut tensor, &b)?; }
    says! { found: tensor.into_vec(); }
    let mut a = Tensor::copy_from_slice(&data, shape)?;
    let (mut out, mut c) = (Tensor::zeros(shape)?, Tensor::zeros(shape)?);
    says! { found:
        tenure::ops::add(&a, &b)?; (&a * &b + 1.0).eval()?; tenure::ops::add_into(&a, &b, &mut out)?; tenure::ops::add_into(&a, &b, &mut c)?;
        a.cast::<i8>()?; tenure::ops::sum(&a, 0)?; tenure::ops::std(&a, .., 1)?;
        tenure::ops::select(&m, &a, &b)?; tenure::ops::add_assign(&mut a, &b)?;
        tenure::ops::clamp(&a, 0.0, 1.0)?; tenure::ops::rem(&a, &b)?; tenure::ops::round(&a)?; tenure::ops::floor(&a)?;
        tenure::ops::is_nan(&a)?; tenure::ops::nan_to_num(&a)?;
    }
    {
        let (a, b, n) = ([6, 5], [3, 4], m);
        says! { found:
            tenure::ops::bitwise_and(&a, &b)?; tenure::ops::shift_left(&a, 3)?; tenure::ops::logical_and(&m, &n)?;
        }
    }
    {
        let f = |[row, col]: [usize; 2]| (row + col) as f32;
        says! { found: Tensor::from_fn([2, 3], f)?; }
        let (f, x, y) = (f32::sqrt, [1.0], [2.0]);
        says! { found:
            Tensor::from([[1, 2], [3, 4]]); Tensor::<f32>::ones([2, 3])?; Tensor::<f32>::eye(3)?;
            Tensor::arange(0..12)?; Tensor::arange_step(0.0, 1.0, 0.25)?;
            Tensor::linspace(0.0, 1.0, 5)?; tenure::ops::meshgrid([&y, &x])?; tenure::ops::map(&a, f)?;
            tenure::ops::sum(&a, Axes::keep(-1))?; tenure::ops::sum_all(&a)?; tenure::ops::mean_all(&a)?;
            tenure::ops::all_close(&a, &b, Tolerance::default())?; a == b;
        }
        says! { found: tenure::ops::map_assign(&mut a, f); }
    }
    let mut random = Generator::new(1);
    says! { found:
        random.uniform::<f64>(0.0..1.0, [2, 3])?; random.normal::<f64>(0.0, 1.0, [2, 3])?;
        random.integers::<i64>(0..6, [4])?; random.permutation(5)?;
    }
    {
        let (edges, n) = ([0.0_f32, 1.0], [1, 2]);
        says! { found:
            tenure::ops::sort(&a, -1)?; tenure::ops::sort_assign(&mut a, -1)?;
            tenure::ops::sort_descending(&a, -1)?; tenure::ops::argsort(&a, -1)?;
            tenure::ops::sort_with_indices(&a, -1)?; tenure::ops::partition(&a, 1, -1)?;
            tenure::ops::top_k(&a, 2, -1)?; tenure::ops::median_all(&a)?; tenure::ops::quantile(&a, 0.9, 0)?;
            tenure::ops::searchsorted(&edges, &a)?; tenure::ops::searchsorted_right(&edges, &a)?;
            tenure::ops::unique(&a)?; tenure::ops::unique_counts(&a)?; tenure::ops::unique_inverse(&a)?;
            tenure::ops::bincount(&n, 9)?; tenure::ops::histogram(&a, 4, 0.0..=1.0)?;
            tenure::ops::histogram_edges(&a, &edges)?;
        }
    }
    let b = b.t();
    says! { found: tenure::linalg::matmul(&a, &b)?; tenure::linalg::einsum("ij,jk->ik", (&a, &b))?; }
    Ok(found)
}

fn movement() -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut a = Tensor::from([[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let (b, v, tensor) = (a.try_clone()?, a.try_clone()?, a.try_clone()?);
    let (n, i, m) = ([1, 0], [[0, 1, 0], [1, 1, 0]], [Bool8::TRUE; 3]);
    says! { found:
        tenure::ops::concat((&a, &b), 0)?; tenure::ops::stack((&a, &b), 0)?;
        tenure::ops::pad(&a, [(1, 1), (0, 2)], PadMode::Edge)?; tenure::ops::tile(&a, [2, 1])?;
        tenure::ops::repeat(&a, 3, 0)?; tenure::ops::roll(&a, 1, 0)?; tenure::ops::take(&a, 0, &n)?;
        tenure::ops::gather(&a, 0, &i)?; tenure::ops::put_assign(&mut a, 0, &n, &v)?;
        tenure::ops::scatter_assign(&mut a, 0, &i, &b)?; tenure::ops::put_add_assign(&mut a, 0, &n, &v)?;
        tenure::ops::nonzero(&a)?; tenure::ops::masked_select(&a, &m)?;
        tenure::ops::masked_fill_assign(&mut a, &m, 0.0)?; tenure::ops::tril(&a, 0)?; tenure::ops::triu(&a, 1)?;
        tenure::ops::take(&tensor, 0, &n)?; tenure::ops::gather(&tensor, 0, &i)?;
        tenure::ops::put_add(&tensor, 0, &n, &v)?; tenure::ops::scatter_add(&tensor, 0, &i, &b)?;
        tenure::nn::one_hot::<f32, _>(&n, 3)?; tenure::ops::nonzero(&tensor)?;
        tenure::ops::masked_fill(&tensor, &m, 0.0)?;
    }
    Ok(found)
}

fn layers() -> Result<Vec<String>> {
    let mut found = Vec::new();
    let (a, weight, bias) = ([[1.0, 2.0]], Tensor::zeros([3, 2])?, [0.5, 1.5, 2.5]);
    let b = weight.view();
    says! { found: tenure::linalg::matmul_with(&a, b.t(), Matmul::new().bias(&bias))?; }
    let images = Tensor::<f64>::zeros([1, 3, 4, 4])?;
    let [weight, turned] = [Tensor::zeros([3, 3, 3, 3])?, Tensor::zeros([3, 2, 3, 3])?];
    let (a, weight, turned) = (images.view(), weight.view(), turned.view());
    let [mean, var, gamma, beta] = [[0.0; 3], [1.0; 3], [2.0; 3], [3.0; 3]];
    says! { found:
        tenure::nn::batch_norm(a, BatchNorm::new(&mean, &var).weight(&gamma).bias(&beta))?;
        tenure::nn::conv2d(a, weight, Conv2d::new().bias(&bias).strides([2, 2]).padding([1, 1]))?;
        tenure::nn::conv2d_transposed(a, turned, Conv2d::new().strides([2, 2]), [0, 0])?;
        tenure::nn::max_pool2d(a, Pool2d::new([2, 2]))?;
        tenure::nn::avg_pool2d(a, Pool2d::new([3, 3]).strides([1, 1]).padding([1, 1]).count_padding())?;
        tenure::nn::adaptive_avg_pool2d(a, [2, 2])?;
    }
    Ok(found)
}

#[cfg_attr(not(feature = "linalg"), expect(unused_variables, reason = "they are not solved"))]
fn solvers() -> Result<Vec<String>> {
    #[cfg(feature = "linalg")]
    use tenure::linalg::{self, Lu};
    let mut found = Vec::new();
    let (a, b) = ([[4.0, 1.0], [1.0, 3.0]], [1.0, 2.0]);
    says_linalg! { found:
        linalg::solve(&a, &b)?; linalg::inv(&a)?; linalg::det(&a)?; linalg::lstsq(&a, &b)?;
        linalg::pinv(&a)?; linalg::cholesky(&a)?; linalg::qr(&a)?; linalg::eigh(&a)?;
        linalg::eigvalsh(&a)?; linalg::svd(&a)?; linalg::svdvals(&a)?; Lu::new(&a)?;
    }
    Ok(found)
}

fn sparse() -> Result<Vec<String>> {
    let mut found = Vec::new();
    let (r, c, i) = (4_usize, 4_usize, 1_usize);
    let offsets = vec![0_i32, 1, 2, 3, 4];
    let (indices, values) = (vec![0_i32, 1, 2, 3], vec![1.0_f64, 2.0, 3.0, 4.0]);
    let (rows, cols) = (vec![0_i32, 1, 2, 3], vec![3_i32, 0]);
    says! { found:
        CsrView::new(r, c, &offsets, &indices, &values)?;
        CooView::new(r, c, &rows, &indices, &values)?.to_csr()?;
    }
    let view = CsrView::new(r, c, &offsets, &indices, &values)?;
    says! { found: view.to_csc()?; view.t(); view.row(i); }
    let (a, csr) = (view.check_coalesced()?, view);
    let (b, other) = (a, a);
    let x = [1.0; 4];
    let (mut triplets, j) = (Triplets::new(r, c), 0);
    triplets.push(i, j, 1.0);
    says! { found:
        triplets.to_csr::<i32>()?; CsrMatrix::<f64>::eye(3)?; csr.get(i, j);
    }
    says! { found:
        a.matmul(&x)?; csr.matmul(&x)?; a.product(b)?; csr.product(other)?; a.add(b)?; a.mul(b)?;
        a.maximum(b)?; a.to_csr()?; a.to_csc()?; a.to_bsr([4, 4])?; a.coalesce(Combine::Sum)?;
        a.to_sorted()?; a.prune(0.0)?; a.row_sums()?; a.col_maxes()?; a.norm_1()?;
        a.select_rows(&rows)?; a.select_cols(&cols)?; a.to_block(1..3, 2..)?;
        a.row_range(1..3); tenure::sparse::vstack([a, b])?; tenure::sparse::hstack([a, b])?;
        tenure::sparse::block_diag([a, b])?; tenure::sparse::kron(a, b)?; a.tril(0)?; a.triu(1)?;
    }
    {
        let b = x;
        says! { found: a.solve_triangular(Triangle::Lower, &b)?; }
        says! { found:
            cg(&a, &b, Krylov::new().relative_tolerance(1e-8))?;
            bicgstab(&a, &b, Krylov::new())?; lsqr(&a, &b, Lsqr::new().damping(0.5))?;
            Jacobi::new(a)?; Ilu0::new(a)?;
        }
    }
    {
        let (rows, cols, indptr, data) = (r, c, &offsets, &values);
        let (indptr, data) = (indptr.clone(), data.clone());
        says! { found: CsrView::new(rows, cols, &indptr, &indices, &data)?; }
    }
    let matrix: CsrMatrix<f64> = a.to_csr()?;
    says! { found: matrix.into_parts(); CsrMatrix::from_vecs(r, c, offsets, indices, values)?; }
    let _: Option<(CscView<'_, f64>, CscMatrix<f64>)> = None;
    Ok(found)
}

/// The code in the columns of Tenure's, which their heads name; C has columns of its own.
fn pieces(page: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut column = None;
    for line in page.lines() {
        if !line.starts_with("| ") {
            column = None;
            continue;
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let Some(column) = column else {
            column = cells.iter().position(|&cell| cell == "Tenure");
            if column.is_none() {
                column = Some(usize::MAX); // a table of others
            }
            continue;
        };
        let Some(cell) = cells.get(column).filter(|cell| !cell.starts_with("---")) else {
            continue;
        };
        pieces.extend(cell.split('`').skip(1).step_by(2).map(squeezed));
    }
    pieces
}

#[test]
fn the_tables_compile() {
    let page = include_str!("../../../../docs/migration.md");
    let pieces = pieces(page);
    assert!(pieces.len() > 60, "only {} pieces of code were found", pieces.len());
    let mut compiled = dense().unwrap();
    compiled.extend(layers().unwrap());
    compiled.extend(movement().unwrap());
    compiled.extend(solvers().unwrap());
    compiled.extend(sparse().unwrap());
    let names = names();
    for piece in &pieces {
        assert!(
            compiled.contains(piece) || names.contains(piece),
            "`{piece}` is on the page, and nothing here compiles it"
        );
    }
    let row_range = "a.row_range(1..3)".to_owned(); // beside the column
    for code in compiled.iter().filter(|code| **code != row_range) {
        assert!(pieces.contains(code), "`{code}` compiles, and is not on the page");
    }
}
