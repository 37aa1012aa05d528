//! Mistakes of a safe caller: each is an error of the right kind, whose message names the value and
//! the bound, and no output is touched.
//!
//! `StaleView`, `StaleHandle`, `Busy`, `BorrowEscaped`, `DeviceError` and `Internal` are not here:
//! safe Rust has no released view or handle, no foreign borrow and no device to provoke them with;
//! the tests in `src/raw.rs` do. `NoConvergence` is in the tests of solvers,
//! `Io` in those of `io`.

// Operands are borrowed, as a caller writes them for types that are not `Copy`.
#![allow(clippy::needless_borrows_for_generic_args)]

use std::sync::Arc;

use tenure::*;

use ErrorKind::{Aliased, InvalidArgument, OutOfMemory, Unsupported};

#[track_caller]
fn assert_refused<T, E: Into<Error>>(result: Result<T, E>, kind: ErrorKind, message: &str) {
    let error: Error = result.err().expect("this is refused").into();
    assert_eq!((error.kind(), error.message()), (kind, message));
}

#[test]
fn shapes_that_do_not_fit_the_memory() {
    let data = [1.0_f32; 6];
    assert_refused(
        TensorView::from_slice(&data, [2, 4]),
        InvalidArgument,
        "shape [2, 4] has 8 elements but the memory has 6",
    );
    assert_refused(
        TensorView::from_slice(&data, [1; 9]),
        InvalidArgument,
        "rank is 9 but at most 8 axes are supported",
    );
    assert_refused(
        TensorViewMut::from_slice(&mut data.clone(), 7),
        InvalidArgument,
        "shape [7] has 7 elements but the memory has 6",
    );
}

#[test]
fn a_refusal_gives_the_data_back() {
    let vec = vec![1.0_f32; 6];
    let address = vec.as_ptr();
    let (error, vec) = Tensor::from_vec(vec, [4, 2]).err().unwrap().into_parts();
    assert_eq!(error.kind(), InvalidArgument);
    assert_eq!(error.message(), "shape [4, 2] has 8 elements but the memory has 6");
    assert_eq!((vec.as_ptr(), vec.len()), (address, 6));

    let arc: Arc<[u8]> = Arc::from([1, 2, 3]);
    let rejected = SharedTensor::from_arc(Arc::clone(&arc), 4).err().unwrap();
    assert_eq!(rejected.error().message(), "shape [4] has 4 elements but the memory has 3");
    assert!(Arc::ptr_eq(&rejected.into_data(), &arc));
    assert_eq!(Arc::strong_count(&arc), 1);

    let owner = vec![0_u16; 2].into_boxed_slice();
    let rejected = Tensor::<u16>::from_owner_mut(owner, 3).err().unwrap();
    assert_eq!(rejected.into_data().len(), 2);
}

#[test]
fn memory_that_cannot_be_had() {
    // More than any address space, and less than what arithmetic refuses.
    let result = Tensor::<u8>::zeros(isize::MAX as usize - 64);
    assert_eq!(result.err().unwrap().kind(), OutOfMemory);
    assert_refused(
        Tensor::<f64>::zeros([usize::MAX >> 4, 2]),
        InvalidArgument,
        "shape [1152921504606846975, 2] of f64 needs more than 9223372036854775807 bytes, the most \
         that memory can have",
    );
    let one = TensorView::from_ref(&1_u8).broadcast(tenure_sys::TNR_MAX_ELEMENTS as usize).unwrap();
    assert_eq!(ops::add(one, one).err().unwrap().kind(), OutOfMemory);
}

#[test]
fn outputs_whose_indices_meet() {
    let mut data = [1, 2, 3, 4];
    let result = TensorViewMut::from_slice_strided(&mut data, 0, [2, 3], &[1, 1]);
    assert_eq!(result.err().unwrap().kind(), Aliased);
}

