//! Kernels of users: from PTX and from a source, on tensors and views, and the refusals.

use tenure::cuda::{Device, Grid, Kernel, KernelArgument, Parameter, Stream};
use tenure::{Bool8, Error, ErrorKind, Result};

use crate::{alone, has_fake_driver, stream};

/// `tests/cuda/user_kernels.cu`, which the driver without a device compiles for the host.
const PTX: &str = include_str!("../../../../tests/cuda/user_kernels.ptx");
const SOURCE: &str = include_str!("../../../../tests/cuda/user_kernels.cu");

fn axpy_parameters() -> [Parameter; 4] {
    [
        Parameter::scalar::<f32>(),
        Parameter::input::<f32>(0..=8).pointer(),
        Parameter::output::<f32>(0..=8).pointer(),
        Parameter::scalar::<i64>(),
    ]
}

/// `y = alpha x + y` for a given count of elements, which the callers keep within the tensors.
fn axpy(stream: &Stream) -> Kernel {
    // SAFETY: the parameters are those of the kernel, and this module passes counts of existing
    // elements.
    unsafe { Kernel::load(stream, PTX.as_bytes(), "axpy", &axpy_parameters()) }.unwrap()
}

fn refused(result: Result<()>) -> Error {
    result.unwrap_err()
}

#[test]
fn a_kernel_runs_on_tensors() {
    let stream = stream!();
    let kernel = axpy(&stream);
    assert_eq!(kernel.name(), "axpy");
    assert_eq!(kernel.device(), stream.device());
    assert!(format!("{kernel:?}").contains("axpy"));
    let x = stream.upload(&[1.0_f32, 2.0, 3.0]).unwrap();
    let mut y = stream.upload(&[10.0_f32, 20.0, 30.0]).unwrap();
    let grid = Grid::new([2, 1, 1], [64, 1, 1]);
    let before = tenure::stats();
    stream.launch(&kernel, grid, (2.0_f32, &x, &mut y, 3_i64)).unwrap();
    // Views, and a view that is used again.
    stream.launch(&kernel, grid, (1.0_f32, x.view(), y.view_mut(), 3_i64)).unwrap();
    let mut view = y.view_mut();
    stream.launch(&kernel, grid, (1.0_f32, &x, &mut view, 3_i64)).unwrap();
    stream.launch(&kernel, grid, (1.0_f32, &x, view, 3_i64)).unwrap();
    assert_eq!(stream.to_vec(&y).unwrap(), [15.0, 30.0, 45.0]);
    assert!(tenure::stats().device_launches >= before.device_launches + 4);
    // As a list.
    let listed: [KernelArgument; 4] = [1.0_f32.into(), (&x).into(), (&mut y).into(), 3_i64.into()];
    stream.launch(&kernel, grid, listed).unwrap();
    let listed: Vec<KernelArgument> =
        vec![1.0_f32.into(), (&x).into(), (&mut y).into(), 3_i64.into()];
    stream.launch(&kernel, grid, listed).unwrap();
    assert_eq!(stream.to_vec(&y).unwrap(), [17.0, 34.0, 51.0]);
}

#[test]
fn views_of_any_strides_are_cropped() {
    let stream = stream!();
    let parameters = [
        Parameter::input::<u8>(3),
        Parameter::input::<Bool8>(2),
        Parameter::scalar::<i64>(),
        Parameter::scalar::<i64>(),
        Parameter::output::<u8>(3),
    ];
    // SAFETY: it reads within the extents, and writes each element of the crop by one thread.
    let kernel = unsafe { Kernel::load(&stream, PTX.as_bytes(), "masked_crop", &parameters) };
    let kernel = kernel.unwrap();
    let frame: Vec<u8> = (0..60).collect();
    let frame = stream.upload(&frame).unwrap();
    let frame = frame.view().reshape([4, 5, 3]).unwrap();
    let mask = stream.full([4, 5], Bool8::from(true)).unwrap();
    let mut crop = stream.full([2, 2, 3], 99_u8).unwrap();
    stream
        .launch(
            &kernel,
            Grid::covering([2, 2], [8, 4]),
            (frame.flip(0).unwrap(), &mask, 1_i64, 4_i64, &mut crop),
        )
        .unwrap();
    // Row 1 of the flipped frame is row 2, and column 5 is none.
    assert_eq!(stream.to_vec(&crop).unwrap(), [42, 43, 44, 0, 0, 0, 27, 28, 29, 0, 0, 0]);
}

