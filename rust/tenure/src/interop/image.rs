//! Images of the crate `image`: their samples lent, handed over and given back as `[height, width,
//! channels]`.

use std::ops::{Deref, DerefMut, Range};

use ::image::{DynamicImage, ImageBuffer, Pixel};

use crate::dense::{DynView, Tensor, TensorView, TensorViewMut};
use crate::dtype::{DType, Element};
use crate::error::{Error, Rejected, Result};
use crate::operand::{AsView, AsViewMut};

/// The shape of an image, and its samples among those of the container, which may have some more.
fn shape<P: Pixel, C>(image: &ImageBuffer<P, C>) -> ([usize; 3], Range<usize>)
where
    C: Deref<Target = [P::Subpixel]>,
{
    let (width, height) = image.dimensions();
    let shape = [height as usize, width as usize, P::CHANNEL_COUNT.into()];
    // It is bounded by the container's length.
    (shape, 0..shape.iter().product())
}

/// Width and height of an image with pixels of `P`.
fn dimensions<P: Pixel>(shape: &[usize]) -> Result<(u32, u32)> {
    let channels = usize::from(P::CHANNEL_COUNT);
    let &[height, width, last] = shape else {
        return Err(Error::invalid(format!(
            "rank is {} but an image has 3 axes: height, width and channels",
            shape.len()
        )));
    };
    if last != channels {
        return Err(Error::invalid(format!(
            "axis 2 has extent {last} but the pixels have {channels} channels"
        )));
    }
    match (u32::try_from(width), u32::try_from(height)) {
        (Ok(width), Ok(height)) => Ok((width, height)),
        _ => Err(Error::invalid(format!(
            "shape {shape:?} is larger than {}, the most that an image counts",
            u32::MAX
        ))),
    }
}

/// An image over as many samples as the shape has.
fn image<P: Pixel, C>((width, height): (u32, u32), samples: C) -> ImageBuffer<P, C>
where
    C: Deref<Target = [P::Subpixel]>,
{
    ImageBuffer::from_raw(width, height, samples).expect("as many samples as the shape has")
}

#[cold]
fn not_adjacent(shape: &[usize], strides: &[isize]) -> Error {
    Error::invalid(format!(
        "shape {shape:?} with strides {strides:?} is not row-major, which an image is: copy it by \
         to_tensor"
    ))
}

/// Lends the samples of an image.
///
/// ```
/// use image::{Rgb, RgbImage};
/// use tenure::{TensorView, ops::mean};
///
/// let image = RgbImage::from_pixel(4, 2, Rgb([10, 20, 30]));
/// let view = TensorView::from(&image);
/// assert_eq!((view.shape(), view[[1, 3, 2]]), (&[2, 4, 3][..], 30));
/// assert_eq!(mean(view.cast::<f32>()?, [0, 1])?, [10.0, 20.0, 30.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
impl<'a, T: Element, P: Pixel<Subpixel = T>, C> From<&'a ImageBuffer<P, C>> for TensorView<'a, T>
where
    C: Deref<Target = [T]>,
{
    fn from(image: &'a ImageBuffer<P, C>) -> Self {
        let (shape, samples) = shape(image);
        TensorView::from_exact(&image.as_raw()[samples], &shape)
    }
}

/// Lends the samples of an image for writing.
///
/// ```
/// use image::GrayImage;
/// use tenure::TensorViewMut;
///
/// let mut image = GrayImage::new(3, 2);
/// TensorViewMut::from(&mut image).index(0, 1)?.fill(255);
/// assert_eq!(image.into_raw(), [0, 0, 0, 255, 255, 255]);
/// # Ok::<(), tenure::Error>(())
/// ```
impl<'a, T: Element, P: Pixel<Subpixel = T>, C> From<&'a mut ImageBuffer<P, C>>
    for TensorViewMut<'a, T>
where
    C: DerefMut<Target = [T]>,
{
    fn from(image: &'a mut ImageBuffer<P, C>) -> Self {
        let (shape, samples) = shape(image);
        // Without a method of `image` for it that does not bound the container further.
        let all: &'a mut [T] = image;
        TensorViewMut::from_exact(&mut all[samples], &shape)
    }
}

impl<T: Element, P: Pixel<Subpixel = T>, C: Deref<Target = [T]>> AsView<T> for ImageBuffer<P, C> {
    fn as_view(&self) -> TensorView<'_, T> {
        self.into()
    }
}

impl<T: Element, P, C> AsViewMut<T> for ImageBuffer<P, C>
where
    P: Pixel<Subpixel = T>,
    C: DerefMut<Target = [T]>,
{
    fn as_view_mut(&mut self) -> TensorViewMut<'_, T> {
        self.into()
    }
}

/// Lends the samples of an image as it was decoded, of 8 or 16 bits or `f32`.
///
/// # Errors
///
/// `Unsupported`: samples of another type, which `image` may come to have.
///
/// ```
/// use image::DynamicImage;
/// use tenure::{DType, DynView};
///
/// let decoded = DynamicImage::new_rgba16(4, 2);
/// let view = DynView::try_from(&decoded)?;
/// assert_eq!((view.dtype(), view.shape()), (DType::U16, &[2, 4, 4][..]));
/// # Ok::<(), tenure::Error>(())
/// ```
impl<'a> TryFrom<&'a DynamicImage> for DynView<'a> {
    type Error = Error;

    fn try_from(image: &'a DynamicImage) -> Result<Self> {
        let color = image.color();
        let channels = color.channel_count();
        let dtype = match color.bytes_per_pixel() / channels {
            1 => DType::U8,
            2 => DType::U16,
            4 => DType::F32,
            _ => {
                return Err(Error::new(
                    crate::error::ErrorKind::Unsupported,
                    format!("samples of {color:?} are of no dtype here"),
                ));
            }
        };
        let shape = [image.height() as usize, image.width() as usize, channels.into()];
        DynView::from_bytes(image.as_bytes(), dtype, shape)
    }
}

