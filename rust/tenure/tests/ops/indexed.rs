//! Functions that Rust composes from the movement of elements: shapes, axes counted from behind,
//! refusals that write nothing. The elements themselves are compared in the core's tests.

use tenure::{
    AsIndices, Bool8, Error, PadMode, Tensor, TensorView,
    nn::{one_hot, one_hot_into},
    ops::{
        concat, concat_into, gather, masked_fill_assign, pad, pad_into, put, put_add_assign,
        put_assign, repeat, roll, stack, take, take_into, tile, tril,
    },
};

#[test]
fn parts_agree_or_are_refused() {
    let (a, b) = ([[1, 2], [3, 4]], [[5, 6]]);
    assert_eq!(concat((&a, &b), -2).unwrap().shape(), [3, 2]);
    assert!(concat::<i32>(Vec::<Tensor<i32>>::new(), 0).is_err());
    assert!(concat((&a, &b), 1).unwrap_err().message().contains("parts[1].shape[0] is 1"));
    assert!(concat((&a, &b), 2).unwrap_err().message().contains("axis is 2"));
    assert!(concat((&a, &[1, 2]), 0).is_err());
    let refused = |error: Option<Error>| error.unwrap().message().to_owned();
    let of_stack = |c: &[i32]| refused(stack((&a, TensorView::from(c)), 0).err());
    assert_eq!(of_stack(&[5]), "stack: parts[1].rank is 1 but parts[0].rank is 2");
    assert_eq!(
        refused(stack((&a, &b), 0).err()),
        "stack: parts[1].shape[0] is 1 but parts[0].shape[0] is 2"
    );
    assert_eq!(
        refused(concat((&a, &[[5, 6, 7]]), 0).err()),
        "concat: parts[1].shape[1] is 3 but parts[0].shape[1] is 2"
    );
    assert_eq!(refused(take(&a, 2, &[0]).err()), "take: axis is 2 but a has rank 2");
    assert_eq!(refused(put(&a, 2, &[0], &a).err()), "put: axis is 2 but a has rank 2");
    let mut out = [7; 3];
    assert!(concat_into(([1, 2], [3, 4]), 0, &mut out).is_err());
    assert_eq!(out, [7; 3]);
}

#[test]
fn paddings_have_a_pair_for_each_axis() {
    let a = [[1, 2], [3, 4]];
    assert!(pad(&a, [(1, 1)], PadMode::Edge).unwrap_err().message().contains("1 widths"));
    assert!(pad(&a, [(usize::MAX, 1), (0, 0)], PadMode::Edge).is_err());
    let mut out = [[0; 2]; 2];
    assert!(pad_into(&a, [(1, 0), (0, 0)], PadMode::Wrap, &mut out).is_err());
    let empty = Tensor::<i32>::zeros([0, 2]).unwrap();
    assert!(pad(&empty, [(1, 0), (0, 0)], PadMode::Reflect).is_err());
    assert_eq!(pad(&empty, [(1, 0), (0, 0)], PadMode::Constant(3)).unwrap().to_vec(), [3, 3]);
}

#[test]
fn repetitions_take_any_axes_and_counts() {
    assert_eq!(tile(&[1, 2], [2, 2]).unwrap().shape(), [2, 4]);
    assert_eq!(tile(&[[1, 2]], [0]).unwrap().shape(), [1, 0]);
    assert!(tile(&[1, 2], [1; 9]).is_err());
    assert_eq!(repeat(&[[1, 2]], 0, 1).unwrap().shape(), [1, 0]);
    assert!(repeat(&[1, 2], 2, 1).is_err());
    for shift in [-7_isize, -3, -1, 0, 2, 3, 100, isize::MIN, isize::MAX] {
        let rolled = roll(&[0, 1, 2], shift, -1).unwrap();
        let from = |index: i128| (index - shift as i128).rem_euclid(3);
        let expected: Vec<i128> = (0..3).map(from).collect();
        assert_eq!(rolled.to_vec().iter().map(|&i| i as i128).collect::<Vec<_>>(), expected);
    }
    assert_eq!(roll(Tensor::<u8>::zeros([0, 3]).unwrap(), 1, 0).unwrap().shape(), [0, 3]);
}

