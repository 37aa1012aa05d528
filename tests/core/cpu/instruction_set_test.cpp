// Instruction sets: what TENURE_ISA may say, and that results have the same bits under all of them.
#include "tenure/instruction_set.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "arrays.hpp"
#include "cpu/dispatch.hpp"
#include "cpu/operations.hpp"
#include "cpu/reduce.hpp"
#include "dense/loops/strip_runner.hpp"
#include "dense/reduce/elements.hpp"
#include "tenure/ops.hpp"

namespace tenure::test {
namespace {

// ---- the choice, in child processes, which start with nothing chosen ---------------------------

[[noreturn]] void negate_twice_and_exit(const char* wanted) {
  setenv("TENURE_ISA", wanted, 1);
  std::string said;
  tnr_status status = TNR_STATUS_OK;
  for (int i = 0; i < 2; ++i) {
    Literal<float> a(TNR_DTYPE_F32, {1, 2, 3});
    try {
      unary(kDefaultContext, TNR_UNARY_OP_NEG, a.view, a.out());
      said += instruction_set().name;
    } catch (const Error& error) {
      status = error.status();
      said += error.message();
    }
    said += '\n';
  }
  std::fputs(said.c_str(), stderr);
  std::_Exit(status);
}

class Choice : public testing::Test {
 protected:
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

using ChoiceDeathTest = Choice;

TEST_F(ChoiceDeathTest, EverySetThatRunsHereCanBeAskedFor) {
  for (const InstructionSet& set : instruction_sets()) {
    if (!set.is_supported()) continue;
    EXPECT_EXIT(negate_twice_and_exit(set.name), testing::ExitedWithCode(TNR_STATUS_OK),
                std::string("^") + set.name + "\n" + set.name + "\n$");
  }
}

TEST_F(ChoiceDeathTest, WithoutAWishTheBestIsTaken) {
  const char* best = nullptr;
  for (const InstructionSet& set : instruction_sets()) {
    if (set.is_supported()) best = set.name;
  }
  ASSERT_NE(best, nullptr);
  EXPECT_EXIT(negate_twice_and_exit(""), testing::ExitedWithCode(TNR_STATUS_OK),
              std::string("^") + best + "\n" + best + "\n$");
}

TEST_F(ChoiceDeathTest, AnUnknownNameIsAnErrorAtEveryCall) {
  const std::string first = instruction_sets().front().name;
  const std::string message =
      "TENURE_ISA is \"sse9\" but must be one of: " + first + ".*this processor has: " + first;
  EXPECT_EXIT(negate_twice_and_exit("sse9"), testing::ExitedWithCode(TNR_STATUS_INVALID_ARGUMENT),
              message + ".*\n" + message);
}

TEST_F(ChoiceDeathTest, AnEndlessNameIsCut) {
  EXPECT_EXIT(negate_twice_and_exit(std::string(100000, 'x').c_str()),
              testing::ExitedWithCode(TNR_STATUS_INVALID_ARGUMENT), "xxx\" but must be one of");
}

TEST_F(ChoiceDeathTest, ASetThatThisProcessorLacksIsUnsupported) {
  const InstructionSet& last = instruction_sets().back();
  if (last.is_supported()) GTEST_SKIP() << "this processor has every set";
  EXPECT_EXIT(negate_twice_and_exit(last.name), testing::ExitedWithCode(TNR_STATUS_UNSUPPORTED),
              std::string("TENURE_ISA is \"") + last.name + "\" but this processor has: ");
}

// ---- the bits ----------------------------------------------------------------------------------

using kernels::Elementwise;
using kernels::Strip;
using kernels::StripKernel;

constexpr std::int64_t kCounts[] = {1, 7, 16, 61, 300};
constexpr std::int64_t kMaxCount = 300;

enum class Step { kDense, kGaps, kBackwards, kOne };
constexpr Step kOutSteps[] = {Step::kDense, Step::kGaps, Step::kBackwards};
constexpr Step kInSteps[] = {Step::kDense, Step::kGaps, Step::kBackwards, Step::kOne};

std::int64_t step_bytes(Step step, std::int64_t width) {
  switch (step) {
    case Step::kDense: return width;
    case Step::kGaps: return 2 * width;
    case Step::kBackwards: return -width;
    default: return 0;
  }
}

// Room for kMaxCount elements with gaps, or backwards, of up to 16 bytes.
struct Memory {
  std::vector<Byte> bytes = std::vector<Byte>(2 * kMaxCount * 16);

