//! A file of safetensors, opened by a map and read into memory, and a `.npy`, read: compared with
//! only the map, with only reading these bytes, and with peers. The files are in the system's
//! cache.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::Read;
use std::path::{Path, PathBuf};

use bench::memory::{Growth, peak_of, write};
use bench::subject::{Case, Subject};
use bench::{Scale, figures};
use memmap2::Mmap;
use tenure::{
    DynView, Result, Tensor, TensorView,
    io::{self, npy, safetensors},
};

/// Tensors of 900 kB and of 4 kB, as layers have them.
const LAYERS: usize = 100;
const WEIGHTS: [usize; 2] = [225, 1000];

fn main() {
    let mut subject = Subject::open("files");
    let scale = subject.scale();
    let layers = if scale == Scale::Smoke { 2 } else { LAYERS };
    let folder = std::env::temp_dir().join(format!("tenure-files-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the temporary folder can be written");
    let (model, array) = (folder.join("model.safetensors"), folder.join("array.npy"));
    written(&model, &array, layers).expect("the temporary folder can be written");

    opened(&mut subject, &model);
    read(&mut subject, "safetensors, read", &model, read_model, model_peers(&model));
    read(&mut subject, "npy, read", &array, read_array, Vec::new());
    grown(scale, &model);
    fs::remove_dir_all(&folder).expect("made above");
    subject.close();
}

fn written(model: &Path, array: &Path, layers: usize) -> Result<()> {
    let weights: Vec<f32> = (0..WEIGHTS[0] * WEIGHTS[1]).map(|i| (i % 1000) as f32).collect();
    let weights = TensorView::from_slice(&weights, WEIGHTS).expect("as many elements");
    let biases = weights.index(0, 0).expect("there is one");
    let names: Vec<[String; 2]> =
        (0..layers).map(|layer| ["weight", "bias"].map(|part| format!("{layer}.{part}"))).collect();
    let of_layer = |[weight, bias]: &'_ [String; 2]| -> [(String, DynView<'_>); 2] {
        [(weight.clone(), weights.into()), (bias.clone(), biases.into())]
    };
    let tensors: Vec<(String, DynView<'_>)> = names.iter().flat_map(of_layer).collect();
    let tensors: Vec<(&str, DynView<'_>)> =
        tensors.iter().map(|(name, view)| (name.as_str(), *view)).collect();
    safetensors::Writer::new().save(model, &tensors)?;
    let all = Tensor::full([layers, WEIGHTS[0], WEIGHTS[1]], 1.5_f32).expect("there is room");
    npy::save(array, &all)
}

fn map(path: &Path) -> Mmap {
    let file = File::open(path).expect("it was written");
    // SAFETY: no code writes the file while the bench runs.
    unsafe { Mmap::map(&file) }.expect("it can be mapped")
}

/// The shapes of all tensors, which is as much as opening tells.
fn views_of(bytes: &[u8]) -> Result<usize> {
    let reader = safetensors::Reader::new(bytes)?;
    let mut elements = 0;
    for entry in reader.tensors() {
        elements += black_box(reader.view(entry.name())?).len();
    }
    Ok(elements)
}

fn opened(subject: &mut Subject, model: &Path) {
    let cases = vec![
        Case::repeated("tenure", "mapped", || {
            black_box(views_of(&map(model)).expect("it is a file of safetensors"));
        }),
        Case::repeated("roof", "the map alone", || {
            black_box(map(model)[0]);
        }),
        #[cfg(feature = "peers")]
        Case::repeated("safetensors", "mapped", || {
            let map = map(model);
            let file = ::safetensors::SafeTensors::deserialize(&map).expect("it is such a file");
            black_box(file.iter().map(|(_, tensor)| tensor.shape()[0]).sum::<usize>());
        }),
        #[cfg(feature = "peers")]
        Case::repeated("candle", "mapped", || {
            // SAFETY: no code writes the file while the bench runs.
            let file = unsafe { candle_core::safetensors::MmapedSafetensors::new(model) };
            black_box(file.expect("it is such a file").tensors().len());
        }),
    ];
    subject.measure("safetensors, opened", size_of(model), 1, 0, cases);
}

fn size_of(path: &Path) -> u64 {
    fs::metadata(path).expect("it was written").len()
}

fn read_model(path: &Path) {
    let bytes = io::read(path).expect("it can be read");
    black_box(views_of(bytes.as_ref()).expect("it is a file of safetensors"));
}

fn read_array(path: &Path) {
    black_box(npy::read::<f32>(path).expect("it is an array"));
}

fn model_peers(path: &Path) -> Vec<Case<'_>> {
    #[cfg(not(feature = "peers"))]
    let peers = {
        let _ = path;
        Vec::new()
    };
    #[cfg(feature = "peers")]
    let peers = {
        let candle = move || {
            let device = candle_core::Device::Cpu;
            black_box(candle_core::safetensors::load(path, &device).expect("it is such a file"));
        };
        vec![Case::cold("candle", candle), Case::recycled("candle", candle)]
    };
    peers
}

/// Reading into preallocated memory, which is the roof, and into memory that is allocated for it.
fn read<'a>(
    subject: &mut Subject,
    operation: &str,
    path: &'a PathBuf,
    own: fn(&Path),
    peers: Vec<Case<'a>>,
) {
    let bytes = size_of(path);
    let (mut there, begin) = in_huge_pages(bytes as usize);
    let roof = move || {
        let mut file = File::open(path).expect("it was written");
        let there = &mut there[begin..begin + bytes as usize];
        file.read_exact(there).expect("so many bytes");
        black_box(there[0]);
    };
    let std = move || {
        black_box(fs::read(path).expect("it was written"));
    };
    let mut cases = vec![
        Case::cold("tenure", move || own(path)),
        Case::recycled("tenure", move || own(path)),
        Case::repeated("roof", "read into memory that is there", roof),
        Case::cold("std", std),
        Case::recycled("std", std),
    ];
    cases.extend(peers);
    subject.measure(operation, bytes, 1, bytes, cases);
}

/// Memory that has been written to, and the offset of `bytes` bytes of it in huge pages: in small
/// ones reading takes three times as long.
fn in_huge_pages(bytes: usize) -> (Vec<u8>, usize) {
    const HUGE_PAGE: usize = 2 << 20;
    let whole = bytes.next_multiple_of(HUGE_PAGE);
    let mut memory: Vec<u8> = Vec::with_capacity(whole + HUGE_PAGE);
    let begin = memory.as_ptr().addr().wrapping_neg() % HUGE_PAGE;
    // SAFETY: `whole` bytes of memory that no other code knows of; the advice changes none of them.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::madvise(memory.as_mut_ptr().add(begin).cast(), whole, libc::MADV_HUGEPAGE);
    }
    memory.resize(whole + HUGE_PAGE, 1);
    (memory, begin)
}

/// Resident memory of opening the model by a map, once its header has been seen before.
fn grown(scale: Scale, model: &Path) {
    views_of(&map(model)).expect("it is a file of safetensors");
    let opened = peak_of(|| {
        let map = map(model);
        let count = views_of(&map);
        (map, count)
    });
    let Some((_, peak)) = opened else { return };
    let (operation, library) = ("safetensors, opened by a map".to_owned(), "tenure".to_owned());
    println!("{operation}: {peak} bytes more are resident");
    let row = Growth { operation, library, input: size_of(model), output: 0, peak, curve: vec![] };
    write(&figures::folder(scale), "files-memory", &[row]).expect("the target folder is there");
}
