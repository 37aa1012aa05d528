// Arrays over memory of every kind, with canaries in the gaps, for the tests of operations.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "cpu/kernels/reference.hpp"
#include "layouts.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"

namespace tenure::test {

using kernels::Byte;
using kernels::Type;
using Shape = std::vector<std::int64_t>;

struct NamedType {
  Type type;
  tnr_dtype dtype;
};
// In the order of the kernels' tables.
inline constexpr NamedType kTypes[] = {
    {Type::kF64, TNR_DTYPE_F64},     {Type::kF32, TNR_DTYPE_F32}, {Type::kF16, TNR_DTYPE_F16},
    {Type::kBF16, TNR_DTYPE_BF16},   {Type::kI8, TNR_DTYPE_I8},   {Type::kI16, TNR_DTYPE_I16},
    {Type::kI32, TNR_DTYPE_I32},     {Type::kI64, TNR_DTYPE_I64}, {Type::kU8, TNR_DTYPE_U8},
    {Type::kU16, TNR_DTYPE_U16},     {Type::kU32, TNR_DTYPE_U32}, {Type::kU64, TNR_DTYPE_U64},
    {Type::kBool8, TNR_DTYPE_BOOL8},
};
inline bool is_float(Type type) { return type <= Type::kBF16; }

// How an array's elements lie in its memory.
enum class Arrangement {
  kRowMajor,
  kColumnMajor,
  kGaps,      // every second element, from the second on
  kReversed,  // as kGaps, every axis descending
  kShuffled,  // axes in a random order, with random gaps and signs
  kRepeated,  // stride 0 on half of the axes: inputs only
};
inline constexpr Arrangement kWritable[] = {Arrangement::kRowMajor, Arrangement::kColumnMajor,
                                            Arrangement::kGaps, Arrangement::kReversed,
                                            Arrangement::kShuffled};
inline constexpr Arrangement kReadable[] = {Arrangement::kRowMajor, Arrangement::kColumnMajor,
                                            Arrangement::kGaps,     Arrangement::kReversed,
                                            Arrangement::kShuffled, Arrangement::kRepeated};

using Random = std::mt19937_64;

// Owns memory that is filled with a canary, and a view of some of it. Starts one element into its
// allocation, so that no element but by luck lies as a vector register would like it.
class Array {
 public:
  static constexpr Byte kCanary = 0xA5;