#[test]
fn work_comes_in_order_on_every_stream() {
    let one = stream!();
    let two = one.device().stream().unwrap();
    let kernel = axpy(&one);
    let grid = Grid::covering([100], [32]);
    let mut y = one.zeros::<f32>([100]).unwrap();
    for round in 0..10 {
        let x = one.full([100], 1.0_f32).unwrap();
        let by = if round % 2 == 0 { &two } else { &one };
        by.launch(&kernel, grid, (1.0_f32, &x, &mut y, 100_i64)).unwrap();
        drop(x); // after the launch on the device
        one.mul_assign(&mut y, 2.0).unwrap();
    }
    drop(kernel);
    assert_eq!(two.to_vec(&y).unwrap(), [2046.0; 100]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let stream = stream!();
    let kernel = axpy(&stream);
    let grid = Grid::new([1, 1, 1], [32, 1, 1]);
    let x = stream.upload(&[[1.0_f32, 2.0], [3.0, 4.0]]).unwrap();
    let mut y = stream.zeros::<f32>([2, 2]).unwrap();
    let expect = |result: Result<()>, words: &str| {
        let error = refused(result);
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    };
    expect(stream.launch(&kernel, grid, ()), "argument_count is 0");
    expect(stream.launch(&kernel, grid, (2.0, &x, &mut y, 4_i64)), "takes f32");
    expect(stream.launch(&kernel, grid, (2.0_f32, &x, &y, 4_i64)), "takes an output");
    expect(stream.launch(&kernel, grid, (2.0_f32, x.t(), &mut y, 4_i64)), "row-major");
    let many: Vec<KernelArgument> = (0..40).map(KernelArgument::from).collect();
    expect(stream.launch(&kernel, grid, many), "argument_count is 33");
    expect(
        stream.launch(&kernel, Grid::new([0, 1, 1], [1; 3]), (2.0_f32, &x, &mut y, 4_i64)),
        "grid->blocks[0] is 0",
    );
    expect(
        stream.launch(&kernel, grid.shared_bytes(1 << 30), (2.0_f32, &x, &mut y, 4_i64)),
        "shared_bytes is 1073741824",
    );
    assert_eq!(stream.to_vec(&y).unwrap(), [0.0; 4]);

    let expect = |kernel: Result<Kernel>, words: &str| {
        let error = kernel.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    };
    // SAFETY: none of them is made.
    unsafe {
        expect(Kernel::load(&stream, PTX.as_bytes(), "nope", &[]), "name is nope");
        expect(Kernel::load(&stream, PTX.as_bytes(), "a\0b", &[]), "the name has a 0 at byte 1");
        expect(Kernel::load(&stream, PTX.as_bytes(), "axpy", &[]), "axpy has more");
        expect(Kernel::load(&stream, &[], "axpy", &[]), "nor PTX");
        let ranks = [Parameter::input::<f32>(9)];
        expect(Kernel::load(&stream, PTX.as_bytes(), "axpy", &ranks), "ranks 9 to 9");
        expect(Kernel::compile(&stream, "\0", "axpy", &[], &[]), "the source has a 0 at byte 0");
        expect(Kernel::compile(&stream, "", "axpy", &["-\0"], &[]), "an option has a 0 at byte 1");
    }
}

#[test]
fn a_kernel_is_of_its_device() {
    let first = stream!();
    let test = "kernels::a_kernel_is_of_its_device";
    if !has_fake_driver() || !alone(test, "TENURE_FAKE_CUDA_DEVICES", "2") {
        return;
    }
    let second = Device::new(1).unwrap().stream().unwrap();
    let kernel = axpy(&first);
    let x = second.zeros::<f32>([4]).unwrap();
    let mut y = second.zeros::<f32>([4]).unwrap();
    let grid = Grid::covering([4], [32]);
    let error = refused(second.launch(&kernel, grid, (1.0_f32, &x, &mut y, 4_i64)));
    assert!(error.to_string().contains("axpy is on cuda:0"), "{error}");
    let error = refused(first.launch(&kernel, grid, (1.0_f32, &x, &mut y, 4_i64)));
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
}

#[test]
fn a_source_is_compiled() {
    let stream = stream!();
    let driver = std::env::var("TENURE_CUDA_DRIVER").unwrap_or_default();
    // The driver that has no device comes with a compiler that compiles nothing.
    if has_fake_driver() && !alone("kernels::a_source_is_compiled", "TENURE_NVRTC", &driver) {
        return;
    }
    let make = |source: &str, name: &str, options: &[&str]| {
        // SAFETY: as of the kernels in this module that were loaded.
        unsafe { Kernel::compile(&stream, source, name, options, &axpy_parameters()) }
    };
    let kernel = match make(SOURCE, "axpy", &[]) {
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            return println!("skipped: {error}");
        }
        made => made.unwrap(),
    };
    let x = stream.upload(&[1.0_f32, 2.0, 3.0]).unwrap();
    let mut y = stream.upload(&[10.0_f32, 20.0, 30.0]).unwrap();
    let grid = Grid::covering([3], [32]);
    stream.launch(&kernel, grid, (2.0_f32, &x, &mut y, 3_i64)).unwrap();
    assert_eq!(stream.to_vec(&y).unwrap(), [12.0, 24.0, 36.0]);
    make(SOURCE, "axpy", &["--fmad=true", "--std=c++20"]).unwrap();

    let error = make("extern \"C\" __global__ void axpy() {", "axpy", &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("kernel axpy does not compile: "), "{error}");
    let error = make(SOURCE, "nope", &[]).unwrap_err();
    assert!(error.to_string().contains("\"nope\" is undefined"), "{error}");
}

#[test]
fn grids_cover_extents() {
    assert_eq!(Grid::covering([0], [128]), Grid::new([1, 1, 1], [128, 1, 1]));
    assert_eq!(Grid::covering([128], [128]), Grid::new([1, 1, 1], [128, 1, 1]));
    assert_eq!(Grid::covering([129, 1, 9], [128, 1, 4]), Grid::new([2, 1, 3], [128, 1, 4]));
    assert_eq!(Grid::covering([], []), Grid::new([1; 3], [1; 3]));
    // A grid that no device takes is passed on, for the library to refuse.
    assert_eq!(Grid::covering([usize::MAX], [1]), Grid::new([u32::MAX, 1, 1], [1; 3]));
    assert_eq!(Grid::covering([5], [0]), Grid::new([5, 1, 1], [0, 1, 1]));
}
