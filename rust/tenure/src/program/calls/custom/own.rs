//! Operations that are closures: views of what the library lends, and answers that it understands.

use std::ffi::{CString, c_void};
use std::marker::PhantomData;

use tenure_sys as sys;
use tenure_sys::{
    TNR_CUSTOM_INITIALIZED, tnr_context, tnr_custom_operation, tnr_device_compute_fn, tnr_dtype,
    tnr_status, tnr_view, tnr_view_mut,
};

use super::CustomOperation;
use crate::cuda::running::running;
use crate::cuda::{self, Stream};
use crate::dense::{TensorView, TensorViewMut};
use crate::dtype::{DType, Element};
use crate::error::Failure;
use crate::error::{Error, ErrorKind, Result};
use crate::layout;
use crate::owner::caught;
use crate::program::{Graph, Traced};
use crate::raw::{in_default, status_of};

/// The element types of the operands of a [`CustomOperation`]: a tuple of up to eight, an array of
/// one type, or `()`. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no element types of operands",
    label = "not a tuple or array of element types",
    note = "one operand alone is written as `(f32,)` or `[f32; 1]`"
)]
pub trait OperandTypes: sealed::Sealed {
    /// The shapes of all: an array of slices.
    type Shapes<'a>;
    /// Views of all: a tuple, or an array.
    type Views<'a>;
    /// Views of all in memory of [a device](crate::cuda).
    type DeviceViews<'a>;
    /// All as values of a graph: a tuple, or an array.
    type Traced<'g>;
    /// Gradients by all, in the same form: `None` stands for zeros.
    type Gradients<'g>;

    #[doc(hidden)]
    fn dtypes() -> Vec<DType>;

    /// # Safety
    ///
    /// - There are as many views as `dtypes` says.
    #[doc(hidden)]
    unsafe fn shapes(views: &[tnr_view]) -> Self::Shapes<'_>;

    /// # Safety
    ///
    /// - There are as many views as `dtypes` says, of these dtypes.
    /// - The library has checked them; their elements are initialised, alive and not written as
    ///   long as the views are lent.
    #[doc(hidden)]
    unsafe fn views(views: &[tnr_view]) -> Self::Views<'_>;

    /// # Safety
    ///
    /// - There are as many views as `dtypes` says, of these dtypes.
    /// - They are as a [`cuda::TensorView`] is, as long as they are lent.
    #[doc(hidden)]
    unsafe fn device_views(views: &[tnr_view]) -> Self::DeviceViews<'_>;

    /// Reads as many values as `dtypes` has.
    #[doc(hidden)]
    fn traced<'g>(graph: Graph<'g>, values: &[u32]) -> Self::Traced<'g>;
    #[doc(hidden)]
    fn values(gradients: Self::Gradients<'_>) -> Vec<Option<u32>>;
}

mod sealed {
    pub trait Sealed {}
}

impl<T: Element, const N: usize> sealed::Sealed for [T; N] {}
impl<T: Element, const N: usize> OperandTypes for [T; N] {
    type Shapes<'a> = [&'a [usize]; N];
    type Views<'a> = [TensorView<'a, T>; N];
    type DeviceViews<'a> = [cuda::TensorView<'a, T>; N];
    type Traced<'g> = [Traced<'g, T>; N];
    type Gradients<'g> = [Option<Traced<'g, T>>; N];

    fn dtypes() -> Vec<DType> {
        vec![T::DTYPE; N]
    }
    unsafe fn shapes(views: &[tnr_view]) -> [&[usize]; N] {
        std::array::from_fn(|nth| layout::extents(&views[nth]))
    }
    unsafe fn views(views: &[tnr_view]) -> [TensorView<'_, T>; N] {
        // SAFETY: by this function's contract.
        std::array::from_fn(|nth| unsafe { *TensorView::from_raw_ref(&views[nth]) })
    }
    unsafe fn device_views(views: &[tnr_view]) -> [cuda::TensorView<'_, T>; N] {
        // SAFETY: by this function's contract.
        std::array::from_fn(|nth| unsafe { cuda::TensorView::from_raw(views[nth]) })
    }
    fn traced<'g>(graph: Graph<'g>, values: &[u32]) -> [Traced<'g, T>; N] {
        std::array::from_fn(|nth| Traced::of(graph, values[nth]))
    }
    fn values(gradients: [Option<Traced<'_, T>>; N]) -> Vec<Option<u32>> {
        gradients.iter().map(|gradient| gradient.map(Traced::value)).collect()
    }
}

