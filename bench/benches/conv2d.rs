//! Convolutions of images: a batch and the layers of ResNet-50, in NCHW and NHWC, the roof of the
//! arithmetic, and candle, which distributes them over both threads.

use bench::Scale;
use bench::operations::convolutions::{Convolution, Layout, SHAPES, Shape};
use bench::roofs;
use bench::subject::Subject;
use tenure::Context;

fn main() {
    let mut subject = Subject::open("conv2d");
    let context = Context::with_threads(2).expect("a thread can be had");
    let small = [Shape { side: 6, channels: 3, filters: 5, ..SHAPES[0] }];
    let shapes: &[Shape] = match subject.scale() {
        Scale::Smoke => &small,
        Scale::Quick => &SHAPES[..4],
        Scale::Full => &SHAPES,
    };
    for shape in shapes {
        for layout in [Layout::Nchw, Layout::Nhwc] {
            let convolution = Convolution::new(*shape, layout);
            for threads in [1, 2] {
                let mut own = convolution.case();
                if threads == 2 {
                    own = own.within("into", |work| context.install(work));
                }
                let mut cases = vec![own, roofs::fma("f32", shape.operations(), threads)];
                if threads == 2 {
                    cases.extend(convolution.peers());
                }
                let name = shape.name(layout);
                subject.measure(&name, shape.bytes(), threads, shape.operations(), cases);
            }
        }
    }
    subject.close();
}
