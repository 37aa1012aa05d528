//! Elements in order, searched, counted and written by their indices, as the functions of their
//! names.

use super::*;

/// Elements that are no numbers among them, and equal ones.
fn mixed<const N: usize>(seed: u64, shape: [usize; N]) -> Tensor<f32> {
    tensor(&mut Random::new(seed), shape, f32::any)
}

macro_rules! sorts {
    ($($sort:ident $argsort:ident $with_indices:ident;)*) => {$(
        #[test]
        fn $sort() {
            for axis in [0, -1] {
                for program in traced(|graph| {
                    let a = graph.input::<f32>((graph.extent("n", 40), 7));
                    let (values, indices) = a.$with_indices(axis);
                    graph.program((a,), (a.$sort(axis), a.$argsort(axis), values, indices))
                }) {
                    let a = mixed(21, [30, 7]);
                    let got = program.unwrap().run((&a,)).unwrap();
                    let expected = tenure::ops::$with_indices(&a, axis).unwrap();
                    assert_same(&Ok(got.0), &tenure::ops::$sort(&a, axis), "values");
                    assert_same(&Ok(got.1), &tenure::ops::$argsort(&a, axis), "indices");
                    assert_same(&Ok(got.2), &Ok(expected.values), "values of both");
                    assert_same(&Ok(got.3), &Ok(expected.indices), "indices of both");
                }
            }
        }
    )*};
}
sorts! {
    sort argsort sort_with_indices;
    sort_descending argsort_descending sort_descending_with_indices;
}

#[test]
fn firsts_and_partitions() {
    let a = mixed(22, [9, 12]);
    for program in traced(|graph| {
        let n = graph.extent("n", 20);
        let a = graph.input::<f32>((n, 12));
        let (high, high_at) = a.top_k(5, 1);
        let (low, low_at) = a.bottom_k(n / 3, 0);
        let (parted, parted_at) = (a.partition(n - 2, 0), a.argpartition(4, -1));
        graph.program((a,), (high, low, parted, high_at, low_at, parted_at))
    }) {
        let got = program.unwrap().run((&a,)).unwrap();
        let (high, low) =
            (tenure::ops::top_k(&a, 5, 1).unwrap(), tenure::ops::bottom_k(&a, 3, 0).unwrap());
        let parted = tenure::ops::partition(&a, 7, 0).unwrap();
        for (got, expected) in
            [got.0, got.1, got.2].into_iter().zip([high.values, low.values, parted])
        {
            assert_same(&Ok(got), &Ok(expected), "values");
        }
        let at = tenure::ops::argpartition(&a, 4, -1).unwrap();
        for (got, expected) in
            [got.3, got.4, got.5].into_iter().zip([high.indices, low.indices, at])
        {
            assert_same(&Ok(got), &Ok(expected), "places");
        }
    }
}

macro_rules! quantiles {
    ($($quantile:ident $quantiles:ident $median:ident;)*) => {$(
        #[test]
        fn $quantiles() {
            let a = tensor(&mut Random::new(23), [5, 4, 6], f32::any);
            let kept = [Axes::keep(0), Axes::keep([0, 2])];
            for axes in [Axes::from(1), [0, 2].into(), (..).into()].into_iter().chain(kept) {
                for program in traced(|graph| {
                    let a = graph.input::<f32>((graph.extent("n", 9), 4, 6));
                    let several = a.$quantiles(&[0.0, 0.3, 1.0], axes);
                    graph.program((a,), [several, a.$quantile(0.7, axes), a.$median(axes)])
                }) {
                    let [several, one, median] = program.unwrap().run((&a,)).unwrap();
                    let expected = tenure::ops::$quantiles(&a, &[0.0, 0.3, 1.0], axes);
                    assert_same(&Ok(several), &expected, "quantiles");
                    assert_same(&Ok(one), &tenure::ops::$quantile(&a, 0.7, axes), "a quantile");
                    assert_same(&Ok(median), &tenure::ops::$median(&a, axes), "a median");
                }
            }
        }
    )*};
}
quantiles! { quantile quantiles median; nan_quantile nan_quantiles nan_median; }

