// Entries in the order of their rows or positions, and those of one position made one or kept: keys,
// which are sorted by digits (../indexed.cu); marks of the entries that begin one of the result,
// which a prefix sum (../scan/scan.cu) makes numbers of; and the result.
//
// A position has one thread, since floats are rounded in the order of their entries. No atomics.
#include "cuda/kernels/floats.cuh"
#include "cuda/kernels/rules/combine.cuh"
#include "cuda/kernels/sparse/rows.cuh"

namespace tenure::cuda {

class OrderedEntries {
 public:
  explicit TENURE_DEVICE OrderedEntries(const EntryOrderArgument& argument)
      : argument_(argument), count_(static_cast<uint32_t>(argument.a.entries)) {
    if (argument.is_coo != 0) {
      last_ = argument.a.entries;
      return;
    }
    first_ = major_at(0);
    last_ = major_at(static_cast<uint64_t>(argument.a.rows));
    if (first_ > last_ || last_ > argument.a.entries) first_ = last_ = 0;
    if (argument.places != nullptr) shift_ = first_;
  }

  // Makes the key of an entry: the word that is sorted next, of its position as a number, rows
  // before columns. Entries that no row has come behind all others.
  TENURE_DEVICE void make_key(uint32_t at) const {
    const uint32_t entry = entry_at(at);
    const uint64_t index = minor_at(entry);
    const uint64_t minor = index < argument_.a.columns ? index : 0;
    const uint64_t major = row_of_key(entry);
    const uint32_t shift = argument_.key_shift;
    const uint32_t minor_bits = argument_.minor_bits;
    uint32_t key;
    if (shift >= minor_bits) {
      key = static_cast<uint32_t>(major >> (shift - minor_bits));
    } else {
      key = static_cast<uint32_t>(minor >> shift | major << (minor_bits - shift));
    }
    argument_.keys[at] = key;
    if (argument_.own_places != nullptr) argument_.own_places[at] = at;
  }

  // All that is wrong is found here, where every offset and every index is read.
  TENURE_DEVICE void mark() {
    if (thread() == 0) argument_.numbers[0] = 0;
    TENURE_ROLLED for (uint64_t at = thread(); at < count_; at += threads()) {
      argument_.numbers[at + 1] = begins(static_cast<uint32_t>(at)) ? 1 : 0;
    }
    if (argument_.is_coo == 0) check_offsets();
    // Where both are found, either may be reported.
    if (falls_) *argument_.a.finding = kEntriesFall;
    if (is_wrong_) *argument_.a.finding = kEntriesWrong;
  }

  TENURE_DEVICE void store() const {
    TENURE_ROLLED for (uint64_t at = thread(); at < count_; at += threads()) {
      const uint32_t number = argument_.numbers[at];
      if (argument_.numbers[at + 1] != number) store_position(static_cast<uint32_t>(at), number);
    }
    if (argument_.has_offsets == 0) return;
    const auto rows = static_cast<uint64_t>(argument_.a.rows);
    TENURE_ROLLED for (uint64_t row = thread(); row <= rows; row += threads()) {
      const uint64_t at = argument_.is_coo != 0 ? first_of(row) : major_at(row) - shift_;
      write_index(argument_.major, is_wide(), row, argument_.numbers[at <= count_ ? at : 0]);
    }
  }

 private:
  static TENURE_DEVICE uint64_t thread() {
    return static_cast<uint64_t>(blockIdx.x) * kThreads + threadIdx.x;
  }
  static TENURE_DEVICE uint64_t threads() { return static_cast<uint64_t>(gridDim.x) * kThreads; }

  [[nodiscard]] TENURE_DEVICE bool is_wide() const { return argument_.a.has_wide_indices != 0; }
  [[nodiscard]] TENURE_DEVICE uint64_t major_at(uint64_t at) const {
    return unsigned_index(argument_.a.offsets, is_wide(), at);
  }
  [[nodiscard]] TENURE_DEVICE uint64_t minor_at(uint64_t at) const {
    return unsigned_index(argument_.a.indices, is_wide(), at);
  }
  // Which of all entries is there in the order; a permutation, whatever the keys were.
  [[nodiscard]] TENURE_DEVICE uint32_t entry_at(uint32_t at) const {
    return argument_.places != nullptr ? argument_.places[at] : at;
  }

  // The last row that begins at the entry or before it, of those that there are.
  [[nodiscard]] TENURE_DEVICE uint64_t row_of(uint64_t entry) const {
    uint64_t row = 0;
    auto end = static_cast<uint64_t>(argument_.a.rows);
    TENURE_ROLLED for (; end - row > 1;) {
      const uint64_t middle = row + (end - row) / 2;
      if (major_at(middle) <= entry) {
        row = middle;
      } else {
        end = middle;
      }
    }
    return row;
  }
  [[nodiscard]] TENURE_DEVICE uint64_t row_of_key(uint32_t entry) const {
    const auto rows = static_cast<uint64_t>(argument_.a.rows);
    if (argument_.is_coo != 0) {
      const uint64_t row = major_at(entry);
      return row < rows ? row : 0;
    }
    return entry >= first_ && entry < last_ ? row_of(entry) : rows;
  }

