//! Forms of operands, and broadcasting.

use std::fmt::Debug;

use tenure::*;

/// A two-parameter `Result` and a `Copy` bound next to the glob import above: both still compile.
fn beside_the_glob<T: Copy + Debug>(value: T) -> Result<T, String> {
    Ok(value)
}

#[test]
fn the_glob_import_shadows_nothing_common() {
    assert_eq!(beside_the_glob(1), Ok(1));
}

#[test]
fn operands_may_be_numbers() {
    let data = [1.0_f32, 2.0, 3.0];
    assert_eq!(ops::add(&data, 1.0).unwrap().to_vec(), [2.0, 3.0, 4.0]);
    assert_eq!(ops::div(1.0, &data).unwrap().to_vec(), [1.0, 0.5, 1.0 / 3.0]);
    assert_eq!(ops::sub(5, 3).unwrap().item(), Some(2));
    assert_eq!(ops::gt(&data, 2.0).unwrap().to_vec(), [false, false, true].map(Bool8::from));
    let mut own = data;
    ops::mul_assign(&mut own, 10.0).unwrap();
    assert_eq!(own, [10.0, 20.0, 30.0]);
    ops::maximum_into(&data, 2.5, &mut own).unwrap();
    assert_eq!(own, [2.5, 2.5, 3.0]);
}

#[test]
fn operands_may_be_anything_that_lends() {
    let array = [[1, 2], [3, 4]];
    let vec = vec![10, 20];
    let tensor = Tensor::from_vec(vec![100, 200, 300, 400], [2, 2]).unwrap();
    let shared = Tensor::full([2, 2], 1000).unwrap().into_shared();
    let view = TensorView::from_slice(&vec, [2, 1]).unwrap();

    let sums =
        ops::add(&ops::add(array, &vec).unwrap(), &ops::add(&tensor, &shared).unwrap()).unwrap();
    assert_eq!(sums.to_vec(), [1111, 1222, 1313, 1424]);
    assert_eq!(ops::add(view, &vec[..]).unwrap().to_vec(), [20, 30, 30, 40]);
}

#[test]
fn outputs_may_be_anything_that_lends_exclusively() {
    let mut array = [[0; 2]; 2];
    ops::add_into([1, 2], 1, &mut array).unwrap();
    assert_eq!(array, [[2, 3]; 2]);

    let mut vec = vec![0; 2];
    ops::add_into([1, 2], 1, &mut vec).unwrap();
    ops::add_assign(&mut vec[1..], 5).unwrap();
    assert_eq!(vec, [2, 8]);

    let mut tensor = Tensor::zeros([2, 2]).unwrap();
    ops::add_into(&array, 1, &mut tensor).unwrap();
    // A `&mut` variable is not moved by its first use.
    let borrowed = &mut tensor;
    ops::neg_assign(borrowed).unwrap();
    ops::neg_assign(borrowed).unwrap();
    ops::abs_assign(&mut borrowed.view_mut().t()).unwrap();
    assert_eq!(tensor.to_vec(), [3, 4, 3, 4]);
}

#[test]
fn shapes_broadcast_as_in_numpy() {
    let cases: [(&[usize], &[usize], &[usize]); 8] = [
        (&[], &[], &[]),
        (&[3], &[], &[3]),
        (&[2, 1], &[3], &[2, 3]),
        (&[1, 3], &[2, 1], &[2, 3]),
        (&[4, 1, 3], &[2, 1], &[4, 2, 3]),
        (&[0], &[1], &[0]),
        (&[2, 0], &[2, 1], &[2, 0]),
        (&[1, 1, 1, 1, 1, 1, 1, 2], &[3, 1], &[1, 1, 1, 1, 1, 1, 3, 2]),
    ];
    let memory = [1_i32; 24];
    for (a, b, expected) in cases {
        let lend = |shape: &[usize]| {
            TensorView::from_slice(&memory[..shape.iter().product()], shape).unwrap()
        };
        let (a, b) = (lend(a), lend(b));
        assert_eq!(ops::add(a, b).unwrap().shape(), expected);
        assert_eq!(ops::add(b, a).unwrap().shape(), expected);
        assert_eq!(ops::lt(a, b).unwrap().shape(), expected);
        assert_eq!(ops::select(Bool8::TRUE, a, b).unwrap().shape(), expected);
        let mut out = Tensor::<i32>::zeros(expected).unwrap();
        ops::add_into(a, b, &mut out).unwrap();
        assert!(out.iter().all(|sum| *sum == 2));
    }
}

#[test]
fn axes_are_written_in_several_ways() {
    let cube = TensorView::from_slice(&[1; 24], [2, 3, 4]).unwrap();
    assert_eq!(ops::sum(cube, 1).unwrap().shape(), [2, 4]);
    assert_eq!(ops::sum(cube, [2, 0]).unwrap().shape(), [3]);
    assert_eq!(ops::sum(cube, &[0, 1][..]).unwrap().shape(), [4]);
    assert_eq!(ops::sum(cube, [0; 0]).unwrap().shape(), [2, 3, 4]);
    assert_eq!(ops::sum(cube, ..).unwrap().shape(), [0; 0]);
    assert_eq!(ops::sum(cube, Axes::keep(..)).unwrap().shape(), [1, 1, 1]);
    assert_eq!(ops::sum(7_u8, ..).unwrap().item(), Some(7_u64));
}

#[test]
fn empty_operands_give_empty_results() {
    let nothing = TensorView::<f32>::from_slice(&[], [3, 0]).unwrap();
    assert_eq!(ops::add(nothing, 1.0).unwrap().shape(), [3, 0]);
    assert_eq!(ops::exp(nothing).unwrap().shape(), [3, 0]);
    assert_eq!(ops::cast::<u8, _>(nothing).unwrap().shape(), [3, 0]);
    let mut out: [[f32; 0]; 3] = [[]; 3];
    ops::add_into(nothing, nothing, &mut out).unwrap();
    ops::fill(&mut out, 1.0).unwrap();
    let wide = TensorView::<u8>::from_slice(&[], [0, usize::MAX >> 2]).unwrap();
    assert_eq!(ops::sum(wide, 1).unwrap().shape(), [0]);
}
