#include "dense/ordering/records.hpp"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstring>
#include <limits>
#include <utility>

#include "tenure/view.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Carry;
using kernels::KeyRule;
using kernels::Type;

unsigned width_log(Type type) {
  switch (type) {
    case Type::kI8:
    case Type::kU8:
    case Type::kBool8: return 0;
    case Type::kF16:
    case Type::kBF16:
    case Type::kI16:
    case Type::kU16: return 1;
    case Type::kF32:
    case Type::kI32:
    case Type::kU32: return 2;
    default: return 3;
  }
}

}  // namespace

KeyRule key_rule(Type type) noexcept {
  switch (type) {
    case Type::kF64: return {std::uint64_t{1} << 63, std::uint64_t{0x7ff} << 52, 0, false};
    case Type::kF32: return {std::uint64_t{1} << 31, std::uint64_t{0xff} << 23, 0, false};
    case Type::kF16: return {0x8000, 0x7c00, 0, false};
    case Type::kBF16: return {0x8000, 0x7f80, 0, false};
    case Type::kI8: return {0x80, 0, 0, false};
    case Type::kI16: return {0x8000, 0, 0, false};
    case Type::kI32: return {std::uint64_t{1} << 31, 0, 0, false};
    case Type::kI64: return {std::uint64_t{1} << 63, 0, 0, false};
    case Type::kBool8: return {0, 0, 0, true};
    default: return {0, 0, 0, false};
  }
}

void check_operand(const tnr_view& view, const char* name, const tnr_device& device) {
  check_view(view, name, device);
}
void check_operand_mut(const tnr_view_mut& view, const char* name, const tnr_device& device) {
  check_view_mut(view, name, device);
}

Records::Records(unsigned type, SortOrder order, Index index, std::int64_t count)
    : rule(key_rule(static_cast<Type>(type))) {
  constexpr std::int64_t kMostElements = INT64_MAX / 128;  // four records of 16 bytes, and more
  if (count > kMostElements) {
    fail(TNR_STATUS_OUT_OF_MEMORY, "%" PRId64 " elements to be sorted fit no memory", count);
  }
  const unsigned log = width_log(static_cast<Type>(type));
  const bool is_short = log < 3 && count <= std::numeric_limits<std::uint32_t>::max();
  const Carry carry = index == Index::kNone ? Carry::kNothing
                      : is_short            ? Carry::kIndex32
                                            : Carry::kIndex64;
  const auto carried = static_cast<unsigned>(carry);
  const unsigned record_log = carry == Carry::kNothing ? log : 2 + carried;
  const kernels::Ordering& ordering = kernels::ordering_kernels();
  load = ordering.load[log][carried];
  store = ordering.store[log][carried];
  store_indices = ordering.store_indices[carried];
  search = ordering.search[log];
  kernels = &ordering.records[record_log];
  width = std::int64_t{1} << log;
  bytes = std::int64_t{1} << record_log;
  key_offset = carry == Carry::kNothing ? 0 : bytes / 2;
  key_shift = carry == Carry::kIndex32 ? 32 : 0;
  if (order == SortOrder::kFalling) rule.flip = ones();
}

std::uint64_t Records::read(const Byte* from) const noexcept {
  const auto as = [&]<class U>(U bits) {
    std::memcpy(&bits, from, sizeof bits);
    return std::uint64_t{bits};
  };
  switch (width) {
    case 1: return as(std::uint8_t{});
    case 2: return as(std::uint16_t{});
    case 4: return as(std::uint32_t{});
    default: return as(std::uint64_t{});
  }
}

std::int64_t Records::find(const Byte* records, std::int64_t count,
                           std::uint64_t key) const noexcept {
  std::int64_t first = 0;
  while (count > 0) {
    const std::int64_t half = count / 2;
    const bool is_before = key_of(records + (first + half) * bytes) < key;
    first += is_before ? half + 1 : 0;
    count = is_before ? count - half - 1 : half;
  }
  return first;
}