  explicit Memory(std::uint64_t seed) {
    Random random(seed);
    for (Byte& byte : bytes) byte = static_cast<Byte>(random());
  }
  Byte* at(Step step, std::int64_t width) {
    return bytes.data() + (step == Step::kBackwards ? kMaxCount * width : 0);
  }
};

bool is_missing(const StripKernel& kernel) { return kernel == nullptr; }
bool is_missing(const Elementwise& entry) { return entry.kernel == nullptr; }

struct Part {
  Type type;  // of each part; Type::kU8 for bytes that are only moved
  std::int64_t width;
};

// The kernel of every supported set on the same operands gives the same bits (except the payload of
// NaNs, which IEEE 754 leaves open), and leaves the same bytes between them.
class SameBits {
 public:
  // `pick` finds the kernel of a set.
  template <class Pick>
  void expect(Part out, std::initializer_list<Part> in, const std::string& what, const Pick& pick) {
    if (is_missing(pick(instruction_sets().front()))) return;
    for (const std::int64_t count : kCounts) {
      for (const Step out_step : kOutSteps) {
        for (const Step in_step : kInSteps) {
          kernels::StripInput sources[3];
          Strip strip{};
          strip.count = count;
          strip.in = sources;
          strip.out_step = step_bytes(out_step, out.width);
          strip.width_bytes = out.width;
          for (const Part& part : in) {
            const unsigned i = strip.source_count++;
            // The second input stays dense, so that every mixture of two inputs has its turn.
            const Step step = i == 1 ? Step::kDense : in_step;
            sources[i] = {inputs_[i].at(step, part.width), step_bytes(step, part.width),
                          part.width};
          }
          compare_sets(strip, out, out_step, what, pick);
        }
      }
    }
  }

 private:
  Memory inputs_[3] = {Memory(1), Memory(2), Memory(3)};
  Memory result_before_{4};

