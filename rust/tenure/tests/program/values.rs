//! Movement, products, images and normalizations, as the functions of their names.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

#[test]
fn shapes_and_slices() {
    let a = tensor(&mut Random::new(1), [4, 6, 2], i32::any);
    for program in traced(|graph| {
        let a = graph.input::<i32>([4, 6, 2]);
        let parts = vec![
            a.reshape([8, 6]),
            a.t(),
            a.permute(&[-1, 0, 1]),
            a.transpose(0, -1),
            a.slice(1, 2, 5),
            a.slice_step(-2, 1, 6, 2),
            a.slice(2, 0, 1).broadcast([4, 6, 3]),
            a.t().reshape(48),
        ];
        graph.program((a,), parts)
    }) {
        let got = program.unwrap().run((&a,)).unwrap();
        let view = a.view();
        let part = view.slice(2, ..1).unwrap();
        let expected = [
            view.reshape([8, 6]).unwrap().to_tensor(),
            view.t().to_tensor(),
            view.permute(&[2, 0, 1]).unwrap().to_tensor(),
            view.transpose(0, 2).unwrap().to_tensor(),
            view.slice(1, 2..5).unwrap().to_tensor(),
            view.slice_step(1, 1.., 2).unwrap().to_tensor(),
            part.broadcast([4, 6, 3]).unwrap().to_tensor(),
            Tensor::from_vec(view.t().to_vec(), [48]).map_err(|error| error.into()),
        ];
        for (got, expected) in got.into_iter().zip(&expected) {
            assert_same(&Ok(got), expected, "a movement");
        }
    }
}

#[test]
fn joined_padded_and_chosen() {
    let a = tensor(&mut Random::new(2), [3, 4], i64::any);
    let (rows, places) = (Tensor::from([2_i64, 0, 2]), Tensor::from([[1_i32, 3], [0, 0], [2, 1]]));
    for program in traced(|graph| {
        let a = graph.input::<i64>([3, 4]);
        let (rows, places) = (graph.input::<i64>([3]), graph.input::<i32>([3, 2]));
        let around = |mode| a.pad_to([5, 7], [1, 2], mode);
        let values = vec![
            graph.concat([a, a, a], 0),
            graph.concat([a, a.slice(1, 0, 2)], -1),
            around(PadMode::Constant(7)),
            around(PadMode::Edge),
            around(PadMode::Reflect),
            around(PadMode::Wrap),
            a.take(0, rows),
            a.gather(1, places),
            a.tril(0),
            a.triu(1),
        ];
        graph.program((a, rows, places), values)
    }) {
        let got = program.unwrap().run((&a, &rows, &places)).unwrap();
        let around = |mode| tenure::ops::pad(&a, [(1, 1), (2, 1)], mode);
        let expected = [
            tenure::ops::concat([&a, &a, &a], 0),
            tenure::ops::concat([a.view(), a.slice(1, ..2).unwrap()], 1),
            around(PadMode::Constant(7)),
            around(PadMode::Edge),
            around(PadMode::Reflect),
            around(PadMode::Wrap),
            tenure::ops::take(&a, 0, &rows),
            tenure::ops::gather(&a, 1, &places),
            tenure::ops::tril(&a, 0),
            tenure::ops::triu(&a, 1),
        ];
        for (got, expected) in got.into_iter().zip(&expected) {
            assert_same(&Ok(got), expected, "a movement");
        }
    }
}

#[test]
fn products() {
    let (a, b, bias) = (floats(3, [2, 5, 7]), floats(4, [7, 6]), floats(5, [6]));
    let (u, v) = (Tensor::from([[1_u8, 255], [3, 4]]), Tensor::from([[-1_i8, 2], [3, -128]]));
    for program in traced(|graph| {
        let (a, b) = (graph.input::<f32>([2, 5, 7]), graph.input::<f32>([7, 6]));
        let bias = graph.copy_constant(&floats(5, [6]));
        let (u, v) = (graph.input::<u8>([2, 2]), graph.input::<i8>([2, 2]));
        let sigmoid = Matmul::new().activation(Activation::Sigmoid);
        let outputs = (
            a.matmul(b),
            a.matmul_with(b, Some(bias), sigmoid),
            (a.matmul(b) + bias).relu(),
            u.matmul_u8_i8(v),
        );
        graph.program((a, b, u, v), outputs)
    }) {
        let got = program.unwrap().run((&a, &b, &u, &v)).unwrap();
        assert_same(&Ok(got.0), &tenure::linalg::matmul(&a, &b), "matmul");
        let with = |activation| Matmul::new().bias(&bias).activation(activation);
        let [sigmoid, relu] = [Activation::Sigmoid, Activation::Relu].map(with);
        assert_same(&Ok(got.1), &tenure::linalg::matmul_with(&a, &b, sigmoid), "with a bias");
        assert_same(&Ok(got.2), &tenure::linalg::matmul_with(&a, &b, relu), "an epilogue");
        assert_same(&Ok(got.3), &tenure::linalg::matmul_u8_i8(&u, &v), "of bytes");
    }
}

