//! Expressions that NVRTC compiles if the environment enables it, compared with the host's, in
//! separate processes. On the driver of `tests/cuda` the kernels are those of its
//! `compiled_expressions.inc`, which must be the library's texts; a refusal has the text that it
//! has not.

use std::fmt::Debug;

use tenure::cuda::{Device, Stream};
use tenure::{Element, ErrorKind, Result, Tensor, bf16, f16};

use crate::{alone, alone_with, has_fake_driver, stream};

/// A new stream of a process that compiles.
fn stream_of_child() -> Stream {
    Device::new(0).and_then(Device::stream).unwrap()
}

/// Whether this is a process that compiles: `test` goes on in one.
fn compiles(test: &str) -> bool {
    // A machine with a device need not have the compiler.
    let has_compiler = has_fake_driver() || std::env::var_os("TENURE_NVRTC").is_some();
    has_compiler && alone(test, "TENURE_CUDA_COMPILE", "1")
}

/// All bits but those of NaN: each other number has a text of its own.
fn text<T: Element + Debug>(elements: &[T]) -> String {
    format!("{elements:?}")
}

fn floats(count: usize) -> Vec<f32> {
    let special = [0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE];
    let plain = (0..count).map(|i| ((i * 37) % 101) as f32 / 8.0 - 6.0);
    special
        .into_iter()
        .cycle()
        .zip(plain)
        .enumerate()
        .map(|(i, (special, plain))| if i % 11 == 3 { special } else { plain })
        .collect()
}

fn pair<T: Element>(shape: [usize; 2], make: impl Fn(f32) -> T) -> [Tensor<T>; 2] {
    let numbers = floats(2 * shape[0] * shape[1]);
    let (a, b) = numbers.split_at(shape[0] * shape[1]);
    [a, b].map(|part| {
        Tensor::from_vec(part.iter().map(|&number| make(number)).collect(), shape).unwrap()
    })
}

/// Evaluates one expression on the host and on the device, on views of any layout.
macro_rules! same {
    ($stream:expr, $($name:ident),+ => $expression:expr) => {{
        let stream = &$stream;
        let expected = {
            $(let $name = &$name.view();)+
            ($expression).eval().unwrap().to_vec()
        };
        let (found, turned) = {
            $(let $name = stream.upload(&$name).unwrap();)+
            let found = {
                $(let $name = &$name.view();)+
                stream.eval(&$expression).unwrap()
            };
            // Views of non-adjacent elements, into an output of non-adjacent elements.
            let mut turned = stream.zeros([found.shape()[1], found.shape()[0]]).unwrap();
            $(let $name = &$name.t();)+
            stream.eval_into(&$expression, &mut turned).unwrap();
            (stream.to_vec(&found).unwrap(), stream.to_vec(turned.t()).unwrap())
        };
        assert_eq!(text(&found), text(&expected), "{}", stringify!($expression));
        assert_eq!(text(&turned), text(&expected), "{} of strides", stringify!($expression));
    }};
}

#[test]
fn bits_are_those_of_the_host() {
    let _ = stream!();
    if !compiles("compiled::bits_are_those_of_the_host") {
        return;
    }
    let stream = stream_of_child();
    for shape in [[1, 1], [5, 64], [33, 7], [3, 1026]] {
        let [a, b] = pair(shape, |number| number);
        same!(stream, a, b => (a + 1.5) * b);
        same!(stream, a, b => a.expr().lt(0.25).select((a - b).abs().sqrt(), a.expr().maximum(b)));
        same!(stream, a, b => (a * b + 1.0) * (a * b - 2.0) / (a + 0.5));
        let [a, b] = pair(shape, f64::from);
        same!(stream, a, b => (a - b) / (a.expr().abs() + 2.0));
        let [a, b] = pair(shape, f16::from_f32);
        same!(stream, a, b => a * b + a);
        let [a, b] = pair(shape, bf16::from_f32);
        same!(stream, a, b => a * b + a);
        let [a, b] = pair(shape, |number| (100.0 * number) as i8);
        same!(stream, a, b => a * b - a);
        let [a, b] = pair(shape, |number| (1e6 * number) as i64);
        same!(stream, a, b => a.expr().minimum(b) * 3 - b);
        let [a, b] = pair(shape, |number| (1e3 * number) as i32);
        same!(stream, a, b => (a + b).cast::<f64>() * 0.25);
        same!(stream, a, b => (a * b).cast::<f32>().cast::<u8>());
    }
}

