// Results are written whole, and depend on no unwritten memory. Every operation runs twice, with
// all that it allocates full of one byte and then of another, the outputs too: the same bytes come
// out; and with one thread or two, and memory of a hook or of the library, the same again.
#include <gtest/gtest.h>

#include "address_sanitizer.hpp"
#include "failing_allocator.hpp"
#include "sweep.hpp"

namespace tenure::sweeps {
namespace {

constexpr Byte kFills[] = {0x5A, 0xA5};

// The other sweeps have AddressSanitizer's checks too, so that here it takes a part.
bool is_part() { return has_address_sanitizer() && !is_long(); }

Answer answer_in(const Operation& operation, Operands with, const Place& place, Byte fill) {
  tnr_memory_trim();  // recycled memory has old results in it
  if (place.filled != nullptr) place.filled->set_fill(fill);
  with.context = place.context;
  with.fill = fill;
  // Where operands are small, the used parts of buffers are small too, and filling all would take
  // long.
  const bool is_small = with.a.minor.shape[0] < 2000 && !is_long();
  const test::FilledAllocations filled(fill, is_small ? 64 << 10 : 32 << 20);
  return operation(with);
}

void sweep(const std::vector<Operation>& operations, const Subject& subject, const Storage& storage,
           std::uint32_t flags) {
  const std::string name = subject.name(flags);
  for (const Operation& operation : operations) {
    // Dense operands are the same for all formats, except for the blocks that divide their shape.
    if (operation.is_of_dense() && storage.format != TNR_SPARSE_FORMAT_CSR) continue;
    SCOPED_TRACE(operation.name() + " of " + name);
    const Operands with = subject.operands(places()[0], flags);
    announce(name, operation, places()[0]);
    const Answer expected = answer_in(operation, with, places()[0], kFills[0]);
    expect_sound(expected);
    EXPECT_EQ(expected.false_flags, "");
    for (std::size_t i = 0; i < places().size(); ++i) {
      const Place& place = places()[i];
      for (const Byte fill : kFills) {
        // In the short sweep each place has another byte than the one before.
        if (!is_long() && fill == kFills[i % 2]) continue;
        announce(name, operation, place);
        const Answer answer = answer_in(operation, with, place, fill);
        EXPECT_EQ(difference(expected, answer), "")
            << place.name << ", memory full of " << std::hex << int{fill};
      }
    }
  }
}

// With no flags, and with all that are true.
void sweep_all(const Pattern& pattern, tnr_dtype index_dtype, tnr_dtype value_dtype) {
  for (const Storage& storage : {Storage{TNR_SPARSE_FORMAT_COO, index_dtype, value_dtype},
                                 Storage{TNR_SPARSE_FORMAT_CSR, index_dtype, value_dtype},
                                 Storage{TNR_SPARSE_FORMAT_CSC, index_dtype, value_dtype},
                                 Storage{TNR_SPARSE_FORMAT_BSR, index_dtype, value_dtype, 2, 2}}) {
    if (!takes(pattern, storage.format)) continue;
    const bool is_large = pattern.positions.size() > 2000;
    if (is_large && !is_long() && storage.format > TNR_SPARSE_FORMAT_CSR) continue;
    const Subject subject(pattern, storage);
    sweep(sparse_operations(), subject, storage, subject.true_flags());
    if (is_long() && subject.true_flags() != 0) sweep(sparse_operations(), subject, storage, 0);
  }
}

TEST(Unwritten, OfSmallMatrices) {
  for_each_small_matrix([](const Pattern& pattern, tnr_dtype index_dtype, tnr_dtype value_dtype) {
    if (is_part() && index_dtype == TNR_DTYPE_I64) return;
    sweep_all(pattern, index_dtype, value_dtype);
  });
  expect_no_overrun();
}

TEST(Unwritten, OfAllDtypes) {
  for_each_dtype(sweep_all);
  expect_no_overrun();
}

TEST(Unwritten, OfDenseOperands) {
  for (const Constant& dtype : dtypes()) {
    for (const std::int64_t columns : {7, 1100}) {
      if (columns > 7 && !is_long() && (is_part() || dtype.value != TNR_DTYPE_F32)) continue;
      const Storage storage = {TNR_SPARSE_FORMAT_COO, TNR_DTYPE_I32,
                               static_cast<tnr_dtype>(dtype.value)};
      const Subject shape({"dense", 300, columns, {{0, 0}}}, storage);
      sweep(dense_operations(), shape, storage, 0);
    }
  }
}

TEST(Unwritten, OfLargeMatrices) {
  const std::vector<Pattern> patterns = large_patterns();
  for (const Pattern& pattern : patterns) {
    if (is_part() && &pattern != patterns.data()) break;
    sweep_all(coalesced(pattern, TNR_SPARSE_FORMAT_CSR), TNR_DTYPE_I32, TNR_DTYPE_F32);
    if (!is_long()) continue;
    sweep_all(pattern, TNR_DTYPE_I64, TNR_DTYPE_F64);
  }
  expect_no_overrun();
}

}  // namespace
}  // namespace tenure::sweeps