impl sealed::Sealed for () {}
impl OperandTypes for () {
    type Shapes<'a> = [&'a [usize]; 0];
    type Views<'a> = ();
    type DeviceViews<'a> = ();
    type Traced<'g> = ();
    type Gradients<'g> = ();

    fn dtypes() -> Vec<DType> {
        Vec::new()
    }
    unsafe fn shapes(_: &[tnr_view]) -> [&[usize]; 0] {
        []
    }
    unsafe fn views(_: &[tnr_view]) {}
    unsafe fn device_views(_: &[tnr_view]) {}
    fn traced(_: Graph<'_>, _: &[u32]) {}
    fn values(_: ()) -> Vec<Option<u32>> {
        Vec::new()
    }
}

macro_rules! tuples {
    ($($count:literal: $($element:ident $nth:literal)+;)*) => {$(
        impl<$($element: Element),+> sealed::Sealed for ($($element,)+) {}
        impl<$($element: Element),+> OperandTypes for ($($element,)+) {
            type Shapes<'a> = [&'a [usize]; $count];
            type Views<'a> = ($(TensorView<'a, $element>,)+);
            type DeviceViews<'a> = ($(cuda::TensorView<'a, $element>,)+);
            type Traced<'g> = ($(Traced<'g, $element>,)+);
            type Gradients<'g> = ($(Option<Traced<'g, $element>>,)+);

            fn dtypes() -> Vec<DType> {
                vec![$($element::DTYPE),+]
            }
            unsafe fn shapes(views: &[tnr_view]) -> [&[usize]; $count] {
                [$(layout::extents(&views[$nth])),+]
            }
            unsafe fn views(views: &[tnr_view]) -> ($(TensorView<'_, $element>,)+) {
                // SAFETY: by this function's contract.
                unsafe { ($(*TensorView::<$element>::from_raw_ref(&views[$nth]),)+) }
            }
            unsafe fn device_views(views: &[tnr_view]) -> ($(cuda::TensorView<'_, $element>,)+) {
                // SAFETY: by this function's contract.
                unsafe { ($(cuda::TensorView::<$element>::from_raw(views[$nth]),)+) }
            }
            fn traced<'g>(graph: Graph<'g>, values: &[u32]) -> Self::Traced<'g> {
                ($(Traced::<$element>::of(graph, values[$nth]),)+)
            }
            #[allow(non_snake_case)]
            fn values(($($element,)+): Self::Gradients<'_>) -> Vec<Option<u32>> {
                vec![$($element.map(Traced::value)),+]
            }
        }
    )*};
}
tuples! {
    1: A 0;
    2: A 0 B 1;
    3: A 0 B 1 C 2;
    4: A 0 B 1 C 2 D 3;
    5: A 0 B 1 C 2 D 3 E 4;
    6: A 0 B 1 C 2 D 3 E 4 F 5;
    7: A 0 B 1 C 2 D 3 E 4 F 5 G 6;
    8: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7;
}

/// The context that the library is given to keep.
struct Own<I, T, S, R, D> {
    dtypes: Vec<DType>,
    shape: S,
    run: R,
    /// `()` for an operation that runs only on the CPU.
    run_on_device: D,
    _types: PhantomData<fn(I) -> T>,
}

