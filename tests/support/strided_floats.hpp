// Arrays of floats in any layout, for the tests of products and convolutions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "cpu/dispatch.hpp"
#include "layouts.hpp"

namespace tenure::test {

using Random = std::mt19937_64;
using Shape = std::vector<std::int64_t>;

template <class T>
constexpr tnr_dtype kDtype = sizeof(T) == 4 ? TNR_DTYPE_F32 : TNR_DTYPE_F64;

inline std::int64_t below(Random& random, std::int64_t bound) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
}

template <class T>
tnr_scalar number(T value) {
  tnr_scalar scalar = {};
  scalar.dtype = kDtype<T>;
  std::memcpy(scalar.bytes, &value, sizeof value);
  return scalar;
}

enum class Access { kRead, kWrite };

// An array somewhere in memory. Memory outside the elements is NaN, so that a result that read it
// would be NaN too.
template <class T>
struct Operand {
  std::vector<T> memory;
  tnr_view view;

  // Row-major.
  explicit Operand(const Shape& shape, T value = {}) {
    std::vector<std::int64_t> strides(shape.size());
    // Huge extents have no elements, since some other extent is 0: any product will do.
    std::uint64_t count = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      strides[axis] = static_cast<std::int64_t>(count);
      count *= static_cast<std::uint64_t>(shape[axis]);
    }
    lay(shape, strides, 0, static_cast<std::int64_t>(count), value);
  }

  // In any order of axes, with gaps, backwards, and repeated where it is read.
  Operand(const Shape& shape, Access access, Random& random) {
    std::vector<std::size_t> order(shape.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (random() % 3 != 0) std::shuffle(order.begin(), order.end(), random);
    const bool is_dense = random() % 2 == 0;
    std::vector<std::int64_t> strides(shape.size());
    std::int64_t next = 1;
    std::int64_t first = 0;
    std::int64_t reach = 1;
    for (const std::size_t axis : order) {
      if (!is_dense && random() % 3 == 0) next += below(random, 20);
      const bool repeats = access == Access::kRead && !is_dense && random() % 8 == 0;
      const bool descends = !is_dense && random() % 4 == 0;
      strides[axis] = repeats ? 0 : descends ? -next : next;
      if (repeats || shape[axis] == 0) continue;
      if (descends) first += (shape[axis] - 1) * next;
      reach += (shape[axis] - 1) * next;
      next *= shape[axis];
    }
    lay(shape, strides, first, reach, std::numeric_limits<T>::quiet_NaN());
  }

  void lay(const Shape& shape, const std::vector<std::int64_t>& strides, std::int64_t first,
           std::int64_t count, T value) {
    memory.assign(static_cast<std::size_t>(count), value);
    Layout layout;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      layout.push_back({shape[axis], strides[axis]});
    }
    view = view_of(memory.data(), memory.size() * sizeof(T),
                   first * static_cast<std::int64_t>(sizeof(T)), kDtype<T>, layout);
  }

  Operand(const Operand& from) { *this = from; }
  Operand& operator=(const Operand& from) {
    memory = from.memory;
    view = from.view;
    const auto offset = static_cast<const T*>(from.view.data) - from.memory.data();
    view.base = memory.data();
    view.data = memory.data() + offset;
    return *this;
  }

  [[nodiscard]] T& at(const Index& index) {
    return memory[static_cast<std::size_t>(byte_of(view, index)) / sizeof(T)];
  }
  [[nodiscard]] tnr_view_mut out() const { return {view}; }

  Operand& fill(Random& random) {
    std::normal_distribution<T> normal;
    for_each_index(view, [&](const Index& index) { at(index) = normal(random); });
    return *this;
  }
};

// Whether products of dense matrices round a multiplication and an addition once.
inline bool has_fma() {
#if defined(__x86_64__)
  return instruction_set().base != 0;
#else
  return false;
#endif
}

// Equal bits; a NaN equals every NaN.
template <class T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

}  // namespace tenure::test
