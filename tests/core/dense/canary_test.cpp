// Every operation writes exactly the bytes of its output's elements and reads none but those of its
// inputs', however they lie: canaries in every gap and past every end, and on each side a page that
// faults. Results are compared with the same operation on dense memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cpu/kernels/reference.hpp"
#include "cpu/operations.hpp"
#include "given_attributes.hpp"
#include "guarded.hpp"
#include "tenure/tenure.h"

using namespace tenure;
using tenure::test::attributes;
using tenure::test::Byte;
using tenure::test::End;
using tenure::test::Guarded;
using tenure::test::kArrangements;

namespace {

// Past twice the elements of a vector register, for the narrowest type.
constexpr std::int64_t kMostColumns = 130;
constexpr std::int64_t kMostRows = 3;
constexpr std::int64_t kMostElements = kMostRows * kMostColumns;
// Extents of operands that are moved in square blocks: around one register of elements, and around
// a block.
constexpr std::int64_t kTileExtents[] = {2, 8, 15, 17, 33, 64, 70};
constexpr std::int64_t kMostTileElements = 70 * 70;
// Work that is shared among threads, in few rows and in many.
struct Extents {
  std::int64_t rows;
  std::int64_t columns;
};
constexpr Extents kShared[] = {{3, 15'001}, {257, 175}, {1'021, 44}};
constexpr std::int64_t kMostSharedElements = 3 * 15'001;

constexpr tnr_dtype kNumbers[] = {TNR_DTYPE_F64, TNR_DTYPE_F32, TNR_DTYPE_F16, TNR_DTYPE_BF16,
                                  TNR_DTYPE_I8,  TNR_DTYPE_I16, TNR_DTYPE_I32, TNR_DTYPE_I64,
                                  TNR_DTYPE_U8,  TNR_DTYPE_U16, TNR_DTYPE_U32, TNR_DTYPE_U64};
// Three lanes of 16 bits, which no kernel is made for.
constexpr tnr_dtype kForeign = (TNR_DTYPE_I16 & 0xffff) | 3 << 16;
constexpr tnr_dtype kAll[] = {TNR_DTYPE_F64,   TNR_DTYPE_F32, TNR_DTYPE_F16,  TNR_DTYPE_BF16,
                              TNR_DTYPE_I8,    TNR_DTYPE_I16, TNR_DTYPE_I32,  TNR_DTYPE_I64,
                              TNR_DTYPE_U8,    TNR_DTYPE_U16, TNR_DTYPE_U32,  TNR_DTYPE_U64,
                              TNR_DTYPE_BOOL8, TNR_DTYPE_C64, TNR_DTYPE_C128, kForeign};

bool is_number(tnr_dtype dtype) {
  return std::find(std::begin(kNumbers), std::end(kNumbers), dtype) != std::end(kNumbers);
}

std::int64_t number_index(tnr_dtype dtype) {
  return std::find(std::begin(kNumbers), std::end(kNumbers), dtype) - std::begin(kNumbers);
}

bool is_complex(tnr_dtype dtype) { return dtype == TNR_DTYPE_C64 || dtype == TNR_DTYPE_C128; }

tnr_dtype part_of(tnr_dtype dtype) {
  if (!is_complex(dtype)) return dtype;
  return dtype == TNR_DTYPE_C64 ? TNR_DTYPE_F32 : TNR_DTYPE_F64;
}

// 1, 2 and 4: sums and products of them are exact, or overflow, whatever their order. Where they
// are no numbers, any bytes.
std::vector<Byte> elements_of(tnr_dtype dtype, unsigned seed, std::int64_t count) {
  if (is_complex(dtype)) return elements_of(part_of(dtype), seed, 2 * count);
  std::vector<Byte> bytes(static_cast<std::size_t>(count) * element_size(dtype));
  std::minstd_rand random(seed + 1);
  if (!is_number(dtype)) {
    // No NaN: which of several comes out is open.
    for (Byte& byte : bytes) byte = static_cast<Byte>(random() % 3);
    return bytes;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(1 << random() % 3);
    Byte from[8];
    std::memcpy(from, &value, sizeof value);
    kernels::reference::cast(kernels::Type::kF64, from,
                             static_cast<kernels::Type>(number_index(dtype)),
                             bytes.data() + static_cast<std::size_t>(i) * element_size(dtype));
  }
  return bytes;
}

enum class Axes : std::uint32_t { kNone = 0, kRows = 1, kColumns = 2, kBoth = 3 };
enum class Result { kExact, kRounded };

// One operation on one set of dtypes.
struct Subject {
  std::string name;
  std::vector<tnr_dtype> inputs;
  tnr_dtype output;
  std::function<tnr_status(const tnr_view* inputs, const tnr_view_mut* out)> call;
  Axes reduced = Axes::kNone;
  Result result = Result::kExact;
};

tnr_view dense_view(std::vector<Byte>& bytes, tnr_dtype dtype, std::int64_t rows,
                    std::int64_t columns) {
  return test::view_of(bytes.data(), bytes.size(), 0, dtype, {{rows, columns}, {columns, 1}});
}

class Canary : public testing::Test {
 protected:
  // Every number of columns, each with another way to lie of each operand: 130 of them go through
  // all ways of the output, and most pairs with an input's.
  void check(const Subject& subject) {
    SCOPED_TRACE(subject.name);
    begin(subject, kMostElements);
    for (std::int64_t columns = 1; columns <= kMostColumns; ++columns) {
      check_size(subject, 1 + columns % kMostRows, columns);
      if (HasFailure()) return;
    }
  }

