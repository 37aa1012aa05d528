//! Products of dense matrices as Tenure does them, and by other libraries.

use std::cell::RefCell;

use tenure::{Activation, CsrMatrix, Float, Matmul, PackedFactor, Tensor, TensorView};

use crate::subject::Case;

/// An element type of the products.
#[cfg(feature = "peers")]
pub trait Number: Float + From<i8> + faer::traits::ComplexField {
    /// The name in the figures.
    const NAME: &str;
}
/// An element type of the products.
#[cfg(not(feature = "peers"))]
pub trait Number: Float + From<i8> {
    /// The name in the figures.
    const NAME: &str;
}

impl Number for f32 {
    const NAME: &str = "f32";
}

impl Number for f64 {
    const NAME: &str = "f64";
}

/// Extents of a product, and which factors lie in column-major order.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Rows of `a` and the result.
    pub rows: usize,
    /// Columns of `b` and the result.
    pub columns: usize,
    /// Columns of `a`, rows of `b`.
    pub depth: usize,
    /// Whether `a` is the transpose of the matrix in memory.
    pub a_turned: bool,
    /// Whether `b` is the transpose of the matrix in memory.
    pub b_turned: bool,
}

impl Shape {
    /// All extents the same, and both factors row-major.
    pub fn cube(side: usize) -> Shape {
        Shape { rows: side, columns: side, depth: side, a_turned: false, b_turned: false }
    }
}

/// Two factors and room for their product.
pub struct Product<T: Number> {
    shape: Shape,
    a: Tensor<T>,
    b: Tensor<T>,
    out: RefCell<Tensor<T>>,
}

impl<T: Number> Product<T> {
    /// Small whole numbers.
    pub fn new(shape: Shape) -> Product<T> {
        let tensor = |rows: usize, columns: usize, is_turned| {
            let shape = if is_turned { [columns, rows] } else { [rows, columns] };
            let numbers: Vec<T> = (0..rows * columns).map(|i| T::from((i % 17) as i8)).collect();
            Tensor::copy_from_slice(&numbers, shape).expect("it fits")
        };
        let Shape { rows, columns, depth, a_turned, b_turned } = shape;
        Product {
            shape,
            a: tensor(rows, depth, a_turned),
            b: tensor(depth, columns, b_turned),
            out: RefCell::new(tensor(rows, columns, false)),
        }
    }

    /// Additions and multiplications.
    pub fn operations(&self) -> u64 {
        (2 * self.shape.rows * self.shape.columns * self.shape.depth) as u64
    }

    /// Bytes of the factors and the result.
    pub fn bytes(&self) -> u64 {
        let Shape { rows, columns, depth, .. } = self.shape;
        ((rows * depth + depth * columns + rows * columns) * size_of::<T>()) as u64
    }

    fn factors(&self) -> (TensorView<'_, T>, TensorView<'_, T>) {
        let (a, b) = (self.a.view(), self.b.view());
        let Shape { a_turned, b_turned, .. } = self.shape;
        (if a_turned { a.t() } else { a }, if b_turned { b.t() } else { b })
    }

    /// The product by Tenure.
    pub fn case(&self) -> Case<'_> {
        Case::repeated("tenure", "into", || {
            let (a, b) = self.factors();
            tenure::linalg::matmul_into(a, b, &mut *self.out.borrow_mut()).expect("the shapes fit");
        })
    }

    /// Like [`case`](Product::case), with a right factor that was packed before.
    pub fn packed_case(&self) -> Case<'_> {
        let factor = PackedFactor::pack(self.factors().1).expect("there is memory");
        Case::repeated("tenure", "packed before", move || {
            let (a, _) = self.factors();
            tenure::linalg::matmul_packed_into(a, &factor, &mut *self.out.borrow_mut())
                .expect("the shapes fit");
        })
    }

    /// The positive elements of the product and this bias, of each column, as CSR: never dense, and
    /// by a conversion of the dense product.
    pub fn sparse_cases<'a>(&'a self, bias: &'a Tensor<T>) -> [Case<'a>; 2] {
        let layer = Matmul::new().bias(bias).activation(Activation::Relu);
        [
            Case::repeated("tenure", "to CSR", move || {
                let (a, b) = self.factors();
                let made: CsrMatrix<T> =
                    tenure::linalg::matmul_csr(a, b, layer).expect("the shapes fit");
                std::hint::black_box(made);
            }),
            Case::repeated("tenure", "dense, then CSR", move || {
                let (a, b) = self.factors();
                let mut out = self.out.borrow_mut();
                tenure::linalg::matmul_with_into(a, b, layer, &mut *out).expect("the shapes fit");
                let made: CsrMatrix<T> = out.to_csr().expect("there is memory");
                std::hint::black_box(made);
            }),
        ]
    }

    /// The product by other libraries, into the same memory. faer is built for one thread here.
    #[cfg(feature = "peers")]
    pub fn peers(&self, threads: usize) -> Vec<Case<'_>> {
        let mut cases = vec![Case::repeated("gemm", "into", move || self.by_gemm(threads))];
        if threads == 1 {
            cases.push(Case::repeated("faer", "into", || self.by_faer()));
        }
        cases
    }

    /// None: they come with the feature `peers`.
    #[cfg(not(feature = "peers"))]
    pub fn peers(&self, _: usize) -> Vec<Case<'_>> {
        Vec::new()
    }

    #[cfg(feature = "peers")]
    fn by_gemm(&self, threads: usize) {
        let Shape { rows, columns, depth, .. } = self.shape;
        let (a, b) = self.factors();
        let mut out = self.out.borrow_mut();
        let mut out = out.view_mut();
        let parallelism = match threads {
            1 => gemm::Parallelism::None,
            threads => gemm::Parallelism::Rayon(threads),
        };
        let (one, zero) = (T::from(1), T::from(0));
        // SAFETY: the pointers and strides are those of views of these extents, and only `out` is
        // written, which nothing else refers to.
        unsafe {
            gemm::gemm(
                rows,
                columns,
                depth,
                out.as_mut_ptr(),
                1,
                columns as isize,
                false,
                a.as_ptr(),
                a.strides()[1],
                a.strides()[0],
                b.as_ptr(),
                b.strides()[1],
                b.strides()[0],
                zero,
                one,
                false,
                false,
                false,
                parallelism,
            );
        }
    }

    #[cfg(feature = "peers")]
    fn by_faer(&self) {
        use faer::linalg::matmul::matmul;
        use faer::{Accum, MatMut, MatRef, Par};

        let Shape { rows, columns, depth, .. } = self.shape;
        let (a, b) = self.factors();
        let mut out = self.out.borrow_mut();
        let mut out = out.view_mut();
        // SAFETY: as in `by_gemm`.
        let (a, b, out) = unsafe {
            let (a_steps, b_steps) = (a.strides(), b.strides());
            (
                MatRef::from_raw_parts(a.as_ptr(), rows, depth, a_steps[0], a_steps[1]),
                MatRef::from_raw_parts(b.as_ptr(), depth, columns, b_steps[0], b_steps[1]),
                MatMut::from_raw_parts_mut(out.as_mut_ptr(), rows, columns, columns as isize, 1),
            )
        };
        matmul(out, Accum::Replace, a, b, <T as From<i8>>::from(1), Par::Seq);
    }
}
