//! Tensors by a rule, and from Rust's own collections; equality; walks by reference.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tenure::{
    Complex, ErrorKind, Order, Tensor, TensorView, TensorViewMut, Tenure, bf16, f16, meshgrid,
};

#[test]
fn sequences_end_before_their_end() {
    assert_eq!(Tensor::arange(0..0).unwrap().shape(), [0]);
    let (start, end) = (3, 1);
    assert_eq!(Tensor::arange(start..end).unwrap().len(), 0);
    assert_eq!(Tensor::arange(-2..2_i64).unwrap(), [-2, -1, 0, 1]);
    assert_eq!(Tensor::arange_step(0, 7, 3).unwrap(), [0, 3, 6]);
    assert_eq!(Tensor::arange_step(0, 6, 3).unwrap(), [0, 3]);
    assert_eq!(Tensor::arange_step(5, 0, -2).unwrap(), [5, 3, 1]);
    assert_eq!(Tensor::arange_step(0_u8, 255, 100).unwrap(), [0, 100, 200]);
    let most = Tensor::arange(i8::MIN..i8::MAX).unwrap();
    assert_eq!((most.len(), most[[0]], most[[254]]), (255, i8::MIN, i8::MAX - 1));
    assert_eq!(Tensor::arange_step(0.0_f32, 1.0, 0.25).unwrap(), [0.0, 0.25, 0.5, 0.75]);
    let halves = Tensor::arange_step(f16::ZERO, f16::ONE, f16::from_f32(0.5)).unwrap();
    assert_eq!(halves, [f16::ZERO, f16::from_f32(0.5)]);
    // Each is rounded once, and not a sum of rounded steps.
    let tenths = Tensor::arange_step(0.0_f32, 100.0, 0.1).unwrap();
    assert!(tenths.iter().zip(0..).all(|(&x, nth)| x == (0.1_f32 as f64 * nth as f64) as f32));
}

#[test]
fn sequences_without_an_end_are_refused() {
    let error = Tensor::arange_step(0, 4, 0).err().unwrap();
    assert_eq!(
        error.message(),
        "no steps of 0 lead from 0 to 4: a step is not 0, and all three are finite"
    );
    assert!(Tensor::arange(0.0..f64::INFINITY).is_err());
    assert!(Tensor::arange(f32::NAN..1.0).is_err());
    assert!(Tensor::arange_step(0.0, 1.0, 0.0).is_err());
    let kind = |tensor: tenure::Result<Tensor<f64>>| tensor.err().map(|error| error.kind());
    assert_eq!(kind(Tensor::arange(-f64::MAX..f64::MAX)), Some(ErrorKind::InvalidArgument));
    assert!(Tensor::arange(0..i64::MAX).is_err());
}

#[test]
fn spaces_have_both_ends() {
    assert_eq!(Tensor::linspace(0.0, 1.0, 0).unwrap().len(), 0);
    assert_eq!(Tensor::linspace(3.0, 1.0, 1).unwrap(), [3.0]);
    assert_eq!(Tensor::linspace(1.0_f32, -1.0, 3).unwrap(), [1.0, 0.0, -1.0]);
    let wide = Tensor::linspace(-f64::MAX, f64::MAX, 3).unwrap();
    assert_eq!(wide, [-f64::MAX, 0.0, f64::MAX]);
    let third = Tensor::linspace(bf16::ZERO, bf16::ONE, 4).unwrap();
    assert_eq!((third[[0]], third[[3]]), (bf16::ZERO, bf16::ONE));
    let fine = Tensor::linspace(0.1, 0.7, 1001).unwrap();
    assert!(fine.as_slice().unwrap().is_sorted() && fine[[1000]] == 0.7);
}

#[test]
fn functions_of_the_index_see_each_once_in_order() {
    let mut seen = Vec::new();
    let cube = Tensor::from_fn([2, 1, 3], |index| {
        seen.push(index);
        seen.len() as i32
    });
    assert_eq!(seen, [[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 0, 0], [1, 0, 1], [1, 0, 2]]);
    assert_eq!(cube.unwrap(), [[[1, 2, 3]], [[4, 5, 6]]]);
    assert_eq!(Tensor::from_fn([], |[]| 7_u8).unwrap().item(), Some(7));
    assert!(Tensor::from_fn([2, 0], |_| -> f32 { panic!("there is no element") }).is_ok());
    assert!(Tensor::from_fn([usize::MAX, 2], |_| -> f32 { panic!("nor is there one") }).is_err());
    assert!(Tensor::from_fn([1; 9], |_| -> f32 { panic!("nor here") }).is_err());
    assert!(catch_unwind(|| Tensor::from_fn([3], |[at]| 1 / (1 - at as i32))).is_err());
}

#[test]
fn the_identity_is_one_on_its_diagonal() {
    assert_eq!(Tensor::<u8>::eye(3).unwrap(), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]);
    assert_eq!(Tensor::<f16>::eye(0).unwrap().shape(), [0, 0]);
    assert!(Tensor::<f64>::eye(1 << 40).is_err());
    assert_eq!(Tensor::<bf16>::ones([2]).unwrap(), [bf16::ONE; 2]);
}

