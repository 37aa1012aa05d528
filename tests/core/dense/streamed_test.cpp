// Results that go past the caches are the bytes that plain stores write, and no other byte changes.
#include "dense/loops/streamed.hpp"

#include <gtest/gtest.h>

#include "arrays.hpp"
#include "cpu/dispatch.hpp"
#include "cpu/operations.hpp"
#include "memory/traffic.hpp"
#include "tenure/ops.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

using kernels::Strip;

constexpr std::int64_t kMaxCount = 3000;
constexpr std::int64_t kMaxStep = 72;  // more than a line
constexpr std::size_t kMargin = 192;   // canaries before and after an output: three lines

// Numbers of every dtype but no NaN: which of two NaNs comes out may differ within a strip.
std::vector<Byte> random_bytes(std::size_t count, Random& random) {
  std::vector<Byte> bytes(count);
  for (Byte& byte : bytes) byte = static_cast<Byte>(random() & 0x3fu);
  return bytes;
}

// Runs strips of every kind of length, place and step, streamed and plainly.
class Twins {
 public:
  explicit Twins(Random& random) : random_(random) {
    for (auto& memory : in_) memory = random_bytes(kMaxCount * kMaxStep + 64, random);
  }

  void expect_equal(const Operation& operation, std::int64_t out_width,
                    const std::vector<std::int64_t>& in_widths, const std::string& what) {
    for (const std::int64_t count : {0, 1, 5, 63, 64, 65, 500, 1029, 3000}) {
      kernels::StripInput sources[3];
      Strip strip = {};
      strip.count = count;
      strip.in = sources;
      strip.source_count = static_cast<std::uint32_t>(in_widths.size());
      strip.out_step = strip.width_bytes = out_width;
      for (std::size_t i = 0; i < in_widths.size(); ++i) {
        sources[i] = {in_[i].data() + random_() % 8, random_() % 4 == 0 ? 0 : in_widths[i],
                      in_widths[i]};
        if (random_() % 8 == 0) sources[i].step = kMaxStep;
      }
      compare_results(operation, strip, what + " of " + std::to_string(count));
    }
  }

 private:
  void compare_results(const Operation& operation, Strip strip, const std::string& what) {
    const auto size_bytes = static_cast<std::size_t>(strip.count * strip.out_step);
    // One element after the other into a line, and one that is aligned to no element.
    const auto width = static_cast<std::size_t>(strip.out_step);
    const std::size_t place = random_() % 5 == 0 ? random_() % 64 : random_() % 16 * width % 64;
    std::vector<Byte> plain(2 * kMargin + size_bytes, Array::kCanary);
    std::vector<Byte> streamed = plain;
    strip.out = plain.data() + kMargin / 2 + place;
    const auto expected_finding = run_strip(operation, strip);
    strip.out = streamed.data() + kMargin / 2 + place;
    StripRunner runner(operation, strip);
    EXPECT_EQ(run_streamed(runner, strip), expected_finding) << what;
    order_streamed_stores();
    EXPECT_EQ(streamed, plain) << what << " at " << place;
  }

  Random& random_;
  std::vector<Byte> in_[3];
};

std::int64_t width_of(const NamedType& type) {
  return static_cast<std::int64_t>(element_size(type.dtype));
}

TEST(RunStreamed, GivesWhatThePlainStripGives) {
  Random random(61);
  Twins twins(random);
  for (const NamedType& type : kTypes) {
    const auto column = static_cast<unsigned>(type.type);
    const std::int64_t width = width_of(type);
    const std::string name = dtype_name(type.dtype);
    for (unsigned row = 0; row < kernels::kUnaryCount; ++row) {
      const Operation operation(kernels::unary_kernels()[row][column]);
      if (operation.kernel() != nullptr) {
        const bool gives_truth = kernels::kUnaryRows[row].gives == kernels::Gives::kTruth;
        twins.expect_equal(operation, gives_truth ? 1 : width, {width},
                           "unary " + std::to_string(row) + name);
      }
    }
    for (unsigned row = 0; row < kernels::kBinaryCount; ++row) {
      const Operation operation(kernels::binary_kernels()[row][column]);
      if (operation.kernel() != nullptr) {
        twins.expect_equal(operation, width, {width, width},
                           "binary " + std::to_string(row) + name);
      }
    }
    for (unsigned row = 0; row < kernels::kTernaryCount; ++row) {
      const Operation operation(kernels::ternary_kernels()[row][column]);
      if (operation.kernel() != nullptr) {
        twins.expect_equal(operation, width, {width, width, width},
                           "ternary " + std::to_string(row) + name);
      }
    }
    for (unsigned row = 0; row < kernels::kCompareKernelCount; ++row) {
      twins.expect_equal(Operation(kernels::compare_kernels()[row][column]), 1, {width, width},
                         "compare " + name);
    }
    for (const NamedType& to : kTypes) {
      twins.expect_equal(Operation(kernels::cast_kernels()[column][static_cast<unsigned>(to.type)]),
                         width_of(to), {width}, "cast " + name + " to " + dtype_name(to.dtype));
    }
  }
}