  // Enough to be cut into slices.
  void check_shared(const Subject& subject) {
    SCOPED_TRACE(subject.name);
    begin(subject, kMostSharedElements);
    for (const Extents extents : kShared) {
      check_size(subject, extents.rows, extents.columns);
      if (HasFailure()) return;
    }
  }

  // Large both ways, so that rows become columns block by block.
  void check_tiles(const Subject& subject) {
    SCOPED_TRACE(subject.name);
    begin(subject, kMostTileElements);
    for (const std::int64_t rows : kTileExtents) {
      for (const std::int64_t columns : kTileExtents) {
        check_size(subject, rows, columns);
        if (HasFailure()) return;
      }
    }
  }

 private:
  void begin(const Subject& subject, std::int64_t count) {
    subjects_ += 1;
    elements_.clear();
    for (const tnr_dtype dtype : subject.inputs) {
      elements_.push_back(elements_of(dtype, static_cast<unsigned>(elements_.size()), count));
    }
    std::size_t widest = element_size(subject.output);
    for (const tnr_dtype dtype : subject.inputs) widest = std::max(widest, element_size(dtype));
    // Every third element.
    const std::size_t room_bytes = 3 * widest * static_cast<std::size_t>(count);
    if (room_bytes == room_bytes_) return;
    room_bytes_ = room_bytes;
    for (std::optional<Guarded>& memory : memories_) memory.emplace(room_bytes);
  }

  void check_size(const Subject& subject, std::int64_t rows, std::int64_t columns) {
    const auto reduced = static_cast<std::uint32_t>(subject.reduced);
    const std::int64_t out_rows = (reduced & 1) != 0 ? 1 : rows;
    const std::int64_t out_columns = (reduced & 2) != 0 ? 1 : columns;

    std::vector<Byte> expected(static_cast<std::size_t>(out_rows * out_columns) *
                               element_size(subject.output));
    const tnr_view_mut dense_out = {dense_view(expected, subject.output, out_rows, out_columns)};
    std::array<tnr_view, 3> inputs;
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      inputs[i] = dense_view(elements_[i], subject.inputs[i], rows, columns);
    }
    ASSERT_EQ(subject.call(inputs.data(), &dense_out), TNR_STATUS_OK) << tnr_last_error()->message;

