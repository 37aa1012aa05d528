#include "dense/quantize/pixel_rows.hpp"

#include <algorithm>
#include <cstring>

#include "dense/quantize/product_parts.hpp"
#include "tenure/view.hpp"

namespace tenure {

using kernels::Byte;

namespace {

template <class T>
void add(const Byte* bytes, std::int64_t count, std::int32_t* sums) noexcept {
  for (std::int64_t i = 0; i < count; ++i) sums[i] += static_cast<T>(bytes[i]);
}
template <class T>
std::int32_t sum_of(const Byte* bytes, std::int64_t count) noexcept {
  std::int32_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<T>(bytes[i]);
  return sum;
}

// The indices i of 0 to count for which first + i * step is in 0 to extent.
struct Inside {
  std::int64_t begin;
  std::int64_t end;

  Inside(std::int64_t first, std::int64_t step, std::int64_t extent, std::int64_t count) noexcept
      : begin(first >= 0 ? 0 : std::min(count, (-first - 1) / step + 1)),
        end(first >= extent ? 0 : std::min(count, (extent - first - 1) / step + 1)) {
    end = std::max(begin, end);
  }
};

}  // namespace

void add_bytes(const Byte* bytes, std::int64_t count, bool is_signed, std::int32_t* sums) noexcept {
  is_signed ? add<std::int8_t>(bytes, count, sums) : add<std::uint8_t>(bytes, count, sums);
}

void gather_filters(const Context& context, const tnr_view& weight, Byte* to) {
  static constexpr std::uint32_t kOrder[] = {2, 3, 1, 0};
  tnr_view from = weight;
  std::int64_t shape[4];
  for (std::uint32_t axis = 0; axis < 4; ++axis) {
    from.shape[axis] = shape[axis] = weight.shape[kOrder[axis]];
    from.strides[axis] = weight.strides[kOrder[axis]];
  }
  const auto bytes = static_cast<std::size_t>(element_count(weight));
  copy_view(context, from, {make_view(to, bytes, 0, weight.dtype, 4, shape, nullptr)});
}

PixelRows::PixelRows(const WindowGeometry& geometry, Byte padding) noexcept
    : g_(geometry),
      padding_(padding),
      reads_in_place_(g_.places() == 1 && g_.strides[kHeight] == 1 && g_.strides[kWidth] == 1 &&
                      g_.padding[kHeight] == 0 && g_.padding[kWidth] == 0 &&
                      g_.in[kHeight] == g_.out[kHeight] && g_.in[kWidth] == g_.out[kWidth]) {}

const Byte* PixelRows::gather(const Byte* a, const Part& part, Byte* to) const noexcept {
  const Byte* const image = a + part.image * g_.a.image + part.group * g_.channels;
  if (reads_in_place_) return image + part.first * step();
  Byte* row = to;
  for (std::int64_t pixel = part.first; pixel < part.first + part.count; ++pixel) {
    gather_window(image, pixel / g_.out[kWidth] * g_.strides[kHeight] - g_.padding[kHeight],
                  pixel % g_.out[kWidth] * g_.strides[kWidth] - g_.padding[kWidth], row);
    row += step();
  }
  return to;
}

void PixelRows::gather_window(const Byte* image, std::int64_t top, std::int64_t left,
                              Byte* to) const noexcept {
  const std::int64_t channels = g_.channels;
  const std::int64_t row_bytes = g_.kernel[kWidth] * channels;
  // Places of a row of the kernel that follow each other, with all their channels.
  const bool are_adjacent = g_.a.place[kWidth] == channels && g_.dilations[kWidth] == 1;
  const Inside inside(left, g_.dilations[kWidth], g_.in[kWidth], g_.kernel[kWidth]);
  const std::int64_t places = inside.end - inside.begin;
  const std::int64_t copies = are_adjacent ? 1 : places;
  const std::int64_t bytes = are_adjacent ? places * channels : channels;
  for (std::int64_t down = 0; down < g_.kernel[kHeight]; ++down, to += row_bytes) {
    const std::int64_t y = top + down * g_.dilations[kHeight];
    const bool is_inside = places != 0 && y >= 0 && y < g_.in[kHeight];
    if (!is_inside || places < g_.kernel[kWidth]) {
      std::memset(to, padding_, static_cast<std::size_t>(row_bytes));
    }
    if (!is_inside) continue;
    const Byte* from = image + y * g_.a.place[kHeight] +
                       (left + inside.begin * g_.dilations[kWidth]) * g_.a.place[kWidth];
    Byte* out = to + inside.begin * channels;
    for (std::int64_t copy = 0; copy < copies; ++copy, out += bytes) {
      std::memcpy(out, from, static_cast<std::size_t>(bytes));
      from += g_.dilations[kWidth] * g_.a.place[kWidth];
    }
  }
}

void PixelRows::add_up(const Byte* rows, std::int64_t count, bool is_signed,
                       std::int32_t* sums) const noexcept {
  for (std::int64_t i = 0; i < count; ++i, rows += step()) {
    sums[i] =
        is_signed ? sum_of<std::int8_t>(rows, g_.depth()) : sum_of<std::uint8_t>(rows, g_.depth());
  }
}

}  // namespace tenure