Records::Bits Records::differing(const kernels::KeyFacts& facts) const noexcept {
  const std::uint64_t bits = (facts.key_or ^ facts.key_and) & ones();
  if (facts.key_or < facts.key_and || bits == 0) return {key_shift, key_shift};
  return {key_shift + static_cast<unsigned>(std::countr_zero(bits)),
          key_shift + 64 - static_cast<unsigned>(std::countl_zero(bits))};
}

bool Records::equals_differ(const kernels::KeyFacts& facts) const noexcept {
  const bool has_zero = (facts.zero_and & 1) == 0;
  return (has_zero && facts.zero_or != facts.zero_and) ||
         (facts.nan_or != 0 && facts.nan_or != facts.nan_and);
}

SharedSort::SharedSort(const Context& context, const Records& records, std::int64_t count)
    : context_(context),
      records_(records),
      slices_(std::min<std::int64_t>(slice_count_of(context, 2 * std::max<std::int64_t>(1, count)),
                                     4 * std::int64_t{context.thread_count()})),
      counts_(slices_ * kDigits, sizeof(std::int64_t)),
      ends_(kLevels * kDigits, sizeof(std::int64_t)) {}

bool SharedSort::move(const Byte* from, Byte* other, std::int64_t count, unsigned shift,
                      unsigned digit_bits, std::int64_t* ends) noexcept {
  const std::int64_t digits = std::int64_t{1} << digit_bits;
  std::int64_t* const counts = counts_.numbers();
  const auto begin = [&](std::int64_t slice) { return slice_begin(count, slices_, slice); };
  for_each_slice(context_, slices_, [&](std::int64_t slice) noexcept {
    std::fill_n(counts + slice * digits, digits, 0);
    records_.kernels->count(from + begin(slice) * records_.bytes, begin(slice + 1) - begin(slice),
                            shift, digit_bits, counts + slice * digits);
  });
  std::int64_t next = 0;
  for (std::int64_t digit = 0; digit < digits; ++digit) {
    const std::int64_t first = next;
    for (std::int64_t slice = 0; slice < slices_; ++slice) {
      next += std::exchange(counts[slice * digits + digit], next);
    }
    if (next - first == count) return false;
    ends[digit] = next;
  }
  for_each_slice(context_, slices_, [&](std::int64_t slice) noexcept {
    records_.kernels->scatter(from + begin(slice) * records_.bytes, begin(slice + 1) - begin(slice),
                              shift, digit_bits, counts + slice * digits, other);
  });
  return true;
}

void SharedSort::sort(Byte* from, Byte* other, std::int64_t count, Records::Bits bits,
                      bool into_other, std::int64_t level) noexcept {
  if (!is_long(count)) {
    return records_.kernels->sort({from, other, count, bits.low, bits.high}, into_other);
  }
  std::int64_t* const ends = ends_.numbers() + level * kDigits;
  unsigned digit_bits = 0;
  do {
    if (bits.low == bits.high) {
      if (into_other) std::memcpy(other, from, static_cast<std::size_t>(count * records_.bytes));
      return;
    }
    digit_bits = std::min(kDigitBits, bits.high - bits.low);
    bits.high -= digit_bits;
  } while (!move(from, other, count, bits.high, digit_bits, ends));
  const std::int64_t digits = std::int64_t{1} << digit_bits;
  const auto sort_digit = [&](std::int64_t digit, bool is_longer) noexcept {
    const std::int64_t first = digit == 0 ? 0 : ends[digit - 1];
    const std::int64_t own = ends[digit] - first;
    if (own == 0 || is_long(own) != is_longer) return;
    sort(other + first * records_.bytes, from + first * records_.bytes, own, bits, !into_other,
         level + 1);
  };
  for (std::int64_t digit = 0; digit < digits; ++digit) sort_digit(digit, true);
  for_each_slice(context_, digits, [&](std::int64_t digit) noexcept { sort_digit(digit, false); });
}

}  // namespace tenure