    Guarded& out_memory = *memories_[0];
    const auto in = [this](std::size_t i) -> Guarded& { return *memories_[1 + i]; };
    std::vector<Byte> nothing(expected.size(), Guarded::kCanary);
    unsigned turn = static_cast<unsigned>(columns * 7 + rows) + subjects_;
    std::string lies = place(out_memory, subject.output, out_rows, out_columns, turn, nothing);
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      turn = turn / 3 + 5 * subjects_ + static_cast<unsigned>(columns);
      lies += ", " + place(in(i), subject.inputs[i], rows, columns, turn, elements_[i]);
      inputs[i] = in(i).view();
    }
    const tnr_view_mut out = {out_memory.view()};
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + ": " + lies);
    ASSERT_EQ(subject.call(inputs.data(), &out), TNR_STATUS_OK) << tnr_last_error()->message;

    if (subject.result == Result::kExact) {
      out_memory.expect_elements(expected.data());
      ASSERT_TRUE(out_memory.is_as_expected()) << "output, byte " << out_memory.first_difference();
    } else {
      ASSERT_TRUE(out_memory.has_its_canaries())
          << "output, byte " << out_memory.first_difference();
    }
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      ASSERT_TRUE(in(i).is_as_expected()) << "input " << i << ", byte " << in(i).first_difference();
    }
  }

  static std::string place(Guarded& memory, tnr_dtype dtype, std::int64_t rows,
                           std::int64_t columns, unsigned turn, const std::vector<Byte>& elements) {
    const test::Arrangement& arrangement = kArrangements[turn % std::size(kArrangements)];
    const End end = turn / std::size(kArrangements) % 2 == 0 ? End::kFront : End::kBack;
    memory.place(dtype, rows, columns, arrangement, end, elements.data());
    return std::string(arrangement.name) + (end == End::kFront ? " at the front" : " at the back");
  }

  unsigned subjects_ = 0;
  std::vector<std::vector<Byte>> elements_;  // of the inputs
  std::size_t room_bytes_ = 0;
  std::optional<Guarded> memories_[4];  // of the output, then the inputs
};

tnr_scalar two_of(tnr_dtype dtype) {
  tnr_scalar scalar = {dtype, 0, {}};
  if (is_number(dtype)) {
    const std::vector<Byte> elements = elements_of(dtype, 0, 1);
    std::memcpy(scalar.bytes, elements.data(), element_size(dtype));
  } else {
    scalar.bytes[0] = 1;
  }
  return scalar;
}

TEST_F(Canary, Copy) {
  for (const tnr_dtype dtype : kAll) {
    check({dtype_name(dtype), {dtype}, dtype, [](const tnr_view* in, const tnr_view_mut* out) {
             return tnr_copy(nullptr, in, nullptr, out);
           }});
  }
}

TEST_F(Canary, CopyOfTiles) {
  for (const tnr_dtype dtype : kAll) {
    check_tiles(
        {dtype_name(dtype), {dtype}, dtype, [](const tnr_view* in, const tnr_view_mut* out) {
           return tnr_copy(nullptr, in, nullptr, out);
         }});
  }
}

TEST_F(Canary, Fill) {
  for (const tnr_dtype dtype : kAll) {
    if (dtype == kForeign) continue;
    const tnr_scalar value = two_of(dtype);
    check({dtype_name(dtype), {}, dtype, [&](const tnr_view*, const tnr_view_mut* out) {
             return tnr_fill(nullptr, &value, nullptr, out);
           }});
  }
}

TEST_F(Canary, Cast) {
  const auto cast = [](const tnr_view* in, const tnr_view_mut* out) {
    return tnr_cast(nullptr, in, nullptr, out);
  };
  for (const tnr_dtype from : kAll) {
    for (const tnr_dtype to : kAll) {
      const bool from_complex = from == TNR_DTYPE_C64 || from == TNR_DTYPE_C128;
      const bool to_complex = to == TNR_DTYPE_C64 || to == TNR_DTYPE_C128;
      if (from == kForeign || to == kForeign || from_complex != to_complex) continue;
      check({std::string(dtype_name(from)) + " to " + dtype_name(to), {from}, to, cast});
    }
  }
}

TEST_F(Canary, Select) {
  for (const tnr_dtype dtype : kAll) {
    check({dtype_name(dtype),
           {TNR_DTYPE_BOOL8, dtype, dtype},
           dtype,
           [](const tnr_view* in, const tnr_view_mut* out) {
             return tnr_select(nullptr, in, in + 1, in + 2, nullptr, out);
           }});
  }
}

bool is_integer(tnr_dtype dtype) {
  return is_number(dtype) && number_index(dtype) >= number_index(TNR_DTYPE_I8);
}

bool takes(const kernels::OperationRow& operation, tnr_dtype dtype) {
  const unsigned part = dtype == TNR_DTYPE_BOOL8 ? kernels::kTruths
                        : is_complex(dtype)      ? kernels::kComplex
                        : is_integer(dtype)      ? kernels::kIntegers
                                                 : kernels::kFloats;
  return (operation.dtypes & part) != 0;
}