TEST(RunStreamed, MovesEveryWidth) {
  Random random(62);
  Twins twins(random);
  for (unsigned i = 0; i < 5; ++i) {
    const std::int64_t width = std::int64_t{1} << i;
    twins.expect_equal(Operation(kernels::copy_kernels()[i]), width, {width}, "copy");
    twins.expect_equal(Operation(kernels::select_kernels()[i]), width, {1, width, width}, "select");
  }
  twins.expect_equal(Operation(kernels::select_kernels()[kernels::kWidthCount]), 1, {1, 1, 1},
                     "select bool8");
}

TEST(RunStreamed, FindsAZeroDivisorInEveryPart) {
  constexpr std::size_t kCount = 5000;
  std::vector<std::uint8_t> dividend(kCount, 7);
  std::vector<std::uint8_t> divisor(kCount, 1);
  std::vector<std::uint8_t> out(kCount);
  const kernels::StripInput sources[] = {{dividend.data(), 1, 1}, {divisor.data(), 1, 1}};
  const Strip strip = dense_strip(kCount, out.data(), 1, sources);
  StripRunner divide{
      Operation(kernels::binary_kernels()[TNR_BINARY_OP_DIV - 1][static_cast<int>(Type::kU8)]),
      strip};
  EXPECT_EQ(run_streamed(divide, strip), kernels::kNothing);
  for (const std::size_t place : {std::size_t{0}, std::size_t{2500}, kCount - 1}) {
    divisor[place] = 0;
    EXPECT_EQ(run_streamed(divide, strip), kernels::kZeroDivisor) << place;
    divisor[place] = 1;
  }
}

TEST(StoresFor, StreamsFromTheBoundOn) {
  EXPECT_EQ(stores_for(0), Stores::kCached);
  EXPECT_EQ(stores_for(kStreamedBytes - 1), Stores::kCached);
#if defined(__x86_64__)
  EXPECT_EQ(stores_for(kStreamedBytes), Stores::kStreamed);
#endif
  // A comparison has the widest inputs for one byte of output.
  EXPECT_LE(static_cast<std::int64_t>(kAlwaysCachedBytes) * (1 + 8 + 8), kStreamedBytes);
}

// ---- whole operations that are large enough to be streamed ----

constexpr std::int64_t kRows = 3;
constexpr std::int64_t kColumns = (std::int64_t{9} << 20) / kRows + 5;
constexpr std::int64_t kLarge = kRows * kColumns;
static_assert(3 * kLarge > kStreamedBytes);

// An output in the middle of canaries, at an odd address and so not at the start of a line.
struct LargeOutput {
  std::vector<Byte> memory = std::vector<Byte>(kLarge + 2 * kMargin, Array::kCanary);
  Byte* data = memory.data() + kMargin + 1;

  [[nodiscard]] tnr_view_mut view(const Layout& layout) const {
    return {view_of(data, kLarge, 0, TNR_DTYPE_U8, layout)};
  }
  void expect(const std::vector<Byte>& wanted) const {
    EXPECT_EQ(std::memcmp(data, wanted.data(), kLarge), 0);
    const auto is_canary = [](Byte byte) { return byte == Array::kCanary; };
    EXPECT_TRUE(std::all_of(memory.data(), static_cast<const Byte*>(data), is_canary));
    EXPECT_TRUE(
        std::all_of(data + kLarge, static_cast<Byte*>(data) + kLarge + kMargin - 1, is_canary));
  }
};

std::vector<Byte> large_input(unsigned factor) {
  std::vector<Byte> bytes(kLarge);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<Byte>(i * factor >> 3);
  return bytes;
}

TEST(LargeOperations, InSlicesThatMeetWithinALine) {
  const std::vector<Byte> a = large_input(37);
  const std::vector<Byte> b = large_input(11);
  std::vector<Byte> sum(kLarge);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = static_cast<Byte>(a[i] + b[i]);
  const Layout line = {{kLarge, 1}};
  LargeOutput out;
  binary(TestContext(3), TNR_BINARY_OP_ADD, view_of(a.data(), a.size(), 0, TNR_DTYPE_U8, line),
         view_of(b.data(), b.size(), 0, TNR_DTYPE_U8, line), out.view(line));
  out.expect(sum);
}

