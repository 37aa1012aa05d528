// Poolings: the maximum or the mean of a window's elements, each element of the result by a thread.
// It takes the window's rows one after the other, each from left to right, and adds in the runs of
// the CPU, whose bits it has. The padding is no element.
#include "cpu/window.hpp"
#include "cuda/kernels/floats.cuh"
#include "cuda/kernels/images/windows.cuh"

namespace tenure::cuda {

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
  WindowSpan rows = {};
  WindowSpan columns = {};
  // Both axes by the same code, which is long.
  TENURE_ROLLED for (unsigned axis = 0; axis < kImageAxes; ++axis) {
    const WindowSpan span = span_of(argument.axes[axis], argument.is_adaptive != 0,
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
    const double all = counted(argument, 0, place.row, rows.count) *
                       counted(argument, 1, place.column, columns.count);
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
