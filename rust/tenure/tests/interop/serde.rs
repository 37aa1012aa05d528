//! Tensors and sparse matrices through formats of `serde`: the same afterwards, or refused.
#![cfg(feature = "serde")]

use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{Deserialize, DeserializeOwned, IntoDeserializer};
use serde::ser::Serialize;
use tenure::{
    Bool8, BsrMatrix, Complex, CooMatrix, CscMatrix, CsrMatrix, Element, SharedTensor, Tensor,
    TensorView, TensorViewMut, bf16, f16,
};

fn again<T: Serialize + DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

fn refusal<T: DeserializeOwned>(json: &str) -> String {
    serde_json::from_str::<T>(json).err().expect("a refusal").to_string()
}

fn goes_and_comes<T: Element + Serialize + DeserializeOwned>(elements: [T; 3]) {
    let tensor = Tensor::from([elements, elements]);
    assert_eq!(again(&tensor), tensor);
    let shared = tensor.into_shared();
    assert_eq!(again(&shared), shared);
}

#[test]
fn elements_of_every_dtype_go_and_come() {
    goes_and_comes([1.5_f64, -0.1, 1e300]);
    goes_and_comes([1.5_f32, -0.1, 1e-45]);
    goes_and_comes([f16::from_f32(0.1), f16::MAX, f16::INFINITY]);
    goes_and_comes([bf16::from_f32(0.1), bf16::MIN, bf16::ZERO]);
    goes_and_comes([i8::MIN, 0, i8::MAX]);
    goes_and_comes([i16::MIN, 0, i16::MAX]);
    goes_and_comes([i32::MIN, 0, i32::MAX]);
    goes_and_comes([i64::MIN, 0, i64::MAX]);
    goes_and_comes([u8::MAX, 0, 1]);
    goes_and_comes([u16::MAX, 0, 1]);
    goes_and_comes([u32::MAX, 0, 1]);
    goes_and_comes([u64::MAX, 0, 1]);
    goes_and_comes([Bool8::TRUE, Bool8::FALSE, Bool8::TRUE]);
    goes_and_comes([Complex::new(1.0_f32, -1.0); 3]);
    goes_and_comes([Complex::new(1.0_f64, -1.0); 3]);
}