TEST(LargeOperations, DenseInPlaceAndBroadcast) {
  const std::vector<Byte> a = large_input(37);
  const std::vector<Byte> b = large_input(11);
  const Layout matrix = {{kRows, kColumns}, {kColumns, 1}};
  const tnr_view a_view = view_of(a.data(), a.size(), 0, TNR_DTYPE_U8, matrix);
  const tnr_view b_view = view_of(b.data(), b.size(), 0, TNR_DTYPE_U8, matrix);
  const tnr_view row = view_of(b.data(), b.size(), 0, TNR_DTYPE_U8, {{kColumns, 1}});

  std::vector<Byte> sum(kLarge);
  std::vector<Byte> row_sum(kLarge);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = static_cast<Byte>(a[i] + b[i]);
    row_sum[i] = static_cast<Byte>(a[i] + b[i % kColumns]);
  }
  LargeOutput out;
  binary(kDefaultContext, TNR_BINARY_OP_ADD, a_view, b_view, out.view(matrix));
  out.expect(sum);
  binary(kDefaultContext, TNR_BINARY_OP_ADD, a_view, row, out.view(matrix));
  out.expect(row_sum);
  copy(kDefaultContext, a_view, out.view(matrix));
  out.expect(a);
  binary(kDefaultContext, TNR_BINARY_OP_ADD, out.view(matrix).view, b_view, out.view(matrix));
  out.expect(sum);

  const tnr_view across =
      view_of(a.data(), a.size(), 0, TNR_DTYPE_U8, {{kRows, 1}, {kColumns, kRows}});
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = static_cast<Byte>(a[i % kColumns * kRows + i / kColumns] + b[i]);
  }
  binary(kDefaultContext, TNR_BINARY_OP_ADD, across, b_view, out.view(matrix));
  out.expect(sum);
}

// Rows that both sides keep, in another order: longer than a page, of any size, adjacent in the
// output or not.
TEST(LargeOperations, CopiesOfLongRows) {
  constexpr std::int64_t kOuter = 7;
  constexpr std::int64_t kBytes = std::int64_t{14} << 20;
  std::vector<Byte> a(kBytes);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<Byte>(i * 37 >> 3);
  for (const std::int64_t width : {std::int64_t{8192}, std::int64_t{8231}, std::int64_t{40001}}) {
    for (const std::int64_t gap : {std::int64_t{0}, std::int64_t{5}}) {
      const std::int64_t pitch = width + gap;
      const std::int64_t middle = kBytes / pitch / kOuter;
      ASSERT_GE(2 * kOuter * middle * width, kStreamedBytes);
      const tnr_view view = view_of(a.data(), a.size(), 0, TNR_DTYPE_U8,
                                    {{middle, width}, {kOuter, middle * width}, {width, 1}});
      // In the middle of canaries, at an odd address.
      constexpr std::size_t kPlace = kMargin + 1;
      std::vector<Byte> wanted(kBytes + 2 * kMargin, Array::kCanary);
      for (std::int64_t i = 0; i < kOuter * middle; ++i) {
        std::memcpy(wanted.data() + kPlace + i * pitch,
                    a.data() + (i / kOuter + i % kOuter * middle) * width,
                    static_cast<std::size_t>(width));
      }
      for (const int threads : {1, 3}) {
        std::vector<Byte> made(wanted.size(), Array::kCanary);
        copy(TestContext(threads), view,
             {view_of(made.data() + kPlace, kBytes, 0, TNR_DTYPE_U8,
                      {{middle, kOuter * pitch}, {kOuter, pitch}, {width, 1}})});
        EXPECT_EQ(std::memcmp(made.data(), wanted.data(), made.size()), 0)
            << "rows of " << width << " with gaps of " << gap << ", threads " << threads;
      }
    }
  }
}

// Their kernel is in no table of entries, like that of a copy.
TEST(LargeOperations, LongRowsOfConjugates) {
  constexpr std::int64_t kWidth = 1500;
  constexpr std::int64_t kOuter = 4;
  constexpr std::int64_t kMiddle = 400;
  constexpr std::size_t kCount = kWidth * kOuter * kMiddle;
  std::vector<float> a(2 * kCount);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 1000 + 1);
  std::vector<float> made(2 * kCount);
  ASSERT_GE(static_cast<std::int64_t>(16 * kCount), kStreamedBytes);
  unary(kDefaultContext, TNR_UNARY_OP_CONJ,
        view_of(a.data(), 8 * kCount, 0, TNR_DTYPE_C64,
                {{kMiddle, kWidth}, {kOuter, kMiddle * kWidth}, {kWidth, 1}}),
        {view_of(made.data(), 8 * kCount, 0, TNR_DTYPE_C64,
                 {{kMiddle, kOuter * kWidth}, {kOuter, kWidth}, {kWidth, 1}})});
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::size_t row = i / kWidth;
    const std::size_t from = (row / kOuter + row % kOuter * kMiddle) * kWidth + i % kWidth;
    ASSERT_EQ(made[2 * i], a[2 * from]);
    ASSERT_EQ(made[2 * i + 1], -a[2 * from + 1]);
  }
}

}  // namespace
}  // namespace tenure::test
