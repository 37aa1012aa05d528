#![forbid(unsafe_code)]
//! A photo is cropped, halved, normalised as a network takes it, and made a picture again.
//!
//! `cargo run --release --features image --example image_pipeline`

use image::{ImageBuffer, Rgb, RgbImage};
use tenure::ops::{add, cast, div, maximum, mean, minimum, mul, std, sub};
use tenure::{Axes, Pool2d, Result, TensorView, nn::avg_pool2d, s};

pub(crate) fn main() -> Result<()> {
    let photo = RgbImage::from_fn(64, 48, |x, y| Rgb([4 * x as u8, 5 * y as u8, 128]));
    let pixels = div(TensorView::from(&photo).cast::<f32>()?, 255.0)?; // lent: [48, 64, 3]
    let square = pixels.slice_axes(s![.., 8..56])?.flip(1)?.unsqueeze(0)?;
    let small = avg_pool2d(square.channels_last()?, Pool2d::new([2, 2]))?; // [1, 3, 24, 24]

    let channels = Axes::keep([0, 2, 3]);
    let (center, scale) = (mean(&small, channels)?, add(std(&small, channels, 0)?, 1e-6)?);
    let input = div(sub(&small, &center)?, &scale)?;
    println!("{:?}, of means {:.1}", input.shape(), mean(&input, [0, 2, 3])?);

    let bright = mul(add(mul(&input, &scale)?, &center)?, 300.0)?;
    let bytes = cast::<u8, _>(minimum(maximum(bright, 0.0)?, 255.0)?)?;
    let picture = bytes.index(0, 0)?.permute(&[1, 2, 0])?.to_tensor()?;
    let picture = ImageBuffer::<Rgb<u8>, _>::try_from(picture.view())?; // lent again
    println!("{:?}", picture.get_pixel(0, 0));
    assert_eq!((picture.dimensions(), picture[(0, 23)]), ((24, 24), Rgb([255, 255, 150])));
    Ok(())
}
