// Poolings: the maximum or the mean of a window's elements, each element of the result by a thread.
// It takes the window's rows one after the other, each from left to right, and adds in the runs of
// the CPU, whose bits it has. The padding is no element.
#include "cpu/window.hpp"
#include "cuda/kernels/floats.cuh"
#include "cuda/kernels/images/windows.cuh"

namespace tenure::cuda {

// Elements along an axis: `count` from `first` on, `step` apart, all of them in the image.
struct PoolSpan {
  uint32_t first;
  uint32_t count;
  uint32_t step;
};

// index * in / out, rounded down or up.
TENURE_DEVICE uint32_t evenly(uint32_t index, const ImageAxis& axis, uint32_t rounding) {
  return static_cast<uint32_t>((static_cast<uint64_t>(index) * axis.in + rounding) / axis.out);
}

// The least count of steps that is no less than `places`.
TENURE_DEVICE uint32_t steps_over(uint32_t places, uint32_t step) {
  return step == 1 ? places : (places + step - 1) / step;
}

TENURE_DEVICE PoolSpan span_of(const ImageAxis& axis, bool is_adaptive, uint32_t index) {
  if (is_adaptive) {
    const uint32_t first = evenly(index, axis, 0);
    return {first, evenly(index + 1, axis, axis.out - 1) - first, 1};
  }
  const uint32_t begin = index * axis.stride;  // of the padded image
  const uint32_t skipped =
      begin < axis.padding ? steps_over(axis.padding - begin, axis.dilation) : 0;
  const uint32_t first = begin + skipped * axis.dilation - axis.padding;
  if (skipped >= axis.kernel || first >= axis.in) return {0, 0, 1};
  const uint32_t there = steps_over(axis.in - first, axis.dilation);
  const uint32_t left = axis.kernel - skipped;
  return {first, there < left ? there : left, axis.dilation};
}

// The sum of a window, as cpu/kernels/window/window.cpp has it.
template <class T>
struct PoolSum {
  bool has_runs;
  uint32_t count = 0;  // of the run
  T even = 0;
  T odd = 0;
  T sum = 0;
  T lost = 0;

  TENURE_DEVICE explicit PoolSum(bool is_in_runs) : has_runs(is_in_runs) {}
  TENURE_DEVICE void add(T element) {
    if (has_runs && count % 2 != 0) {
      odd += element;
    } else {
      even += element;
    }
    if (++count == kernels::kMostInTurn && has_runs) end_run();
  }
  TENURE_DEVICE void end_run() {
    const Long<T> next = sum_of_any(sum, even + odd);
    sum = next.high;
    lost += next.low;
    even = 0;
    odd = 0;
    count = 0;
  }
  TENURE_DEVICE T total() {
    end_run();
    return lost == lost ? sum + lost : sum;
  }
};

template <class T>
TENURE_DEVICE void pool(const PoolArgument& argument) {
  const uint32_t number = blockIdx.x * kThreads + threadIdx.x;
  if (number >= argument.walk.count) return;
  const ResultPlace place = place_of(argument.walk, number);
  const ImageAxis& down = argument.axes[0];
  const ImageAxis& right = argument.axes[1];
  PoolSpan rows = {};
  PoolSpan columns = {};
  // Both axes by the same code, which is long.
  TENURE_ROLLED for (unsigned axis = 0; axis < kImageAxes; ++axis) {
    const PoolSpan span = span_of(argument.axes[axis], argument.is_adaptive != 0,
                                  axis == 0 ? place.row : place.column);
    if (axis == 0) {
      rows = span;
    } else {
      columns = span;
    }
  }
  const unsigned char* row =
      argument.a +
      static_cast<int64_t>(bytes_to(static_cast<int32_t>(place.image), argument.a_image_step) +
                           bytes_to(static_cast<int32_t>(place.channel), argument.a_channel_step) +
                           bytes_to(static_cast<int32_t>(rows.first), down.in_step) +
                           bytes_to(static_cast<int32_t>(columns.first), right.in_step));
  const int64_t row_step =
      static_cast<int64_t>(bytes_to(static_cast<int32_t>(rows.step), down.in_step));
  const int64_t column_step =
      static_cast<int64_t>(bytes_to(static_cast<int32_t>(columns.step), right.in_step));
  const bool is_max = argument.is_max != 0;
  const bool is_adaptive = argument.is_adaptive != 0;
  const uint64_t places =
      is_adaptive ? uint64_t{rows.count} * columns.count : uint64_t{down.kernel} * right.kernel;
  T found = -infinity<T>();
  PoolSum<T> sum(places > kernels::kMostInTurn);
  TENURE_ROLLED for (uint32_t i = 0; i < rows.count; ++i) {
    int64_t offset = static_cast<int64_t>(i) * row_step;
    TENURE_ROLLED for (uint32_t j = 0; j < columns.count; ++j) {
      const T element = read_number<T>(argument.type, row + offset);
      if (!is_max) sum.add(element);
      found = found > element || found != found ? found : element;
      offset += column_step;
    }
  }
  if (!is_max) {
    const bool counts_padding = argument.counts_padding != 0;
    const double all = static_cast<double>(counts_padding ? down.kernel : rows.count) *
                       static_cast<double>(counts_padding ? right.kernel : columns.count);
    found = sum.total() / static_cast<T>(all);
  }
  const uint64_t to = bytes_to(static_cast<int32_t>(place.image), argument.out_image_step) +
                      bytes_to(static_cast<int32_t>(place.channel), argument.out_channel_step) +
                      bytes_to(static_cast<int32_t>(place.row), down.out_step) +
                      bytes_to(static_cast<int32_t>(place.column), right.out_step);
  write_number(argument.type, argument.out + static_cast<int64_t>(to), found);
}

}  // namespace tenure::cuda

using tenure::cuda::PoolArgument;

TENURE_KERNEL(pool_f32, PoolArgument) { tenure::cuda::pool<float>(argument); }
TENURE_KERNEL(pool_f64, PoolArgument) { tenure::cuda::pool<double>(argument); }