#[test]
fn inputs_that_do_not_broadcast() {
    let (a, b) = ([[0; 3]; 2], [0; 2]);
    assert_refused(ops::add(&a, &b), InvalidArgument, "add: [2, 3] with [2]: axis 1 is 3 and 2");
    assert_refused(ops::div(&a, &b), InvalidArgument, "div: [2, 3] with [2]: axis 1 is 3 and 2");
    assert_refused(ops::lt(&a, &b), InvalidArgument, "lt: [2, 3] with [2]: axis 1 is 3 and 2");
    assert_refused(
        ops::select(&[Bool8::TRUE; 3], &a, &b),
        InvalidArgument,
        "select: [3] with [2, 3] with [2]: axis 1 is 3 and 2",
    );
    assert_refused(
        ops::select(Bool8::TRUE, &[[0; 1]; 4], &a),
        InvalidArgument,
        "select: [] with [4, 1] with [2, 3]: axis 0 is 4 and 2",
    );
    assert_refused(ops::sub(&[0; 0], &b), InvalidArgument, "sub: [0] with [2]: axis 0 is 0 and 2");
    let images = TensorView::from_ref(&0).broadcast([4, 3, 224, 224]).unwrap();
    assert_refused(
        ops::add(images, &[0; 5]),
        InvalidArgument,
        "add: [4, 3, 224, 224] with [5]: axis 3 is 224 and 5",
    );
    assert_refused(
        ops::zip_with(&a, &b, |a: i32, b: i32| a + b),
        InvalidArgument,
        "zip_with: [2, 3] with [2]: axis 1 is 3 and 2",
    );
    assert_refused(
        linalg::matmul(&[[[0.0; 2]; 2]; 3], &[[[0.0; 2]; 2]; 2]),
        InvalidArgument,
        "matmul: [3, 2, 2] with [2, 2, 2]: axis 0 is 3 and 2",
    );
}

/// Calls `operation` on an output full of 7, and asserts that it is refused and changes nothing.
#[track_caller]
fn assert_untouched<T: Element + From<u8>, const N: usize>(
    operation: impl FnOnce(&mut [T; N]) -> Result<()>,
    message: &str,
) {
    let mut out = [T::from(7); N];
    assert_refused(operation(&mut out), InvalidArgument, message);
    assert_eq!(out, [T::from(7); N]);
}

#[test]
fn outputs_are_untouched_when_a_call_is_refused() {
    let wide = "a.shape[0] is 3 but out.shape[0] is 2";
    let named = |call: &str| format!("{call} into [2]: {wide}");
    assert_untouched::<i32, 2>(
        |out| ops::add_into(&[1, 2, 3], 1, out),
        &named("add_into: [3] with []"),
    );
    assert_untouched::<i32, 2>(|out| ops::neg_into(&[1, 2, 3], out), &named("neg_into: [3]"));
    assert_untouched::<i32, 2>(|out| ops::copy_into(&[1, 2, 3], out), &named("copy_into: [3]"));
    assert_untouched::<f32, 2>(|out| ops::cast_into(&[1, 2, 3], out), &named("cast_into: [3]"));
    assert_untouched::<f32, 2>(
        |out| ops::select_into(Bool8::TRUE, &[1.0, 2.0, 3.0], 1.0, out),
        wide,
    );
    assert_untouched::<i32, 2>(
        |out| ops::mul_assign(out, &[1, 2, 3]),
        "mul_assign: [3] into [2]: b.shape[0] is 3 but out.shape[0] is 2",
    );
    assert_untouched::<i32, 2>(
        |out| ops::sub_into(1, &[[1, 2]; 2], out),
        "sub_into: [] with [2, 2] into [2]: b.rank is 2 but out.rank is 1",
    );
    // An output never broadcasts.
    assert_untouched::<i32, 1>(
        |out| ops::add_into(&[1, 2], &[1, 2], out),
        "add_into: [2] with [2] into [1]: a.shape[0] is 2 but out.shape[0] is 1",
    );
    let mut truth = [Bool8::from_byte(7); 2];
    let message = named("lt_into: [3] with []");
    assert_refused(ops::lt_into(&[1, 2, 3], 2, &mut truth), InvalidArgument, &message);
    assert_eq!(truth.map(Bool8::to_byte), [7; 2]);
}

