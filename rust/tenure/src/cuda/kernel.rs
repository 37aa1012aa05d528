//! User-defined kernels: foreign code. The caller that creates a kernel guarantees that it is
//! sound.

use std::ffi::CString;
use std::fmt;
use std::ptr;

use tenure_sys::{TNR_MAX_KERNEL_PARAMETERS, tnr_kernel_argument, tnr_kernel_parameter};

use crate::cuda::launch::Given;
use crate::cuda::{Device, Grid, KernelArguments, Parameter, Stream};
use crate::error::{Error, Result};
use crate::raw::kernel::{Code, KernelHandle};

/// A user-defined kernel: code for a device, with declared parameters. [`Stream::launch`] runs it
/// on tensors and views, in the order in which operations run.
///
/// Creating a kernel is unsafe, because the library cannot check its code. Launching it is safe:
/// arguments are checked against the declaration, and borrowed for the call like those of an
/// operation.
///
/// ```
/// use tenure::ErrorKind;
/// use tenure::cuda::{Device, Grid, Kernel, Parameter};
///
/// const SOURCE: &str = r#"
/// struct Row { float *data; long long shape[1]; long long strides[1]; };
/// struct ConstRow { const float *data; long long shape[1]; long long strides[1]; };
///
/// extern "C" __global__ void add_scaled(float alpha, ConstRow x, Row y) {
///   const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
///   if (i < x.shape[0] && i < y.shape[0]) {
///     y.data[i * y.strides[0]] += alpha * x.data[i * x.strides[0]];
///   }
/// }"#;
///
/// let Ok(device) = Device::new(0) else { return Ok(()) };
/// let stream = device.stream()?;
/// let parameters =
///     [Parameter::scalar::<f32>(), Parameter::input::<f32>(1), Parameter::output::<f32>(1)];
/// // SAFETY: for any rows and any grid it reads elements of `x` and writes elements of `y`, each
/// // by one thread, and its parameters are those.
/// let kernel = unsafe { Kernel::compile(&stream, SOURCE, "add_scaled", &[], &parameters) };
/// let kernel = match kernel {
///     Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(println!("{error}")),
///     made => made?,
/// };
///
/// let x = stream.upload(&[1.0_f32, 2.0, 3.0])?;
/// let mut y = stream.upload(&[[10.0_f32, 20.0, 30.0], [0.0, 0.0, 0.0]])?;
/// let row = y.view_mut().index(0, 0)?;
/// stream.launch(&kernel, Grid::covering([3], [128]), (2.0_f32, x.view(), row))?;
/// assert_eq!(stream.to_vec(&y)?, [12.0, 24.0, 36.0, 0.0, 0.0, 0.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub struct Kernel {
    handle: KernelHandle,
    device: Device,
    name: CString,
}

impl Kernel {
    /// A kernel of a fat binary, a cubin, or PTX, which the driver compiles: for the stream's
    /// device, and launches on any stream of that. `name` is that of the linker, which is the one
    /// in the source for `extern "C"`.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: bytes that are no image or cut off; PTX that does not compile, with the
    /// compiler's words; a name that no kernel has; other parameters than the kernel's in number or
    /// size; more than 32. `Unsupported`: no code for the device. `OutOfMemory`. `DeviceError`.
    ///
    /// # Safety
    ///
    /// The promise is for every launch of the kernel that safe code can make. If it holds only for
    /// some arguments or grids, keep the kernel private and launch it by a function that ensures
    /// those.
    ///
    /// - The parameters are the kernel's, in type and meaning.
    /// - It reads the elements of its views, writes those of its outputs, and touches no other
    ///   memory; no two threads touch an element that one of them writes without an order.
    ///
    /// ```
    /// use tenure::ErrorKind;
    /// use tenure::cuda::{Device, Kernel};
    ///
    /// let Ok(device) = Device::new(0) else { return Ok(()) };
    /// let stream = device.stream()?;
    /// // SAFETY: it has no kernel.
    /// let kernel = unsafe { Kernel::load(&stream, b"no image", "crop", &[]) };
    /// assert_eq!(kernel.unwrap_err().kind(), ErrorKind::InvalidArgument);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("module", "cubin", "ptx", "fatbin"))]
    pub unsafe fn load(
        stream: &Stream,
        image: &[u8],
        name: &str,
        parameters: &[Parameter],
    ) -> Result<Kernel> {
        Self::create(stream, Code::Image(image), name, parameters)
    }