impl CustomOperation {
    /// An operation that computes elements of `T` of operands of the types `I`, by `run`; `shape`
    /// says the shape of its result.
    ///
    /// `run` is lent views of its operands, of any strides, and one of the result. The elements of
    /// the result are initialised, to values that are not promised, and `run` writes all of them.
    /// Both closures are called from any thread, also from several at once, and for shapes that no
    /// run will have; they may call any function of this crate, and run programs. Both always give
    /// the same for the same operands: a program plans its memory with one answer of `shape` for
    /// each set of layouts, and a run refuses a later answer that has another rank than the plan or
    /// a larger extent. `run` is called once for each node of a run, of constants too.
    ///
    /// The error of a closure refuses the node, or fails the run, with its message, and with its
    /// kind where it is an error of this crate. Other errors, and kinds that the library does not
    /// have (`Io`, for one), become `InvalidArgument`. A panic becomes `Internal`, with its
    /// message.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a byte of 0 in the name. Its length, 1 to 31 bytes, is checked by the
    /// graph.
    ///
    /// ```
    /// #![forbid(unsafe_code)]
    /// use tenure::{CustomOperation, Program};
    ///
    /// # fn main() -> tenure::Result<()> {
    /// let clipped = CustomOperation::new::<(f32, f32), f32>(
    ///     "clip_to_limit",
    ///     |[x, _limit]| Ok(x.to_vec()),
    ///     |(x, limit), mut out| {
    ///         let limit = limit[[]];
    ///         for (out, x) in out.iter_mut().zip(x.iter()) {
    ///             *out = x.clamp(-limit, limit);
    ///         }
    ///         Ok(())
    ///     },
    /// )?;
    /// let program = Program::trace(|graph| {
    ///     let (x, limit) = (graph.input::<f32>([3]), graph.input::<f32>(()));
    ///     let y = graph.custom::<f32>(&clipped, (x * 2.0, limit));
    ///     graph.program((x, limit), y + 1.0)
    /// })?;
    /// assert_eq!(program.checked().run((&[1.0, -2.0, 4.0], &3.0))?, [3.0, -2.0, 4.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Views end with the call:
    ///
    /// ```compile_fail,E0521
    /// use std::sync::Mutex;
    /// use tenure::{CustomOperation, TensorView};
    ///
    /// static KEPT: Mutex<Option<TensorView<'static, f32>>> = Mutex::new(None);
    /// let keeps = CustomOperation::new::<(f32,), f32>(
    ///     "keeps",
    ///     |[x]| Ok(x.to_vec()),
    ///     |(x,), _| {
    ///         *KEPT.lock().unwrap() = Some(x);
    ///         Ok(())
    ///     },
    /// );
    /// ```
    pub fn new<I: OperandTypes, T: Element>(
        name: &str,
        shape: impl Fn(I::Shapes<'_>) -> Result<Vec<usize>, Failure> + Send + Sync + 'static,
        run: impl Fn(I::Views<'_>, TensorViewMut<'_, T>) -> Result<(), Failure> + Send + Sync + 'static,
    ) -> Result<CustomOperation> {
        taken::<I, T, _, _, _>(name, shape, run, (), None)
    }

    /// Makes an operation like [`new`](Self::new), also for runs on
    /// [a device](crate::cuda::Stream::run): these call `run_on_device` instead of `run`.
    ///
    /// `run_on_device` is lent the run's stream, views of its operands on the device, of any
    /// strides, and a view of the result, whose elements are initialised. It enqueues work there
    /// that writes all elements of the result: operations of this crate, and
    /// [kernels](crate::cuda::Kernel). The core orders this work: it comes after the work that
    /// writes the operands, and before the work that reads the result, on whichever stream of the
    /// device it is enqueued. No thread waits, unless the closure does. Both closures must give the
    /// same elements. A [checked](crate::Program::checked) run checks only the calls on the CPU.
    ///
    /// A failure or a panic fails the run, as with [`new`](Self::new). The work that was enqueued
    /// before still runs, and outputs hold a mixture.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    ///
    /// ```
    /// #![forbid(unsafe_code)]
    /// use tenure::cuda::Device;
    /// use tenure::{CustomOperation, Program};
    ///
    /// # fn main() -> tenure::Result<()> {
    /// let clipped = CustomOperation::with_device::<(f32, f32), f32>(
    ///     "clip_to_limit",
    ///     |[x, _limit]| Ok(x.to_vec()),
    ///     |(x, limit), mut out| {
    ///         let limit = limit[[]];
    ///         for (out, x) in out.iter_mut().zip(x.iter()) {
    ///             *out = x.clamp(-limit, limit);
    ///         }
    ///         Ok(())
    ///     },
    ///     |stream, (x, limit), mut out| {
    ///         stream.minimum_into(x, limit, &mut out)?;
    ///         Ok(stream.maximum_assign(&mut out, &stream.neg(limit)?)?)
    ///     },
    /// )?;
    /// let program = Program::trace(|graph| {
    ///     let (x, limit) = (graph.input::<f32>([3]), graph.input::<f32>(()));
    ///     let y = graph.custom::<f32>(&clipped, (x * 2.0, limit));
    ///     graph.program((x, limit), y + 1.0)
    /// })?;
    /// assert_eq!(program.run((&[1.0, -2.0, 4.0], &3.0))?, [3.0, -2.0, 4.0]);
    ///
    /// let Ok(device) = Device::new(0) else { return Ok(()) };
    /// let stream = device.stream()?;
    /// let (x, limit) = (stream.upload(&[1.0_f32, -2.0, 4.0])?, stream.full([], 3.0_f32)?);
    /// let y = stream.run(&program, (&x, &limit))?; // enqueued
    /// assert_eq!(stream.to_vec(&y)?, [3.0, -2.0, 4.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Views end with the call:
    ///
    /// ```compile_fail,E0521
    /// use std::sync::Mutex;
    /// use tenure::{CustomOperation, cuda};
    ///
    /// static KEPT: Mutex<Option<cuda::TensorView<'static, f32>>> = Mutex::new(None);
    /// let keeps = CustomOperation::with_device::<(f32,), f32>(
    ///     "keeps",
    ///     |[x]| Ok(x.to_vec()),
    ///     |(x,), mut out| Ok(tenure::ops::neg_into(x, &mut out)?),
    ///     |stream, (x,), mut out| {
    ///         *KEPT.lock().unwrap() = Some(x);
    ///         Ok(stream.neg_into(x, &mut out)?)
    ///     },
    /// );
    /// ```
    pub fn with_device<I: OperandTypes, T: Element>(
        name: &str,
        shape: impl Fn(I::Shapes<'_>) -> Result<Vec<usize>, Failure> + Send + Sync + 'static,
        run: impl Fn(I::Views<'_>, TensorViewMut<'_, T>) -> Result<(), Failure> + Send + Sync + 'static,
        run_on_device: impl Fn(
            &Stream,
            I::DeviceViews<'_>,
            cuda::TensorViewMut<'_, T>,
        ) -> Result<(), Failure>
        + Send
        + Sync
        + 'static,
    ) -> Result<CustomOperation> {
        let function = compute_on_device_of::<I, T, _, _, _>(&shape, &run, &run_on_device);
        taken::<I, T, _, _, _>(name, shape, run, run_on_device, function)
    }
}

/// The function of closures, whose types have no names.
fn compute_on_device_of<I, T, S, R, D>(_: &S, _: &R, _: &D) -> tnr_device_compute_fn
where
    I: OperandTypes,
    T: Element,
    D: Fn(&Stream, I::DeviceViews<'_>, cuda::TensorViewMut<'_, T>) -> Result<(), Failure>,
{
    Some(compute_on_device::<I, T, S, R, D>)
}

/// `compute_on_device` is none, or that of these closures.
fn taken<I, T, S, R, D>(
    name: &str,
    shape: S,
    run: R,
    run_on_device: D,
    compute_on_device: tnr_device_compute_fn,
) -> Result<CustomOperation>
where
    I: OperandTypes,
    T: Element,
    S: Fn(I::Shapes<'_>) -> Result<Vec<usize>, Failure> + Send + Sync + 'static,
    R: Fn(I::Views<'_>, TensorViewMut<'_, T>) -> Result<(), Failure> + Send + Sync + 'static,
    D: Send + Sync + 'static,
{
    let name = CString::new(name)
        .map_err(|_| Error::invalid(format!("the name {name:?} has a byte of 0")))?;
    let dtypes = I::dtypes();
    let operand_count = dtypes.len() as u32;
    let own = Own::<I, T, S, R, D> { dtypes, shape, run, run_on_device, _types: PhantomData };
    let raw = tnr_custom_operation {
        struct_size: size_of::<tnr_custom_operation>() as u64,
        name: name.as_ptr(),
        infer: Some(infer::<I, T, S, R, D>),
        compute: Some(compute::<I, T, S, R, D>),
        user_context: Box::into_raw(Box::new(own)).cast(),
        release: Some(release::<I, T, S, R, D>),
        operand_count,
        number_count: 0,
        // A safe closure may read before it writes.
        flags: TNR_CUSTOM_INITIALIZED,
        reserved: 0,
        compute_on_device,
        derive: None,
    };
    // SAFETY: the functions below meet the requirements of `from_raw`: closures are Send and Sync,
    // and the name ends with a 0.
    unsafe { CustomOperation::from_raw(&raw) }
}

/// # Safety
///
/// - The conditions of `tnr_infer_fn`, and `context` is an `Own` of these types.
unsafe extern "C" fn infer<I, T, S, R, D>(
    context: *mut c_void,
    operands: *const tnr_view,
    operand_count: u32,
    _numbers: *const i64,
    _number_count: u32,
    dtype: *mut tnr_dtype,
    rank: *mut u32,
    shape: *mut i64,
) -> tnr_status
where
    I: OperandTypes,
    T: Element,
    S: Fn(I::Shapes<'_>) -> Result<Vec<usize>, Failure>,
{
    answered(|| {
        // SAFETY: by this function's contract.
        let (own, operands) =
            unsafe { (&*context.cast::<Own<I, T, S, R, D>>(), listed(operands, operand_count)) };
        require(&own.dtypes, operands)?;
        // SAFETY: there are as many as was required.
        // Functions that the closure calls must not see the context of a run on a device.
        let extents = in_default(|| (own.shape)(unsafe { I::shapes(operands) }))?;
        // It is refused where it does not fit memory.
        let (result, _) =
            layout::shaped(T::DTYPE, &extents, crate::layout::order::Order::RowMajor)?;
        // SAFETY: by this function's contract there is room for any rank.
        unsafe {
            (*dtype, *rank) = (result.dtype, result.rank);
            shape.copy_from_nonoverlapping(result.shape.as_ptr(), extents.len());
        }
        Ok(())
    })
}

/// # Safety
///
/// - The conditions of `tnr_compute_fn`, and `context` is an `Own` of these types.
unsafe extern "C" fn compute<I, T, S, R, D>(
    context: *mut c_void,
    operands: *const tnr_view,
    operand_count: u32,
    _numbers: *const i64,
    _number_count: u32,
    out: *const tnr_view_mut,
) -> tnr_status
where
    I: OperandTypes,
    T: Element,
    R: Fn(I::Views<'_>, TensorViewMut<'_, T>) -> Result<(), Failure>,
{
    answered(|| {
        // SAFETY: by this function's contract.
        let (own, operands, out) = unsafe {
            (&*context.cast::<Own<I, T, S, R, D>>(), listed(operands, operand_count), (*out).view)
        };
        require(&own.dtypes, operands)?;
        require(&[T::DTYPE], std::slice::from_ref(&out))?;
        // SAFETY: the library has checked the views, which are lent for the call and have the
        // dtypes that were required; the result is none of the operands' memory, has no element
        // twice, and has been written, as the operation asks for.
        unsafe { (own.run)(I::views(operands), TensorViewMut::from_raw(out)) }
    })
}

/// # Safety
///
/// - The conditions of `tnr_device_compute_fn`, and `context` is an `Own` of these types.
unsafe extern "C" fn compute_on_device<I, T, S, R, D>(
    context: *mut c_void,
    home: *mut tnr_context,
    operands: *const tnr_view,
    operand_count: u32,
    _numbers: *const i64,
    _number_count: u32,
    out: *const tnr_view_mut,
) -> tnr_status
where
    I: OperandTypes,
    T: Element,
    D: Fn(&Stream, I::DeviceViews<'_>, cuda::TensorViewMut<'_, T>) -> Result<(), Failure>,
{
    answered(|| {
        // SAFETY: by this function's contract.
        let (own, operands, out) = unsafe {
            (&*context.cast::<Own<I, T, S, R, D>>(), listed(operands, operand_count), (*out).view)
        };
        require(&own.dtypes, operands)?;
        require(&[T::DTYPE], std::slice::from_ref(&out))?;
        let Some(stream) = running(home) else {
            return Err(Error::new(ErrorKind::Internal, "the run is of no stream").into());
        };
        // Calls for the host are none of the stream's.
        in_default(|| {
            // SAFETY: the library checked the views; they are lent for the call, have the required
            // dtypes, and owners that order all work on them. The result shares no byte with the
            // operands, has no element twice, and is initialised, as the operation asks for.
            unsafe {
                let out = cuda::TensorViewMut::from_raw(out);
                (own.run_on_device)(&stream, I::device_views(operands), out)
            }
        })
    })
}

/// # Safety
///
/// - `context` is an `Own` of these types, and this is the one call with it.
unsafe extern "C" fn release<I, T, S, R, D>(context: *mut c_void) {
    // SAFETY: by this function's contract.
    let own = unsafe { Box::from_raw(context.cast::<Own<I, T, S, R, D>>()) };
    // A panic of what the closures hold goes no further.
    let _ = caught(|| drop(own));
}

/// # Safety
///
/// - There are `count` views, which are not written for `'a`.
unsafe fn listed<'a>(views: *const tnr_view, count: u32) -> &'a [tnr_view] {
    if count == 0 {
        return &[];
    }
    // SAFETY: by this function's contract.
    unsafe { std::slice::from_raw_parts(views, count as usize) }
}

fn require(dtypes: &[DType], views: &[tnr_view]) -> Result<()> {
    let (wanted, given) = (dtypes.len(), views.len());
    if wanted != given {
        return Err(Error::invalid(format!("it takes {wanted} operands but is given {given}")));
    }
    let mut both = dtypes.iter().zip(views).enumerate();
    match both.find(|(_, (dtype, view))| dtype.raw() != view.dtype) {
        None => Ok(()),
        Some((nth, (dtype, view))) => {
            let given = DType::from_raw(view.dtype);
            Err(Error::invalid(format!("operand {nth} is {given} but it takes {dtype}")))
        }
    }
}

/// The status of a closure's answer, and its reason as this thread's last failure.
pub(super) fn answered(f: impl FnOnce() -> Result<(), Failure>) -> tnr_status {
    // A message is the user's code as well.
    let told = caught(|| match f() {
        Ok(()) => None,
        Err(failure) => {
            let error = failure.downcast_ref::<Error>();
            let message = error.map(|error| error.message().to_owned());
            Some((status_of(&failure), message.unwrap_or_else(|| failure.to_string())))
        }
    });
    let told =
        told.unwrap_or_else(|panic| Some((tnr_status::INTERNAL, format!("it panicked: {panic}"))));
    let Some((status, message)) = told else { return tnr_status::OK };
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    // SAFETY: the message ends with a 0, and is copied.
    unsafe { sys::tnr_set_last_error(status, message.as_ptr()) }
}