#[test]
fn integer_division_by_zero() {
    let error = ops::div(&[1, 2, 3], &[1, 0, 1]).err().unwrap();
    assert_eq!(error.kind(), InvalidArgument);
    assert!(error.message().starts_with("div: b has an element 0"), "{error}");
    // A divisor that is one number is seen before anything is written.
    let message = "b is 0 but an integer divisor must not be 0";
    assert_refused(ops::div(&[1_u8], 0), InvalidArgument, &format!("div: {message}"));
    assert_untouched::<i32, 2>(|out| ops::div_assign(out, 0), &format!("div_assign: {message}"));
    // Found on the data: the quotients before and after may have been written.
    let mut out = [10_i64, 20, 30];
    assert!(ops::div_assign(&mut out, &[5, 0, 3]).is_err());
    assert!([10, 2].contains(&out[0]) && [30, 10].contains(&out[2]), "{out:?}");
    // Nothing is divided, so nothing is wrong.
    assert!(ops::div(TensorView::<i32>::from_slice(&[], [0]).unwrap(), &[0]).is_ok());
}

#[test]
fn axes_that_are_not_there() {
    let table = [[1.0, 2.0], [3.0, 4.0]];
    assert_refused(ops::sum(&table, 2), InvalidArgument, "sum: axis is 2 but a has rank 2");
    assert_refused(ops::mean(&table, [0, 5]), InvalidArgument, "mean: axis is 5 but a has rank 2");
    assert_refused(
        ops::max(&table, usize::MAX),
        InvalidArgument,
        &format!("max: axis is {} but a has rank 2", usize::MAX),
    );
    assert_refused(
        ops::min(&table, [1, 1]),
        InvalidArgument,
        "min: axis 1 is given more than once",
    );
    assert_refused(ops::sum(1.0, 0), InvalidArgument, "sum: axis is 0 but a has rank 0");
}

#[test]
fn reductions_that_have_no_answer() {
    let nothing = TensorView::<i32>::from_slice(&[], [2, 0]).unwrap();
    assert_refused(
        ops::max(nothing, 1),
        InvalidArgument,
        "max: a.shape is [2, 0], so that max has no elements but needs one",
    );
    assert_eq!(ops::argmin(nothing, ..).err().unwrap().kind(), InvalidArgument);
    let cube = TensorView::from_slice(&[0; 8], [2, 2, 2]).unwrap();
    assert_refused(
        ops::argmax(cube, [0, 2]),
        InvalidArgument,
        "argmax: axes names 2 of 3 axes but argmin and argmax take one or all",
    );
}

#[test]
fn outputs_of_reductions_that_do_not_fit() {
    let table = [[1.0_f32, 2.0, 3.0]; 2];
    assert_untouched::<f32, 2>(
        |out| ops::sum_into(&table, 0, out),
        "sum_into: out.shape[0] is 2 but must be 3",
    );
    let mut out = [[[7.0_f32; 1]; 1]; 3];
    assert_refused(
        ops::sum_into(&table, 0, &mut out),
        InvalidArgument,
        "sum_into: out.rank is 3 but must be 1, or 2 with the reduced axes of extent 1",
    );
    assert_eq!(out, [[[7.0]]; 3]);
}

#[test]
fn factors_that_do_not_agree() {
    let a = [[1.0, 2.0, 3.0]; 2];
    assert_refused(
        linalg::matmul(&a, &[[1.0; 4]; 2]),
        InvalidArgument,
        "b.shape[0] is 2 but must be 3, the last extent of a: a has shape [2, 3], b [2, 4], out \
         [2, 4]",
    );
    assert_refused(linalg::matmul(&a, 2.0), InvalidArgument, "b.rank is 0 but must be 1 at least");
    assert_refused(
        linalg::matmul(&[a; 2], &[[[1.0]; 3]; 3]),
        InvalidArgument,
        "matmul: [2, 2, 3] with [3, 3, 1]: axis 0 is 2 and 3",
    );
    let expected = "out.shape[1] is 2 but must be 4, the columns of b: a has shape [2, 3], b [3, 4], \
                    out [2, 2]";
    let mut out = [[7.0; 2]; 2];
    let refused = linalg::matmul_scaled_into(1.0, &a, &[[1.0; 4]; 3], 1.0, &mut out);
    assert_refused(refused, InvalidArgument, expected);
    assert_eq!(out, [[7.0; 2]; 2]);
    let bytes = Matmul::new().activation(Activation::Tanh);
    assert_refused(
        linalg::matmul_with(&[[1_u8]], &[[1]], bytes),
        Unsupported,
        "attributes->activation is tanh, which does not take sums of i32",
    );
}