    /// A kernel of CUDA C++, compiled by CUDA's NVRTC for the stream's device. `name` is any
    /// expression that names it, `scale<float>` too.
    ///
    /// `options` are NVRTC's. Unless one of them says how products and sums are contracted
    /// (`--fmad`, `--use_fast_math`) they are not, so that arithmetic has the bits of the CPU. Each
    /// combination of source, name and options is compiled once.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a source that does not compile, with the compiler's words; a 0 within the
    /// source, the name or an option; and the cases of [`load`](Self::load). `Unsupported`: NVRTC
    /// cannot be opened: the library that `TENURE_NVRTC` names, or else `libnvrtc.so.13` or `.12`.
    /// `OutOfMemory`. `DeviceError`.
    ///
    /// # Safety
    ///
    /// The conditions of [`load`](Self::load).
    #[doc(alias("nvrtc", "RawKernel"))]
    pub unsafe fn compile(
        stream: &Stream,
        source: &str,
        name: &str,
        options: &[&str],
        parameters: &[Parameter],
    ) -> Result<Kernel> {
        let text = terminated("the source", source)?;
        let options = options.iter().map(|option| terminated("an option", option));
        let options = options.collect::<Result<Vec<_>>>()?;
        let pointers: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        Self::create(stream, Code::Source { text: &text, options: &pointers }, name, parameters)
    }

    /// The pointers of a source are to strings that outlive the call.
    fn create(
        stream: &Stream,
        code: Code<'_>,
        name: &str,
        parameters: &[Parameter],
    ) -> Result<Kernel> {
        let name = terminated("the name", name)?;
        let parameters: Vec<tnr_kernel_parameter> = parameters.iter().map(Parameter::raw).collect();
        // SAFETY: the pointers are `compile`'s, to its own strings.
        let handle = unsafe { KernelHandle::create(stream.handle(), &name, code, &parameters) }?;
        Ok(Kernel { handle, device: stream.device(), name })
    }

    /// The device that it was loaded onto.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The name that [`load`](Self::load) or [`compile`](Self::compile) was called with.
    pub fn name(&self) -> &str {
        // It was made of a `str`.
        self.name.to_str().unwrap_or_default()
    }
}

/// User-defined kernels.
impl Stream {
    /// Enqueues a kernel with these arguments: `&tensor` or a
    /// [`TensorView`](crate::cuda::TensorView) for an input, `&mut tensor` or a
    /// [`TensorViewMut`](crate::cuda::TensorViewMut) for an output, a number for a scalar. Like an
    /// operation, the launch runs after all earlier work on their memory and before all later work
    /// on it.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another number of arguments than the kernel has parameters, or one of
    /// another kind, element type or rank; a view that is not row-major without gaps for a
    /// [`pointer`](Parameter::pointer); more blocks, threads or shared memory than the kernel can
    /// have, or none; a kernel of another device. `Unsupported`: a tensor of another device.
    /// `DeviceError`, which names the kernel.
    ///
    /// ```
    /// # use tenure::{Result, cuda::{Grid, Kernel, Stream, Tensor}};
    /// /// Rows of `x` where a mask says so.
    /// fn masked(stream: &Stream, kernel: &Kernel, x: &Tensor<f32>, mask: &Tensor<u8>)
    /// -> Result<Tensor<f32>> {
    ///     let mut out = stream.zeros(x.shape())?;
    ///     let grid = Grid::covering([x.shape()[1], x.shape()[0]], [32, 8]);
    ///     stream.launch(kernel, grid, (x, mask, &mut out))?;
    ///     Ok(out)
    /// }
    /// ```
    pub fn launch<'a>(
        &self,
        kernel: &Kernel,
        grid: Grid,
        arguments: impl KernelArguments<'a>,
    ) -> Result<()> {
        let listed = arguments.listed();
        let given = listed.as_ref();
        const NONE: tnr_kernel_argument =
            tnr_kernel_argument { input: ptr::null(), output: ptr::null(), scalar: ptr::null() };
        // One more than any kernel takes, so that the library sees that there are too many.
        let mut raw = [NONE; TNR_MAX_KERNEL_PARAMETERS + 1];
        for (raw, argument) in raw.iter_mut().zip(given) {
            match &argument.given {
                Given::Input(view) => raw.input = view,
                Given::Output(view) => raw.output = view,
                Given::Scalar(number) => raw.scalar = number,
            }
        }
        let raw = &raw[..given.len().min(raw.len())];
        // SAFETY:
        // - each pointer is NULL or points to a value in `given`, which is borrowed until the call
        //   returns.
        // - the views are checked, and alive until the work is done: the library keeps their blobs,
        //   and orders the work after earlier and before later work on them.
        // - the kernel accesses only elements of its views: its creator has promised that.
        unsafe { kernel.handle.launch(self.handle(), &grid.raw(), raw) }
    }
}

fn terminated(what: &str, text: &str) -> Result<CString> {
    CString::new(text)
        .map_err(|error| Error::invalid(format!("{what} has a 0 at byte {}", error.nul_position())))
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &self.name())
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}
