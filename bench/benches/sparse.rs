//! Sparse matrices: conversions, products, files; compared with peers and with the limit of
//! the memory, or of the arithmetic where a product has many columns.

use std::cell::RefCell;
use std::hint::black_box;

use bench::operations::square;
use bench::roofs::{fma, kernels::Arrays, mixes};
use bench::sparse::{Sizes, bytes_of, keep, normals, peers};
use bench::subject::{Case, Subject};
use tenure::{
    Context, CooMatrix, CsrMatrix, Result, Tensor, TensorView, TensorViewMut, io::matrix_market,
    sparse::sparse_relu,
};

/// A conversion from dense; returns bytes of the result, which ends with it.
type Convert = fn(&TensorView<f32>) -> Result<u64>;

fn main() {
    let mut subject = Subject::open("sparse");
    let sizes = Sizes::of(subject.scale());
    let contexts = [1, 2]
        .map(|threads| (threads, Context::with_threads(threads).expect("a thread can be had")));
    let Some(arrays) = Arrays::if_they_fit(sizes.side * sizes.side * 4) else { return };
    let bench =
        &mut Bench { subject: &mut subject, contexts: &contexts, arrays: &RefCell::new(arrays) };
    for percent in [1, 10, 50] {
        from_dense(bench, sizes, percent);
    }
    from_blocks(bench, sizes);
    rectified(bench);
    products(bench, sizes);
    files(bench, sizes);
    subject.close();
}

/// State that every group needs.
struct Bench<'a> {
    subject: &'a mut Subject,
    contexts: &'a [(usize, Context)],
    arrays: &'a RefCell<Arrays>,
}

impl<'x> Bench<'x> {
    /// Measures `work`, which allocates, on each number of threads, in turns with the roofs of
    /// `reads` and `writes` bytes; on one thread also with `peers`.
    fn allocating<'a>(
        &mut self,
        operation: &str,
        bytes: u64,
        (reads, writes): (u64, u64),
        work: impl Fn() + Copy + 'a,
        peers: impl Fn() -> Vec<Case<'a>>,
    ) where
        'x: 'a,
    {
        for (threads, context) in self.contexts {
            let mut cases = vec![
                Case::cold("tenure", work).within("cold", |work| context.install(work)),
                Case::recycled("tenure", work).within("recycled", |work| context.install(work)),
            ];
            if *threads == 1 {
                cases.extend(peers());
            }
            cases.extend(mixes(self.arrays, reads, writes, *threads));
            self.subject.measure(operation, bytes, *threads, reads + writes, cases);
        }
    }

    /// A conversion of the dense matrix in the arrays.
    fn convert(
        &mut self,
        operation: &str,
        convert: Convert,
        peers: fn(&RefCell<Arrays>) -> Vec<Case<'_>>,
    ) {
        if !self.subject.wants(operation) {
            return;
        }
        let arrays = self.arrays;
        let run = || {
            let arrays = &mut *arrays.borrow_mut();
            let (a, ..) = arrays.parts();
            let dense = square(a).expect("a square");
            black_box(convert(&dense).expect("there is room"))
        };
        let bytes = arrays.borrow().bytes() as u64;
        let written = run();
        self.allocating(operation, bytes, (bytes, written), || _ = run(), || peers(arrays));
    }

    /// A product with `cols` columns, into preallocated memory.
    fn times_dense(&mut self, operation: &str, matrix: &CsrMatrix<f32>, cols: usize) {
        let numbers: Vec<f32> =
            (0..matrix.cols() * cols).map(|i| (i % 4093) as f32 / 4096.0).collect();
        let (bytes, vectors) = (bytes_of(matrix), numbers.len() as u64 * 4);
        let shape = |rows| [rows, cols];
        // In huge pages, where the matrix and the roof's arrays lie.
        let b = Tensor::copy_from_slice(&numbers, shape(matrix.cols())).expect("there is room");
        let x = b.as_slice().expect("it has no gaps");
        let y = RefCell::new(Tensor::zeros(shape(matrix.rows())).expect("there is room"));
        let packed = (cols == 1).then(|| matrix.view().pack().expect("f32 can be packed"));
        for (threads, context) in self.contexts {
            let work = || {
                let y = &mut *y.borrow_mut();
                let done = if cols == 1 {
                    matrix.view().matmul_into(&x, y.as_mut_slice().expect("it has no gaps"))
                } else {
                    matrix.view().matmul_into(&b, y)
                };
                done.expect("the shapes fit");
            };
            let own = Case::repeated("tenure", "into", work);
            let mut cases = vec![own.within("into", |work| context.install(work))];
            if let Some(packed) = &packed {
                let work = || {
                    let y = &mut *y.borrow_mut();
                    let y = y.as_mut_slice().expect("it has no gaps");
                    packed.matmul_into(&x, y).expect("the shapes fit");
                };
                let own = Case::repeated("tenure", "packed", work);
                cases.push(own.within("packed", |work| context.install(work)));
            }
            if *threads == 1 {
                cases.extend(match cols {
                    1 => peers::times_vector(matrix, x),
                    _ => peers::times_columns(matrix, x),
                });
            }
            let traffic = (bytes + vectors, matrix.rows() as u64 * cols as u64 * 4);
            if cols == 1 {
                cases.extend(mixes(self.arrays, traffic.0, traffic.1, *threads));
            } else {
                // Each entry is used for many columns: arithmetic is the limit.
                let operations = (2 * matrix.nnz() * cols) as u64;
                cases.push(fma("f32", operations, *threads).moving(traffic.0 + traffic.1));
            }
            self.subject.measure(operation, bytes, *threads, traffic.0 + traffic.1, cases);
        }
    }

    /// Makes the dense matrix in the arrays that of these entries.
    fn fill(&self, matrix: &CsrMatrix<f32>) {
        let mut arrays = self.arrays.borrow_mut();
        let shape = [matrix.rows(), matrix.cols()];
        let mut a = TensorViewMut::from_slice(arrays.a_mut(), shape).expect("as many elements");
        matrix.to_dense_into(&mut a).expect("one shape");
    }
}

