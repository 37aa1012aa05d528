// Records of one dtype, and sorting many of them on all threads.
#pragma once

#include <cstdint>

#include "cpu/dispatch.hpp"
#include "cpu/ordering.hpp"
#include "memory/scratch.hpp"
#include "tenure/context.hpp"
#include "tenure/ordering.hpp"
#include "tenure/view.hpp"
#include "threads/parallel.hpp"

namespace tenure {

// check_view() and check_view_mut(), which are a KiB of code wherever they are inlined: these calls
// are so long that they do not notice.
void check_operand(const tnr_view& view, const char* name, const tnr_device& device = kCpu);
void check_operand_mut(const tnr_view_mut& view, const char* name, const tnr_device& device = kCpu);
// The keys of a type, where the order rises.
kernels::KeyRule key_rule(kernels::Type type) noexcept;

// The row of the kernel tables.
inline constexpr auto kF64 = static_cast<unsigned>(kernels::Type::kF64);

// The records of a dtype, keys with an optional index, and the kernels for them.
struct Records {
  kernels::KeyRule rule;
  kernels::LoadRecords load;
  kernels::StoreKeys store;
  kernels::StoreIndices store_indices;
  kernels::SearchKeys search;
  const kernels::RecordKernels* kernels;
  std::int64_t width;       // bytes of an element
  std::int64_t bytes;       // of a record
  std::int64_t key_offset;  // bytes of a record before its key
  unsigned key_shift;       // of the key in the number that orders a record

  // Whether records of `count` elements have their index.
  enum class Index { kNone, kOwn };
  // `type` is a row of the kernel tables. The index has 64 bits where the elements are many. Throws
  // OUT_OF_MEMORY where a few records for each of `count` elements overflow the number of bytes.
  Records(unsigned type, SortOrder order, Index index, std::int64_t count);

  [[nodiscard]] std::uint64_t key_of(const kernels::Byte* record) const noexcept {
    return read(record + key_offset);
  }
  // The bits of an element, or a key.
  [[nodiscard]] std::uint64_t read(const kernels::Byte* from) const noexcept;
  // Where `key` begins or would begin among sorted records.
  [[nodiscard]] std::int64_t find(const kernels::Byte* records, std::int64_t count,
                                  std::uint64_t key) const noexcept;
  [[nodiscard]] std::uint64_t zero_key() const noexcept { return rule.sign ^ rule.flip; }
  [[nodiscard]] std::uint64_t nan_key() const noexcept { return ones(); }
  [[nodiscard]] std::uint64_t ones() const noexcept {
    return ~std::uint64_t{0} >> (64 - 8 * width);
  }
  // Questions about the bits of a float.
  [[nodiscard]] bool is_zero(std::uint64_t bits) const noexcept { return (bits & ~rule.sign) == 0; }
  [[nodiscard]] bool is_nan(std::uint64_t bits) const noexcept {
    return (bits & ~rule.sign) > rule.infinity;
  }

  // The bits in which the records differ; low == high: none.
  struct Bits {
    unsigned low;
    unsigned high;
    std::uint64_t least = 0;  // as in kernels::RecordRange
  };
  [[nodiscard]] Bits differing(const kernels::KeyFacts& facts) const noexcept;
  // Whether equal elements differ in their bits: zeros in their sign, NaN in anything.
  [[nodiscard]] bool equals_differ(const kernels::KeyFacts& facts) const noexcept;
};

// Returns the bytes of records of many rows, or the greatest number where these overflow.
inline std::int64_t bytes_of_rows(std::int64_t rows, std::int64_t bytes) noexcept {
  std::int64_t all;
  return __builtin_mul_overflow(rows, bytes, &all) ? INT64_MAX : all;
}

// Threads share a row of more records than this; the kernels count only up to 2^31.
inline constexpr std::int64_t kSharedRecords = std::int64_t{1} << 16;

// A sort of up to `count` records on all threads of the context: by one digit after the other, as
// the kernel does it, while a range is long; then range by range.
class SharedSort {
 public:
  // Throws OUT_OF_MEMORY.
  SharedSort(const Context& context, const Records& records, std::int64_t count);

  // The result is in `from`.
  void run(kernels::Byte* from, kernels::Byte* other, std::int64_t count,
           Records::Bits bits) noexcept {
    total_ = count;
    sort(from, other, count, bits, false, 0);
  }

 private:
  // So that the first cache holds a line of each place that records go to.
  static constexpr unsigned kDigitBits = 8;
  static constexpr std::int64_t kDigits = std::int64_t{1} << kDigitBits;
  static constexpr std::int64_t kLevels = 64 / kDigitBits;

  void sort(kernels::Byte* from, kernels::Byte* other, std::int64_t count, Records::Bits bits,
            bool into_other, std::int64_t level) noexcept;
  // Moves the records to their digits. Returns false, and moves nothing, where all records have one
  // digit.
  bool move(const kernels::Byte* from, kernels::Byte* other, std::int64_t count, unsigned shift,
            unsigned digit_bits, std::int64_t* ends) noexcept;
  [[nodiscard]] bool is_long(std::int64_t count) const noexcept {
    return count > kSharedRecords && (count > total_ / 8 || count > INT32_MAX);
  }

  const Context& context_;
  const Records& records_;
  std::int64_t slices_;
  std::int64_t total_ = 0;
  Scratch counts_;  // of each slice
  Scratch ends_;    // of each digit's records, level by level
};

}  // namespace tenure