/// Lends a view on as an image.
///
/// # Errors
///
/// `InvalidArgument`: a shape other than height, width and the channels of `P`, extents over
/// `u32`, or a view that is not row-major.
///
/// ```
/// use image::{ImageBuffer, Rgb};
/// use tenure::Tensor;
///
/// let tensor = Tensor::from([[[1_u8, 2, 3], [4, 5, 6]]]);
/// let image = ImageBuffer::<Rgb<u8>, _>::try_from(tensor.view())?;
/// assert_eq!((image.dimensions(), image[(1, 0)]), ((2, 1), Rgb([4, 5, 6])));
/// # Ok::<(), tenure::Error>(())
/// ```
impl<'a, T: Element, P: Pixel<Subpixel = T>> TryFrom<TensorView<'a, T>>
    for ImageBuffer<P, &'a [T]>
{
    type Error = Error;

    fn try_from(view: TensorView<'a, T>) -> Result<Self> {
        let dimensions = dimensions::<P>(view.shape())?;
        let samples = view.as_slice().ok_or_else(|| not_adjacent(view.shape(), view.strides()))?;
        Ok(image(dimensions, samples))
    }
}

/// Lends a view on as an image for writing.
///
/// # Errors
///
/// The errors of a [`TensorView`]. Where the view is to be used after a refusal, reborrow it first,
/// by [`view_mut`](TensorViewMut::view_mut).
///
/// ```
/// use image::{ImageBuffer, Luma};
/// use tenure::Tensor;
///
/// let mut tensor = Tensor::<u8>::zeros([2, 2, 1])?;
/// ImageBuffer::try_from(tensor.view_mut())?.put_pixel(0, 1, Luma([9]));
/// assert_eq!(tensor.to_vec(), [0, 0, 9, 0]);
/// # Ok::<(), tenure::Error>(())
/// ```
impl<'a, T: Element, P: Pixel<Subpixel = T>> TryFrom<TensorViewMut<'a, T>>
    for ImageBuffer<P, &'a mut [T]>
{
    type Error = Error;

    fn try_from(view: TensorViewMut<'a, T>) -> Result<Self> {
        let dimensions = dimensions::<P>(view.shape())?;
        if !view.is_row_major() {
            return Err(not_adjacent(view.shape(), view.strides()));
        }
        Ok(image(dimensions, view.into_mut_slice().unwrap_or_default()))
    }
}

/// Adopts the samples of an image; [`ImageBuffer::try_from`] gives them back.
///
/// # Errors
///
/// `OutOfMemory`: the library's own record of it. The image comes back with the error.
///
/// ```
/// use image::GrayImage;
/// use tenure::Tensor;
///
/// let image = GrayImage::new(3, 2);
/// let address = image.as_ptr();
/// let tensor = Tensor::try_from(image)?;
/// assert_eq!((tensor.shape(), tensor.as_ptr()), (&[2, 3, 1][..], address));
/// assert_eq!(GrayImage::try_from(tensor)?.as_ptr(), address);
/// # Ok::<(), tenure::Error>(())
/// ```
impl<T: Element, P: Pixel<Subpixel = T>> TryFrom<ImageBuffer<P, Vec<T>>> for Tensor<T> {
    type Error = Rejected<ImageBuffer<P, Vec<T>>>;

    fn try_from(buffer: ImageBuffer<P, Vec<T>>) -> Result<Self, Self::Error> {
        let (shape, samples) = shape(&buffer);
        let dimensions = buffer.dimensions();
        let mut vec = buffer.into_raw();
        vec.truncate(samples.end); // surplus samples are not the image's
        Tensor::from_vec(vec, shape).map_err(|rejected| {
            let (error, vec) = rejected.into_parts();
            Rejected::new(error, image(dimensions, vec))
        })
    }
}

/// Gives a `Vec` back that was adopted, as an image.
///
/// # Errors
///
/// `InvalidArgument`: a shape with which a view is refused too, or memory that is not that of a
/// `Vec`: results of operations are the library's memory. The tensor comes back with the error;
/// `ImageBuffer::try_from(tensor.view())` lends it.
///
/// ```
/// use image::RgbImage;
/// use tenure::Tensor;
///
/// let image = RgbImage::try_from(Tensor::from_vec(vec![7; 12], [2, 2, 3])?)?;
/// assert_eq!(image.dimensions(), (2, 2));
/// let refused = RgbImage::try_from(Tensor::<u8>::zeros([2, 2, 1])?).err().unwrap();
/// assert_eq!(
///     refused.error().message(),
///     "axis 2 has extent 1 but the pixels have 3 channels"
/// );
/// # Ok::<(), tenure::Error>(())
/// ```
impl<T: Element, P: Pixel<Subpixel = T>> TryFrom<Tensor<T>> for ImageBuffer<P, Vec<T>> {
    type Error = Rejected<Tensor<T>>;

    fn try_from(tensor: Tensor<T>) -> Result<Self, Self::Error> {
        let dimensions = match dimensions::<P>(tensor.shape()) {
            Ok(dimensions) => dimensions,
            Err(error) => return Err(Rejected::new(error, tensor)),
        };
        if !tensor.is_row_major() {
            return Err(Rejected::new(not_adjacent(tensor.shape(), tensor.strides()), tensor));
        }
        let tenure = tensor.tenure();
        tensor.into_vec().map(|vec| image(dimensions, vec)).map_err(|tensor| {
            let message = format!("there is no Vec to give back: the memory is {tenure}");
            Rejected::new(Error::invalid(message), tensor)
        })
    }
}