#[test]
fn images_and_filters_that_do_not_agree() {
    let (a, weight) = ([[[[1.0; 5]; 4]; 6]; 2], [[[[1.0; 3]; 3]; 6]; 4]);
    let refused = |with: Conv2d<'_, f64>, expected| {
        assert_refused(nn::conv2d(&a, &weight, with), InvalidArgument, expected);
    };
    refused(
        Conv2d::new().groups(2),
        "weight.shape[1] is 6 but must be 3, the channels of a by groups; its shape is \
         [4, 6, 3, 3]",
    );
    refused(Conv2d::new().groups(4), "a.shape[1] is 6, which 4 groups do not divide");
    refused(Conv2d::new().groups(0), "groups is 0 but must be 1 at least");
    refused(Conv2d::new().strides([1, 0]), "strides[1] is 0 but must be 1 at least");
    refused(Conv2d::new().dilations([0, 1]), "dilations[0] is 0 but must be 1 at least");
    let too_far = "weight's height of 3, dilated by 2, exceeds the 4 of a with its padding";
    refused(Conv2d::new().dilations([2, 1]), too_far);
    let too_large = "padding[1][0] is 18446744073709551615 but must be at most 9223372036854775807";
    refused(Conv2d::new().padding_around([0, 0], [usize::MAX, 0]), too_large);
    let too_large = "the padded width of a exceeds 2^63 - 1";
    refused(Conv2d::new().padding([0, isize::MAX as usize]), too_large);
    refused(
        Conv2d::new().bias(&[1.0; 5]),
        "bias.shape[0] is 5 but must be 4, the filters of weight; its shape is [5]",
    );
    assert_refused(
        nn::conv2d(&a, &[[[1.0; 3]; 3]; 6], Conv2d::new()),
        InvalidArgument,
        "weight.rank is 3 but must be 4",
    );
    let none = TensorView::<f64>::from_slice(&[], [4, 6, 0, 3]).unwrap();
    assert_refused(
        nn::conv2d(&a, none, Conv2d::new()),
        InvalidArgument,
        "weight.shape[2] is 0 but must be 1 at least",
    );
    let mut out = [[[[7.0; 3]; 3]; 4]; 2];
    assert_refused(
        nn::conv2d_into(&a, &weight, Conv2d::new(), &mut out),
        InvalidArgument,
        "out.shape[2] is 3 but must be 2, the rows at which weight fits into a; its shape is \
         [2, 4, 3, 3]",
    );
    assert_eq!(out, [[[[7.0; 3]; 3]; 4]; 2]);
}

#[test]
fn layouts_that_are_not_there() {
    let table = Tensor::<f32>::zeros([2, 3]).unwrap();
    assert_refused(
        table.view().channels_last(),
        InvalidArgument,
        "channels_last: the rank is 2 but must be 3 at least",
    );
    assert_refused(
        table.contiguous(Order::ColumnMajor, CopyMode::Never),
        InvalidArgument,
        "strides [3, 1] of shape [2, 3] are not ColumnMajor, and CopyMode::Never allows no copy",
    );
    let huge = [1.0_f32];
    let huge = TensorView::from_slice(&huge, 1).unwrap();
    let huge = huge.broadcast([1 << 40, 1 << 18]).unwrap();
    let refused = huge.contiguous(Order::RowMajor, CopyMode::IfNeeded).unwrap_err();
    assert_eq!(refused.kind(), OutOfMemory);
}