std::vector<tnr_dtype> dtypes_of(const kernels::OperationRow& operation) {
  std::vector<tnr_dtype> dtypes(std::begin(kNumbers), std::end(kNumbers));
  dtypes.insert(dtypes.end(), {TNR_DTYPE_BOOL8, TNR_DTYPE_C64, TNR_DTYPE_C128});
  std::erase_if(dtypes, [&](tnr_dtype dtype) { return !takes(operation, dtype); });
  return dtypes;
}

TEST_F(Canary, Unary) {
  for (tnr_unary_op op = 1; op <= static_cast<int>(kernels::kUnaryCount); ++op) {
    const kernels::OperationRow& operation = kernels::kUnaryRows[op - 1];
    const bool gives_truth = operation.gives == kernels::Gives::kTruth;
    const bool gives_part = operation.gives == kernels::Gives::kPart;
    for (const tnr_dtype dtype : dtypes_of(operation)) {
      check({"op " + std::to_string(op) + " of " + dtype_name(dtype),
             {dtype},
             gives_truth  ? TNR_DTYPE_BOOL8
             : gives_part ? part_of(dtype)
                          : dtype,
             [op](const tnr_view* in, const tnr_view_mut* out) {
               return tnr_unary(nullptr, op, in, nullptr, out);
             }});
    }
  }
}

TEST_F(Canary, Binary) {
  for (tnr_binary_op op = 1; op <= static_cast<int>(kernels::kBinaryCount); ++op) {
    for (const tnr_dtype dtype : dtypes_of(kernels::kBinaryRows[op - 1])) {
      const std::string name = "op " + std::to_string(op) + " of " + dtype_name(dtype);
      const tnr_scalar two = two_of(dtype);
      check({name, {dtype, dtype}, dtype, [=](const tnr_view* in, const tnr_view_mut* out) {
               return tnr_binary(nullptr, op, in, in + 1, nullptr, out);
             }});
      check({name + " and a number",
             {dtype},
             dtype,
             [=](const tnr_view* in, const tnr_view_mut* out) {
               return tnr_binary_scalar(nullptr, op, in, &two, nullptr, out);
             }});
      check({"a number and " + name,
             {dtype},
             dtype,
             [=](const tnr_view* in, const tnr_view_mut* out) {
               return tnr_scalar_binary(nullptr, op, &two, in, nullptr, out);
             }});
    }
  }
}

TEST_F(Canary, Ternary) {
  for (tnr_ternary_op op = 1; op <= static_cast<int>(kernels::kTernaryCount); ++op) {
    for (const tnr_dtype dtype : dtypes_of(kernels::kTernaryRows[op - 1])) {
      check({"op " + std::to_string(op) + " of " + dtype_name(dtype),
             {dtype, dtype, dtype},
             dtype,
             [op](const tnr_view* in, const tnr_view_mut* out) {
               return tnr_ternary(nullptr, op, in, in + 1, in + 2, nullptr, out);
             }});
    }
  }
}

TEST_F(Canary, Compare) {
  for (tnr_compare_op op = 1; op <= static_cast<int>(kernels::kCompareCount); ++op) {
    for (const tnr_dtype dtype : dtypes_of(kernels::kCompareRows[op - 1])) {
      const std::string name = "op " + std::to_string(op) + " of " + dtype_name(dtype);
      const tnr_scalar two = two_of(dtype);
      check(
          {name, {dtype, dtype}, TNR_DTYPE_BOOL8, [=](const tnr_view* in, const tnr_view_mut* out) {
             return tnr_compare(nullptr, op, in, in + 1, nullptr, out);
           }});
      check({name + " and a number",
             {dtype},
             TNR_DTYPE_BOOL8,
             [=](const tnr_view* in, const tnr_view_mut* out) {
               return tnr_compare_scalar(nullptr, op, in, &two, nullptr, out);
             }});
    }
  }
}