#[test]
fn functions_are_those_of_the_calls() {
    let _ = stream!();
    if !compiles("compiled::functions_are_those_of_the_calls") {
        return;
    }
    let stream = stream_of_child();
    let [a, b] = pair([33, 7], |number| number);
    let (a, b) = (stream.upload(&a).unwrap(), stream.upload(&b).unwrap());
    let run = || -> Result<()> {
        let calls = stream.tanh(&stream.add(&stream.exp(&a)?, &b)?)?;
        let one = stream.eval(&(a.expr().exp() + &b).tanh())?;
        assert_eq!(text(&stream.to_vec(&one)?), text(&stream.to_vec(&calls)?));
        Ok(())
    };
    run().unwrap();
}

#[test]
fn divisors_of_zero_are_found() {
    let _ = stream!();
    if !compiles("compiled::divisors_of_zero_are_found") {
        return;
    }
    let stream = stream_of_child();
    let a = Tensor::from_vec(vec![7, -8, i32::MIN, 5, 6], [1, 5]).unwrap();
    let b = Tensor::from_vec(vec![2, 3, -1, 5, -4], [1, 5]).unwrap();
    same!(stream, a, b => a / b + a);
    let b = stream.upload(&[[2, 3, 0, 5, -4]]).unwrap();
    let a = stream.upload(&a).unwrap();
    let error = stream.eval(&(&a / &b + &a)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
}

#[test]
fn a_captured_program_has_compiled_kernels() {
    const NAME: &str = "compiled::a_captured_program_has_compiled_kernels";
    let path = std::env::temp_dir().join(format!("tenure_compiled_{}.log", std::process::id()));
    let log = ("TENURE_FAKE_CUDA_LOG", path.to_str().unwrap());
    let _ = stream!();
    if !has_fake_compiler() || !alone_with(NAME, &[("TENURE_CUDA_COMPILE", "1"), log]) {
        return;
    }
    let stream = stream_of_child();
    let program = tenure::Program::trace(|graph| {
        let (a, b) = (graph.input::<f32>([5, 64]), graph.input::<f32>([5, 64]));
        graph.program((a, b), (a + 1.5) * b)
    })
    .unwrap();
    let [a, b] = pair([5, 64], |number| number);
    let expected = ((&a + 1.5) * &b).eval().unwrap().to_vec();
    let inputs = (stream.upload(&a).unwrap(), stream.upload(&b).unwrap());
    let out = stream.zeros([5, 64]).unwrap();
    let mut captured = stream.capture(&program, inputs, out).unwrap();
    captured.run().unwrap();
    assert_eq!(text(&stream.to_vec(captured.outputs()).unwrap()), text(&expected));
    assert_eq!(compiled_count(), 1);
    let path = std::env::var("TENURE_FAKE_CUDA_LOG").unwrap();
    let ran = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    assert_eq!(ran.matches("kernel tenure_expression_").count(), 1, "{ran}");
    assert!(!ran.contains("kernel tenure_expression\n"), "{ran}");
}

/// Whether NVRTC is the one of `tests/cuda`, which compiles nothing but can fail on request.
fn has_fake_compiler() -> bool {
    has_fake_driver() && std::env::var("TENURE_NVRTC").is_ok_and(|name| name.contains("fake"))
}

/// Expressions that it has compiled.
fn compiled_count() -> usize {
    std::env::var("TENURE_FAKE_NVRTC_COUNT").map_or(0, |count| count.parse().unwrap())
}

#[test]
fn what_does_not_compile_is_refused() {
    let _ = stream!();
    if !has_fake_compiler() || !compiles("compiled::what_does_not_compile_is_refused") {
        return;
    }
    let stream = stream_of_child();
    let a = stream.full([3], 1.0_f32).unwrap();
    let mut out = stream.full([3], 7.0_f32).unwrap();
    // The compiler has no such text: nothing is computed, and other expressions still run.
    let error = stream.eval_into(&((&a + 1.0) * 2.0 - 3.0 + 4.0), &mut out).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().contains("kernel tenure_expression_"), "{error}");
    assert_eq!(stream.to_vec(&out).unwrap(), [7.0; 3]);
    let b = stream.full([3], 1.0_f32).unwrap();
    stream.eval_into(&((&a + 1.5) * &b), &mut out).unwrap();
    assert_eq!(stream.to_vec(&out).unwrap(), [2.5; 3]);
}

