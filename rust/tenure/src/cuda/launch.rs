//! Parameters, arguments and grids of kernels of users.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use tenure_sys::{
    TNR_KERNEL_POINTER, tnr_kernel_argument_kind, tnr_kernel_grid, tnr_kernel_parameter,
    tnr_scalar, tnr_view, tnr_view_mut,
};

use crate::cuda::{Tensor, TensorView, TensorViewMut};
use crate::dtype::Element;
use crate::raw::operations::scalar;

/// One parameter of a [`Kernel`](crate::cuda::Kernel), as it is declared:
///
/// | declared | in CUDA C++, by value |
/// | --- | --- |
/// | `Parameter::scalar::<T>()` | `T` |
/// | `Parameter::input::<T>(n)` | `struct { const T *data; long long shape[n]; long long strides[n]; }` |
/// | `Parameter::output::<T>(n)` | the same, and `data` may be written |
/// | either with [`pointer`](Self::pointer) | `T *` |
///
/// `data` is the element at index 0 on every axis, and strides are in elements, of any sign. With
/// the ranks `2..=4`, `n` is 4, and a view of fewer axes gets leading axes of extent 1. The stride
/// of an axis of extent 1 or 0 is 0. Without elements `data` may be NULL.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    raw: tnr_kernel_parameter,
}

impl Parameter {
    /// A view that the kernel reads.
    pub fn input<T: Element>(ranks: impl Into<Ranks>) -> Parameter {
        Self::view::<T>(tnr_kernel_argument_kind::INPUT, ranks.into())
    }

    /// A view that the kernel writes, and may read.
    pub fn output<T: Element>(ranks: impl Into<Ranks>) -> Parameter {
        Self::view::<T>(tnr_kernel_argument_kind::OUTPUT, ranks.into())
    }

    /// A number.
    pub fn scalar<T: Element>() -> Parameter {
        Self::view::<T>(tnr_kernel_argument_kind::SCALAR, Ranks { least: 0, most: 0 })
    }

    /// Passes only the address of a view. Launches then accept only row-major views without gaps.
    #[must_use]
    pub fn pointer(mut self) -> Parameter {
        self.raw.flags |= TNR_KERNEL_POINTER;
        self
    }

    fn view<T: Element>(kind: tnr_kernel_argument_kind, ranks: Ranks) -> Parameter {
        let (least_rank, most_rank) = (ranks.least, ranks.most);
        let dtype = T::DTYPE.raw();
        Parameter {
            raw: tnr_kernel_parameter { kind, dtype, least_rank, most_rank, flags: 0, reserved: 0 },
        }
    }

    pub(super) fn raw(&self) -> tnr_kernel_parameter {
        self.raw
    }
}

/// How many axes views may have: one number, or a range as `1..=3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    least: u32,
    most: u32,
}

/// A rank beyond u32 is beyond the limit, and the library says so.
fn rank_of(rank: usize) -> u32 {
    u32::try_from(rank).unwrap_or(u32::MAX)
}

impl From<usize> for Ranks {
    fn from(rank: usize) -> Ranks {
        Ranks { least: rank_of(rank), most: rank_of(rank) }
    }
}

impl From<RangeInclusive<usize>> for Ranks {
    fn from(ranks: RangeInclusive<usize>) -> Ranks {
        Ranks { least: rank_of(*ranks.start()), most: rank_of(*ranks.end()) }
    }
}

/// The blocks of a launch, the threads of each, and shared memory. Axes are x, y and z.
///
/// ```
/// use tenure::cuda::Grid;
///
/// // A thread for each of 1920 x 1080 pixels, in blocks of 32 x 8.
/// assert_eq!(Grid::covering([1920, 1080], [32, 8]), Grid::new([60, 135, 1], [32, 8, 1]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    blocks: [u32; 3],
    threads: [u32; 3],
    shared_bytes: u32,
}

impl Grid {
    /// A grid of `blocks` blocks with `threads` threads each.
    pub const fn new(blocks: [u32; 3], threads: [u32; 3]) -> Grid {
        Grid { blocks, threads, shared_bytes: 0 }
    }

    /// Blocks of `threads` threads: the fewest that have a thread for each index of `extents`, and
    /// at least one. More than three axes do not compile.
    pub fn covering<const N: usize>(extents: [usize; N], threads: [u32; N]) -> Grid {
        const { assert!(N <= 3, "a grid has three axes") };
        let mut grid = Grid::new([1; 3], [1; 3]);
        for axis in 0..N {
            let blocks = extents[axis].div_ceil(threads[axis].max(1) as usize).max(1);
            // A number beyond u32 is beyond each device's limit, which the library says.
            grid.blocks[axis] = u32::try_from(blocks).unwrap_or(u32::MAX);
            grid.threads[axis] = threads[axis];
        }
        grid
    }

