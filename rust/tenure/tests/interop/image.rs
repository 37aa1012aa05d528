//! Images of the crate `image`: the same samples at the same addresses.
#![cfg(feature = "image")]

use image::{DynamicImage, GrayImage, ImageBuffer, Luma, Rgb, Rgb32FImage, RgbImage, Rgba};
use tenure::{AsView, AsViewMut, DType, DynView, ErrorKind, Tensor, TensorView, TensorViewMut};

fn message<T>(result: Result<T, impl Into<tenure::Error>>) -> String {
    let error = result.err().expect("a refusal").into();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    error.message().to_owned()
}

#[test]
fn samples_are_lent_where_they_are() {
    let mut image = RgbImage::from_fn(3, 2, |x, y| Rgb([x as u8, y as u8, 7]));
    let view = TensorView::from(&image);
    assert_eq!((view.shape(), view.as_ptr()), (&[2, 3, 3][..], image.as_ptr()));
    assert_eq!(view.index(0, 1).unwrap().index(0, 2).unwrap(), [2, 1, 7]);
    let back = ImageBuffer::<Rgb<u8>, _>::try_from(view).unwrap();
    assert_eq!((back.as_ptr(), back[(2, 1)]), (image.as_ptr(), Rgb([2, 1, 7])));

    let mut exclusive = TensorViewMut::from(&mut image);
    exclusive.view_mut().index(2, 0).unwrap().fill(9);
    let mut back = ImageBuffer::<Rgb<u8>, _>::try_from(exclusive).unwrap();
    back.put_pixel(0, 0, Rgb([1, 2, 3]));
    assert_eq!((image[(0, 0)], image[(1, 1)]), (Rgb([1, 2, 3]), Rgb([9, 1, 7])));
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn images_are_operands_and_outputs() {
    let image = Rgb32FImage::from_pixel(2, 2, Rgb([0.5, 1.0, 2.0]));
    assert_eq!(tenure::ops::sum(&image, [0, 1]).unwrap(), [2.0, 4.0, 8.0]);
    let mut out = Rgb32FImage::new(2, 2);
    tenure::ops::mul_into(&image, 2.0, &mut out).unwrap();
    assert_eq!(out[(1, 1)], Rgb([1.0, 2.0, 4.0]));
    assert_eq!(out.as_view_mut().shape(), image.as_view().shape());
}

#[test]
fn containers_may_hold_more_than_the_image() {
    let samples = [1_u8, 2, 3, 4, 5, 6, 7];
    let image = ImageBuffer::<Luma<u8>, _>::from_raw(3, 2, &samples[..]).unwrap();
    assert_eq!(TensorView::from(&image), [[[1], [2], [3]], [[4], [5], [6]]]);
    let image = GrayImage::from_raw(2, 1, vec![1, 2, 3]).unwrap();
    assert_eq!(Tensor::try_from(image).unwrap(), [[[1], [2]]]);
}

#[test]
fn images_of_no_pixels_are_lent() {
    let image = RgbImage::new(0, 5);
    let view = TensorView::from(&image);
    assert_eq!(view.shape(), [5, 0, 3]);
    assert_eq!(ImageBuffer::<Rgb<u8>, _>::try_from(view).unwrap().dimensions(), (0, 5));
}

#[test]
fn decoded_images_say_their_dtype() {
    let images = [
        (DynamicImage::new_luma8(3, 2), DType::U8, 1),
        (DynamicImage::new_luma_a8(3, 2), DType::U8, 2),
        (DynamicImage::new_rgb8(3, 2), DType::U8, 3),
        (DynamicImage::new_rgba8(3, 2), DType::U8, 4),
        (DynamicImage::new_luma16(3, 2), DType::U16, 1),
        (DynamicImage::new_luma_a16(3, 2), DType::U16, 2),
        (DynamicImage::new_rgb16(3, 2), DType::U16, 3),
        (DynamicImage::new_rgba16(3, 2), DType::U16, 4),
        (DynamicImage::new_rgb32f(3, 2), DType::F32, 3),
        (DynamicImage::new_rgba32f(3, 2), DType::F32, 4),
    ];
    for (image, dtype, channels) in &images {
        let view = DynView::try_from(image).unwrap();
        assert_eq!((view.dtype(), view.shape()), (*dtype, &[2, 3, *channels][..]));
        if let Ok(samples) = view.downcast::<u8>() {
            assert_eq!(samples.as_ptr(), image.as_bytes().as_ptr());
        }
    }
}

#[test]
fn an_image_is_handed_over_and_given_back() {
    let image = RgbImage::from_pixel(4, 3, Rgb([1, 2, 3]));
    let address = image.as_ptr();
    let tensor = Tensor::try_from(image).unwrap();
    assert_eq!((tensor.shape(), tensor.as_ptr()), (&[3, 4, 3][..], address));
    assert_eq!(RgbImage::try_from(tensor).unwrap().as_ptr(), address);
}

#[test]
fn refusals_name_the_value_and_the_bound() {
    let tensor = Tensor::<u8>::zeros([2, 2, 3]).unwrap();
    type Lent<'a> = ImageBuffer<Rgb<u8>, &'a [u8]>;
    assert_eq!(
        message(Lent::try_from(tensor.index(0, 0).unwrap())),
        "rank is 2 but an image has 3 axes: height, width and channels"
    );
    assert_eq!(
        message(ImageBuffer::<Rgba<u8>, _>::try_from(tensor.view())),
        "axis 2 has extent 3 but the pixels have 4 channels"
    );
    assert_eq!(
        message(Lent::try_from(tensor.transpose(0, 1).unwrap())),
        "shape [2, 2, 3] with strides [3, 6, 1] is not row-major, which an image is: copy it by \
         to_tensor"
    );
    let wide = TensorView::<u8>::from_slice(&[], [0, 1 << 32, 3]).unwrap();
    assert_eq!(
        message(Lent::try_from(wide)),
        "shape [0, 4294967296, 3] is larger than 4294967295, the most that an image counts"
    );
    let rejected = RgbImage::try_from(tensor).unwrap_err();
    assert_eq!(rejected.error().message(), "there is no Vec to give back: the memory is allocated");
    let mut tensor = rejected.into_data();
    let turned = tensor.view_mut().transpose(0, 1).unwrap();
    assert!(ImageBuffer::<Rgb<u8>, &mut [u8]>::try_from(turned).is_err());
}