#[test]
fn a_compiler_that_fails_is_told() {
    const NAME: &str = "compiled::a_compiler_that_fails_is_told";
    let _ = stream!();
    if !has_fake_compiler() {
        return;
    }
    let failures = [
        ("TENURE_FAKE_NVRTC_FAIL", "nvrtcCreateProgram", ErrorKind::Internal),
        ("TENURE_FAKE_NVRTC_FAIL", "nvrtcCreateProgram:1", ErrorKind::OutOfMemory),
        ("TENURE_FAKE_NVRTC_FAIL", "nvrtcAddNameExpression", ErrorKind::Internal),
        ("TENURE_FAKE_NVRTC_FAIL", "nvrtcCompileProgram", ErrorKind::Internal),
        ("TENURE_FAKE_NVRTC_FAIL", "nvrtcGetLoweredName", ErrorKind::Internal),
        ("TENURE_FAKE_NVRTC_FAIL", "nvrtcGetCUBINSize", ErrorKind::Internal),
        ("TENURE_FAKE_NVRTC_FAIL", "nvrtcGetCUBIN", ErrorKind::Internal),
        ("TENURE_FAKE_CUDA_FAIL", "cuModuleLoadDataEx", ErrorKind::DeviceError),
        ("TENURE_FAKE_CUDA_FAIL", "cuModuleGetFunction", ErrorKind::DeviceError),
        ("TENURE_NVRTC", "/nowhere/libnvrtc.so", ErrorKind::Unsupported),
    ];
    for (variable, value, _) in failures {
        if !alone_with(NAME, &[("TENURE_CUDA_COMPILE", "1"), (variable, value)]) {
            continue;
        }
        let is_set = |name: &str, value: &str| std::env::var(name).is_ok_and(|set| set == value);
        let (_, value, kind) =
            failures.into_iter().find(|(name, value, _)| is_set(name, value)).unwrap();
        let stream = stream_of_child();
        let [a, b, mut out] = [1.0_f32, 1.0, 7.0].map(|value| stream.full([3], value).unwrap());
        let error = stream.eval_into(&((&a + 1.5) * &b), &mut out).unwrap_err();
        assert_eq!(error.kind(), kind, "{value}: {error}");
        assert_eq!(stream.to_vec(&out).unwrap(), [7.0; 3]);
        return;
    }
}

#[test]
fn one_launch_fails_as_others_do() {
    const NAME: &str = "compiled::one_launch_fails_as_others_do";
    let variables = [("TENURE_CUDA_COMPILE", "1"), ("TENURE_FAKE_CUDA_FAIL", "cuLaunchKernel:3")];
    let _ = stream!();
    if !has_fake_compiler() || !alone_with(NAME, &variables) {
        return;
    }
    let stream = stream_of_child();
    let [a, b] = [1.0_f32, 1.0].map(|value| stream.full([3], value).unwrap());
    let error = stream.eval(&((&a + 1.5) * &b)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DeviceError);
    assert!(error.message().contains("a compiled expression"), "{error}");
    assert_eq!(stream.to_vec(&stream.eval(&((&a + 1.5) * &b)).unwrap()).unwrap(), [2.5; 3]);
}

#[test]
fn an_expression_is_compiled_once_for_each_device() {
    const NAME: &str = "compiled::an_expression_is_compiled_once_for_each_device";
    let variables = [("TENURE_CUDA_COMPILE", "1"), ("TENURE_FAKE_CUDA_DEVICES", "2")];
    let _ = stream!();
    if !has_fake_compiler() || !alone_with(NAME, &variables) {
        return;
    }
    for (index, expected) in [(0, 1), (1, 2), (0, 2)] {
        let stream = Device::new(index).unwrap().stream().unwrap();
        for shape in [[1, 1], [3, 8], [7, 5]] {
            // Whatever the shape, the strides and the numbers.
            let a = stream.full(shape, 2.0_f32).unwrap();
            let found = stream.eval(&((a.t() + shape[0] as f32) * a.t())).unwrap();
            let number = 2.0 * (2.0 + shape[0] as f32);
            assert!(stream.to_vec(&found).unwrap().iter().all(|&element| element == number));
        }
        assert_eq!(compiled_count(), expected);
    }
}

#[test]
fn beyond_the_bound_expressions_are_interpreted() {
    const NAME: &str = "compiled::beyond_the_bound_expressions_are_interpreted";
    // The host does not have these texts: the interpreter's kernel replaces theirs.
    let variables = [("TENURE_CUDA_COMPILE", "1"), ("TENURE_FAKE_NVRTC_RECORD", "/dev/null")];
    let _ = stream!();
    if !has_fake_compiler() || !alone_with(NAME, &variables) {
        return;
    }
    let stream = stream_of_child();
    let a = stream.full([3], 1_i32).unwrap();
    for _ in 0..2 {
        for number in 0..300_u32 {
            let (mut one, mut expected) = (a.expr() * 1, 1_i32);
            for bit in 0..9 {
                if number >> bit & 1 == 1 {
                    (one, expected) = (one * 3, expected * 3);
                } else {
                    (one, expected) = (one - 5, expected - 5);
                }
            }
            assert_eq!(stream.to_vec(&stream.eval(&one).unwrap()).unwrap(), [expected; 3]);
        }
        assert_eq!(compiled_count(), 256);
    }
}
