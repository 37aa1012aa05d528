//! Tensors and sparse matrices in the formats of `serde`: a struct of the shape and the elements,
//! checked on the way in as the constructors check `Vec`s.
//!
//! `serde` reserves no more than 1 MiB by the word of its input, so an array that claims to be
//! longer than it is takes no more memory than that.

use ::serde::de::{Deserialize, Deserializer, Error as _};
use ::serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::dense::{SharedTensor, Tensor, TensorView, TensorViewMut};
use crate::dtype::{Bool8, Element, index::SparseIndex};
use crate::error::Rejected;
use crate::sparse::for_each_format;
use crate::sparse::format::{Bsr, Coo, Csc, Csr};

/// Serializes it as `bool`.
impl Serialize for Bool8 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(bool::from(*self))
    }
}

/// Deserializes it as `bool`.
impl<'de> Deserialize<'de> for Bool8 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bool::deserialize(deserializer).map(Bool8::from)
    }
}

/// The elements of a view in row-major order, as a sequence.
struct Data<'a, T: Element>(TensorView<'a, T>);

impl<T: Element + Serialize> Serialize for Data<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

/// Serializes it as a struct of `shape` and `data`, the elements in row-major order whatever their
/// layout.
///
/// ```
/// use tenure::Tensor;
///
/// let tensor = Tensor::from([[1, 2, 3], [4, 5, 6]]);
/// let json = serde_json::to_string(&tensor.t()).unwrap();
/// assert_eq!(json, r#"{"shape":[3,2],"data":[1,4,2,5,3,6]}"#);
/// ```
impl<T: Element + Serialize> Serialize for TensorView<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Tensor", 2)?;
        fields.serialize_field("shape", self.shape())?;
        fields.serialize_field("data", &Data(*self))?;
        fields.end()
    }
}

/// Implements `Serialize` like [`TensorView`].
macro_rules! serialize_as_views {
    ($($type:ty;)*) => {$(
        /// Serializes it like a [`TensorView`].
        impl<T: Element + Serialize> Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.view().serialize(serializer)
            }
        }
    )*};
}

serialize_as_views! { Tensor<T>; SharedTensor<T>; TensorViewMut<'_, T>; }

/// From a struct of `shape` and `data`; row-major.
///
/// ```
/// use tenure::Tensor;
///
/// let tensor: Tensor<f32> = serde_json::from_str(r#"{"shape":[2,1],"data":[0.5,1.5]}"#).unwrap();
/// assert_eq!(tensor, [[0.5], [1.5]]);
///
/// let refused = serde_json::from_str::<Tensor<f32>>(r#"{"shape":[1000000000000],"data":[0.5]}"#);
/// assert!(refused.err().unwrap().to_string().starts_with(
///     "shape [1000000000000] has 1000000000000 elements but the memory has 1"
/// ));
/// ```
impl<'de, T: Element + Deserialize<'de>> Deserialize<'de> for Tensor<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(::serde::Deserialize)]
        #[serde(rename = "Tensor", deny_unknown_fields)]
        struct Fields<T> {
            shape: Vec<usize>,
            data: Vec<T>,
        }

        let Fields { shape, data } = Fields::deserialize(deserializer)?;
        Tensor::from_vec(data, shape).map_err(D::Error::custom)
    }
}

/// Deserializes it like a [`Tensor`].
impl<'de, T: Element + Deserialize<'de>> Deserialize<'de> for SharedTensor<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Tensor::deserialize(deserializer).map(Tensor::into_shared)
    }
}

macro_rules! matrices {
    ($(
        $format:ident { $major:ident, $minor:ident $(, $block:ident)? },
        shape $shape:literal, values $values:literal,
        view $view:literal, view_mut $view_mut:literal, matrix $matrix:literal,
        batch $batch:literal, batch_mut $batch_mut:literal;
    )*) => {$(
        const _: () = {
            #[derive(::serde::Serialize)]
            struct SparseMatrix<'a, T, I> {
                rows: usize,
                cols: usize,
                $($block: [usize; 2],)?
                $major: &'a [I],
                $minor: &'a [I],
                values: &'a [T],
            }

            #[doc = concat!("As a struct of `rows`, `cols`, ", $("`", stringify!($block), "`, ",)?
                "`", stringify!($major), "`, `", stringify!($minor), "` and `values`.")]
            impl<T, I> Serialize for crate::sparse::matrix::SparseMatrix<$format, T, I>
            where
                T: Element + Serialize,
                I: SparseIndex + Serialize,
            {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    let fields = SparseMatrix {
                        rows: self.rows(),
                        cols: self.cols(),
                        $($block: self.view().$block(),)?
                        $major: self.$major(),
                        $minor: self.$minor(),
                        values: self.values(),
                    };
                    fields.serialize(serializer)
                }
            }

            #[derive(::serde::Deserialize)]
            #[serde(rename = "SparseMatrix", deny_unknown_fields)]
            struct Fields<T, I> {
                rows: usize,
                cols: usize,
                $($block: [usize; 2],)?
                $major: Vec<I>,
                $minor: Vec<I>,
                values: Vec<T>,
            }

            /// From the struct that it is written as; found to be coalesced, where it is.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $matrix, ";")]
            /// let json = serde_json::to_string(&matrix).unwrap();
            #[doc = concat!("let again: ", stringify!($format),
                "Matrix<f64> = serde_json::from_str(&json).unwrap();")]
            /// assert_eq!(again.values(), matrix.values());
            /// # Ok::<(), Error>(())
            /// ```
            impl<'de, T, I> Deserialize<'de> for crate::sparse::matrix::SparseMatrix<$format, T, I>
            where
                T: Element + Deserialize<'de>,
                I: SparseIndex + Deserialize<'de>,
            {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let Fields { rows, cols, $($block,)? $major, $minor, values } =
                        Fields::deserialize(deserializer)?;
                    let matrix = Self::from_vecs(rows, cols, $($block,)? $major, $minor, values)
                        .map_err(D::Error::custom)?;
                    Ok(matrix.check_coalesced().unwrap_or_else(Rejected::into_data))
                }
            }
        };
    )*};
}

for_each_format!(matrices);