  Array(tnr_dtype dtype, const Shape& shape, Arrangement arrangement, Random& random) {
    const auto rank = static_cast<std::uint32_t>(shape.size());
    std::vector<std::uint32_t> order(rank);  // innermost first
    for (std::uint32_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
    if (arrangement == Arrangement::kColumnMajor) std::reverse(order.begin(), order.end());
    if (arrangement == Arrangement::kShuffled) std::shuffle(order.begin(), order.end(), random);

    Layout layout(rank);
    std::int64_t next_stride = 1;
    std::int64_t below = 1;  // elements in front of data
    std::int64_t above = 1;
    for (const std::uint32_t axis : order) {
      const bool has_gap = arrangement == Arrangement::kGaps ||
                           arrangement == Arrangement::kReversed ||
                           (arrangement == Arrangement::kShuffled && random() % 2 == 0);
      const bool descends = arrangement == Arrangement::kReversed ||
                            (arrangement == Arrangement::kShuffled && random() % 2 == 0);
      const bool repeats = arrangement == Arrangement::kRepeated && random() % 2 == 0;
      const std::int64_t stride = repeats ? 0 : next_stride * (has_gap ? 2 : 1);
      const std::int64_t extent = std::max<std::int64_t>(shape[axis], 1);
      layout[axis] = {shape[axis], descends ? -stride : stride};
      (descends ? below : above) += (extent - 1) * stride;
      if (!repeats) next_stride = stride * extent;
    }
    const std::size_t width = element_size(dtype);
    memory_.assign(static_cast<std::size_t>(below + above + 1) * width, kCanary);
    view_ = view_of(memory_.data(), memory_.size(), below * static_cast<std::int64_t>(width), dtype,
                    layout);
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  [[nodiscard]] const tnr_view& view() const { return view_; }
  [[nodiscard]] tnr_view_mut out() const { return {view_}; }
  [[nodiscard]] std::vector<Byte> snapshot() const { return memory_; }

  // The elements' addresses in row-major order.
  [[nodiscard]] std::vector<Byte*> elements() {
    std::vector<Byte*> result;
    for_each_index(view_, [&](const Index& index) {
      result.push_back(memory_.data() + byte_of(view_, index));
    });
    return result;
  }
  // The element that broadcasting puts at `index` of a shape of rank `rank`.
  [[nodiscard]] const Byte* broadcast_element(const Index& index, std::uint32_t rank) const {
    Index own{};
    for (std::uint32_t axis = 0; axis < view_.rank; ++axis) {
      own[axis] = view_.shape[axis] == 1 ? 0 : index[rank - view_.rank + axis];
    }
    return memory_.data() + byte_of(view_, own);
  }

  // Whether every byte outside the elements is still the canary.
  [[nodiscard]] bool gaps_are_intact() {
    std::vector<Byte> rest = memory_;
    const std::size_t width = element_size(view_.dtype);
    for_each_index(view_, [&](const Index& index) {
      std::memset(rest.data() + byte_of(view_, index), kCanary, width);
    });
    return std::all_of(rest.begin(), rest.end(), [](Byte byte) { return byte == kCanary; });
  }

 private:
  std::vector<Byte> memory_;
  tnr_view view_;
};

// Any bits: for floats every class of number, for bool8 every byte.
inline void fill_with_bits(Array& array, Random& random) {
  for (Byte* const element : array.elements()) {
    for (std::size_t i = 0; i < element_size(array.view().dtype); ++i) {
      element[i] = static_cast<Byte>(random());
    }
  }
}

// Small whole numbers, so that equals are frequent and sums and products stay in range; for floats
// in eighths, around 1, and NaN now and then where asked for.
enum class Nans { kNone, kSome };
inline void fill_with_numbers(Array& array, Type type, Random& random, Nans nans = Nans::kNone) {
  for (Byte* const element : array.elements()) {
    double value = static_cast<double>(random() % 17);
    if (is_float(type)) value = value / 8 - 0.5;
    if (is_float(type) && nans == Nans::kSome && random() % 29 == 0) value = std::nan("");
    Byte bytes[8];
    std::memcpy(bytes, &value, sizeof value);
    kernels::reference::cast(Type::kF64, bytes, type, element);
  }
}

inline bool is_nan_element(Type type, const Byte* element) {
  Byte truth = 0;
  kernels::reference::compare(0, type, element, element, &truth);
  return truth == 0;
}

// Equal bytes; a NaN equals every NaN.
inline bool is_same_element(Type type, const Byte* a, const Byte* b) {
  if (is_float(type) && is_nan_element(type, a) && is_nan_element(type, b)) return true;
  return std::memcmp(a, b, kernels::reference::element_bytes(type)) == 0;
}

inline std::string describe(const tnr_view& view) {
  std::string text = dtype_name(view.dtype);
  text += shape_text(view.rank, view.shape).text;
  return text + " strides " + shape_text(view.rank, view.strides).text;
}

inline const std::vector<Shape>& shapes() {
  static const std::vector<Shape> kShapes = {
      {},        {0},        {1},        {7},
      {16},      {33},       {256},      {1000},
      {3, 0, 2}, {5, 1, 33}, {19, 23},   {40, 3},
      {2, 3, 4}, {1, 1, 1},  {3, 2, 17}, {2, 1, 3, 2, 1, 2, 2, 3},
  };
  return kShapes;
}

// A dense array made of literals, and back.
template <class T>
struct Literal {
  std::vector<T> values;
  tnr_view view;

  Literal(tnr_dtype dtype, std::vector<T> given) : values(std::move(given)) {
    view = view_of(values.data(), values.size() * sizeof(T), 0, dtype,
                   {{static_cast<std::int64_t>(values.size()), 1}});
  }
  [[nodiscard]] tnr_view_mut out() const { return {view}; }
};

template <class T>
tnr_scalar scalar_of(tnr_dtype dtype, T value) {
  tnr_scalar scalar{};
  scalar.dtype = dtype;
  std::memcpy(scalar.bytes, &value, sizeof value);
  return scalar;
}

}  // namespace tenure::test
