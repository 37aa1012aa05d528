// A range of a matrix is its entries and nothing else. Every operation on ranges of rows, columns
// and rows of blocks, whose arrays have entries of other rows before and behind, is the same to the
// bit as on a copy that has only the range's entries; so are its refusals, and memory outside the
// range stays unchanged.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "given_attributes.hpp"
#include "sweep.hpp"

namespace tenure::sweeps {
namespace {

constexpr std::int64_t kBefore = 3;  // rows that are not of the range
constexpr std::int64_t kBehind = 2;

// The pattern with rows around it that have entries too, or columns where these are compressed.
Pattern padded(const Pattern& pattern, tnr_sparse_format format) {
  const bool by_cols = format == TNR_SPARSE_FORMAT_CSC;
  Pattern larger = pattern;
  std::int64_t& extent = by_cols ? larger.cols : larger.rows;
  const std::int64_t other = by_cols ? larger.rows : larger.cols;
  for (Position& at : larger.positions) (by_cols ? at.col : at.row) += kBefore;
  const std::int64_t behind = kBefore + extent;
  extent += kBefore + kBehind;
  for (std::int64_t line = 0; line < extent; ++line) {
    if (line >= kBefore && line < behind) continue;
    for (std::int64_t i = 0; i <= line % 4 + 1 && other != 0; ++i) {
      const std::int64_t at = (line * 5 + i * 3) % other;
      larger.positions.push_back(by_cols ? Position{at, line} : Position{line, at});
    }
  }
  return larger;
}

// A matrix as a range of a larger one, and as a copy.
class Range {
 public:
  Range(const Pattern& pattern, const Storage& storage)
      : extent_(storage.format == TNR_SPARSE_FORMAT_CSC ? pattern.cols : pattern.rows),
        whole_(padded(pattern, storage.format), storage),
        copy_(whole_.range(kBefore, kBefore + extent_)) {}

  [[nodiscard]] tnr_sparse_view range(std::uint32_t flags) const {
    return whole_.range(kBefore, kBefore + extent_, flags);
  }
  [[nodiscard]] tnr_sparse_view copy(std::uint32_t flags) const { return copy_.view(flags); }
  // A handle of the whole matrix, to take the same range of.
  [[nodiscard]] Handle hold() const {
    const tnr_sparse_view whole = whole_.view();
    const tnr_sparse_convert_attributes blocks = test::blocks_like(whole);
    return Handle(tnr_sparse_convert(nullptr, whole.format, &whole, &blocks));
  }
  [[nodiscard]] tnr_sparse_view range_of(const Handle& handle) const {
    tnr_sparse_view part = handle.view();
    const tnr_sparse_view lent = range(0);
    const std::size_t width = tnr_dtype_size_bytes(part.major.dtype);
    const tnr_view major = part.major;
    part.rows = lent.rows;
    part.cols = lent.cols;
    part.major = lent.major;
    part.major.owner = major.owner;
    part.major.data = part.major.base = static_cast<const Byte*>(major.data) + kBefore * width;
    return part;
  }
  [[nodiscard]] std::uint32_t true_flags() const {
    std::uint32_t flags = 0;
    for (const std::uint32_t flag : {TNR_SPARSE_SORTED, TNR_SPARSE_UNIQUE}) {
      const tnr_sparse_view view = copy(flag);
      if (tnr_sparse_check(&view) == TNR_STATUS_OK) flags |= flag;
    }
    return flags;
  }

 private:
  std::int64_t extent_;
  Matrix whole_;
  Matrix copy_;
};

// Functions that take only whole matrices, by their own contract, or give the arrays as they are.
const std::set<std::string> kOfWholeMatrices = {"tnr_sparse_create", "tnr_sparse_batch_at"};

class Ranges : public testing::Test {
 protected:
  void compare(const Operation& operation, const std::string& name, const Place& place,
               const Operands& range, const Operands& copy) {
    announce(name, operation, place);
    SCOPED_TRACE(operation.name() + " of " + name + ", " + place.name);
    const Answer of_range = operation(range);
    const Answer of_copy = operation(copy);
    expect_sound(of_range);
    EXPECT_EQ(difference(of_range, of_copy), "") << "(the range's, the copy's)";
    EXPECT_EQ(of_range.false_flags, "");
  }

