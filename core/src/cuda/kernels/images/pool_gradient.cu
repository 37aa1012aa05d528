// Gradients of poolings, each element of the result by a thread. It takes the windows that have the
// element, row by row and each from left to right, and adds their gradients: the bits are the CPU's.
// Maxima are found first, each window's by a thread.
#include "cuda/kernels/floats.cuh"
#include "cuda/kernels/images/windows.cuh"

namespace tenure::cuda {

// Windows along an axis, from `first` up to `end`, that may have an element.
struct WindowRange {
  uint32_t first;
  uint32_t end;
};

TENURE_DEVICE WindowRange windows_with(const ImageAxis& axis, bool is_adaptive, uint32_t index) {
  if (is_adaptive) {
    // Window i has the elements from i * in / out on, rounded down, and up to (i + 1) * in / out,
    // rounded up.
    const uint64_t out = axis.out;
    return {static_cast<uint32_t>(index * out / axis.in),
            static_cast<uint32_t>(((index + uint64_t{1}) * out + axis.in - 1) / axis.in)};
  }
  const uint32_t place = index + axis.padding;
  const uint32_t reach = (axis.kernel - 1) * axis.dilation;
  const uint32_t last = place / axis.stride;
  return {place < reach ? 0 : (place - reach + axis.stride - 1) / axis.stride,
          last < axis.out ? last + 1 : axis.out};
}

// Whether a window of the range has the element: others have elements on either side of it.
TENURE_DEVICE bool has_element(const ImageAxis& axis, bool is_adaptive, uint32_t window,
                               uint32_t index) {
  return is_adaptive || axis.dilation == 1 ||
         (index + axis.padding - window * axis.stride) % axis.dilation == 0;
}

// The first of the greatest elements, or of the NaNs where there are any.
template <class T>
TENURE_DEVICE void find_greatest(const PoolGradientArgument& argument) {
  const PoolArgument& windows = argument.windows;
  const uint32_t number = blockIdx.x * kThreads + threadIdx.x;
  if (number >= windows.walk.count) return;
  const ResultPlace place = place_of(windows.walk, number);
  const bool is_adaptive = windows.is_adaptive != 0;
  const WindowSpan rows = span_of(windows.axes[0], is_adaptive, place.row);
  const WindowSpan columns = span_of(windows.axes[1], is_adaptive, place.column);
  const uint64_t image = bytes_to(static_cast<int32_t>(place.image), windows.a_image_step) +
                         bytes_to(static_cast<int32_t>(place.channel), windows.a_channel_step);
  T greatest = -infinity<T>();
  uint32_t found = rows.first * windows.axes[1].in + columns.first;
  TENURE_ROLLED for (uint32_t i = 0; i < rows.count; ++i) {
    const uint32_t row = rows.first + i * rows.step;
    const uint64_t of_row = image + bytes_to(static_cast<int32_t>(row), windows.axes[0].in_step);
    TENURE_ROLLED for (uint32_t j = 0; j < columns.count; ++j) {
      const uint32_t column = columns.first + j * columns.step;
      const uint64_t from =
          of_row + bytes_to(static_cast<int32_t>(column), windows.axes[1].in_step);
      const T element = read_number<T>(windows.type, windows.a + static_cast<int64_t>(from));
      if (element > greatest || (element != element && greatest == greatest)) {
        greatest = element;
        found = row * windows.axes[1].in + column;
      }
    }
  }
  argument.places[place.image * argument.place_image_step +
                  place.channel * argument.place_channel_step +
                  place.row * argument.place_steps[0] + place.column * argument.place_steps[1]] =
      found;
}

template <class T>
TENURE_DEVICE void gather_gradients(const PoolGradientArgument& argument) {
  const PoolArgument& windows = argument.windows;
  const uint32_t number = blockIdx.x * kThreads + threadIdx.x;
  if (number >= argument.walk.count) return;
  const ResultPlace place = place_of(argument.walk, number);
  const bool is_adaptive = windows.is_adaptive != 0;
  const bool is_max = windows.is_max != 0;
  const ImageAxis& down = windows.axes[0];
  const ImageAxis& right = windows.axes[1];
  WindowRange rows = {};
  WindowRange columns = {};
  // Both axes by the same code, which is long, here and below.
  TENURE_ROLLED for (unsigned axis = 0; axis < kImageAxes; ++axis) {
    const WindowRange range =
        windows_with(windows.axes[axis], is_adaptive, axis == 0 ? place.row : place.column);
    if (axis == 0) {
      rows = range;
    } else {
      columns = range;
    }
  }
  const uint64_t image = bytes_to(static_cast<int32_t>(place.image), windows.out_image_step) +
                         bytes_to(static_cast<int32_t>(place.channel), windows.out_channel_step);
  const uint32_t first_place =
      place.image * argument.place_image_step + place.channel * argument.place_channel_step;
  const uint32_t own = place.row * right.in + place.column;
  T sum = 0;
  TENURE_ROLLED for (uint32_t y = rows.first; y < rows.end; ++y) {
    if (!has_element(down, is_adaptive, y, place.row)) continue;
    TENURE_ROLLED for (uint32_t x = columns.first; x < columns.end; ++x) {
      if (!has_element(right, is_adaptive, x, place.column)) continue;
      if (is_max && argument.places[first_place + y * argument.place_steps[0] +
                                    x * argument.place_steps[1]] != own) {
        continue;
      }
      const uint64_t from = image + bytes_to(static_cast<int32_t>(y), down.out_step) +
                            bytes_to(static_cast<int32_t>(x), right.out_step);
      T gradient = read_number<T>(windows.type, argument.g + static_cast<int64_t>(from));
      if (!is_max) {
        double all = 1;
        TENURE_ROLLED for (unsigned axis = 0; axis < kImageAxes; ++axis) {
          const uint32_t window = axis == 0 ? y : x;
          const WindowSpan span = span_of(windows.axes[axis], is_adaptive, window);
          all = all * counted(windows, axis, window, span.count);
        }
        gradient = gradient / static_cast<T>(all);
      }
      sum = sum + gradient;
    }
  }
  const uint64_t to = bytes_to(static_cast<int32_t>(place.image), argument.out_image_step) +
                      bytes_to(static_cast<int32_t>(place.channel), argument.out_channel_step) +
                      bytes_to(static_cast<int32_t>(place.row), argument.out_steps[0]) +
                      bytes_to(static_cast<int32_t>(place.column), argument.out_steps[1]);
  write_number(windows.type, argument.out + static_cast<int64_t>(to), sum);
}

}  // namespace tenure::cuda

using tenure::cuda::PoolGradientArgument;

TENURE_KERNEL(pool_greatest_f32, PoolGradientArgument) {
  tenure::cuda::find_greatest<float>(argument);
}
TENURE_KERNEL(pool_greatest_f64, PoolGradientArgument) {
  tenure::cuda::find_greatest<double>(argument);
}
TENURE_KERNEL(pool_gradient_f32, PoolGradientArgument) {
  tenure::cuda::gather_gradients<float>(argument);
}
TENURE_KERNEL(pool_gradient_f64, PoolGradientArgument) {
  tenure::cuda::gather_gradients<double>(argument);
}
