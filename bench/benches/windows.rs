//! Poolings of images, and convolutions of each channel by itself: they read an image once and write
//! a result, so what memory allows is their roof.

use std::cell::RefCell;

use bench::Scale;
use bench::operations::convolutions::Layout;
use bench::operations::windows::{Images, OPERATIONS, Shape};
use bench::roofs::{self, kernels::Arrays};
use bench::subject::Subject;
use tenure::Context;

fn main() {
    let mut subject = Subject::open("windows");
    let context = Context::with_threads(2).expect("a thread can be had");
    let shape = match subject.scale() {
        Scale::Smoke => Shape { images: 1, channels: 3, side: 64 },
        Scale::Quick => Shape { images: 8, channels: 32, side: 256 },
        Scale::Full => Shape { images: 8, channels: 128, side: 256 },
    };
    for layout in [Layout::Nchw, Layout::Nhwc] {
        let images = Images::new(shape, layout);
        let Some(arrays) = Arrays::if_they_fit(images.bytes() as usize) else { return };
        let arrays = RefCell::new(arrays);
        for operation in &OPERATIONS {
            for threads in [1, 2] {
                let mut own = images.case(operation);
                if threads == 2 {
                    own = own.within("into", |work| context.install(work));
                }
                let (reads, writes) = (images.bytes(), images.out_bytes(operation));
                let mut cases = vec![own];
                cases.extend(roofs::mixes(&arrays, reads, writes, threads));
                subject.measure(&operation.name(layout), reads, threads, reads + writes, cases);
            }
        }
    }
    subject.close();
}
