//! Einstein sums through the crate; the core's tests have every layout.

use tenure::*;

#[test]
fn operands_are_lists_of_one_kind_and_tuples_of_any() {
    let a = Tensor::from_vec(vec![1.0, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    let expected = [7.0, 10.0, 15.0, 22.0];
    let spec = "ij,jk->ik";
    assert_eq!(linalg::einsum(spec, [&a, &a]).unwrap().to_vec(), expected);
    assert_eq!(linalg::einsum(spec, &[&a, &a]).unwrap().to_vec(), expected);
    assert_eq!(linalg::einsum(spec, &[a.view(), a.view()][..]).unwrap().to_vec(), expected);
    assert_eq!(linalg::einsum(spec, vec![a.view(); 2]).unwrap().to_vec(), expected);
    assert_eq!(linalg::einsum(spec, (&a, [[1.0, 2.0], [3.0, 4.0]])).unwrap().to_vec(), expected);
    let shared = a.view().to_tensor().unwrap().into_shared();
    let all = (&a, &shared, vec![1.0, 0.0], &[1.0, 1.0], 2.0, a.view(), &shared, [1.0, 0.0]);
    // Row 0 of the square has the sum 17 and begins with 7.
    let product = linalg::einsum("ij,jk,i,k,,il,lm,m->", all).unwrap();
    assert_eq!((product.rank(), product.to_vec()), (0, vec![2.0 * 17.0 * 7.0]));
}

#[test]
fn narrow_floats_are_products_of_matrices() {
    let halves = vec![f16::from_f32(0.5); 9000];
    let sum = linalg::einsum("i,i->", [&halves, &halves]).unwrap();
    // A sum of f16 would not go beyond 2048 by steps of a quarter.
    assert_eq!(sum.to_vec(), [f16::from_f32(2250.0)]);
}

#[test]
fn layouts_and_outputs_are_any() {
    let memory: Vec<f32> = (0_u8..24).map(f32::from).collect();
    let a = TensorView::from_slice(&memory, [2, 3, 4]).unwrap();
    let turned = a.permute(&[2, 0, 1]).unwrap();
    let product = linalg::einsum("kij,ijl->lk", [turned, a]).unwrap();
    assert_eq!(product.shape(), [4, 4]);
    let flat = linalg::matmul(
        TensorView::from_slice(&memory, [6, 4]).unwrap().t(),
        TensorView::from_slice(&memory, [6, 4]).unwrap(),
    )
    .unwrap();
    assert_eq!(product.to_vec(), flat.view().t().to_vec());
    let mut out = Tensor::<f32>::zeros_in([4, 4], Order::ColumnMajor).unwrap();
    linalg::einsum_into("kij,ijl->lk", [turned, a], &mut out).unwrap();
    assert_eq!(out.to_vec(), product.to_vec());
}

#[test]
fn a_copy_is_made_where_summed_axes_lie_apart_and_nowhere_else() {
    let a = Tensor::<f64>::full([8, 9, 10], 1.0).unwrap();
    let copies = || operation_stats(Operation::CopyInto).calls;
    let before = copies();
    linalg::einsum("ijk,ijl->kl", [&a, &a]).unwrap();
    linalg::einsum("ijk,ljk->li", [&a, &a]).unwrap();
    linalg::einsum("ijk,ilk->ijl", [&a, &a]).unwrap();
    assert_eq!(copies(), before);
    linalg::einsum("ijk,ijk->j", [&a, &a]).unwrap();
    assert_eq!(copies(), before + 2);
}