#[test]
fn specs_and_operands_that_do_not_agree() {
    let a = [[1.0, 2.0, 3.0]; 2];
    let refused = |spec, expected| {
        assert_refused(linalg::einsum(spec, (&a, &[1.0; 4])), InvalidArgument, expected);
    };
    refused(
        "ij,j->i",
        "operands[1].shape[0] is 4 but operands[0].shape[1] is 3, and both are label 'j'",
    );
    refused("ij,k->ijz", "spec[8] is 'z', a label that no operand has");
    refused("ij,1", "spec[3] is '1', but must be a letter, \"...\", ',' or \"->\"");
    refused("ij\0,j", "spec[2] is byte 0x00, but must be a letter");
    refused("ij,j\u{e9}", "spec[4] is byte 0xc3, but must be a letter, \"...\", ',' or \"->\"");
    refused("ij", "spec[2] is the end after term 1, but operand_count is 2");
    assert_refused(
        linalg::einsum("", [[0.0_f32; 0]; 0]),
        InvalidArgument,
        "operand_count is 0 but must be 1 at least",
    );
    let mut out = [7.0; 3];
    let into = linalg::einsum_into("ij->i", [&a], &mut out);
    assert_refused(into, InvalidArgument, "out.shape[0] is 3 but must be 2");
    assert_eq!(out, [7.0; 3]);
    let axes = [[[[[1.0]]]]];
    assert_refused(
        linalg::einsum("abcde,fghij", [&axes, &axes]),
        Unsupported,
        "the result has more than 8 axes",
    );
}

#[test]
fn dtypes_that_an_operation_does_not_take() {
    let float8 = DType::from_dlpack(10, 8, 1);
    let view = DynView::from_bytes(&[1, 2, 3], float8, 3).unwrap();
    let error = view.cast_to::<f32>().err().unwrap();
    assert_eq!(error.kind(), Unsupported);
    let complex = [Complex::new(1.0_f32, 2.0)];
    let view = DynView::from(TensorView::from_slice(&complex, 1).unwrap());
    assert_refused(view.cast_to::<f32>(), Unsupported, "cast does not take c64 to f32");
    assert_refused(
        DynView::from_bytes(&[1, 2], DType::from_dlpack(1, 4, 1), 4),
        Unsupported,
        "DType { code: 1, bits: 4, lanes: 1 } has no whole number of bytes",
    );
}

#[test]
fn an_error_is_one_pointer_and_an_error() {
    assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    let error: Box<dyn std::error::Error + Send + Sync> = Box::new(ops::sum(1, 0).err().unwrap());
    assert_eq!(error.to_string(), "sum: axis is 0 but a has rank 0");
}

/// Errors cross what programs put around calls: copies for several readers, threads, unwinding.
#[test]
fn errors_are_cloned_sent_and_carried_through_unwinding() {
    fn is_carried<T: Clone + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
    is_carried::<Error>();
    let error = io::read("no/such/file").err().unwrap();
    let clone = error.clone();
    assert_eq!((clone.kind(), clone.message()), (error.kind(), error.message()));
    assert!(std::error::Error::source(&clone).is_some());
}

