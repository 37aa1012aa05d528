//! Elements of a device moved, converted, chosen, set; triangles of matrices.

use tenure_sys::tnr_triangle;

use crate::cuda::{AsView, AsViewMut, Operand, Stream, Tensor};
use crate::dtype::{Bool8, Element, Real};
use crate::error::Result;
use crate::ops::results::{broadcast_shape, named, refused};
use crate::raw::{self, Input, movement, operations};

/// Movement on the device.
impl Stream {
    /// Copies the elements of `a` into a new row-major tensor of the stream's device.
    /// [`stats`](crate::stats()) counts the bytes.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`. `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let tensor = stream.upload(&[[1, 2, 3], [4, 5, 6]])?;
    /// let columns = stream.to_tensor(tensor.t())?;
    /// assert_eq!((columns.shape(), columns.strides()), (&[3, 2][..], &[2, 1][..]));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("contiguous", "clone", "try_clone"))]
    pub fn to_tensor<T: Element>(&self, a: impl AsView<T>) -> Result<Tensor<T>> {
        let a = a.as_view();
        let tensor = self.filled(a.shape(), |out| raw::copy(a.lent(), out))?;
        raw::count_copied(size_of::<T>() * tensor.len());
        Ok(tensor)
    }

    /// Copies the elements of `a`, broadcast, into `out`: as
    /// [`tenure::ops::copy_into`](crate::ops::copy_into), enqueued.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: `a` does not broadcast to `out`. `DeviceError`.
    pub fn copy_into<T: Element>(
        &self,
        a: impl AsView<T>,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        let (a, mut out) = (a.as_view(), out.as_view_mut());
        self.within(|| raw::copy(a.lent(), out.lent_mut()))
            .map_err(|error| refused(error, "copy_into", &[a.shape()], Some(out.shape())))
    }

    /// Converts the elements of `a`: as [`tenure::ops::cast`](crate::ops::cast), enqueued. A new
    /// row-major tensor of the shape of `a`.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`. `DeviceError`.
    ///
    /// ```
    /// use tenure::cuda::{Device, Tensor};
    ///
    /// let Ok(device) = Device::new(0) else { return Ok(()) };
    /// let stream = device.stream()?;
    /// let rounded: Tensor<u8> = stream.cast(&stream.upload(&[1.9_f32, -1.0, 300.0])?)?;
    /// assert_eq!(stream.to_vec(&rounded)?, [1, 0, 255]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("astype", "to_dtype"))]
    pub fn cast<U: Real, T: Real>(&self, a: impl AsView<T>) -> Result<Tensor<U>> {
        let a = a.as_view();
        self.filled(a.shape(), |out| operations::cast(a.lent(), out))
    }

    /// Converts the elements of `a`, broadcast, into `out`: as
    /// [`tenure::ops::cast_into`](crate::ops::cast_into), enqueued.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: `a` does not broadcast to `out`. `DeviceError`.
    pub fn cast_into<T: Real, U: Real>(
        &self,
        a: impl AsView<T>,
        out: &mut (impl AsViewMut<U> + ?Sized),
    ) -> Result<()> {
        let (a, mut out) = (a.as_view(), out.as_view_mut());
        self.within(|| operations::cast(a.lent(), out.lent_mut()))
            .map_err(|error| refused(error, "cast_into", &[a.shape()], Some(out.shape())))
    }

    /// Sets every element of `out` to `value`: as [`tenure::ops::fill`](crate::ops::fill()),
    /// enqueued.
    ///
    /// # Errors
    ///
    /// `DeviceError`.
    pub fn fill<T: Element>(&self, out: &mut (impl AsViewMut<T> + ?Sized), value: T) -> Result<()> {
        let mut out = out.as_view_mut();
        self.within(|| operations::fill(value, out.lent_mut()))
    }

    /// Takes `a` where `condition` is true, else `b`; each may be a number. Enqueues
    /// [`tenure::ops::select`](crate::ops::select()). The result is a new row-major tensor of the
    /// shape that the three broadcast to.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: the shapes do not broadcast. `OutOfMemory`. `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let data = stream.upload(&[3.0, -1.0, 2.0])?;
    /// let clipped = stream.select(&stream.lt(&data, 0.0)?, 0.0, &data)?;
    /// assert_eq!(stream.to_vec(&clipped)?, [3.0, 0.0, 2.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias = "where")]
    pub fn select<T: Element>(
        &self,
        condition: impl AsView<Bool8>,
        a: impl Operand<T>,
        b: impl Operand<T>,
    ) -> Result<Tensor<T>> {
        let (condition, a, b) = (condition.as_view(), a.argument(), b.argument());
        let shapes = [condition.shape(), a.shape(), b.shape()];
        let extents =
            broadcast_shape(shapes).map_err(|error| refused(error, "select", &shapes, None))?;
        let (a, b) = (a.placed(self)?, b.placed(self)?);
        let (a, b) = (a.as_view(), b.as_view());
        self.filled(extents.as_slice(), |out| {
            operations::select(condition.lent(), a.lent(), b.lent(), out)
        })
    }

