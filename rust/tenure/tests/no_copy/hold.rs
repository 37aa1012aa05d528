//! Holding memory of another allocator, and giving it back: a header at most.

use std::io::Write;
use std::sync::Arc;

use tenure::{SharedTensor, Tensor, Tenure};

use crate::probe::Probe;

pub fn claims(probe: &Probe) {
    adopt(probe);
    share(probe);
    map_file(probe);
}

fn adopt(probe: &Probe) {
    let shape = [probe.side, probe.side];
    let data = probe.data();
    let (address, capacity) = (data.as_ptr(), data.capacity());
    let tensor =
        probe.copies_nothing("Tensor::from_vec", || Tensor::from_vec(data, shape).unwrap());
    assert_eq!(tensor.tenure(), Tenure::Adopted);
    let data = probe.copies_nothing("Tensor::into_vec", || tensor.into_vec().unwrap());
    assert_eq!((data.as_ptr(), data.capacity()), (address, capacity));

    let tensor = Tensor::from_vec(data, shape).unwrap();
    let shared = probe.copies_nothing("Tensor::into_shared", || tensor.into_shared());
    assert_eq!(shared.view().as_ptr(), address);
    let clone = probe.copies_nothing("SharedTensor::clone", || shared.clone());
    drop(clone);
    let data = probe.copies_nothing("SharedTensor::into_vec", || shared.into_vec().unwrap());
    assert_eq!(data.as_ptr(), address);

    let refused = probe.copies_nothing("a refused from_vec", || {
        Tensor::from_vec(data, [3, 5]).unwrap_err().into_data()
    });
    assert_eq!(refused.as_ptr(), address);

    let owner = refused.into_boxed_slice();
    let mut tensor = probe.copies_nothing("Tensor::from_owner_mut", || {
        Tensor::<f32>::from_owner_mut(owner, shape).unwrap()
    });
    assert_eq!(tensor.view_mut().as_mut_slice().unwrap().as_ptr(), address);
    probe.copies_nothing("dropping it", || drop(tensor));
}

fn share(probe: &Probe) {
    let shape = [probe.side, probe.side];
    let data: Arc<[f32]> = probe.data().into();
    let lent = data.clone();
    let shared = probe
        .copies_nothing("SharedTensor::from_arc", || SharedTensor::from_arc(lent, shape).unwrap());
    assert_eq!(shared.view().as_ptr(), data.as_ptr());
    drop(shared);

    let data = probe.data();
    let address = data.as_ptr();
    let shared = probe.copies_nothing("SharedTensor::from_owner", || {
        SharedTensor::<f32>::from_owner(data, shape).unwrap()
    });
    assert_eq!(shared.view().as_ptr(), address);
}

/// A mapped file becomes a tensor without being read, and a sum over it without being copied.
fn map_file(probe: &Probe) {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "mapped-{}-{}",
        std::process::id(),
        probe.side
    ));
    let mut file =
        std::fs::File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    let header = [0_u8; 64];
    file.write_all(&header).unwrap();
    let row: Vec<u8> = (0..probe.side).flat_map(|i| ((i % 2) as f32).to_ne_bytes()).collect();
    file.write_all(&row.repeat(probe.side)).unwrap();
    // SAFETY: the file has just been made by this process, under a unique name, and no code writes
    // or shortens it while it is mapped.
    let map = unsafe { memmap2::Mmap::map(&file) }.unwrap();
    std::fs::remove_file(&path).unwrap();

    let address = map.as_ptr();
    let tensor = probe.copies_nothing("SharedTensor::from_bytes of a map", || {
        SharedTensor::<f32>::from_bytes(map, header.len(), [probe.side, probe.side]).unwrap()
    });
    assert_eq!(tensor.view().as_ptr().cast(), address.wrapping_add(header.len()));
    let mut sum = [[0.0_f32]];
    let (_, cost) = probe.measure(|| tenure::ops::sum_into(&tensor, .., &mut sum).unwrap());
    assert_eq!(sum[0][0], (probe.len() / 2) as f32);
    if probe.enforces {
        // The pages of the file are read, which is a fault for every few of them.
        assert!(cost.allocated <= 4096 && cost.copied == 0, "{cost:?}");
        assert!(cost.resident < 1 << 20, "{cost:?}");
    }
}
