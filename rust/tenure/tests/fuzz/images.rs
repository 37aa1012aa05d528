//! Windows of images: convolutions, poolings and normalizations by numbers of any size, on views
//! that may say of their memory something that is not so.

use std::ptr;

use tenure::Element;
use tenure_sys::operations::Kind;
use tenure_sys::*;

use super::lent::{view, view_mut};
use super::operations::{code, refusal};
use super::{Random, fuzz};

/// Extents of images, and the numbers of the windows: down and right.
#[derive(Clone, Debug)]
struct Drawn {
    images: usize,
    groups: usize,
    /// Channels of one group.
    channels: usize,
    /// Filters of one group.
    filters: usize,
    image: [usize; 2],
    kernel: [usize; 2],
    strides: [usize; 2],
    padding: [[usize; 2]; 2],
    dilations: [usize; 2],
}

impl Drawn {
    fn draw(random: &mut Random) -> Self {
        let mut some = |least, most| least + random.below(most - least + 1);
        Self {
            images: some(0, 2),
            groups: some(1, 3),
            channels: some(1, 3),
            filters: some(1, 2),
            image: [some(1, 9), some(1, 40)],
            kernel: [some(1, 4), some(1, 4)],
            strides: [some(1, 3), some(1, 3)],
            padding: [[some(0, 2), some(0, 2)], [some(0, 2), some(0, 2)]],
            dilations: [some(1, 3), some(1, 3)],
        }
    }

    /// Places of the kernel down and right, if it fits.
    fn places(&self) -> Option<[usize; 2]> {
        let along = |axis: usize| {
            let padded = self.image[axis] + self.padding[axis][0] + self.padding[axis][1];
            let reach = (self.kernel[axis] - 1) * self.dilations[axis] + 1;
            Some(padded.checked_sub(reach)? / self.strides[axis] + 1)
        };
        Some([along(0)?, along(1)?])
    }

    fn numbers(&self) -> Numbers {
        let [[above, below], [left, right]] = self.padding;
        Numbers {
            strides: self.strides.map(|stride| stride as i64),
            padding: [above, below, left, right].map(|zeros| zeros as i64),
            dilations: self.dilations.map(|step| step as i64),
        }
    }
}

/// The part that the attributes of all windows have.
struct Numbers {
    strides: [i64; 2],
    padding: [i64; 4],
    dilations: [i64; 2],
}

impl Numbers {
    fn misdescribe(&mut self, random: &mut Random) {
        let number = random.number();
        match random.below(3) {
            0 => self.strides[random.below(2)] = number,
            1 => self.padding[random.below(4)] = number,
            _ => self.dilations[random.below(2)] = number,
        }
    }
}

/// Elements of images, as they lie.
struct Images<T> {
    memory: Vec<T>,
    shape: [usize; 4],
    channels_are_last: bool,
}

impl<T: Element + From<i8>> Images<T> {
    fn new(random: &mut Random, images: usize, channels: usize, [rows, cols]: [usize; 2]) -> Self {
        Self {
            memory: vec![T::from(1); images * channels * rows * cols],
            shape: [images, channels, rows, cols],
            channels_are_last: random.below(2) == 0,
        }
    }

    fn laid_out(&self, mut view: tnr_view) -> tnr_view {
        let [_, channels, rows, cols] = self.shape.map(|extent| extent as i64);
        if self.channels_are_last {
            view.strides[..4].copy_from_slice(&[
                rows * cols * channels,
                1,
                cols * channels,
                channels,
            ]);
        }
        view
    }

    fn view(&self) -> tnr_view {
        self.laid_out(view(&self.memory, &self.shape))
    }

    fn view_mut(&mut self) -> tnr_view_mut {
        let view = view_mut(&mut self.memory, &self.shape).view;
        tnr_view_mut { view: self.laid_out(view) }
    }
}

/// Makes a view of `axes` axes misdescribe its memory, or describe another part of it.
pub fn misdescribe(view: &mut tnr_view, axes: usize, random: &mut Random) {
    let axis = random.below(axes);
    let number = random.number();
    match random.below(7) {
        // One element may be lent as very many, which would be waited for.
        0 => view.shape[axis] = number.min(64),
        1 => view.strides[axis] = number,
        2 => view.size_bytes = view.size_bytes.saturating_sub(random.below(40) as u64),
        3 => view.rank = random.below(6) as u32,
        4 => view.data = view.data.wrapping_byte_offset(8 * (number % 40) as isize),
        5 => view.flags = random.below(16) as u32,
        _ => view.dtype = tnr_dtype(random.next() as u32 & 0x0003_7f0f),
    }
}