#[test]
fn sums_of_products() {
    let (a, b, c) = (floats(41, [2, 5, 7]), floats(42, [7, 6]), floats(43, [6]));
    for program in traced(|graph| {
        let batch = graph.extent("batch", 9);
        let (a, b) = (graph.input::<f32>((batch, 5, 7)), graph.input::<f32>([7, 6]));
        let c = graph.input::<f32>([6]);
        let outputs = [
            graph.einsum("bij,jk->bki", [a, b]),
            graph.einsum("...ij,jk,k->...i", [a, b, c]),
            graph.einsum("bij->j", [a]),
        ];
        graph.program((a, b, c), outputs)
    }) {
        let [two, three, one] = program.unwrap().run((&a, &b, &c)).unwrap();
        assert_same(&Ok(two), &tenure::linalg::einsum("bij,jk->bki", (&a, &b)), "of two");
        let expected = tenure::linalg::einsum("...ij,jk,k->...i", (&a, &b, &c));
        assert_same(&Ok(three), &expected, "of three");
        assert_same(&Ok(one), &tenure::linalg::einsum("bij->j", [&a]), "of one");
    }
    for (spec, why) in [
        ("i,i->z", "spec[5] is 'z'"),
        ("i\0,i", "spec[1] is byte 0x00"),
        (&"i,".repeat(60)[..], "the spec has 120 bytes but a graph takes at most 119"),
    ] {
        let message = said(|graph| {
            let a = graph.input::<f32>([3]);
            graph.program((a,), graph.einsum(spec, [a, a]))
        });
        assert!(message.starts_with("einsum at ") && message.contains(why), "{message}");
    }
}

#[test]
fn transposed_convolutions() {
    let (x, w, b) = (floats(44, [2, 4, 3, 5]), floats(45, [4, 3, 3, 2]), floats(46, [6]));
    let options = || Conv2d::new().strides([2, 1]).padding_around([1, 0], [0, 1]).groups(2);
    for program in traced(|graph| {
        let height = graph.extent("height", 9);
        let x = graph.input::<f32>((2, 4, height, 5));
        let (w, b) = (graph.input::<f32>([4, 3, 3, 2]), graph.input::<f32>([6]));
        let fewest = x.conv2d_transposed(w, Some(b), options().activation(Activation::Relu));
        let size = [height * 2 + 1, graph.extent("width", 5)];
        graph.program((x, w, b, graph.input::<f32>([size[1]])), {
            [fewest, x.conv2d_transposed_to(w, None, options(), size)]
        })
    }) {
        let [fewest, more] = program.unwrap().run((&x, &w, &b, &[0.0; 5])).unwrap();
        let with = options().bias(&b).activation(Activation::Relu);
        let expected = tenure::nn::conv2d_transposed(&x, &w, with, [0, 0]);
        assert_same(&Ok(fewest), &expected, "to the fewest rows");
        let expected = tenure::nn::conv2d_transposed(&x, &w, options(), [1, 0]);
        assert_same(&Ok(more), &expected, "to one more row");
    }
}

#[test]
fn images() {
    let (x, w, b) = (floats(6, [2, 4, 9, 8]), floats(7, [6, 4, 3, 3]), floats(8, [6]));
    let (mean, var) = (floats(9, [6]), floats(10, [6]));
    let options = || Conv2d::new().padding([1, 1]).strides([2, 1]);
    let windows = Pool2d::new([2, 3]).strides([1, 2]).ceil_mode();
    for program in traced(|graph| {
        let x = graph.input::<f32>([2, 4, 9, 8]);
        let [w, b] = [graph.input::<f32>([6, 4, 3, 3]), graph.input::<f32>([6])];
        let (mean, var) = (graph.input::<f32>([6]), graph.input::<f32>([6]));
        let y = x.conv2d(w, Some(b), options().activation(Activation::Relu));
        let outputs = vec![
            y,
            y.batch_norm(mean, var, Some(b), None, 1e-3),
            y.max_pool2d(windows),
            y.avg_pool2d(windows),
            y.adaptive_max_pool2d([2, 3]),
            y.adaptive_avg_pool2d([3, 2]),
            y.global_avg_pool2d(),
        ];
        graph.program((x, w, b, mean, var), outputs)
    }) {
        let got = program.unwrap().run((&x, &w, &b, &mean, &var)).unwrap();
        let with = options().bias(&b).activation(Activation::Relu);
        let y = tenure::nn::conv2d(&x, &w, with).unwrap();
        let norm = BatchNorm::new(&mean, &var).weight(&b).eps(1e-3);
        let expected = [
            y.try_clone(),
            tenure::nn::batch_norm(&y, norm),
            tenure::nn::max_pool2d(&y, windows),
            tenure::nn::avg_pool2d(&y, windows),
            tenure::nn::adaptive_max_pool2d(&y, [2, 3]),
            tenure::nn::adaptive_avg_pool2d(&y, [3, 2]),
            tenure::nn::global_avg_pool2d(&y),
        ];
        for (got, expected) in got.into_iter().zip(&expected) {
            assert_same(&Ok(got), expected, "of images");
        }
    }
}

