//! Malformed specs of einsum, for operands of any shape.

use tenure::*;

use super::{Random, fuzz, mutate};

const MAX_RANK: usize = tenure_sys::TNR_MAX_RANK;

const SPECS: [&str; 12] = [
    "ij,jk->ik",
    "bij,bjk->bik",
    "...ij,...jk->...ik",
    "ii->",
    "i...i->...",
    "i,j->ij",
    "ab,bc,cd->ad",
    "i,ij,j->",
    " a b , c d ",
    ",,->",
    "abcdefgh->hgfedcba",
    "Aa,aB,bA,Bb",
];

/// A shape for each term, with which the spec may have been right.
fn shapes(spec: &[u8], random: &mut Random) -> Vec<Vec<usize>> {
    let terms = spec.split(|&byte| byte == b'-').next().unwrap_or_default();
    let extents: Vec<usize> = (0..256).map(|_| 1 + random.below(3)).collect();
    let mut shapes: Vec<Vec<usize>> = terms
        .split(|&byte| byte == b',')
        .map(|term| {
            let letters = term.iter().filter(|byte| byte.is_ascii_alphabetic());
            let mut shape: Vec<usize> = letters.map(|&byte| extents[usize::from(byte)]).collect();
            if term.contains(&b'.') {
                shape.extend((0..random.below(3)).map(|_| 1 + random.below(2)));
            }
            shape.truncate(MAX_RANK);
            shape
        })
        .take(40)
        .collect();
    if random.below(4) == 0 {
        let at = random.below(shapes.len());
        match random.below(3) {
            0 => drop(shapes.remove(at)),
            1 => shapes.push(vec![random.below(3)]),
            _ => shapes[at].iter_mut().for_each(|extent| *extent = random.below(4)),
        }
    }
    shapes
}

#[test]
fn specs() {
    let corpus = SPECS.map(|spec| spec.as_bytes().to_vec());
    let others = [b"...".to_vec(), b"->".to_vec(), b"ij,".to_vec(), "\u{e9}\0 ".into()];
    let ones = vec![1.0_f32; 3_usize.pow(MAX_RANK as u32)];
    let mut accepted = 0;
    fuzz(6_000, |random| {
        let mut bytes = random.pick(&corpus).clone();
        if random.below(3) != 0 {
            mutate(&mut bytes, &others, random);
        }
        let spec = String::from_utf8_lossy(&bytes);
        let shapes = shapes(&bytes, random);
        let operands: Vec<TensorView<'_, f32>> = shapes
            .iter()
            .map(|shape| {
                TensorView::from_slice(&ones[..shape.iter().product()], shape.as_slice()).unwrap()
            })
            .collect();
        match linalg::einsum(&spec, &operands) {
            Ok(result) => {
                accepted += 1;
                let mut again = Tensor::full(result.shape(), f32::NAN).unwrap();
                linalg::einsum_into(&spec, &operands, &mut again).unwrap();
                assert_eq!(again.to_vec(), result.to_vec(), "{spec:?} {shapes:?}");
                // A sum of products of ones is how many there are.
                assert!(result.iter().all(|sum| sum.fract() == 0.0), "{spec:?} {shapes:?}");
            }
            Err(error) => assert!(error.message().len() > 8, "{spec:?} {shapes:?}: {error:?}"),
        }
    });
    assert!(accepted > 0);
}
