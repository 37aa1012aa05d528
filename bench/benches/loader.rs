//! Data in batches: in order while they are summed, from memory and from a mapped file, and
//! shuffled. Peers in Python take turns with it, where `BENCH_PYTHON` names an interpreter that has
//! them.

use std::cell::RefCell;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write;

use bench::Scale;
use bench::python::Python;
use bench::roofs::{self, kernels::Arrays};
use bench::subject::{Case, Subject, repeat};
use memmap2::Mmap;
use tenure::{Batches, Loader, SharedTensor, Tensor};

/// Rows of 4 KiB, and batches of 1 MiB.
const ROW: usize = 1024;
const BATCH: usize = 256;

fn main() {
    let mut subject = Subject::open("loader");
    let rows = if subject.scale() == Scale::Smoke { 4 * BATCH } else { 512 * BATCH };
    let roof_bytes = if subject.scale() == Scale::Smoke { 64 << 10 } else { 64 << 20 };
    let Some(arrays) = Arrays::if_they_fit(roof_bytes) else { return };
    let arrays = RefCell::new(arrays);
    let mut data = Tensor::<f32>::zeros([rows, ROW]).expect("there is room");
    data.iter_mut().enumerate().for_each(|(i, number)| *number = (i % 8_388_593) as f32 + 1.0);
    let data = data.into_shared();
    in_order(&mut subject, &data, &arrays);
    mapped(&mut subject, &data, &arrays);
    shuffled(&mut subject, &data, &arrays);
    subject.close();
}

fn bytes_of(data: &SharedTensor<f32>) -> u64 {
    data.len() as u64 * 4
}

/// Sums up all batches of an epoch.
fn sum(batches: &mut Batches<SharedTensor<f32>>) {
    let mut total = 0.0;
    while let Some(batch) = batches.next() {
        let batch = batch.expect("nothing is done that could fail");
        total += tenure::ops::sum(batch.views(), ..).expect("there is room")[[]];
    }
    black_box(total);
}

fn in_order(subject: &mut Subject, data: &SharedTensor<f32>, arrays: &RefCell<Arrays>) {
    let mut batches = Loader::new(data.clone(), BATCH).expect("rows").start().expect("no threads");
    let mut cases = vec![Case::repeated("tenure", "into", move || sum(&mut batches))];
    cases.extend(roofs::cases(arrays, roofs::READ, 1));
    let bytes = bytes_of(data);
    subject.measure("batches in order, summed", bytes, 1, bytes, cases);
}

/// Each pass maps the file anew. Its pages are in memory, but not yet in this process.
fn mapped(subject: &mut Subject, data: &SharedTensor<f32>, arrays: &RefCell<Arrays>) {
    let operation = "batches of a mapped file, first pass, summed";
    if !subject.wants(operation) {
        return;
    }
    let path = bench::target_folder().join(format!("loader-{}.f32", std::process::id()));
    // A quarter, for the sake of the disk.
    let part = data.view().slice(0, ..data.shape()[0] / 4).expect("inside");
    let elements = part.as_slice().expect("row-major");
    let bytes = size_of_val(elements) as u64;
    let mut file = File::create_new(&path).expect("the target folder can be written");
    // In pieces as readahead has them: the system then maps more than a page at a fault.
    elements.chunks(2048 * ROW).for_each(|rows| {
        let bytes: Vec<u8> = rows.iter().flat_map(|number| number.to_ne_bytes()).collect();
        file.write_all(&bytes).expect("there is room");
    });
    let file = File::open(&path).expect("written above");
    fs::remove_file(&path).expect("made above");
    let pass = || {
        // SAFETY: no other code knows of the file, which has no name any more.
        let map = unsafe { Mmap::map(&file) }.expect("it has been written");
        let data = SharedTensor::<f32>::from_bytes(map, 0, part.shape()).expect("it fits");
        sum(&mut Loader::new(data, BATCH).expect("rows").start().expect("no threads"));
    };
    pass();
    let before = faults();
    pass();
    let after = faults();
    println!("\n{} page faults in a first pass of {} pages", after - before, bytes / 4096);
    let mut cases = vec![Case::repeated("tenure", "into", pass)];
    cases.extend(roofs::cases(arrays, roofs::READ, 1));
    subject.measure(operation, bytes, 1, bytes, cases);
}

/// Page faults of this process that needed no disk; 0 where the system does not tell.
fn faults() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the process, in brackets, may have spaces: proc(5) counts it as field 2.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    fields.split_whitespace().nth(7).and_then(|field| field.parse().ok()).unwrap_or(0)
}

fn shuffled(subject: &mut Subject, data: &SharedTensor<f32>, arrays: &RefCell<Arrays>) {
    let (operation, bytes) = ("batches of shuffled rows of 4 KiB", bytes_of(data));
    if !subject.wants(operation) {
        return;
    }
    let count = if subject.scale() == Scale::Smoke { 2 } else { 32 };
    let traffic = (2 * count * BATCH * ROW * 4) as u64;
    let loader = || Loader::new(data.clone(), BATCH).expect("rows").shuffle(1);
    let held = |threads| loader().threads(threads).start().expect("there is room");
    let arguments = [data.shape()[0], BATCH, count, ROW].map(|number| number.to_string());
    let peers = Python::start("loader_peers.py", &arguments).map(RefCell::new);
    let by = |names: &[&'static str]| {
        let case = |&name: &&'static str| {
            let peers = peers.as_ref()?;
            let once = move || peers.borrow_mut().time(name);
            Some(Case::timed(name, "into", move |passes| (0..passes).map(|_| once()).sum()))
        };
        names.iter().filter_map(case).collect::<Vec<_>>()
    };
    let mut cases = vec![
        steadily("into", held(1), count),
        steadily("serial", loader().serial().expect("there is room"), count),
    ];
    cases.extend(by(&["NumPy", "PyTorch"]));
    cases.extend(roofs::cases(arrays, roofs::COPY, 1));
    subject.measure(operation, bytes, 1, traffic, cases);

    let mut cases = vec![steadily("into", held(2), count)];
    // Each name ends with the number of workers: processes in addition to the caller's.
    cases.extend(by(&["DataLoader 0", "DataLoader 1", "DataLoader 2"]));
    cases.extend(roofs::cases(arrays, roofs::COPY, 2));
    subject.measure(operation, bytes, 2, traffic, cases);
}

/// Reads `count` batches a pass, after the batches that were filled while others had their turn.
fn steadily<'a>(
    how: &'static str,
    mut batches: Batches<'static, SharedTensor<f32>>,
    count: usize,
) -> Case<'a> {
    let mut next = move || {
        if batches.position().batch == batches.batches_per_epoch() {
            assert!(batches.next().is_none()); // the end of an epoch
        }
        let batch = batches.next();
        black_box(batch.expect("there are batches").expect("nothing can fail").views());
    };
    Case::timed("tenure", how, move |passes| {
        (0..8).for_each(|_| next());
        repeat(passes, || (0..count).for_each(|_| next()))
    })
}