  template <class Pick>
  void compare_sets(Strip strip, Part out, Step out_step, const std::string& what,
                    const Pick& pick) {
    std::vector<Byte> expected;
    kernels::Finding expected_finding = kernels::kNothing;
    const InstructionSet* last = nullptr;
    for (const InstructionSet& set : instruction_sets()) {
      // These kernels are those of the base set.
      if (!set.is_supported() || (last != nullptr && set.base == last->base)) continue;
      last = &set;
      Memory result = result_before_;
      strip.out = result.at(out_step, out.width);
      const kernels::Finding finding = run_strip(Operation(pick(set)), strip);
      if (expected.empty()) {
        expected = result.bytes;
        expected_finding = finding;
        continue;
      }
      ASSERT_EQ(finding, expected_finding) << what << " under " << set.name;
      if (result.bytes == expected) continue;
      const auto width = static_cast<std::size_t>(kernels::reference::element_bytes(out.type));
      for (std::size_t at = 0; at < expected.size(); at += width) {
        ASSERT_TRUE(is_same_element(out.type, &result.bytes[at], &expected[at]))
            << what << " under " << set.name << ", " << strip.count << " elements, byte " << at;
      }
    }
  }
};

Part part_of(const NamedType& type) {
  return {type.type, static_cast<std::int64_t>(element_size(type.dtype))};
}

TEST(SameBitsUnderEverySet, Movement) {
  SameBits same;
  const std::int64_t widths[kernels::kWidthCount] = {1, 2, 4, 8, 16, 3};
  for (unsigned row = 0; row < kernels::kWidthCount; ++row) {
    const Part moved{Type::kU8, widths[row]};
    const Part condition{Type::kU8, 1};
    const std::string what = "width " + std::to_string(widths[row]);
    same.expect(moved, {moved}, "copy " + what,
                [&](const InstructionSet& set) { return kernels::copy_kernels.of(set)[row]; });
    same.expect(moved, {condition, moved, moved}, "select " + what,
                [&](const InstructionSet& set) { return kernels::select_kernels.of(set)[row]; });
  }
  const Part truth{Type::kBool8, 1};
  same.expect(truth, {truth, truth, truth}, "select bool8", [](const InstructionSet& set) {
    return kernels::select_kernels.of(set)[kernels::kWidthCount];
  });
}

TEST(SameBitsUnderEverySet, Casts) {
  SameBits same;
  for (const NamedType& from : kTypes) {
    for (const NamedType& to : kTypes) {
      const auto row = static_cast<unsigned>(from.type);
      const auto column = static_cast<unsigned>(to.type);
      same.expect(
          part_of(to), {part_of(from)},
          std::string(dtype_name(from.dtype)) + " to " + dtype_name(to.dtype),
          [&](const InstructionSet& set) { return kernels::cast_kernels.of(set)[row][column]; });
    }
  }
  same.expect({Type::kF64, 16}, {{Type::kF32, 8}}, "c64 to c128",
              [](const InstructionSet& set) { return kernels::complex_cast_kernels.of(set)[0]; });
  same.expect({Type::kF32, 8}, {{Type::kF64, 16}}, "c128 to c64",
              [](const InstructionSet& set) { return kernels::complex_cast_kernels.of(set)[1]; });
}

// Sets have functions of their own, whose results are within the bounds that functions_test checks.
bool is_function(const kernels::OperationRow& row, Type type) {
  return is_float(type) && row.last_places > kernels::kRounded;
}

TEST(SameBitsUnderEverySet, Arithmetic) {
  SameBits same;
  for (const NamedType& type : kTypes) {
    const auto column = static_cast<unsigned>(type.type);
    const Part part = part_of(type);
    const auto what = [&](const char* kind, unsigned row) {
      return std::string(kind) + " " + std::to_string(row) + " of " + dtype_name(type.dtype);
    };
    for (unsigned row = 0; row < kernels::kUnaryCount; ++row) {
      if (is_function(kernels::kUnaryRows[row], type.type)) continue;
      const bool gives_truth = kernels::kUnaryRows[row].gives == kernels::Gives::kTruth;
      same.expect(
          gives_truth ? Part{Type::kBool8, 1} : part, {part}, what("unary", row),
          [&](const InstructionSet& set) { return kernels::unary_kernels.of(set)[row][column]; });
    }
    for (unsigned row = 0; row < kernels::kBinaryCount; ++row) {
      if (is_function(kernels::kBinaryRows[row], type.type)) continue;
      same.expect(part, {part, part}, what("binary", row), [&](const InstructionSet& set) {
        return kernels::binary_kernels.of(set)[row][column];
      });
    }
    for (unsigned row = 0; row < kernels::kTernaryCount; ++row) {
      same.expect(part, {part, part, part}, what("ternary", row), [&](const InstructionSet& set) {
        return kernels::ternary_kernels.of(set)[row][column];
      });
    }
    for (unsigned row = 0; row < kernels::kCompareKernelCount; ++row) {
      same.expect(
          {Type::kBool8, 1}, {part, part}, what("compare", row),
          [&](const InstructionSet& set) { return kernels::compare_kernels.of(set)[row][column]; });
    }
  }
}

struct Columns {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t gap;  // 1: dense
};

// Fetches elements as the driver does, but with a plain loop.
struct PlainFetch : kernels::ElementFetch {
  explicit PlainFetch(const kernels::Reduction& reduction, std::int64_t width)
      : ElementFetch{.run = fetch,
                     .width_bytes = width,
                     .read_bytes = reduction.in_bytes,
                     .copy = nullptr,
                     .load = reduction.load == nullptr ? nullptr : reduction.load->kernel} {}