#[test]
fn grids_are_views_of_their_axes() {
    let (x, y, z) = (vec![1, 2], vec![3, 4, 5], vec![6]);
    let [a, b, c] = meshgrid([&x, &y, &z]).unwrap();
    assert_eq!((a.shape(), b.shape(), c.shape()), (&[2, 3, 1][..], &[2, 3, 1][..], &[2, 3, 1][..]));
    assert_eq!((a.as_ptr(), b.as_ptr(), c.as_ptr()), (x.as_ptr(), y.as_ptr(), z.as_ptr()));
    assert_eq!((a[[1, 0, 0]], b[[1, 2, 0]], c[[1, 2, 0]]), (2, 5, 6));
    let error = meshgrid([&TensorView::from_ref(&1)]).err().unwrap();
    assert_eq!(error.message(), "axes[0] has rank 0 but must have 1");
    assert_eq!(meshgrid::<i32, Vec<i32>, 0>([]).unwrap().len(), 0);
    assert!(meshgrid([&x; 9]).is_err());
}

#[test]
fn collections_become_tensors() {
    let vec = vec![1.0, 2.0, 3.0];
    let address = vec.as_ptr();
    let tensor = Tensor::from(vec);
    assert_eq!((tensor.tenure(), tensor.as_ptr()), (Tenure::Adopted, address));
    assert_eq!(tensor.into_vec().unwrap(), [1.0, 2.0, 3.0]);
    assert_eq!(Tensor::<f32>::from(Vec::new()).shape(), [0]);
    let collected: Tensor<u8> = "abc".bytes().collect();
    assert_eq!(collected, *b"abc");
    let halved = collected.iter().map(|&byte| f32::from(byte) / 2.0).collect::<Tensor<f32>>();
    assert_eq!(halved.len(), 3);
    let cube = Tensor::from([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]);
    assert_eq!((cube.shape(), cube[[1, 0, 1]]), (&[2, 2, 2][..], 6));
    assert_eq!(Tensor::from([[0_i8; 0]; 3]).shape(), [3, 0]);
}

#[test]
fn equality_is_of_shapes_and_elements() {
    let tensor = Tensor::from([[1, 2], [3, 4]]);
    let columns = Tensor::from_vec_in(vec![1, 3, 2, 4], [2, 2], Order::ColumnMajor).unwrap();
    let shared = tensor.try_clone().unwrap().into_shared();
    let mut data = [1, 2, 3, 4];
    let exclusive = TensorViewMut::from_slice(&mut data, [2, 2]).unwrap();
    assert_eq!(tensor, columns);
    assert_eq!(tensor, shared);
    assert_eq!(shared, tensor.view());
    assert_eq!(exclusive, tensor);
    assert_eq!(tensor.view(), exclusive);
    assert_eq!(&tensor, &columns);
    assert_eq!(columns, [[1, 2], [3, 4]]);
    assert_eq!(tensor.index(0, 1).unwrap(), vec![3, 4]);
    assert_eq!(tensor.index(0, 1).unwrap(), &[3, 4][..]);
    assert_ne!(tensor, columns.t());
    assert_ne!(tensor, [[1, 2], [3, 5]]);
    assert_ne!(tensor, tensor.flatten().unwrap());
    assert_ne!(Tensor::<i32>::zeros([0, 3]).unwrap(), Tensor::zeros([3, 0]).unwrap());
    assert_ne!(Tensor::from([f32::NAN]), [f32::NAN]);
    assert_eq!(Tensor::from([0.0]), [-0.0]);
    assert_eq!(Tensor::from([Complex::new(1.0_f32, 2.0)]), [Complex::new(1.0, 2.0)]);
    fn is_eq<T: Eq>(_: &T) {}
    is_eq(&tensor);
}

#[test]
fn references_are_walked() {
    let mut tensor = Tensor::from([[1, 2], [3, 4]]);
    for x in &mut tensor {
        *x *= 10;
    }
    let mut total = 0;
    for x in &tensor {
        total += x;
    }
    assert_eq!(total, 100);
    let shared = tensor.into_shared();
    assert_eq!((&shared).into_iter().copied().max(), Some(40));
    let mut data = [1, 2, 3];
    let mut view = TensorViewMut::from_slice(&mut data, 3).unwrap();
    for x in &mut view {
        *x += 1;
    }
    assert_eq!((&view).into_iter().sum::<i32>(), 9);
}

#[test]
fn a_closure_that_panics_leaves_what_was_written() {
    let mut data = [1, 2, 3, 4];
    let panics = |x: i32| if x == 3 { panic!("no 3") } else { x * 10 };
    assert!(catch_unwind(|| tenure::map([1, 2, 3], panics)).is_err());
    let assigned = AssertUnwindSafe(&mut data);
    assert!(catch_unwind(move || tenure::map_assign(*{ assigned }, panics)).is_err());
    assert_eq!(data, [10, 20, 3, 4]);
}