/// Calls that take a number that no operand allows; the library has it as an `i64`, and messages as
/// it was given.
#[test]
fn numbers_are_named_as_they_were_given() {
    type Call = fn(usize) -> Result<(), Error>;
    fn of<T, E: Into<Error>>(result: Result<T, E>) -> Result<(), Error> {
        result.map(drop).map_err(Into::into)
    }
    fn sparse() -> CsrMatrix<f32> {
        CsrMatrix::from_vecs(2, 2, vec![0, 1, 2], vec![0, 1], vec![1.0, 2.0]).unwrap()
    }
    fn traced(add: impl FnOnce(Graph<'_>, usize), number: usize) -> Result<(), Error> {
        of(Program::trace(|graph| {
            add(graph, number);
            let x = graph.input::<f32>([2]);
            graph.program((x,), x + 1.0)
        }))
    }
    const A: [[f32; 2]; 2] = [[1.0, 2.0], [3.0, 4.0]];
    const IMAGE: [[[[f32; 4]; 4]; 1]; 1] = [[[[1.0; 4]; 4]; 1]; 1];
    const WEIGHT: [[[[f32; 2]; 2]; 1]; 1] = [[[[1.0; 2]; 2]; 1]; 1];
    let calls: &[(&str, Call)] = &[
        ("partition", |n| of(ops::partition(&A, n, 1))),
        ("argpartition", |n| of(ops::argpartition(&A, n, 1))),
        ("top_k", |n| of(ops::top_k(&A, n, 1))),
        ("bottom_k", |n| of(ops::bottom_k(&A, n, 1))),
        ("axis", |n| of(ops::sum(&A, n))),
        ("axis of sort", |n| of(ops::sort(&A, n))),
        ("axis of softmax", |n| of(nn::softmax(&A, n))),
        ("axis of index", |n| of(A.as_view().index(n, 0))),
        ("bincount", |n| of(ops::bincount(&[1_u8], n))),
        ("windows", |n| of(A.as_view().windows(1, n, 1))),
        ("window step", |n| of(A.as_view().windows(1, n, n))),
        ("split_at", |n| of(A.as_view().split_at(1, n))),
        ("split_into", |n| of(A.as_view().split_into(1, n))),
        ("chunks", |n| of(A.as_view().chunks(1, n))),
        ("slice", |n| of(A.as_view().slice(1, n..))),
        ("slice to", |n| of(A.as_view().slice(1, ..n))),
        ("index", |n| of(A.as_view().index(1, n))),
        ("i", |n| of(A.as_view().slice_axes(s![n, 0]))),
        ("i of a range", |n| of(A.as_view().slice_axes(s![n.., 0]))),
        ("i to", |n| of(A.as_view().slice_axes(s![..n, 0]))),
        ("reshape", |n| of(A.as_view().reshape([n, 1]))),
        ("broadcast", |n| of(A.as_view().broadcast([n, n]))),
        ("zeros", |n| of(Tensor::<f32>::zeros([n, 4]))),
        ("eye", |n| of(Tensor::<f32>::eye(n))),
        ("permutation", |n| of(random::Generator::new(1).permutation(n))),
        ("choice", |n| of(random::Generator::new(1).choice(n, 1))),
        ("strides", |n| of(nn::conv2d(&IMAGE, &WEIGHT, Conv2d::new().strides([n, 1])))),
        ("dilations", |n| of(nn::conv2d(&IMAGE, &WEIGHT, Conv2d::new().dilations([1, n])))),
        ("groups", |n| of(nn::conv2d(&IMAGE, &WEIGHT, Conv2d::new().groups(n)))),
        ("padding", |n| of(nn::conv2d(&IMAGE, &WEIGHT, Conv2d::new().padding([n, 1])))),
        ("pool strides", |n| of(nn::max_pool2d(&IMAGE, Pool2d::new([2, 2]).strides([n, 1])))),
        ("pool kernel", |n| of(nn::max_pool2d(&IMAGE, Pool2d::new([n, 2])))),
        ("pool padding", |n| of(nn::avg_pool2d(&IMAGE, Pool2d::new([2, 2]).padding([1, n])))),
        ("pool dilations", |n| of(nn::avg_pool2d(&IMAGE, Pool2d::new([2, 2]).dilations([n, 1])))),
        ("adaptive", |n| of(nn::adaptive_avg_pool2d(&IMAGE, [n, 1]))),
        ("sparse top_k", |n| of(sparse().top_k(n))),
        ("to_bsr", |n| of(sparse().to_bsr([n, 1]))),
        ("BsrView", |n| of(BsrView::new(2, 2, [1, n], &[0, 1, 2], &[0, 1], &[1.0, 2.0]))),
        ("CooView cols", |n| of(CooView::new(2, n, &[0_i64], &[0], &[1.0]))),
        ("row_range", |n| of(sparse().view().row_range(n..))),
        ("extent", |n| traced(|graph, n| _ = graph.extent("n", n), n)),
        ("input", |n| traced(|graph, n| _ = graph.input::<f32>([n, 2]), n)),
        ("node top_k", |n| traced(|graph, n| _ = graph.input::<f32>([2]).top_k(n, 0), n)),
        ("node axis", |n| traced(|graph, n| _ = graph.input::<f32>([2]).sum(n), n)),
        ("threads", |n| of(Context::with_threads(n))),
    ];
    for number in [usize::MAX, 1 << 63, isize::MAX as usize, usize::MAX / 3] {
        for (name, call) in calls {
            let Err(error) = call(number) else { continue };
            let (kind, message) = (error.kind(), error.message());
            let is_named = message.contains(&number.to_string()) || message.ends_with("2^63 - 1");
            assert!(is_named || kind == OutOfMemory, "{name} of {number}: {message}");
        }
    }
}
