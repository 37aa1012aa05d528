//! Streams with their own engine: cuBLASLt and cuDNN, compared with the library's own kernels.

use tenure::cuda::Device;
use tenure::*;

use crate::{alone, has_fake_driver, stream};

#[test]
fn products_and_convolutions_may_be_the_vendors() {
    let _ = stream!();
    let name = "engines::products_and_convolutions_may_be_the_vendors";
    // The fake driver's library is also that of the emulations.
    if has_fake_driver() {
        let driver = std::env::var("TENURE_CUDA_DRIVER").unwrap();
        if !alone(name, "TENURE_CUBLASLT", &driver) {
            return;
        }
    }
    let device = Device::new(0).unwrap();
    let by = [Engine::Own, Engine::Vendor].map(|engine| device.stream_with_engine(engine).unwrap());
    let [own, vendor] = by.map(|stream| -> Result<Vec<f32>> {
        let a = stream.upload(&[[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]])?;
        stream.to_vec(&stream.matmul(&a, a.t())?)
    });
    assert_eq!(own.unwrap(), [14.0, 32.0, 32.0, 77.0]);
    match vendor {
        Ok(product) => assert_eq!(product, [14.0, 32.0, 32.0, 77.0]),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            assert!(!has_fake_driver() && error.message().contains("cuBLASLt"), "{error}");
        }
    }
}

#[test]
fn a_library_that_is_not_there_is_named() {
    let _ = stream!();
    let name = "engines::a_library_that_is_not_there_is_named";
    if !alone(name, "TENURE_CUDNN", "/nonexistent.so") {
        return;
    }
    let device = Device::new(0).unwrap();
    let stream = device.stream_with_engine(Engine::Vendor).unwrap();
    let image = stream.full([1, 1, 3, 3], 1.0_f32).unwrap();
    let filter = stream.full([1, 1, 1, 1], 2.0_f32).unwrap();
    let error = stream.conv2d(&image, &filter, cuda::Conv2d::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    for words in ["need cuDNN", "/nonexistent.so"] {
        assert!(error.message().contains(words), "{error}");
    }
    // All else goes on.
    assert_eq!(stream.sum_all(&image).unwrap(), 9.0);
}
