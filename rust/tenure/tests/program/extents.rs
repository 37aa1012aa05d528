//! Extents: found in inputs, combined, and refused.

use super::*;

#[test]
fn found_in_each_run() {
    let program = Program::trace(|graph| {
        let (n, m) = (graph.extent("rows", 100), graph.extent("columns", 50));
        let (a, b) = (graph.input::<f32>([n, m]), graph.input::<f32>((m, 3)));
        let product = a.matmul(b);
        graph.program((a, b), (product, product.reshape(n * 3), a.t()))
    })
    .unwrap();
    for [n, m] in [[1, 1], [100, 50], [7, 13], [0, 4], [3, 0]] {
        let (a, b) = (floats(1, [n, m]), floats(2, [m, 3]));
        let (product, flat, turned) = program.run((&a, &b)).unwrap();
        let expected = tenure::linalg::matmul(&a, &b).unwrap();
        assert_eq!(flat.to_vec(), expected.to_vec());
        assert_same(&Ok(product), &Ok(expected), "a product");
        assert_same(&Ok(turned), &a.t().to_tensor(), "a view");
        let shapes = program.output_shapes((&a, &b)).unwrap();
        assert_eq!(shapes, [vec![n, 3], vec![n * 3], vec![m, n]]);
    }
}

#[test]
fn arithmetic() {
    let program = Program::trace(|graph| {
        let (n, m) = (graph.extent("n", 40), graph.extent("m", 20));
        let (x, y) = (graph.input::<u8>(n), graph.input::<u8>(m));
        let sizes = [
            n + m,
            n - 1,
            3 * m,
            n / 2,
            n.div_up(2),
            n.min(m),
            n.max(m),
            m + 1_usize,
            40_usize - n,
            100 / (m + 1),
        ];
        let one = x.slice(0, 0, 1);
        let outputs = sizes.map(|size| one.broadcast(size));
        graph.program((x, y), outputs)
    })
    .unwrap();
    for (n, m) in [(5, 2), (1, 20), (40, 0), (8, 8)] {
        let (x, y) = (vec![9_u8; n], vec![0_u8; m]);
        let lengths = program.run((&x, &y)).unwrap().map(|output| output.len());
        let halves = (n / 2, n.div_ceil(2));
        let expected = [
            n + m,
            n - 1,
            3 * m,
            halves.0,
            halves.1,
            n.min(m),
            n.max(m),
            m + 1,
            40 - n,
            100 / (m + 1),
        ];
        assert_eq!(lengths, expected);
    }
}

#[test]
fn refused_in_a_run() {
    let program = Program::trace(|graph| {
        let n = graph.extent("n", 10);
        let (a, b) = (graph.input::<f32>([n]), graph.input::<f32>((n, 3)));
        graph.program((a, b), a.slice(0, 0, n - 2))
    })
    .unwrap();
    let refused = |a: usize, b: [usize; 2]| {
        let (a, b) = (floats(1, [a]), floats(2, b));
        let error = program.run((&a, &b)).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        error.message().to_owned()
    };
    assert_eq!(refused(3, [4, 3]), "inputs[1].shape[0] is 4 but n is 3");
    assert_eq!(refused(11, [11, 3]), "inputs[0].shape[0] is 11 but n is at most 10");
    assert!(refused(3, [3, 4]).starts_with("inputs[1].shape[1] is 4 but must be 3"));
    assert!(refused(1, [1, 3]).contains("made of 1 and 2 is negative"));
}

#[test]
fn refused_in_a_trace() {
    let message = said(|graph| {
        let n = graph.extent("n", 3);
        let x = graph.input::<f32>([n]);
        graph.program((x,), x.slice(0, 0, n - 4))
    });
    assert!(message.starts_with("an extent at "), "{message}");
    assert!(message.contains("made of 3 and 4 is negative"), "{message}");
    let message = said(|graph| {
        let x = graph.input::<f32>([graph.extent("a\0b", 3)]);
        graph.program((x,), x)
    });
    assert!(message.ends_with("the name \"a\\0b\" has a byte of 0"), "{message}");
    let message = said(|graph| {
        let x = graph.input::<f32>([2, -1]);
        graph.program((x,), x)
    });
    assert!(message.ends_with("an extent is -1 but must be 0 to 2^62 - 1"), "{message}");
    let message = said(|graph| {
        let x = graph.input::<f32>([1_usize; 9]);
        graph.program((x,), x)
    });
    assert!(message.ends_with("the shape has rank 9 but the most is 8"), "{message}");
    let message = said(|graph| {
        let x = graph.input::<f32>([graph.extent("n", 3) + 1]);
        graph.program((x,), x)
    });
    assert_eq!(message, "the extent n is that of no input and of no node");
    let message = said(|graph| {
        let x = graph.input::<f32>([usize::MAX]);
        graph.program((x,), x)
    });
    assert!(message.contains("an extent is 18446744073709551615 but must be"), "{message}");
}
