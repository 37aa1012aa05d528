// Reductions of more than one block: places in blocks, threads, accuracy.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "arrays.hpp"
#include "cpu/operations.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

namespace reference = kernels::reference;

// Edges of lanes, of blocks that are searched for a place, of tiles and of what threads share.
constexpr std::int64_t kCounts[] = {
    1,    2,    15,   16,   17,   31,   33,   127,  128,  129,  255,   257,   511,   512,   513,
    1023, 1024, 1025, 2047, 2049, 4095, 4096, 4097, 8191, 8193, 32767, 32768, 32769, 65537, 100000};

// Arrangement of the elements of one axis in memory. The test also keeps their plain values.
enum class Line { kDense, kGaps, kReversed, kColumn };

// `count` elements along the second axis of a tensor [1, count], or down the first of [count, 9].
class LineOf {
 public:
  LineOf(const NamedType& type, std::int64_t count, Line line)
      : type_(type), width_(element_size(type.dtype)), line_(line) {
    step_ = line == Line::kColumn ? 9 : line == Line::kDense ? 1 : 2;
    const std::int64_t elements = count * step_;
    memory_.assign(static_cast<std::size_t>(elements) * width_, 0);
    const std::int64_t last = line == Line::kReversed ? (count - 1) * step_ : 0;
    const Layout layout = line == Line::kColumn
                              ? Layout{{count, 9}, {9, 1}}
                              : Layout{{count, line == Line::kReversed ? -step_ : step_}};
    first_ = last;
    count_ = count;
    view_ = view_of(memory_.data(), memory_.size(), last * static_cast<std::int64_t>(width_),
                    type.dtype, layout);
  }

  void set(std::int64_t index, double value) {
    const std::int64_t at =
        (line_ == Line::kReversed ? first_ - index * step_ : index * step_) + column();
    Byte bytes[8];
    std::memcpy(bytes, &value, sizeof value);
    reference::cast(Type::kF64, bytes, type_.type,
                    memory_.data() + static_cast<std::size_t>(at) * width_);
  }

  [[nodiscard]] std::int64_t place(tnr_reduce_op op) const {
    std::vector<std::int64_t> places(line_ == Line::kColumn ? 9 : 1, -1);
    const tnr_view_mut out{view_of(places.data(), places.size() * 8, 0, TNR_DTYPE_I64, results())};
    reduce(kDefaultContext, op, view_, 1, 0, out);
    return places[static_cast<std::size_t>(column())];
  }

  // The result of MIN or MAX, as a double.
  [[nodiscard]] double extreme(tnr_reduce_op op) const {
    std::vector<Byte> values((line_ == Line::kColumn ? 9 : 1) * width_);
    const tnr_view_mut out{view_of(values.data(), values.size(), 0, type_.dtype, results())};
    reduce(kDefaultContext, op, view_, 1, 0, out);
    Byte bytes[8];
    reference::cast(type_.type, values.data() + static_cast<std::size_t>(column()) * width_,
                    Type::kF64, bytes);
    double value = 0;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }

 private:
  // The last column: after those that fill a register.
  [[nodiscard]] std::int64_t column() const { return line_ == Line::kColumn ? 8 : 0; }
  [[nodiscard]] Layout results() const {
    return line_ == Line::kColumn ? Layout{{9, 1}} : Layout{};
  }

  NamedType type_;
  std::size_t width_;
  Line line_;
  std::int64_t step_;
  std::int64_t first_;
  std::int64_t count_;
  std::vector<Byte> memory_;
  tnr_view view_;
};

std::vector<std::int64_t> places_in(std::int64_t count) {
  std::vector<std::int64_t> places;
  for (const std::int64_t place :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{31}, std::int64_t{126}, std::int64_t{128},
        std::int64_t{1023}, std::int64_t{1024}, std::int64_t{4100}, count / 2, count - 1}) {
    if (place < count) places.push_back(place);
  }
  return places;
}