#[test]
fn searches_and_counts() {
    let edges = Tensor::from([-2.0_f32, -0.5, 0.5, 0.5, 3.0]);
    let (x, weights) = (mixed(24, [6, 5]), floats(25, [6, 5]));
    let whole = tensor(&mut Random::new(26), [6, 5], u8::small);
    for program in traced(|graph| {
        let n = graph.extent("n", 9);
        let (edges, x) = (graph.input::<f32>([5]), graph.input::<f32>((n, 5)));
        let (weights, whole) = (graph.input::<f32>((n, 5)), graph.input::<u8>((n, 5)));
        let outputs = (
            edges.searchsorted(x),
            edges.searchsorted_right(x),
            whole.bincount(n),
            x.histogram(n + 1, -3.0..=2.5),
            x.histogram_edges(edges),
            whole.bincount_weighted(weights, 6),
        );
        graph.program((edges, x, weights, whole), outputs)
    }) {
        let got = program.unwrap().run((&edges, &x, &weights, &whole)).unwrap();
        let counts = [got.0, got.1, got.2, got.3, got.4];
        let expected = [
            tenure::ops::searchsorted(&edges, &x),
            tenure::ops::searchsorted_right(&edges, &x),
            tenure::ops::bincount(&whole, 6),
            tenure::ops::histogram(&x, 7, -3.0..=2.5),
            tenure::ops::histogram_edges(&x, &edges),
        ];
        for (got, expected) in counts.into_iter().zip(&expected) {
            assert_same(&Ok(got), expected, "places or counts");
        }
        assert_same(&Ok(got.5), &tenure::ops::bincount_weighted(&whole, &weights, 6), "sums");
    }
}

macro_rules! puts {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            let a = mixed(27, [5, 4]);
            let rows = Tensor::from([[4_i64, 0, 4, 1], [1, 1, 0, 2], [0, 3, 3, 1]]);
            let values = mixed(28, [3, 4]);
            for program in traced(|graph| {
                let a = graph.input::<f32>([5, 4]);
                let rows = graph.input::<i64>(puts!(@shape $name));
                let values = graph.input::<f32>([3, 4]);
                graph.program((a, rows, values), a.$name(0, rows, values))
            }) {
                let rows = puts!(@rows $name rows);
                let expected = tenure::ops::$name(&a, 0, &rows, &values);
                let got = program.unwrap().run((&a, &rows, &values));
                assert_same(&got, &expected, stringify!($name));
            }
        }
    )*};
    (@shape $name:ident) => {
        if stringify!($name).starts_with("put") { &[3][..] } else { &[3, 4][..] }
    };
    (@rows $name:ident $rows:ident) => {
        if stringify!($name).starts_with("put") {
            $rows.index(1, 0).unwrap()
        } else {
            $rows.view()
        }
    };
}
puts! {
    put put_add put_mul put_min put_max scatter scatter_add scatter_mul scatter_min scatter_max
}

#[test]
fn what_is_refused() {
    let message = said(|graph| {
        let a = graph.input::<f32>([3, 4]);
        graph.program((a,), a.sort(2))
    });
    assert!(message.contains("axis is 2 but a has rank 2"), "{message}");
    let message = said(|graph| {
        let a = graph.input::<f32>([3, 4]);
        graph.program((a,), a.top_k(5, 1).0)
    });
    assert!(message.starts_with("top_k at ") && message.contains("k is 5"), "{message}");
    let message = said(|graph| {
        let a = graph.input::<f32>([3]);
        graph.program((a,), a.quantiles(&[], 0))
    });
    assert!(message.starts_with("quantiles at "), "{message}");
    let message = said(|graph| {
        let a = graph.input::<f32>([3]);
        graph.program((a,), a.quantile(0.5, 1))
    });
    assert!(message.starts_with("quantile at "), "{message}");
    let message = said(|graph| {
        let (a, edges) = (graph.input::<f32>([3]), graph.input::<f32>([0]));
        graph.program((a, edges), a.histogram_edges(edges))
    });
    assert!(message.contains("there are no edges"), "{message}");
    let message = said(|graph| {
        let (a, rows) = (graph.input::<f32>([3]), graph.input::<i64>([3]));
        let values = graph.input::<f32>([2]);
        graph.program((a, rows, values), a.put(0, rows, values))
    });
    assert!(message.starts_with("put at ") && message.contains("values is"), "{message}");

    // Elements are looked at in a run.
    let program = Program::trace(|graph| {
        let (a, rows) = (graph.input::<i32>([3]), graph.input::<i64>([2]));
        graph.program((a, rows), (a.put_add(0, rows, a.slice(0, 0, 2)), rows.bincount(3)))
    });
    let program = program.unwrap();
    assert!(program.run((&[1, 2, 3], &[2, 2])).is_ok());
    for rows in [[0, 3], [-1, 0]] {
        let error = program.run((&[1, 2, 3], &rows)).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert!(error.message().starts_with("put_add at "), "{error}");
    }
}