  // Where entries of COO of the row begin in the order, or would.
  [[nodiscard]] TENURE_DEVICE uint64_t first_of(uint64_t row) const {
    uint64_t at = 0;
    uint64_t end = count_;
    TENURE_ROLLED for (; at < end;) {
      const uint64_t middle = at + (end - at) / 2;
      if (row_of_key(entry_at(static_cast<uint32_t>(middle))) < row) {
        at = middle + 1;
      } else {
        end = middle;
      }
    }
    return at;
  }

  // Whether the entry there is the first of its position in the order; no entry of a row is none.
  TENURE_DEVICE bool begins(uint32_t at) {
    // Rows have the same number of entries, and so the same offsets, in the order as in the matrix.
    const uint64_t offset = at + shift_;
    if (offset < first_ || offset >= last_) return false;
    const uint32_t entry = entry_at(at);
    const uint64_t minor = minor_at(entry);
    const uint64_t major = argument_.is_coo != 0 ? major_at(entry) : 0;
    if (minor >= argument_.a.columns || (argument_.is_coo != 0 && !is_row(major))) is_wrong_ = true;
    if (offset == first_) return true;
    const uint32_t before = entry_at(at - 1);
    if (argument_.keeps_all != 0) {
      if (argument_.must_rise != 0 && major < major_at(before)) falls_ = true;
      return true;
    }
    if (minor != minor_at(before)) return true;
    if (argument_.is_coo != 0) return major != major_at(before);
    return major_at(row_of(offset)) == offset;
  }
  [[nodiscard]] TENURE_DEVICE bool is_row(uint64_t row) const {
    return row < static_cast<uint64_t>(argument_.a.rows);
  }

  TENURE_DEVICE void check_offsets() {
    const auto rows = static_cast<uint64_t>(argument_.a.rows);
    TENURE_ROLLED for (uint64_t row = thread(); row <= rows; row += threads()) {
      const uint64_t next = row < rows ? major_at(row + 1) : argument_.a.entries;
      if (major_at(row) > next) is_wrong_ = true;
    }
  }

  // Stores the entry `number` of the result from all entries from `at` on that have this number.
  // Indices may have changed since they were checked.
  TENURE_DEVICE void store_position(uint32_t at, uint32_t number) const {
    const uint32_t entry = entry_at(at);
    const uint64_t minor = minor_at(entry);
    write_index(argument_.minor, is_wide(), number, minor < argument_.a.columns ? minor : 0);
    if (argument_.has_offsets == 0) {
      const uint64_t major = major_at(entry);
      write_index(argument_.major, is_wide(), number, is_row(major) ? major : 0);
    }
    const uint64_t end = last_ - shift_ < count_ ? last_ - shift_ : count_;
    uint64_t value = load(entry);
    TENURE_ROLLED for (uint64_t k = uint64_t{at} + 1;
                       k < end && argument_.numbers[k + 1] == number + 1; ++k) {
      value = met(value, load(entry_at(static_cast<uint32_t>(k))));
    }
    put(number, value);
  }

  [[nodiscard]] TENURE_DEVICE bool is_summed_half() const {
    return argument_.op != 0 && is_half(argument_.type);
  }
  // Bits of a number; of halves that meet those of f32.
  [[nodiscard]] TENURE_DEVICE uint64_t load(uint32_t entry) const {
    const uint32_t shift = argument_.element_shift;
    const unsigned char* const from = argument_.a.values + (static_cast<uint64_t>(entry) << shift);
    if (argument_.has_halves != 0) {
      return static_cast<uint64_t>(read<uint32_t>(from + 4)) << 32 | read<uint32_t>(from);
    }
    if (is_summed_half()) return bits_of(read_number<float>(argument_.type, from));
    return read_bits(shift, from);
  }
  // Above the bits of a narrow integer a sum may have any.
  [[nodiscard]] TENURE_DEVICE uint64_t met(uint64_t earlier, uint64_t later) const {
    if (argument_.op == 0) return later;
    return combined_bits(static_cast<Binary>(argument_.op),
                         is_summed_half() ? ElementType::kF32 : argument_.type,
                         argument_.element_shift, earlier, later);
  }
  TENURE_DEVICE void put(uint32_t number, uint64_t value) const {
    const uint32_t shift = argument_.element_shift;
    unsigned char* const to = argument_.values + (static_cast<uint64_t>(number) << shift);
    if (is_summed_half()) {
      return write_number(argument_.type, to, bit_copy<float>(static_cast<uint32_t>(value)));
    }
    // Any byte but 0 is true.
    const bool is_truth = argument_.type == ElementType::kBool8;
    write_bits(shift, to, is_truth && value != 0 ? 1 : value);
  }

  const EntryOrderArgument& argument_;
  const uint32_t count_;
  uint64_t first_ = 0;  // the entries that rows have
  uint64_t last_ = 0;
  uint64_t shift_ = 0;  // what is sorted begins with them
  bool is_wrong_ = false;
  bool falls_ = false;
};

}  // namespace tenure::cuda

using tenure::cuda::EntryOrderArgument;

TENURE_KERNEL(entry_keys, EntryOrderArgument) {
  const uint32_t at = blockIdx.x * tenure::cuda::kThreads + threadIdx.x;
  if (at < argument.a.entries) tenure::cuda::OrderedEntries(argument).make_key(at);
}
TENURE_KERNEL(entry_marks, EntryOrderArgument) { tenure::cuda::OrderedEntries(argument).mark(); }
TENURE_KERNEL(entry_store, EntryOrderArgument) { tenure::cuda::OrderedEntries(argument).store(); }
