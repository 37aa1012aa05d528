//! A custom kernel: cuts the part of a frame where a mask is set, as video programs do for each
//! object that they follow. The source is compiled while the program runs, where
//! there is a GPU and CUDA's NVRTC.
//!
//! `cargo run --release --example cuda_kernel`

use tenure::cuda::{self, Device, Grid, Kernel, Parameter, Stream, Tensor};
use tenure::{Bool8, ErrorKind, Result, TensorView};

const SOURCE: &str = r#"
template <class T, int kRank>
struct View {
  T *data;
  long long shape[kRank];
  long long strides[kRank];
};

// A thread for each pixel of the crop.
extern "C" __global__ void masked_crop(View<const unsigned char, 3> frame,
                                       View<const unsigned char, 2> mask, long long row,
                                       long long col, View<unsigned char, 3> out) {
  const long long x = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  const long long y = blockIdx.y * static_cast<long long>(blockDim.y) + threadIdx.y;
  if (y >= out.shape[0] || x >= out.shape[1]) return;
  // Added without signs, so that a place which overflows is one before 0.
  const long long from_y = static_cast<long long>(static_cast<unsigned long long>(row) + y);
  const long long from_x = static_cast<long long>(static_cast<unsigned long long>(col) + x);
  const bool is_set = from_y >= 0 && from_x >= 0 && from_y < frame.shape[0] &&
                      from_x < frame.shape[1] && from_y < mask.shape[0] &&
                      from_x < mask.shape[1] &&
                      mask.data[from_y * mask.strides[0] + from_x * mask.strides[1]] != 0;
  for (long long c = 0; c < out.shape[2]; ++c) {
    const bool is_there = is_set && c < frame.shape[2];
    out.data[y * out.strides[0] + x * out.strides[1] + c * out.strides[2]] =
        is_there ? frame.data[from_y * frame.strides[0] + from_x * frame.strides[1] +
                              c * frame.strides[2]]
                 : 0;
  }
}
"#;

const FRAME: [usize; 3] = [1080, 1920, 3];
const CROP: [usize; 3] = [300, 300, 3];

/// The kernel behind a function that says what it takes.
struct MaskedCrop {
    kernel: Kernel,
}

impl MaskedCrop {
    fn new(stream: &Stream) -> Result<MaskedCrop> {
        let parameters = [
            Parameter::input::<u8>(3),
            Parameter::input::<Bool8>(2),
            Parameter::scalar::<i64>(),
            Parameter::scalar::<i64>(),
            Parameter::output::<u8>(3),
        ];
        // SAFETY: the parameters are those of the source. It reads and writes within the extents of
        // its views, whatever the arguments and the grid, and each element by one thread.
        let kernel = unsafe { Kernel::compile(stream, SOURCE, "masked_crop", &[], &parameters) }?;
        Ok(MaskedCrop { kernel })
    }

    /// Enqueues `out = frame[row.., col..]` where the mask is set, and 0 elsewhere.
    fn run(
        &self,
        stream: &Stream,
        frame: cuda::TensorView<'_, u8>,
        mask: cuda::TensorView<'_, Bool8>,
        (row, col): (i64, i64),
        out: &mut Tensor<u8>,
    ) -> Result<()> {
        let grid = Grid::covering([out.shape()[1], out.shape()[0]], [32, 8]);
        stream.launch(&self.kernel, grid, (frame, mask, row, col, out))
    }
}

/// The same by the CPU's operations.
fn on_host(
    frame: TensorView<'_, u8>,
    mask: TensorView<'_, Bool8>,
    (row, col): (usize, usize),
) -> Result<tenure::Tensor<u8>> {
    let part = frame.slice(0, row..row + CROP[0])?.slice(1, col..col + CROP[1])?;
    let is_set = mask.slice(0, row..row + CROP[0])?.slice(1, col..col + CROP[1])?;
    tenure::ops::select(is_set.unsqueeze(2)?, part, 0)
}

pub(crate) fn main() -> Result<()> {
    let frame = tenure::Tensor::from_fn(FRAME, |[y, x, c]| (y * 7 + x * 3 + c) as u8)?;
    let mask = tenure::Tensor::from_fn([FRAME[0], FRAME[1]], |[y, x]| {
        let (y, x) = (y as f32 - 540.0, x as f32 - 960.0);
        Bool8::from(y * y + x * x < 120.0 * 120.0)
    })?;
    let (row, col) = (400, 800);
    let expected = on_host(frame.view(), mask.view(), (row, col))?;

    let made = Device::new(0).and_then(Device::stream);
    let made = made.and_then(|stream| Ok((MaskedCrop::new(&stream)?, stream)));
    let (masked_crop, stream) = match made {
        Ok(made) => made,
        // No driver, no GPU, or no compiler.
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            println!("{error}");
            println!("the CPU has cropped {FRAME:?} to {CROP:?} alone");
            return Ok(());
        }
        Err(error) => return Err(error),
    };

    let on_frame = stream.upload(&frame)?;
    let on_mask = stream.upload(&mask)?;
    let mut crop = stream.zeros(CROP)?;
    let at = (row as i64, col as i64);
    let before = tenure::stats();
    masked_crop.run(&stream, on_frame.view(), on_mask.view(), at, &mut crop)?;
    let after = tenure::stats();
    assert!(stream.to_vec(&crop)? == expected.to_vec());
    println!(
        "{:?} cropped by {:?}: {} kernel enqueued, {} waits",
        FRAME,
        masked_crop.kernel,
        after.device_launches - before.device_launches,
        after.device_waits - before.device_waits,
    );
    Ok(())
}
