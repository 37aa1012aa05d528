//! Shape arguments.

use tenure_sys::TNR_MAX_RANK;

use crate::error::Result;
use crate::layout;
use crate::layout::refusal;

/// Shape arguments: `[2, 3]`, a slice or `Vec` of extents, or one number for one axis.
/// `[0usize; 0]` is rank 0: one element, no axes.
///
/// ```
/// use tenure::TensorView;
///
/// let data = [1, 2, 3, 4, 5, 6];
/// assert_eq!(TensorView::from_slice(&data, [2, 3])?.rank(), 2);
/// assert_eq!(TensorView::from_slice(&data, 6)?.shape(), [6]);
/// assert_eq!(TensorView::from_slice(&data, vec![1, 6, 1])?.rank(), 3);
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape",
    label = "not a shape",
    note = "write a shape as `[2, 3]`, `6`, a `&[usize]` or a `Vec<usize>`"
)]
pub trait IntoShape {
    /// The extent of each axis, outermost first.
    fn extents(&self) -> &[usize];
}

impl<const N: usize> IntoShape for [usize; N] {
    #[inline]
    fn extents(&self) -> &[usize] {
        self
    }
}

impl<const N: usize> IntoShape for &[usize; N] {
    #[inline]
    fn extents(&self) -> &[usize] {
        *self
    }
}

impl IntoShape for &[usize] {
    #[inline]
    fn extents(&self) -> &[usize] {
        self
    }
}

impl IntoShape for Vec<usize> {
    #[inline]
    fn extents(&self) -> &[usize] {
        self
    }
}

impl IntoShape for &Vec<usize> {
    #[inline]
    fn extents(&self) -> &[usize] {
        self
    }
}

impl IntoShape for usize {
    #[inline]
    fn extents(&self) -> &[usize] {
        std::slice::from_ref(self)
    }
}

/// Shape arguments of `reshape`: as [`IntoShape`], where one extent may be -1, for what the others
/// leave of the elements.
///
/// The elements of an array have one type: `[n, -1]` does not compile where `n` is a `usize`. A
/// tuple may mix types: `(n, -1)`.
///
/// ```
/// use tenure::TensorView;
///
/// let data = [1, 2, 3, 4, 5, 6];
/// let view = TensorView::from_slice(&data, [2, 3])?;
/// assert_eq!(view.reshape([3, -1])?.shape(), [3, 2]);
/// assert_eq!(view.reshape(-1)?.shape(), [6]);
/// let row_count = data.len() / 2;
/// assert_eq!(view.reshape((row_count, -1))?.shape(), [3, 2]);
/// assert_eq!(
///     view.reshape([4, -1]).err().unwrap().message(),
///     "reshape: 6 elements give no extent for -1: the other extents have 4 elements",
/// );
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape",
    label = "not a shape",
    note = "write it as `[2, 3]`, `[2, -1]`, `6`, a slice or a `Vec`; extents are `usize`, `isize`, \
            `i32` or `i64`, of different types in a tuple: `(n, -1)`"
)]
pub trait IntoReshape {
    /// Hands `f` the extent of each axis, outermost first, of a shape with `count` elements.
    #[doc(hidden)]
    fn with_extents<R>(&self, count: usize, f: impl FnOnce(&[usize]) -> Result<R>) -> Result<R>;
}

/// The type of an extent in a shape of `reshape`: `usize`, `isize`, `i32` or `i64`. Sealed.
pub trait IntoExtent: Copy + sealed::Sealed {
    /// A negative number is in the second.
    #[doc(hidden)]
    fn extent(self) -> std::result::Result<usize, isize>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for usize {}
    impl Sealed for isize {}
    impl Sealed for i32 {}
    impl Sealed for i64 {}
}

impl IntoExtent for usize {
    #[inline(always)]
    fn extent(self) -> std::result::Result<usize, isize> {
        Ok(self)
    }
}

impl IntoExtent for isize {
    #[inline(always)]
    fn extent(self) -> std::result::Result<usize, isize> {
        usize::try_from(self).map_err(|_| self)
    }
}

impl IntoExtent for i32 {
    #[inline(always)]
    fn extent(self) -> std::result::Result<usize, isize> {
        (self as isize).extent()
    }
}

impl IntoExtent for i64 {
    #[inline(always)]
    fn extent(self) -> std::result::Result<usize, isize> {
        usize::try_from(self).map_err(|_| isize::try_from(self).unwrap_or(isize::MIN))
    }
}

/// Computes the open extent, if there is one, of a shape of `count` elements.
#[inline]
fn close(extents: &mut [usize], open: Option<usize>, count: usize) -> Result<()> {
    let Some(open) = open else { return Ok(()) };
    let known = layout::element_count(extents)?;
    if known == 0 || count % known != 0 {
        return Err(refusal::none_left(count, known));
    }
    extents[open] = count / known;
    Ok(())
}

#[inline(always)]
fn with_extents<R>(
    shape: impl ExactSizeIterator<Item = std::result::Result<usize, isize>>,
    count: usize,
    f: impl FnOnce(&[usize]) -> Result<R>,
) -> Result<R> {
    let rank = shape.len();
    if rank > TNR_MAX_RANK {
        return Err(refusal::rank_too_high(rank));
    }
    let mut extents = [1; TNR_MAX_RANK];
    let (mut open, mut open_count) = (None, 0);
    for (axis, extent) in shape.enumerate() {
        match extent {
            Ok(extent) => extents[axis] = extent,
            Err(-1) => (open, open_count) = (Some(axis), open_count + 1),
            Err(extent) => return Err(refusal::negative_extent(extent)),
        }
    }
    if open_count > 1 {
        return Err(refusal::two_unknown(open_count));
    }
    let extents = &mut extents[..rank];
    close(extents, open, count)?;
    f(extents)
}

impl<E: IntoExtent> IntoReshape for [E] {
    #[inline(always)]
    fn with_extents<R>(&self, count: usize, f: impl FnOnce(&[usize]) -> Result<R>) -> Result<R> {
        with_extents(self.iter().map(|extent| extent.extent()), count, f)
    }
}

macro_rules! reshapes {
    ($([$($generics:tt)*] $type:ty, $self:ident => $slice:expr;)*) => {$(
        impl<$($generics)*> IntoReshape for $type {
            #[inline(always)]
            fn with_extents<R>(
                &$self,
                count: usize,
                f: impl FnOnce(&[usize]) -> Result<R>,
            ) -> Result<R> {
                $slice.with_extents(count, f)
            }
        }
    )*};
}

reshapes! {
    [E: IntoExtent, const N: usize] [E; N], self => self[..];
    [E: IntoExtent] Vec<E>, self => self[..];
    [S: IntoReshape + ?Sized] &S, self => (**self);
    [] usize, self => std::slice::from_ref(self)[..];
    [] isize, self => std::slice::from_ref(self)[..];
    [] i32, self => std::slice::from_ref(self)[..];
    [] i64, self => std::slice::from_ref(self)[..];
}

macro_rules! reshape_tuples {
    ($($($name:ident)+;)*) => {$(
        impl<$($name: IntoExtent),+> IntoReshape for ($($name,)+) {
            #[allow(non_snake_case, reason = "a variable for each type")]
            #[inline(always)]
            fn with_extents<R>(
                &self,
                count: usize,
                f: impl FnOnce(&[usize]) -> Result<R>,
            ) -> Result<R> {
                let ($($name,)+) = *self;
                with_extents([$($name.extent()),+].into_iter(), count, f)
            }
        }
    )*};
}

crate::dtype::tuples::up_to_eight!(reshape_tuples);
