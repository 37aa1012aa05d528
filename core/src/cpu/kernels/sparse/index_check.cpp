// Validation of sparse index arrays: branch-free predicates over whole arrays, which compilers
// vectorise.
#include "cpu/kernels/number.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class I>
struct Unsigned;
template <>
struct Unsigned<int32_t> {
  using type = uint32_t;
};
template <>
struct Unsigned<int64_t> {
  using type = uint64_t;
};

// Indices that are taken at a time: no count of them overflows the index type.
constexpr int64_t kPart = 1 << 16;

template <class I>
bool are_below(const Byte* indices, int64_t count, int64_t limit) {
  using U = typename Unsigned<I>::type;
  // Negative indices are above every limit when they are read as unsigned numbers.
  constexpr U kHighest = static_cast<U>(~U{0}) >> 1;
  if (limit <= 0) return count == 0;
  const U last = static_cast<uint64_t>(limit - 1) > kHighest ? kHighest : static_cast<U>(limit - 1);
  for (int64_t begin = 0; begin < count; begin += kPart) {
    const int64_t end = count - begin > kPart ? begin + kPart : count;
    U above = 0;
    for (int64_t i = begin; i < end; ++i) {
      above |= static_cast<U>(load<U>(indices + i * static_cast<int64_t>(sizeof(U))) > last);
    }
    if (above != 0) return false;
  }
  return true;
}

struct Falls {
  template <class I>
  static bool at(I before, I index) {
    return index < before;
  }
};
struct Stays {
  template <class I>
  static bool at(I before, I index) {
    return index <= before;
  }
};

template <class Rule, class I>
int64_t count_where(const Byte* indices, int64_t count) {
  constexpr int64_t kBytes = sizeof(I);
  int64_t found = 0;
  for (int64_t begin = 1; begin < count; begin += kPart) {
    const int64_t end = count - begin > kPart ? begin + kPart : count;
    I part = 0;
    for (int64_t i = begin; i < end; ++i) {
      part += static_cast<I>(
          Rule::at(load<I>(indices + (i - 1) * kBytes), load<I>(indices + i * kBytes)));
    }
    found += part;
  }
  return found;
}

// Whether the rule holds for no entry and the one before it; rows are compared before columns.
template <class Rule, class I>
bool is_nowhere(const Byte* rows, const Byte* cols, int64_t count) {
  constexpr int64_t kBytes = sizeof(I);
  for (int64_t begin = 1; begin < count; begin += kPart) {
    const int64_t end = count - begin > kPart ? begin + kPart : count;
    I found = 0;
    for (int64_t i = begin; i < end; ++i) {
      const I row_before = load<I>(rows + (i - 1) * kBytes);
      const I row = load<I>(rows + i * kBytes);
      const I falls = static_cast<I>(row < row_before);
      const I equal = static_cast<I>(row == row_before);
      const I then =
          static_cast<I>(Rule::at(load<I>(cols + (i - 1) * kBytes), load<I>(cols + i * kBytes)));
      found |= falls | (equal & then);
    }
    if (found != 0) return false;
  }
  return true;
}

template <class I>
constexpr IndexChecks kChecks = {are_below<I>, count_where<Falls, I>, count_where<Stays, I>,
                                 is_nowhere<Falls, I>, is_nowhere<Stays, I>};

}  // namespace

const IndexChecks kIndexChecks[kIndexTypeCount] = {kChecks<int32_t>, kChecks<int64_t>};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