/// Calls what takes windows; how often it was done.
fn call<T: Element + From<i8>>(random: &mut Random, context: *mut tnr_context) -> usize {
    let drawn = Drawn::draw(random);
    let Some(places) = drawn.places() else { return 0 };
    let Drawn { images, groups, channels, filters, image, kernel, .. } = drawn;
    let a = Images::<T>::new(random, images, groups * channels, image);
    let weight = Images::<T>::new(random, groups * filters, channels, kernel);
    let bias = vec![T::from(1); groups * filters];
    let mut out = Images::<T>::new(random, images, groups * filters, places);
    let mut pooled = Images::<T>::new(random, images, groups * channels, places);
    let mut back = Images::<T>::new(random, images, groups * channels, image);

    let mut numbers = drawn.numbers();
    let mut views = [a.view(), weight.view(), view(&bias, &[bias.len()])];
    let mut outs = [out.view_mut(), pooled.view_mut(), back.view_mut()];
    let mut of_groups = groups as i64;
    let mut activation = tnr_unary_op(if random.below(2) == 0 { 0 } else { 6 });
    // A convolution without TNR_EPILOGUE_CLAMP refuses other bounds than 0.
    let mut flags = random.below(2) as u32;
    let (low, mut high) = (-f64::from(flags), 6.0 * f64::from(flags));
    let is_right = random.below(3) == 0;
    if !is_right {
        match random.below(6) {
            0 => numbers.misdescribe(random),
            1 => of_groups = random.number(),
            2 => activation = tnr_unary_op(code(random, Kind::Unary) + random.below(99) as i32),
            3 => (flags, high) = (random.below(4) as u32, f64::from_bits(random.next())),
            4 => outs.iter_mut().for_each(|out| misdescribe(&mut out.view, 4, random)),
            _ => misdescribe(&mut views[random.below(3)], 4, random),
        }
    }
    let [a, weight, bias] = &views;
    let attributes = tnr_conv2d_attributes {
        struct_size: size_of::<tnr_conv2d_attributes>() as u64,
        strides: numbers.strides,
        padding: numbers.padding,
        dilations: numbers.dilations,
        groups: of_groups,
        activation,
        flags,
        low,
        high,
    };
    let pooling = tnr_pool2d_attributes {
        struct_size: size_of::<tnr_pool2d_attributes>() as u64,
        kernel: drawn.kernel.map(|extent| extent as i64),
        strides: numbers.strides,
        padding: numbers.padding,
        dilations: numbers.dilations,
        flags: if is_right { random.below(2) as u32 } else { random.below(5) as u32 },
        reserved: 0,
    };
    let mean = *random.pick(&[tnr_reduce_op::MAX, tnr_reduce_op::MEAN]);
    let other = tnr_reduce_op(code(random, Kind::Reduce));
    // SAFETY: every part of a view lies in an array that outlives the calls, or does not fit what
    // the view says of it; `outs` are of arrays that nothing else refers to.
    let [convolved, pooled, turned, normalized, _] = unsafe {
        [
            tnr_conv2d(context, a, weight, bias, &attributes, &outs[0]),
            tnr_pool2d(context, mean, a, &pooling, &outs[1]),
            // It goes back from the images of a convolution to their shape before.
            tnr_conv2d_transposed(
                context,
                &outs[0].view,
                weight,
                ptr::null(),
                &attributes,
                &outs[2],
            ),
            tnr_batch_norm(
                context,
                &outs[0].view,
                ptr::null(),
                bias,
                bias,
                ptr::null(),
                ptr::null(),
                &outs[0],
            ),
            tnr_pool2d(context, other, a, &pooling, &outs[1]),
        ]
    };
    if is_right {
        let statuses = [convolved, turned, normalized];
        assert_eq!(statuses, [tnr_status::OK; 3], "{}: {drawn:?}", refusal());
    }
    [convolved, pooled, turned].iter().filter(|status| **status == tnr_status::OK).count()
}

#[test]
fn windows_of_images() {
    let options = tnr_context_options {
        struct_size: size_of::<tnr_context_options>() as u64,
        thread_count: 2,
        reserved: 0,
        spawn: None,
        allocate: None,
        deallocate: None,
        user_context: ptr::null_mut(),
        release: None,
        engine: tnr_engine::ENVIRONMENT,
        reserved_end: 0,
        device: tnr_device { kind: tnr_device_kind::CPU, index: 0 },
        stream: 0,
    };
    // SAFETY: the options are those of a context with a thread of its own.
    let two_threads = unsafe { tnr_context_create(&options) };
    assert!(!two_threads.is_null(), "{}", refusal());
    let mut done = 0;
    fuzz(20_000, |random| {
        let context = *random.pick(&[ptr::null_mut(), two_threads]);
        done += call::<f32>(random, context);
        done += call::<f64>(random, context);
    });
    // SAFETY: the only handle, not used again.
    assert_eq!(unsafe { tnr_context_release(two_threads) }, tnr_status::OK);
    assert!(done > 20_000, "only {done} calls did something");
}