#[test]
fn normalizations() {
    let (x, w, b) = (floats(11, [3, 4, 5]), floats(12, [5]), floats(13, [5]));
    for program in traced(|graph| {
        let (x, w, b) = (graph.input::<f32>([3, 4, 5]), graph.input([5]), graph.input([5]));
        let norm = LayerNorm::new().eps(1e-3);
        let outputs = [
            x.layer_norm(-1, Some(w), Some(b), norm),
            x.layer_norm([1, 2], None, None, norm),
            x.rms_norm(2, Some(w), norm),
        ];
        graph.program((x, w, b), outputs)
    }) {
        let got = program.unwrap().run((&x, &w, &b)).unwrap();
        let norm = LayerNorm::new().eps(1e-3);
        let expected = [
            tenure::nn::layer_norm(&x, -1, norm.weight(&w).bias(&b)),
            tenure::nn::layer_norm(&x, [1, 2], norm),
            tenure::nn::rms_norm(&x, 2, norm.weight(&w)),
        ];
        for (got, expected) in got.into_iter().zip(&expected) {
            assert_same(&Ok(got), expected, "a normalization");
        }
    }
}

#[test]
fn constants_are_held_or_copied() {
    let elements = std::sync::Arc::<[f32]>::from([1.0, 2.0, 3.0]);
    let shared = SharedTensor::from_arc(elements.clone(), [3]).unwrap();
    let before = std::sync::Arc::strong_count(&elements);
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([3]);
        graph.program((x,), x * graph.constant(&shared) + graph.copy_constant(&[1.0; 3]))
    })
    .unwrap();
    drop(shared);
    // It was the only tensor of it.
    assert_eq!(std::sync::Arc::strong_count(&elements), before);
    assert_eq!(program.run((&[1.0, 1.0, 2.0],)).unwrap(), [2.0, 3.0, 7.0]);
    let clone = program.clone();
    drop(program);
    assert_eq!(clone.run((&[0.0; 3],)).unwrap(), [1.0; 3]);
    drop(clone);
    assert_eq!(std::sync::Arc::strong_count(&elements), before - 1);
}

#[test]
fn a_vec_that_a_program_holds_is_not_given_back() {
    let shared = Tensor::from_vec(vec![1, 2], [2]).unwrap().into_shared();
    let program = Program::trace(|graph| {
        let x = graph.input::<i32>([2]);
        graph.program((x,), x + graph.constant(&shared))
    })
    .unwrap();
    let shared = shared.into_vec().err().unwrap();
    assert_eq!(program.run((&[0, 0],)).unwrap(), [1, 2]);
    drop(program);
    assert_eq!(shared.into_vec().ok(), Some(vec![1, 2]));
}

/// Numbers that add values to a graph while they are lent to it: before and behind the constant, or
/// with a panic.
struct Adding<'g> {
    graph: Graph<'g>,
    before: Cell<Option<Traced<'g, i64>>>,
    behind: Cell<Option<Traced<'g, f64>>>,
    panics: bool,
}

impl AsView<f32> for Adding<'_> {
    fn as_view(&self) -> TensorView<'_, f32> {
        self.before.set(Some(self.graph.input::<i64>([2])));
        TensorView::from(&[10.0, 20.0][..])
    }
    fn with_view<R>(&self, f: impl FnOnce(&TensorView<'_, f32>) -> R) -> R {
        let given = f(&self.as_view());
        assert!(!self.panics, "after it was added");
        self.behind.set(Some(self.graph.input::<f64>([2])));
        given
    }
}

#[test]
fn values_are_added_while_a_constant_is_lent() {
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        let adding =
            Adding { graph, before: Cell::default(), behind: Cell::default(), panics: false };
        let constant = graph.copy_constant(&adding);
        let (y, z) = (adding.before.get().unwrap(), adding.behind.get().unwrap());
        graph.program((x, y, z), (x + constant, y + 1, z + 1.0))
    });
    let program = program.unwrap();
    let (sum, y, z) = program.run((&[1.0, 2.0], &[3, 4], &[5.0, 6.0])).unwrap();
    assert_eq!((sum, y, z), ([11.0, 22.0].into(), [4, 5].into(), [6.0, 7.0].into()));

    let message = said(|graph| {
        let x = graph.input::<f32>([2]);
        let adding =
            Adding { graph, before: Cell::default(), behind: Cell::default(), panics: true };
        let lent = AssertUnwindSafe(|| graph.copy_constant(&adding));
        assert!(catch_unwind(lent).is_err());
        let (y, z) = (adding.before.get().unwrap(), graph.input::<f64>([3]));
        graph.program((x, y, z), z + x.cast::<f64>())
    });
    assert!(message.contains("a is input 2 of shape [3] and b is cast at "), "{message}");
}