#[test]
fn views_are_written_in_the_order_of_their_shape() {
    let mut data = [1, 2, 3, 4, 5, 6];
    let view = TensorView::from_slice(&data, [2, 3]).unwrap().t().flip(1).unwrap();
    assert_eq!(again(&view.to_tensor().unwrap()), view);
    let json = serde_json::to_string(&view).unwrap();
    assert_eq!(json, r#"{"shape":[3,2],"data":[4,1,5,2,6,3]}"#);
    let exclusive = TensorViewMut::from_slice(&mut data, [6]).unwrap();
    let json = serde_json::to_string(&exclusive).unwrap();
    assert_eq!(json, r#"{"shape":[6],"data":[1,2,3,4,5,6]}"#);
    assert_eq!(
        serde_json::to_string(&Tensor::from([Bool8::TRUE])).unwrap(),
        r#"{"shape":[1],"data":[true]}"#
    );
}

#[test]
fn no_axes_and_no_elements_go_and_come() {
    for shape in [&[][..], &[0], &[2, 0, 3]] {
        let tensor = Tensor::<f32>::zeros(shape).unwrap();
        assert_eq!(again(&tensor).shape(), shape);
    }
}

#[test]
fn shapes_that_are_wrong_are_refused() {
    let refused = [
        (r#"{"shape":[2,2],"data":[1,2,3]}"#, "shape [2, 2] has 4 elements but the memory has 3"),
        (r#"{"shape":[-1],"data":[1]}"#, "invalid value: integer `-1`"),
        (r#"{"shape":[1,1,1,1,1,1,1,1,1],"data":[1]}"#, "rank is 9"),
        (
            r#"{"shape":[18446744073709551615,18446744073709551615],"data":[]}"#,
            "shape [18446744073709551615, 18446744073709551615] of i64 needs more than",
        ),
        (r#"{"shape":[1]}"#, "missing field `data`"),
        (r#"{"shape":[1],"data":[1],"strides":[1]}"#, "unknown field `strides`"),
        (r#"{"shape":[1],"data":[1.5]}"#, "invalid type: floating point"),
    ];
    for (json, start) in refused {
        let message = refusal::<Tensor<i64>>(json);
        assert!(message.starts_with(start), "{message}");
        assert_eq!(refusal::<SharedTensor<i64>>(json), message);
    }
}

/// One field of a struct, read from an iterator that says it is endless.
#[derive(Clone)]
struct Endless;

impl<'de> IntoDeserializer<'de, Error> for Endless {
    type Deserializer = SeqDeserializer<Counted, Error>;

    fn into_deserializer(self) -> Self::Deserializer {
        SeqDeserializer::new(Counted(2))
    }
}

struct Counted(u32);

impl Iterator for Counted {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.0 = self.0.checked_sub(1)?;
        Some(self.0)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, Some(usize::MAX))
    }
}

#[test]
fn a_length_that_lies_costs_no_memory() {
    let fields = [("shape", Endless), ("data", Endless)];
    let map = MapDeserializer::new(fields.into_iter());
    let error: Error = Tensor::<u32>::deserialize(map).err().unwrap();
    assert_eq!(error.to_string(), "shape [1, 0] has 0 elements but the memory has 2");
}

#[test]
#[cfg_attr(miri, ignore = "the core converts")]
fn sparse_matrices_of_every_format_go_and_come() {
    let csr =
        CsrMatrix::from_vecs(2, 3, vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0]).unwrap();
    let json = serde_json::to_string(&csr).unwrap();
    assert_eq!(
        json,
        r#"{"rows":2,"cols":3,"row_offsets":[0,2,3],"col_indices":[0,2,1],"values":[1.0,2.0,3.0]}"#
    );
    let dense = csr.to_dense().unwrap();
    let read: CsrMatrix<f64> = serde_json::from_str(&json).unwrap();
    assert!(read.view().is_coalesced());
    assert_eq!(read.to_dense().unwrap(), dense);
    let coo: CooMatrix<f64> = again(&csr.to_coo().unwrap());
    assert_eq!(coo.to_dense().unwrap(), dense);
    let csc: CscMatrix<f64> = again(&csr.to_csc().unwrap());
    assert_eq!(csc.to_dense().unwrap(), dense);
    let bsr: BsrMatrix<f64> = again(&csr.to_bsr([2, 1]).unwrap());
    assert_eq!((bsr.view().block(), bsr.to_dense().unwrap()), ([2, 1], dense));
}

#[test]
fn unsorted_entries_come_as_they_are() {
    let coo = CooMatrix::from_vecs(2, 2, vec![1, 0, 1], vec![0, 1, 0], vec![1, 2, 3]).unwrap();
    let read = again(&coo);
    assert!(!read.view().is_coalesced());
    assert_eq!(read.values(), coo.values());
}

#[test]
#[cfg_attr(miri, ignore = "the stand-in has no messages")]
fn indices_that_are_wrong_are_refused() {
    let refused = [
        (
            r#"{"rows":1,"cols":2,"row_offsets":[0,1],"col_indices":[2],"values":[1]}"#,
            "col_indices[0] is 2 but must be at least 0 and below cols, which is 2",
        ),
        (
            r#"{"rows":1,"cols":2,"row_offsets":[0,9],"col_indices":[0],"values":[1]}"#,
            "row_offsets[1] is 9",
        ),
        (
            r#"{"rows":1000000000000,"cols":2,"row_offsets":[0,1],"col_indices":[0],"values":[1]}"#,
            "row_offsets",
        ),
        (r#"{"rows":1,"cols":2,"row_offsets":[0,1],"col_indices":[0],"values":[]}"#, "values"),
    ];
    for (json, start) in refused {
        let message = refusal::<CsrMatrix<f64>>(json);
        assert!(message.starts_with(start), "{message}");
    }
}