    /// Writes the result of [`select`](Self::select) to `out`. The three are broadcast to the shape
    /// of `out`.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: `condition`, `a` or `b` does not broadcast to `out`. `OutOfMemory`: for a
    /// number. `DeviceError`.
    pub fn select_into<T: Element>(
        &self,
        condition: impl AsView<Bool8>,
        a: impl Operand<T>,
        b: impl Operand<T>,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        let (condition, mut out) = (condition.as_view(), out.as_view_mut());
        let (a, b) = (a.argument(), b.argument());
        let (a, b) = (a.placed(self)?, b.placed(self)?);
        let (a, b) = (a.as_view(), b.as_view());
        self.within(|| operations::select(condition.lent(), a.lent(), b.lent(), out.lent_mut()))
            .map_err(|error| {
                let inputs = [condition.shape(), a.shape(), b.shape()];
                refused(error, "select_into", &inputs, Some(out.shape()))
            })
    }
}

/// The three forms of a triangle.
macro_rules! triangle_methods {
    ($(
        $part:ident: $new:ident, $into:ident, $assign:ident;
        $kept:literal, example $diagonal:literal => $result:literal;
    )*) => {
        /// Triangles of matrices on the device.
        impl Stream {$(
            #[doc = concat!("The elements ", $kept, ", and 0 elsewhere.")]
            ///
            #[doc = concat!(
                "As [`ops::", stringify!($new), "`](crate::ops::", stringify!($new), "), enqueued."
            )]
            /// A new row-major tensor.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: fewer than two axes. `OutOfMemory`. `DeviceError`.
            ///
            /// ```
            /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
            /// # let stream = device.stream()?;
            /// let a = stream.upload(&[[1, 2, 3], [4, 5, 6], [7, 8, 9]])?;
            #[doc = concat!("let part = stream.", stringify!($new), "(&a, ", $diagonal, ")?;")]
            #[doc = concat!("assert_eq!(stream.to_vec(&part)?, ", $result, ".as_flattened());")]
            /// # Ok::<(), tenure::Error>(())
            /// ```
            pub fn $new<T: Element>(
                &self,
                a: impl AsView<T>,
                diagonal: isize,
            ) -> Result<Tensor<T>> {
                named(stringify!($new), || {
                    let a = a.as_view();
                    let part = tnr_triangle::$part;
                    self.filled(a.shape(), |out| {
                        movement::triangular(part, a.lent().into(), diagonal as i64, out)
                    })
                })
            }

            #[doc = concat!("As [`", stringify!($new), "`](Self::", stringify!($new), "),")]
            /// into memory of the caller's.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: fewer than two axes, or another shape of `out`. `DeviceError`.
            pub fn $into<T: Element>(
                &self,
                a: impl AsView<T>,
                diagonal: isize,
                out: &mut (impl AsViewMut<T> + ?Sized),
            ) -> Result<()> {
                named(stringify!($into), || {
                    let (a, mut out) = (a.as_view(), out.as_view_mut());
                    let part = tnr_triangle::$part;
                    self.within(|| {
                        movement::triangular(part, a.lent().into(), diagonal as i64, out.lent_mut())
                    })
                })
            }

            #[doc = concat!("As [`", stringify!($new), "`](Self::", stringify!($new), "),")]
            /// in place.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: fewer than two axes. `DeviceError`.
            pub fn $assign<T: Element>(
                &self,
                a: &mut (impl AsViewMut<T> + ?Sized),
                diagonal: isize,
            ) -> Result<()> {
                named(stringify!($assign), || {
                    let mut a = a.as_view_mut();
                    let part = tnr_triangle::$part;
                    self.within(|| {
                        movement::triangular(part, Input::Output, diagonal as i64, a.lent_mut())
                    })
                })
            }
        )*}
    };
}

triangle_methods! {
    LOWER: tril, tril_into, tril_assign;
    "on and below a diagonal", example "0" => "[[1, 0, 0], [4, 5, 0], [7, 8, 9]]";
    UPPER: triu, triu_into, triu_assign;
    "on and above a diagonal", example "1" => "[[0, 2, 3], [0, 0, 6], [0, 0, 0]]";
}