#[test]
fn indices_beyond_the_axis_write_nothing() {
    let table = [[1, 2], [3, 4]];
    let mut out = [[9; 2]; 2];
    assert!(take_into(&table, 0, &[0_i64, 2], &mut out).is_err());
    assert!(put_assign(&mut out, 1, &[0, -1], &table).is_err());
    assert!(put_add_assign(&mut out, 0, &[5], &[[1, 1]]).is_err());
    assert_eq!(out, [[9; 2]; 2]);
    let mut labels = [[7_u8; 3]; 2];
    assert!(one_hot_into(&[0, 3], &mut labels).is_err());
    assert_eq!(labels, [[7; 3]; 2]);
    assert!(one_hot::<f32, i32>(&[1], 1).is_err());
    assert!(take(&table, 2, &[0]).is_err());
    assert!(gather(&table, 0, &[0]).is_err());
    let deep = TensorView::from_slice(&[0], [1; 8]).unwrap();
    assert!(take(&table, 0, deep).unwrap_err().message().contains("rank 9"));
}

/// Indices of Rust, in every form in which a program has them: the same memory, as `i64`.
#[test]
fn indices_may_be_of_usize() {
    let table = [[1, 2], [3, 4], [5, 6]];
    let (order, signed) = (vec![2_usize, 0], [2_i64, 0]);
    let expected = take(&table, 0, &signed).unwrap();
    assert_eq!(take(&table, 0, &order).unwrap(), expected);
    assert_eq!(take(&table, 0, order.as_slice()).unwrap(), expected);
    assert_eq!(take(&table, 0, [2_usize, 0]).unwrap(), expected);
    assert_eq!(take(&table, 0, order.clone()).unwrap(), expected);
    assert_eq!(take(&table, 0, order[0]).unwrap(), [5, 6]);
    assert_eq!(take(&table, 0, &[[0_usize], [1]]).unwrap().shape(), [2, 1, 2]);
    assert!(take(&table, 0, &Vec::<usize>::new()).unwrap().is_empty());
    assert_eq!(order.as_slice().as_indices().as_ptr().addr(), order.as_ptr().addr());
    assert_eq!(gather(&[7, 8, 9], 0, &order).unwrap(), [9, 7]);
    let mut row = [0; 3];
    put_assign(&mut row, 0, &order, &[5, 6]).unwrap();
    assert_eq!(row, [6, 0, 5]);
    put_add_assign(&mut row, 0, [2_usize, 2], &[1, 1]).unwrap();
    assert_eq!(row, [6, 0, 7]);
    assert_eq!(one_hot::<u8, _>(&order, 3).unwrap(), [[0, 0, 1], [1, 0, 0]]);

    let refused = |index: usize| take(&table, 0, &[0, index]).unwrap_err().message().to_owned();
    assert!(refused(3).starts_with("take: indices[1] is 3 but must be at least 0 and less than 3"));
    assert!(refused(usize::MAX).starts_with("take: indices[1] is -1 but must be at least 0"));
    assert!(refused(1 << 63).contains("at least 0 and less than 3"));
}

#[test]
fn masks_and_triangles_work_in_place() {
    let mut a = [[1.0, 2.0], [3.0, 4.0]];
    masked_fill_assign(&mut a, &[true, false].map(Bool8::from), -1.0).unwrap();
    assert_eq!(a, [[-1.0, 2.0], [-1.0, 4.0]]);
    assert!(masked_fill_assign(&mut a, &[Bool8::TRUE; 3], 0.0).is_err());
    assert!(tril(&[1, 2], 0).is_err());
    assert_eq!(tril(&a, isize::MIN).unwrap().to_vec(), [0.0; 4]);
}