    /// Sets the bytes of shared memory of each block, in addition to the memory that the kernel
    /// declares itself.
    #[must_use]
    pub const fn shared_bytes(mut self, shared_bytes: u32) -> Grid {
        self.shared_bytes = shared_bytes;
        self
    }

    pub(super) fn raw(&self) -> tnr_kernel_grid {
        tnr_kernel_grid {
            struct_size: size_of::<tnr_kernel_grid>() as u64,
            blocks: self.blocks,
            threads: self.threads,
            shared_bytes: self.shared_bytes,
            reserved: 0,
        }
    }
}

/// An argument of a launch: `&tensor` or a [`TensorView`] for an input, `&mut tensor` or a
/// [`TensorViewMut`] for an output, a number for a scalar. In a tuple of arguments these are
/// converted by themselves.
pub struct KernelArgument<'a> {
    pub(super) given: Given,
    _lent: PhantomData<&'a mut ()>,
}

/// The views are as those of a `Lent` and a `LentMut` of the argument's lifetime.
pub(super) enum Given {
    Input(tnr_view),
    Output(tnr_view_mut),
    Scalar(tnr_scalar),
}

impl From<Given> for KernelArgument<'_> {
    fn from(given: Given) -> Self {
        KernelArgument { given, _lent: PhantomData }
    }
}

impl<'a, T: Element> From<TensorView<'a, T>> for KernelArgument<'a> {
    fn from(view: TensorView<'a, T>) -> Self {
        Given::Input(*view.raw()).into()
    }
}

impl<'a, T: Element> From<TensorViewMut<'a, T>> for KernelArgument<'a> {
    fn from(view: TensorViewMut<'a, T>) -> Self {
        Given::Output(tnr_view_mut { view: *view.raw() }).into()
    }
}

impl<'a, T: Element> From<&'a Tensor<T>> for KernelArgument<'a> {
    fn from(tensor: &'a Tensor<T>) -> Self {
        tensor.view().into()
    }
}

impl<'a, T: Element> From<&'a mut Tensor<T>> for KernelArgument<'a> {
    fn from(tensor: &'a mut Tensor<T>) -> Self {
        tensor.view_mut().into()
    }
}

impl<'a, T: Element> From<&'a mut TensorViewMut<'_, T>> for KernelArgument<'a> {
    fn from(view: &'a mut TensorViewMut<'_, T>) -> Self {
        view.view_mut().into()
    }
}

impl<T: Element> From<T> for KernelArgument<'_> {
    fn from(number: T) -> Self {
        Given::Scalar(scalar(number)).into()
    }
}

/// The arguments of one launch: a tuple of up to 16 values that convert to [`KernelArgument`], or
/// an array or a `Vec` of [`KernelArgument`]s.
pub trait KernelArguments<'a>: sealed::Sealed {
    /// The arguments as a list.
    #[doc(hidden)]
    fn listed(self) -> impl AsRef<[KernelArgument<'a>]>;
}

mod sealed {
    pub trait Sealed {}
}

impl<const N: usize> sealed::Sealed for [KernelArgument<'_>; N] {}
impl<'a, const N: usize> KernelArguments<'a> for [KernelArgument<'a>; N] {
    fn listed(self) -> impl AsRef<[KernelArgument<'a>]> {
        self
    }
}

impl sealed::Sealed for Vec<KernelArgument<'_>> {}
impl<'a> KernelArguments<'a> for Vec<KernelArgument<'a>> {
    fn listed(self) -> impl AsRef<[KernelArgument<'a>]> {
        self
    }
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => {$(
        impl<$($name),*> sealed::Sealed for ($($name,)*) {}
        impl<'a, $($name: Into<KernelArgument<'a>>),*> KernelArguments<'a> for ($($name,)*) {
            #[allow(non_snake_case, reason = "an argument has the name of its type")]
            fn listed(self) -> impl AsRef<[KernelArgument<'a>]> {
                let ($($name,)*) = self;
                [$($name.into()),*]
            }
        }
    )*};
}

tuples! {
    () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H)
    (A B C D E F G H I) (A B C D E F G H I J) (A B C D E F G H I J K) (A B C D E F G H I J K L)
    (A B C D E F G H I J K L M) (A B C D E F G H I J K L M N) (A B C D E F G H I J K L M N O)
    (A B C D E F G H I J K L M N O P)
}