  // Each of the three operands as a range, the others as copies; and all.
  void sweep(const Pattern& pattern, const Storage& storage) {
    const Subject subject(pattern, storage);
    const std::array<Range, 3> operands = {Range(subject.patterns()[0], storage),
                                           Range(subject.patterns()[1], storage),
                                           Range(subject.patterns()[2], storage)};
    std::uint32_t flags = kBothFlags;
    for (const Range& operand : operands) flags &= operand.true_flags();
    const Handle held = operands[0].hold();
    ASSERT_NE(held, nullptr) << tnr_last_error()->message;

    Operands copies;
    copies.a = operands[0].copy(flags);
    copies.right = operands[1].copy(flags);
    copies.mask = operands[2].copy(flags);
    std::size_t turn = 0;
    for (const Operation& operation : sparse_operations()) {
      if (operation.is_of_dense() || kOfWholeMatrices.count(operation.function) != 0) continue;
      const Place& place = places()[turn++ % places().size()];
      copies.context = place.context;
      Operands ranges = copies;
      ranges.a = operands[0].range(flags);
      if (is_long() || pattern.positions.size() < 2000) {
        compare(operation, "a range, " + subject.name(flags), place, ranges, copies);
      }
      ranges.right = operands[1].range(flags);
      ranges.mask = operands[2].range(flags);
      compare(operation, "three ranges, " + subject.name(flags), place, ranges, copies);
      // Its flags are the whole's.
      if (operation.function == "tnr_sparse_unary") continue;  // of whole matrices, says it
      Operands bare = copies;
      bare.a = operands[0].copy(0);
      ranges.a = operands[0].range_of(held);
      ranges.right = copies.right;
      ranges.mask = copies.mask;
      ASSERT_EQ(ranges.a.flags, 0u);
      compare(operation, "a range of a held one, " + subject.name(0), place, ranges, bare);
    }
  }

  void sweep_all(const Pattern& pattern, tnr_dtype index_dtype, tnr_dtype value_dtype) {
    sweep(pattern, {TNR_SPARSE_FORMAT_CSR, index_dtype, value_dtype});
    sweep(pattern, {TNR_SPARSE_FORMAT_CSC, index_dtype, value_dtype});
    sweep(pattern, {TNR_SPARSE_FORMAT_BSR, index_dtype, value_dtype, 2, 2});
    sweep(pattern, {TNR_SPARSE_FORMAT_BSR, index_dtype, value_dtype, 3, 1});
  }
};

TEST_F(Ranges, OfSmallMatrices) {
  for_each_small_matrix(
      [this](const Pattern& pattern, tnr_dtype index_dtype, tnr_dtype value_dtype) {
        sweep_all(pattern, index_dtype, value_dtype);
      });
  expect_no_overrun();
}

TEST_F(Ranges, OfAllDtypes) {
  for_each_dtype([this](const Pattern& pattern, tnr_dtype index_dtype, tnr_dtype value_dtype) {
    sweep_all(pattern, index_dtype, value_dtype);
  });
  expect_no_overrun();
}

TEST_F(Ranges, OfLargeMatrices) {
  for (const Pattern& pattern : large_patterns()) {
    if (!takes(pattern, TNR_SPARSE_FORMAT_CSR)) continue;
    const Pattern ordered = coalesced(pattern, TNR_SPARSE_FORMAT_CSR);
    if (!is_long()) {
      sweep(ordered, {TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32});
      sweep(ordered, {TNR_SPARSE_FORMAT_CSC, TNR_DTYPE_I64});
      continue;
    }
    sweep_all(ordered, TNR_DTYPE_I32, TNR_DTYPE_F32);
    sweep_all(pattern, TNR_DTYPE_I64, TNR_DTYPE_F32);
  }
  expect_no_overrun();
}

}  // namespace
}  // namespace tenure::sweeps