fn from_dense(bench: &mut Bench, sizes: Sizes, percent: u32) {
    let matrix = sizes.uniform(percent).expect("there is room");
    bench.fill(&matrix);
    let to = |format: &str| format!("dense to {format}, {percent} %");
    bench.convert(&to("CSR"), |a| Ok(bytes_of(&a.to_csr()?)), peers::dense_to_csr);
    bench.convert(&to("COO"), |a| Ok(a.to_coo()?.nnz() as u64 * 12), |_| Vec::new());
    if percent == 10 {
        let csc: Convert = |a| {
            let made = a.to_csc()?;
            Ok((made.col_offsets().len() * 4 + made.nnz() * 8) as u64)
        };
        bench.convert(&to("CSC"), csc, |_| Vec::new());
    }
    if percent < 50 {
        let (bytes, size) = (bytes_of(&matrix), bench.arrays.borrow().bytes() as u64);
        let work = || drop(black_box(matrix.to_dense().expect("there is room")));
        let name = format!("CSR to dense, {percent} %");
        bench.allocating(&name, size, (bytes, size), work, || peers::csr_to_dense(&matrix));
    }
}

fn from_blocks(bench: &mut Bench, sizes: Sizes) {
    bench.fill(&sizes.blocks().expect("there is room"));
    let convert: Convert = |a| {
        let made = a.to_bsr([4, 4])?;
        let offsets = made.row_offsets().len() + made.col_indices().len();
        Ok((offsets * 4 + made.values().len() * 4) as u64)
    };
    bench.convert("dense to BSR 4x4, 10 % of blocks", convert, |_| Vec::new());
}

/// Random numbers: half of them negative, and nine tenths of them negative.
fn rectified(bench: &mut Bench) {
    for (name, negative) in [("normal", 50), ("90 % negative", 90)] {
        normals(bench.arrays.borrow_mut().a_mut(), negative);
        let convert: Convert = |a| Ok(bytes_of(&sparse_relu(a)?));
        bench.convert(&format!("sparse relu, {name}"), convert, |_| Vec::new());
    }
}

/// With one vector, and with 64 columns.
fn products(bench: &mut Bench, sizes: Sizes) {
    let scale = bench.subject.scale();
    let kept = |name: &str, matrix: &CsrMatrix<f32>| {
        keep(scale, name, matrix).expect("the target folder can be written");
    };
    for percent in [1, 10] {
        let matrix = sizes.uniform(percent).expect("there is room");
        kept(&format!("uniform-{percent}"), &matrix);
        bench.times_dense(&format!("SpMM, 64 columns, {percent} %"), &matrix, 64);
    }
    for percent in [5, 10, 30] {
        let matrix = sizes.uniform(percent).expect("there is room");
        bench.times_dense(&format!("SpMV, {percent} %"), &matrix, 1);
    }
    kept("RMAT-squared", &sizes.squared_graph().expect("there is room"));
    for (name, matrix) in sizes.applied().expect("there is room") {
        kept(name, &matrix);
        bench.times_dense(&format!("SpMV, {name}"), &matrix, 1);
    }
}

/// The text of a matrix, read.
fn files(bench: &mut Bench, sizes: Sizes) {
    let operation = "Matrix Market, read";
    if !bench.subject.wants(operation) {
        return;
    }
    let matrix = sizes.uniform(1).expect("there is room");
    let mut text = Vec::new();
    matrix_market::Writer::new().write(&matrix.view(), &mut text).expect("a Vec takes all");
    let (bytes, written) = (text.len() as u64, matrix.nnz() as u64 * 12);
    let work = || {
        let read = matrix_market::Reader::new(black_box(&text)).and_then(|file| file.to_coo());
        drop(black_box::<CooMatrix<f32>>(read.expect("as it was written")));
    };
    bench.allocating(operation, bytes, (bytes, written), work, || peers::matrix_market(&text));
}