tnr_dtype result_dtype(tnr_reduce_op op, tnr_dtype dtype) {
  switch (kernels::kReduceRows[op - 1].gives) {
    case kernels::Gives::kTruth: return TNR_DTYPE_BOOL8;
    case kernels::Gives::kIndex: return TNR_DTYPE_I64;
    case kernels::Gives::kOperand:
    case kernels::Gives::kPart: return dtype;
    case kernels::Gives::kWide: break;
  }
  if (!is_integer(dtype)) return dtype;
  return number_index(dtype) < number_index(TNR_DTYPE_U8) ? TNR_DTYPE_I64 : TNR_DTYPE_U64;
}

Subject reduction(tnr_reduce_op op, tnr_dtype dtype, Axes axes) {
  const auto mask = static_cast<std::uint32_t>(axes);
  const bool rounds = kernels::kReduceRows[op - 1].attribute == kernels::Attribute::kDdof ||
                      op == TNR_REDUCE_OP_LOGSUMEXP;
  return {"op " + std::to_string(op) + " of " + dtype_name(dtype) + " over axes " +
              std::to_string(mask),
          {dtype},
          result_dtype(op, dtype),
          [=](const tnr_view* in, const tnr_view_mut* out) {
            return tnr_reduce(nullptr, op, in, mask, test::reduce_attributes(op), out);
          },
          axes,
          rounds ? Result::kRounded : Result::kExact};
}

TEST_F(Canary, Reduce) {
  for (tnr_reduce_op op = 1; op <= static_cast<int>(kernels::kReduceCount); ++op) {
    for (const tnr_dtype dtype : dtypes_of(kernels::kReduceRows[op - 1])) {
      if (dtype == TNR_DTYPE_BOOL8) continue;
      for (const Axes axes : {Axes::kRows, Axes::kColumns, Axes::kBoth}) {
        check(reduction(op, dtype, axes));
      }
    }
  }
}

TEST_F(Canary, ReduceTiles) {
  for (const tnr_reduce_op op : {TNR_REDUCE_OP_SUM, TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_ARGMIN}) {
    for (const tnr_dtype dtype : {TNR_DTYPE_F32, TNR_DTYPE_BF16, TNR_DTYPE_U8}) {
      for (const Axes axes : {Axes::kRows, Axes::kColumns, Axes::kBoth}) {
        check_tiles(reduction(op, dtype, axes));
      }
    }
  }
}

// Slices end within rows and within lines of memory; the bytes that they write must meet without a
// seam.
TEST_F(Canary, SlicesOfThreads) {
  tnr_context_options options = {};
  options.struct_size = sizeof options;
  options.thread_count = 3;
  tnr_context* const threads = tnr_context_create(&options);
  ASSERT_NE(threads, nullptr) << tnr_last_error()->message;
  // Several times, so that each extent meets several ways to lie.
  for (int round = 0; round < 3; ++round) {
    check_shared(
        {"copy", {TNR_DTYPE_F32}, TNR_DTYPE_F32, [=](const tnr_view* in, const tnr_view_mut* out) {
           return tnr_copy(threads, in, nullptr, out);
         }});
    check_shared(
        {"cast", {TNR_DTYPE_F32}, TNR_DTYPE_BF16, [=](const tnr_view* in, const tnr_view_mut* out) {
           return tnr_cast(threads, in, nullptr, out);
         }});
    check_shared({"add",
                  {TNR_DTYPE_I16, TNR_DTYPE_I16},
                  TNR_DTYPE_I16,
                  [=](const tnr_view* in, const tnr_view_mut* out) {
                    return tnr_binary(threads, TNR_BINARY_OP_ADD, in, in + 1, nullptr, out);
                  }});
    check_shared({"lt",
                  {TNR_DTYPE_F64, TNR_DTYPE_F64},
                  TNR_DTYPE_BOOL8,
                  [=](const tnr_view* in, const tnr_view_mut* out) {
                    return tnr_compare(threads, TNR_COMPARE_OP_LT, in, in + 1, nullptr, out);
                  }});
    for (const Axes axes : {Axes::kRows, Axes::kColumns}) {
      Subject max = reduction(TNR_REDUCE_OP_MAX, TNR_DTYPE_F64, axes);
      max.call = [=](const tnr_view* in, const tnr_view_mut* out) {
        return tnr_reduce(threads, TNR_REDUCE_OP_MAX, in, static_cast<std::uint32_t>(axes), nullptr,
                          out);
      };
      check_shared(max);
    }
  }
  EXPECT_EQ(tnr_context_release(threads), TNR_STATUS_OK);
}

}  // namespace