  static void fetch(const ElementFetch& fetch, const Byte* in, std::int64_t step,
                    std::int64_t count, Byte* panel) {
    std::vector<Byte> adjacent(static_cast<std::size_t>(count * fetch.width_bytes));
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(adjacent.data() + i * fetch.width_bytes, in + i * step,
                  static_cast<std::size_t>(fetch.width_bytes));
    }
    if (fetch.load == nullptr) {
      std::memcpy(panel, adjacent.data(), adjacent.size());
      return;
    }
    const kernels::StripInput source = {adjacent.data(), fetch.width_bytes, fetch.width_bytes};
    fetch.load({.count = count,
                .out = panel,
                .out_step = fetch.read_bytes,
                .width_bytes = fetch.read_bytes,
                .source_count = 1,
                .in = &source,
                .parameters = nullptr});
  }
};

// The results that one set has after random bits, or after numbers.
std::vector<Byte> reduce_with(const kernels::Reduction& reduction, Part part, Columns shape,
                              bool small_numbers) {
  Random random(static_cast<std::uint64_t>(shape.rows));
  std::vector<Byte> in(static_cast<std::size_t>(shape.rows * shape.columns * shape.gap) * 8);
  for (Byte& byte : in) byte = static_cast<Byte>(random());
  if (small_numbers) {
    for (std::int64_t at = 0; at < shape.rows * shape.columns * shape.gap; ++at) {
      const double value = static_cast<double>(random() % 1000003) / 7.0;
      Byte bytes[8];
      std::memcpy(bytes, &value, sizeof value);
      kernels::reference::cast(Type::kF64, bytes, part.type, &in[at * part.width]);
    }
  }
  const auto columns = static_cast<std::size_t>(shape.columns);
  const auto size = columns * static_cast<std::size_t>(reduction.accumulator_bytes);
  std::vector<std::uint64_t> accumulators(size / 8 + 1);
  auto* const into = reinterpret_cast<Byte*>(accumulators.data());
  for (std::size_t column = 0; column < columns && reduction.finished_place == 0; ++column) {
    std::memcpy(into + column * static_cast<std::size_t>(reduction.accumulator_bytes),
                &reduction.start, static_cast<std::size_t>(reduction.accumulator_bytes));
  }
  const PlainFetch fetch(reduction, part.width);
  kernels::Tile tile{};
  tile.rows = shape.rows;
  tile.columns = shape.columns;
  tile.in = in.data();
  tile.column_step = part.width * shape.gap;
  tile.row_step = tile.column_step * shape.columns;
  tile.step_in_place = reduction.load == nullptr ? part.width : INT64_MIN;
  tile.fetch = &fetch;
  tile.index_step = 1;
  tile.accumulators = into;
  (shape.columns == 1 ? reduction.along : reduction.across)(reduction, tile);
  const std::vector<std::uint64_t> copy = accumulators;
  reduction.merge(reduction, {.columns = shape.columns,
                              .into = into,
                              .from = reinterpret_cast<const Byte*>(copy.data()),
                              .into_count = shape.rows,
                              .from_count = shape.rows});
  std::vector<Byte> out(columns * 8);
  const Finisher finisher(reduction, reduction.finished, 2 * shape.rows, 0, 1);
  finisher.finish({.columns = shape.columns,
                   .finished = into + shape.columns * reduction.finished_place,
                   .counts = into,
                   .out = out.data(),
                   .out_step = 8});
  return out;
}

// The sums of floats would differ in their last bits if a set added in another order.
TEST(SameBitsUnderEverySet, Reductions) {
  constexpr Columns kColumns[] = {{1, 1, 1},   {255, 1, 1}, {3001, 1, 1}, {777, 1, 3},
                                  {5, 300, 1}, {40, 17, 1}, {9, 33, 2}};
  for (unsigned row = 0; row < kernels::kReduceCount; ++row) {
    for (const NamedType& type : kTypes) {
      const auto column = static_cast<unsigned>(type.type);
      if (kernels::reduce_kernels.of(instruction_sets().front())[row]
              .by_type[column]
              .accumulator_bytes == 0)
        continue;
      for (const Columns& shape : kColumns) {
        for (const bool small_numbers : {false, true}) {
          std::vector<Byte> expected;
          for (const InstructionSet& set : instruction_sets()) {
            if (!set.is_supported()) continue;
            const kernels::Reduction& reduction =
                kernels::reduce_kernels.of(set)[row].by_type[column];
            const bool gives_float = is_float(reduction.finished);
            const std::vector<Byte> result =
                reduce_with(reduction, part_of(type), shape, small_numbers);
            if (expected.empty()) expected = result;
            for (std::size_t at = 0; at < result.size(); at += 8) {
              ASSERT_TRUE(gives_float
                              ? is_same_element(reduction.finished, &result[at], &expected[at])
                              : std::memcmp(&result[at], &expected[at], sizeof(double)) == 0)
                  << "reduction " << row << " of " << dtype_name(type.dtype) << " under "
                  << set.name << ", " << shape.rows << " x " << shape.columns;
            }
          }
        }
      }
    }
  }
}

TEST(SameBitsUnderEverySet, SquareSums) {
  for (const NamedType& type : {kTypes[0], kTypes[1]}) {
    const auto column = static_cast<unsigned>(type.type);
    for (const Columns& shape : {Columns{1, 1, 1}, Columns{255, 1, 1}, Columns{3001, 1, 1}}) {
      std::vector<Byte> expected;
      for (const InstructionSet& set : instruction_sets()) {
        if (!set.is_supported()) continue;
        kernels::Reduction reduction =
            kernels::reduce_kernels.of(set)[TNR_REDUCE_OP_MEAN - 1].by_type[column];
        reduction.along = kernels::square_sum_kernels.of(set)[column];
        const std::vector<Byte> result = reduce_with(reduction, part_of(type), shape, true);
        if (expected.empty()) expected = result;
        EXPECT_EQ(result, expected) << dtype_name(type.dtype) << " under " << set.name;
      }
    }
  }
}

}  // namespace
}  // namespace tenure::test
