//! Machines with two devices, with none, and with one that fails: separate processes that configure
//! the driver by the environment.

use tenure::ErrorKind;
use tenure::cuda::Device;

use crate::{alone, has_fake_driver, stream};

#[test]
fn memory_of_another_device_is_no_operand() {
    let _ = stream!();
    if Device::count().unwrap() < 2 && !has_fake_driver() {
        return println!("skipped: there is one device");
    }
    if !alone("devices::memory_of_another_device_is_no_operand", "TENURE_FAKE_CUDA_DEVICES", "2") {
        return;
    }
    let [one, two] = [0, 1].map(|index| Device::new(index).unwrap().stream().unwrap());
    assert_ne!(one.device(), two.device());
    let (a, b) = (one.full(4, 1.0).unwrap(), two.full(4, 2.0).unwrap());
    for refused in [two.exp(&a), two.add(&a, &b), one.add(&a, &b)] {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(
            error.message().contains("cuda:0") && error.message().contains("cuda:1"),
            "{error}"
        );
    }
    assert!(two.to_vec(&a).is_err());
    assert_eq!(one.to_vec(&a).unwrap(), [1.0; 4]);
    one.follow(&two).unwrap();
    // Between two devices by the host, which says that it copies.
    let b = one.upload(two.download(&b).unwrap()).unwrap();
    assert_eq!(one.to_vec(one.add(&a, &b).unwrap()).unwrap(), [3.0; 4]);
}

#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn a_machine_without_a_driver_says_so() {
    let name = "devices::a_machine_without_a_driver_says_so";
    if alone(name, "TENURE_CUDA_DRIVER", "/nowhere/libcuda.so.1") {
        let error = Device::new(0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains("/nowhere/libcuda.so.1"), "{error}");
        assert_eq!(Device::count().unwrap(), 0);
    }
}

#[test]
fn a_library_without_kernels_says_how_to_get_them() {
    let name = "devices::a_library_without_kernels_says_how_to_get_them";
    // Like the driver of a GPU, which has no kernels of its own.
    if !has_fake_driver() || !alone(name, "TENURE_FAKE_CUDA_LACKS", "tenureOwnKernels") {
        return;
    }
    // A library that embeds kernels needs none of the driver.
    if let Err(error) = Device::new(0).unwrap().stream() {
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        for words in ["cuda:0", "built without kernels", "./x kernels", "TENURE_CUDA_FAT_BINARY"] {
            assert!(error.message().contains(words), "{error}");
        }
    }
}

#[test]
fn a_launch_that_fails_names_the_kernel() {
    let stream = stream!();
    if !has_fake_driver()
        || !alone(
            "devices::a_launch_that_fails_names_the_kernel",
            "TENURE_FAKE_CUDA_FAIL",
            "cuLaunchKernel",
        )
    {
        return;
    }
    let tensor = stream.upload(&[1.0, 2.0]).unwrap();
    let error = stream.exp(&tensor).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DeviceError);
    assert!(error.message().starts_with("tenure_"), "{error}");
    assert_eq!(stream.to_vec(&tensor).unwrap(), [1.0, 2.0]);
}

#[test]
fn a_device_that_fails_tells_whoever_waits() {
    let stream = stream!();
    if !has_fake_driver()
        || !alone(
            "devices::a_device_that_fails_tells_whoever_waits",
            "TENURE_FAKE_CUDA_FAIL",
            "cuStreamSynchronize:1:700",
        )
    {
        return;
    }
    let _tensor = stream.full([3], 1.0).unwrap();
    let error = stream.wait().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DeviceError);
    assert!(error.message().contains("cuStreamSynchronize"), "{error}");
}
