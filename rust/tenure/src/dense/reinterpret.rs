//! Views of the same bytes as elements of another type.

use tenure_sys::tnr_view;

use crate::dense::{TensorView, TensorViewMut};
use crate::dtype::{DType, Element};
use crate::error::{Error, Rejected, Result};
use crate::layout;

/// The view over the same bytes of elements of `dtype`. Where their sizes differ it is the last
/// axis that grows or shrinks, as in NumPy's `view`.
fn reinterpreted(view: &tnr_view, dtype: DType) -> Result<tnr_view> {
    let (from, to) = (DType::from_raw(view.dtype), dtype);
    let (size, new_size) = (from.size_bytes(), to.size_bytes());
    let mut raw = tnr_view { dtype: dtype.raw(), ..*view };
    if size != new_size {
        let Some(last) = (view.rank as usize).checked_sub(1) else {
            return Err(Error::invalid(format!(
                "{from} of {size} bytes and {to} of {new_size} differ, and rank 0 has no axis to grow \
                 or shrink"
            )));
        };
        if view.shape[last] > 1 && view.strides[last] != 1 {
            return Err(Error::invalid(format!(
                "the stride of the last axis is {} but must be 1, to be counted in {to}",
                view.strides[last]
            )));
        }
        raw.strides[last] = 1;
        for axis in 0..=last {
            let Some((shape, stride)) = counted(&raw, axis, size, new_size, axis == last) else {
                return Err(uncounted(view, axis, from, to));
            };
            raw.shape[axis] = shape;
            raw.strides[axis] = stride;
        }
    }
    if layout::is_empty(&raw) {
        return Ok(raw);
    }
    layout::check(&raw)?;
    Ok(raw)
}

/// The extent and stride of an axis in elements of another size; `None` where they are no whole
/// number.
fn counted(
    view: &tnr_view,
    axis: usize,
    size: usize,
    new_size: usize,
    is_last: bool,
) -> Option<(i64, i64)> {
    let convert = |number: i64| {
        let bytes = number.checked_mul(size as i64)?;
        (bytes % new_size as i64 == 0).then(|| bytes / new_size as i64)
    };
    match (view.shape[axis], view.strides[axis]) {
        (extent, _) if is_last => Some((convert(extent)?, 1)),
        // A stride of no meaning stays one.
        (extent, stride) if extent <= 1 || layout::is_empty(view) => Some((extent, stride)),
        (extent, stride) => Some((extent, convert(stride)?)),
    }
}

#[cold]
fn uncounted(view: &tnr_view, axis: usize, from: DType, to: DType) -> Error {
    Error::invalid(format!(
        "axis {axis} of extent {} and stride {} in {from} is no whole number of {to}, which has {} \
         bytes",
        view.shape[axis],
        view.strides[axis],
        to.size_bytes()
    ))
}

/// Other elements in the same bytes.
impl<'a, T: Element> TensorView<'a, T> {
    /// Views the bytes as elements of `U`. Where the sizes differ, the elements of the last axis
    /// must be adjacent, and this axis has more or fewer elements.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: an axis is no whole number of `U`, its elements are not adjacent, or the
    /// bytes are not aligned for `U`.
    ///
    /// ```
    /// use tenure::{Complex, TensorView};
    ///
    /// let signal = [Complex::new(1.0_f32, 2.0), Complex::new(3.0, 4.0)];
    /// let parts = TensorView::from_slice(&signal, [2, 1])?.as_elements::<f32>()?;
    /// assert_eq!((parts.shape(), parts.to_vec()), (&[2, 2][..], vec![1.0, 2.0, 3.0, 4.0]));
    /// assert_eq!(parts.as_elements::<Complex<f32>>()?[[1, 0]], signal[1]);
    /// assert_eq!(parts.as_elements::<u8>()?.shape(), [2, 8]);
    ///
    /// let error = parts.as_elements::<Complex<f64>>().err().unwrap();
    /// assert_eq!(
    ///     error.message(),
    ///     "axis 0 of extent 2 and stride 2 in f32 is no whole number of c128, which has 16 bytes"
    /// );
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn as_elements<U: Element>(&self) -> Result<TensorView<'a, U>> {
        let raw = reinterpreted(self.raw(), U::DTYPE)?;
        // SAFETY: checked, over only bytes of this view; any bytes are elements of `U`.
        Ok(unsafe { TensorView::from_raw(raw) })
    }
}

/// Other elements in the same bytes.
impl<'a, T: Element> TensorViewMut<'a, T> {
    /// Does the same as [`TensorView::as_elements`], for writing.
    ///
    /// # Errors
    ///
    /// As there; the view comes back with the error.
    ///
    /// ```
    /// use tenure::TensorViewMut;
    ///
    /// let mut words = [0_u16; 2];
    /// TensorViewMut::from_slice(&mut words, 2)?.into_elements::<u8>()?.fill(0xff);
    /// assert_eq!(words, [0xffff; 2]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[allow(clippy::result_large_err)] // A view either way.
    pub fn into_elements<U: Element>(self) -> Result<TensorViewMut<'a, U>, Rejected<Self>> {
        let checked = reinterpreted(self.raw(), U::DTYPE)
            .and_then(|raw| layout::check_distinct(&raw).map(|()| raw));
        match checked {
            // SAFETY: `reinterpreted` and `check_distinct` have checked the layout, which covers
            // only bytes of this view; any bytes are elements of `U` and of `T`; the view ends
            // here, and had exclusive access to the bytes for 'a.
            Ok(raw) => Ok(unsafe { TensorViewMut::from_raw(raw) }),
            Err(error) => Err(Rejected::new(error, self)),
        }
    }
}