void expect_place(const LineOf& line, tnr_reduce_op op, std::int64_t place, double value) {
  const bool smallest = op == TNR_REDUCE_OP_ARGMIN;
  ASSERT_EQ(line.place(op), place) << "op " << op;
  const double extreme = line.extreme(smallest ? TNR_REDUCE_OP_MIN : TNR_REDUCE_OP_MAX);
  ASSERT_TRUE(extreme == value || (std::isnan(extreme) && std::isnan(value)))
      << extreme << " but " << value;
}

void check_places(const NamedType& type, std::int64_t count, Line kind) {
  SCOPED_TRACE(std::string(dtype_name(type.dtype)) + " count " + std::to_string(count) + " line " +
               std::to_string(static_cast<int>(kind)));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const tnr_reduce_op op : {TNR_REDUCE_OP_ARGMIN, TNR_REDUCE_OP_ARGMAX}) {
    LineOf line(type, count, kind);
    for (std::int64_t i = 0; i < count; ++i) line.set(i, 5);
    const double winner = op == TNR_REDUCE_OP_ARGMIN ? 3 : 7;
    expect_place(line, op, 0, 5);
    for (const std::int64_t place : places_in(count)) {
      line.set(place, winner);
      line.set(count - 1, winner);  // an equal one
      expect_place(line, op, place, winner);
      if (is_float(type.type)) {
        line.set(count / 3, nan);
        line.set(place, nan);
        expect_place(line, op, std::min(place, count / 3), nan);
        line.set(count / 3, 5);
      }
      line.set(count - 1, 5);
      line.set(place, 5);
    }
    if (is_float(type.type)) {
      // All are what a reduction starts from.
      const double infinity = std::numeric_limits<double>::infinity();
      const double worst = op == TNR_REDUCE_OP_ARGMIN ? infinity : -infinity;
      for (std::int64_t i = 0; i < count; ++i) line.set(i, worst);
      expect_place(line, op, 0, worst);
      line.set(count / 2, -worst);
      expect_place(line, op, count / 2, -worst);
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

double as_double(Type type, const Byte* element) {
  Byte bytes[8];
  reference::cast(type, element, Type::kF64, bytes);
  double value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// One element after the other; NaN if there is one.
double extreme_of(tnr_reduce_op op, const tnr_view& a, Type type) {
  double found = op == TNR_REDUCE_OP_MIN ? std::numeric_limits<double>::infinity()
                                         : -std::numeric_limits<double>::infinity();
  for_each_index(a, [&](const Index& index) {
    const double value = as_double(type, static_cast<const Byte*>(a.base) + byte_of(a, index));
    const bool beats = op == TNR_REDUCE_OP_MIN ? value < found : value > found;
    if (found == found && (beats || value != value)) found = value;
  });
  return found;
}

// Rows of a wider matrix, and its transpose: of each column first, and of short and long rows not
// so.
TEST(ReduceLarge, ExtremesOfPartsOfRows) {
  Random random(31);
  const TestContext threads(3);
  for (const NamedType& type : {kTypes[0], kTypes[1], kTypes[2], kTypes[4], kTypes[8]}) {
    for (const Shape& shape : {Shape{40, 70}, Shape{15, 70}, Shape{300, 129}, Shape{20, 4200}}) {
      for (const Nans nans : {Nans::kNone, Nans::kSome}) {
        Array whole(type.dtype, {shape[0], shape[1] + 9}, Arrangement::kRowMajor, random);
        fill_with_numbers(whole, type.type, random, nans);
        const tnr_view part = slice(whole.view(), 1, 5, 5 + shape[1], 1);
        const double largest = 99;  // of all, and in the last column
        Byte bytes[8];
        std::memcpy(bytes, &largest, sizeof largest);
        reference::cast(Type::kF64, bytes, type.type,
                        whole.elements()[static_cast<std::size_t>((shape[1] + 9) * shape[0] - 5)]);
        for (const tnr_view& a : std::vector<tnr_view>{part, transpose(part, 0, 1)}) {
          for (const tnr_reduce_op op : {TNR_REDUCE_OP_MIN, TNR_REDUCE_OP_MAX}) {
            Byte made[8] = {};
            reduce(threads, op, a, 3, 0, {view_of(made, sizeof made, 0, type.dtype, {})});
            const double expected = extreme_of(op, a, type.type);
            const double value = as_double(type.type, made);
            EXPECT_TRUE(value == expected || (value != value && expected != expected))
                << op << " of " << describe(a) << ": " << value << " for " << expected;
          }
        }
      }
    }
  }
}

TEST(ReduceLarge, PlacesAreThoseOfTheFirstExtremeOrNan) {
  Random random(41);
  for (const std::int64_t count : kCounts) {
    for (const Line line : {Line::kDense, Line::kGaps, Line::kReversed, Line::kColumn}) {
      // One type at a time is enough of the long ones: a line of them takes a while to fill.
      const NamedType& any = kTypes[random() % 12];
      check_places(count < 1000 ? any : kTypes[random() % 2], count, line);
      if (count < 600) check_places(kTypes[4 + random() % 8], count, line);
      if (HasFatalFailure()) return;
    }
  }
}

// Rows have lengths around those of vectors and of searched blocks. They have ties, and some have
// NaNs. Many are finished together.
TEST(ReduceLarge, PlacesAndExtremesOfEachOfManyRows) {
  Random random(42);
  const TestContext threads(3);
  constexpr std::int64_t kRows = 150;
  const auto check_rows = [&]<class T>(T, const NamedType& type, std::int64_t count) {
    std::vector<T> values(static_cast<std::size_t>(kRows * count));
    for (T& value : values) {
      value = static_cast<T>(random() % 40);
      if (is_float(type.type) && random() % 300 == 0) value = static_cast<T>(std::nan(""));
    }
    const tnr_view a = view_of(values.data(), values.size() * sizeof(T), 0, type.dtype,
                               {{kRows, count}, {count, 1}});
    for (const tnr_reduce_op op : {TNR_REDUCE_OP_ARGMIN, TNR_REDUCE_OP_ARGMAX}) {
      const bool smallest = op == TNR_REDUCE_OP_ARGMIN;
      std::vector<std::int64_t> places(kRows, -1);
      std::vector<T> extremes(kRows, T{77});
      reduce(threads, op, a, 2, 0,
             {view_of(places.data(), kRows * 8, 0, TNR_DTYPE_I64, {{kRows, 1}})});
      reduce(threads, smallest ? TNR_REDUCE_OP_MIN : TNR_REDUCE_OP_MAX, a, 2, 0,
             {view_of(extremes.data(), kRows * sizeof(T), 0, type.dtype, {{kRows, 1}})});
      for (std::int64_t row = 0; row < kRows; ++row) {
        const T* const first = values.data() + row * count;
        std::int64_t place = 0;
        for (std::int64_t i = 1; i < count && first[place] == first[place]; ++i) {
          const bool beats = smallest ? first[i] < first[place] : first[i] > first[place];
          if (beats || first[i] != first[i]) place = i;
        }
        const auto at = static_cast<std::size_t>(row);
        ASSERT_EQ(places[at], place) << "op " << op << ", row " << row << " of " << count;
        ASSERT_EQ(std::memcmp(&extremes[at], first + place, sizeof(T)), 0)
            << "op " << op << ", row " << row << " of " << count;
      }
    }
  };
  for (const std::int64_t middle : {std::int64_t{0}, std::int64_t{64}, std::int64_t{256},
                                    std::int64_t{512}, std::int64_t{1024}, std::int64_t{2048}}) {
    for (std::int64_t count = std::max(middle - 18, std::int64_t{1}); count < middle + 36;
         count += 1 + static_cast<std::int64_t>(random() % 3)) {
      check_rows(double{}, kTypes[0], count);
      check_rows(float{}, kTypes[1], count);
      check_rows(std::int8_t{}, kTypes[4], count);
      check_rows(std::int32_t{}, kTypes[6], count);
      if (HasFatalFailure()) return;
    }
  }
}

// ---- threads ----

constexpr auto kLastReduction = static_cast<tnr_reduce_op>(kernels::kReduceCount);
const kernels::OperationRow& row_of(tnr_reduce_op op) { return kernels::kReduceRows[op - 1]; }

std::vector<Byte> bytes_of_result(const Context& context, tnr_reduce_op op, const tnr_view& a,
                                  std::uint32_t axes, tnr_dtype dtype) {
  Layout kept;
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    if ((axes >> axis & 1u) == 0) kept.push_back({a.shape[axis], 0});
  }
  std::int64_t count = 1;
  for (std::size_t axis = kept.size(); axis-- > 0;) {
    kept[axis].stride = count;
    count *= kept[axis].extent;
  }
  std::vector<Byte> bytes(static_cast<std::size_t>(count) * element_size(dtype));
  const double power = row_of(op).attribute == kernels::Attribute::kPower ? 2 : 0;
  reduce(context, op, a, axes, 0, {view_of(bytes.data(), bytes.size(), 0, dtype, kept)}, power);
  return bytes;
}

tnr_dtype dtype_of_result(tnr_reduce_op op, tnr_dtype dtype) {
  switch (row_of(op).gives) {
    case kernels::Gives::kTruth: return TNR_DTYPE_BOOL8;
    case kernels::Gives::kIndex: return TNR_DTYPE_I64;
    case kernels::Gives::kWide:
      return dtype == TNR_DTYPE_I32 || dtype == TNR_DTYPE_I8 ? TNR_DTYPE_I64 : dtype;
    default: return dtype;
  }
}

// Numbers whose sums are rounded, in whatever type they have.
void fill_with_fractions(Array& array, Type type, Random& random) {
  for (Byte* const element : array.elements()) {
    const double value = static_cast<double>(random() % 100000) / 50000 - 1;
    Byte bytes[8];
    std::memcpy(bytes, &value, sizeof value);
    reference::cast(Type::kF64, bytes, type, element);
  }
}

TEST(ReduceLarge, ResultsHaveTheSameBitsForAnyNumberOfThreads) {
  Random random(42);
  const TestContext two(2);
  const TestContext three(3);
  const TestContext seven(7);
  for (const Shape& shape : {Shape{150000}, Shape{530, 270}, Shape{30000, 5}, Shape{3, 130, 400}}) {
    for (const NamedType& type : {kTypes[0], kTypes[1], kTypes[2], kTypes[6]}) {
      const Arrangement arrangement = kReadable[random() % std::size(kReadable)];
      Array a(type.dtype, shape, arrangement, random);
      fill_with_fractions(a, type.type, random);
      for (std::uint32_t axes = 1; axes < 1u << shape.size(); ++axes) {
        for (tnr_reduce_op op = 1; op <= kLastReduction; ++op) {
          const bool is_arg = op == TNR_REDUCE_OP_ARGMIN || op == TNR_REDUCE_OP_ARGMAX;
          const auto reduced = static_cast<std::size_t>(std::popcount(axes));
          if (is_arg && reduced != 1 && reduced != shape.size()) continue;
          if (row_of(op).dtypes == kernels::kFloats && !is_float(type.type)) continue;
          if (op == TNR_REDUCE_OP_MEAN && !is_float(type.type)) continue;
          const tnr_dtype dtype = dtype_of_result(op, type.dtype);
          const std::vector<Byte> alone =
              bytes_of_result(kDefaultContext, op, a.view(), axes, dtype);
          for (const TestContext* context : {&two, &three, &seven}) {
            ASSERT_EQ(bytes_of_result(*context, op, a.view(), axes, dtype), alone)
                << "op " << op << " axes " << axes << " of " << describe(a.view());
          }
        }
      }
    }
  }
}

// The last panel of adjacent results may be only one column.
TEST(ReduceLarge, ResultsHaveTheSameBitsWhereTheLastPanelIsOneColumn) {
  Random random(43);
  const TestContext sixteen(16);
  for (const NamedType& type : {kTypes[0], kTypes[1], kTypes[2]}) {
    for (const std::int64_t columns : {7681, 8193, 16385}) {
      Array a(type.dtype, {9, columns}, Arrangement::kRowMajor, random);
      fill_with_fractions(a, type.type, random);
      for (tnr_reduce_op op = 1; op <= kLastReduction; ++op) {
        const tnr_dtype dtype = dtype_of_result(op, type.dtype);
        ASSERT_EQ(bytes_of_result(sixteen, op, a.view(), 1, dtype),
                  bytes_of_result(kDefaultContext, op, a.view(), 1, dtype))
            << "op " << op << " of " << describe(a.view());
      }
    }
  }
}

// The literals were computed once: each set of instructions has to give them.
TEST(ReduceLarge, SumsHaveTheSameBitsUnderEveryInstructionSet) {
  Random random(43);
  std::uint64_t hash = 14695981039346656037u;
  for (const Shape& shape : {Shape{70001}, Shape{333, 210}}) {
    for (const NamedType& type : {kTypes[0], kTypes[1], kTypes[2], kTypes[3]}) {
      for (const Arrangement arrangement : {Arrangement::kRowMajor, Arrangement::kGaps}) {
        Array a(type.dtype, shape, arrangement, random);
        fill_with_fractions(a, type.type, random);
        for (std::uint32_t axes = 1; axes < 1u << shape.size(); ++axes) {
          for (const tnr_reduce_op op :
               {TNR_REDUCE_OP_SUM, TNR_REDUCE_OP_MEAN, TNR_REDUCE_OP_VAR}) {
            for (const Byte byte :
                 bytes_of_result(kDefaultContext, op, a.view(), axes, type.dtype)) {
              hash = (hash ^ byte) * 1099511628211u;
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(hash, 11208767706108736986u);
}

// ---- accuracy ----

TEST(ReduceLarge, SumsAreWithinAFewRoundingsOfTheExactOnes) {
  constexpr std::int64_t kRows = 1000;
  constexpr std::int64_t kColumns = 701;
  Random random(44);
  std::vector<float> values(kRows * kColumns);
  for (float& value : values) value = static_cast<float>(random() >> 40) * 0x1p-24f - 0.25f;
  const tnr_view a = view_of(values.data(), values.size() * 4, 0, TNR_DTYPE_F32,
                             {{kRows, kColumns}, {kColumns, 1}});
  for (std::uint32_t axes = 1; axes < 4; ++axes) {
    const std::int64_t results = axes == 1 ? kColumns : axes == 2 ? kRows : 1;
    std::vector<long double> exact(static_cast<std::size_t>(results));
    std::vector<long double> sizes(static_cast<std::size_t>(results));
    for (std::int64_t i = 0; i < kRows * kColumns; ++i) {
      const auto at = static_cast<std::size_t>(axes == 1   ? i % kColumns
                                               : axes == 2 ? i / kColumns
                                                           : 0);
      exact[at] += static_cast<long double>(values[static_cast<std::size_t>(i)]);
      sizes[at] += std::fabs(static_cast<long double>(values[static_cast<std::size_t>(i)]));
    }
    const std::vector<Byte> bytes =
        bytes_of_result(kDefaultContext, TNR_REDUCE_OP_SUM, a, axes, TNR_DTYPE_F32);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      float sum = 0;
      std::memcpy(&sum, bytes.data() + 4 * i, 4);
      // An element takes part in 16 additions of a leaf and in one for each level of the trees.
      EXPECT_LE(std::fabs(static_cast<long double>(sum) - exact[i]), 40 * 0x1p-24L * sizes[i]);
    }
  }
}

}  // namespace
}  // namespace tenure::test
