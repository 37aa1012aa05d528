// Views made from loose arguments, as tnr_view_lend and tnr_blob_view take them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "expect_error.hpp"
#include "layouts.hpp"
#include "tenure/view.hpp"
#include "unseen.hpp"

namespace tenure::test {
namespace {

alignas(64) const std::byte memory[96]{};

using Extents = std::vector<std::int64_t>;

tnr_view make(std::size_t offset_bytes, const Extents& shape) {
  return make_view(memory, sizeof memory, offset_bytes, TNR_DTYPE_F32,
                   static_cast<std::uint32_t>(shape.size()), shape.data(), nullptr);
}
tnr_view make(std::size_t offset_bytes, const Extents& shape, const Extents& strides) {
  return make_view(memory, sizeof memory, offset_bytes, TNR_DTYPE_F32,
                   static_cast<std::uint32_t>(shape.size()), shape.data(), strides.data());
}

TEST(MakeView, FillsEveryWord) {
  const tnr_view view = make(8, {2, 3});
  EXPECT_EQ(view.data, memory + 8);
  EXPECT_EQ(view.base, memory);
  EXPECT_EQ(view.size_bytes, 96u);
  EXPECT_EQ(view.owner, 0u);
  EXPECT_EQ(view.dtype, std::uint32_t{TNR_DTYPE_F32});
  EXPECT_EQ(view.rank, 2u);
  EXPECT_EQ(view.device.kind, TNR_DEVICE_KIND_CPU);
  EXPECT_EQ(view.device.index, 0);
  EXPECT_EQ(view.flags, 0u);
  EXPECT_EQ(view.bit_offset, 0u);
  EXPECT_EQ(view.reserved, 0u);
  EXPECT_EQ(Extents(view.shape, view.shape + 8), (Extents{2, 3, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(Extents(view.strides, view.strides + 8), (Extents{3, 1, 0, 0, 0, 0, 0, 0}));
}

TEST(MakeView, TakesStridesOfAnySign) {
  const tnr_view view = make(20, {2, 3}, {-3, -1});
  EXPECT_EQ(view.data, memory + 20);
  EXPECT_EQ(view.strides[0], -3);
  EXPECT_EQ(view.strides[1], -1);
}

TEST(MakeView, TakesScalarsAndEmptyMemory) {
  EXPECT_EQ(make(92, {}).rank, 0u);
  const std::int64_t empty[] = {3, 0};
  const tnr_view view = make_view(nullptr, 0, 0, TNR_DTYPE_F32, 2, empty, nullptr);
  EXPECT_EQ(view.data, nullptr);
  EXPECT_EQ(view.strides[0], 1);
}

TEST(MakeView, PutsAnEmptyViewAtTheBase) {
  EXPECT_EQ(make(96, {0}).data, memory);
  EXPECT_EQ(make(3, {4, 0}, {INT64_MAX, INT64_MIN}).data, memory);
}

TEST(MakeView, NamesTheValueAndTheBound) {
  const std::int64_t shape[] = {2, 3};
  const auto invalid = [](const char* message, const std::function<void()>& body) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {message}, body);
  };
  invalid("rank is 9 but must be at most 8", [] { make(0, Extents(9, 1)); });
  invalid("shape is NULL but rank is 2",
          [] { make_view(memory, sizeof memory, 0, TNR_DTYPE_F32, 2, nullptr, nullptr); });
  invalid("shape[1] is -1 but must not be negative", [] { make(0, {2, -1}); });
  invalid("offset_bytes is 97 but size_bytes is 96", [] { make(97, {0}); });
  invalid("base is NULL but size_bytes is 24", [&] {
    make_view(nullptr, unseen<std::size_t>(24), 0, TNR_DTYPE_F32, 2, shape, nullptr);
  });
  invalid("shape is [5, 5], which needs 25 elements of 4 bytes, but 96 bytes are lent",
          [] { make(0, {5, 5}); });
  invalid("but 92 bytes are lent from offset_bytes on", [] { make(4, {6, 4}); });
  invalid("shape is [576460752303423487], which needs", [] { make(0, {TNR_MAX_ELEMENTS}); });
  invalid("more than 576460752303423487 elements", [] { make(0, {INT64_MAX, 2}); });
  invalid("strides[0] is 12, which reaches byte 100 of 96 lent", [] { make(0, {3}, {12}); });
  invalid("2 but must be a multiple of 4", [] { make(2, {3}); });
  invalid("size_bytes is 9223372036854775808 but must be at most 9223372036854775807", [&] {
    make_view(memory, unseen(std::size_t{1} << 63), 0, TNR_DTYPE_F32, 2, shape, nullptr);
  });
  // Also where only the offset leaves the address space: a pointer to there cannot be made.
  const auto* const near_the_end = reinterpret_cast<const std::byte*>(UINTPTR_MAX - 63);
  invalid("size_bytes is 4096 but only 63 bytes follow base in the address space", [&] {
    make_view(near_the_end, unseen<std::size_t>(4096), 1024, TNR_DTYPE_F32, 2, shape, nullptr);
  });
  expect_error(TNR_STATUS_UNSUPPORTED, {"dtype is 0x00010401 (4 bits, 1 lanes)"},
               [&] { make_view(memory, 96, 0, 0x00010401, 2, shape, nullptr); });
}

// The parameters of a lending, right or wrong.
struct Lending {
  const std::byte* base = memory;
  std::size_t size_bytes = sizeof memory;
  std::size_t offset_bytes;
  tnr_dtype dtype;
  std::uint32_t rank;
  std::int64_t shape[TNR_MAX_RANK + 1] = {};

  explicit Lending(std::mt19937_64& random) {
    constexpr tnr_dtype kDtypes[] = {TNR_DTYPE_U8,  TNR_DTYPE_F16,  TNR_DTYPE_F32, TNR_DTYPE_F64,
                                     TNR_DTYPE_C64, TNR_DTYPE_C128, 0x00010401,    0};
    constexpr std::int64_t kOdd[] = {0, -1, INT64_MAX, INT64_MIN, std::int64_t{1} << 32};
    const auto is_odd = [&] { return random() % 16 == 0; };
    if (is_odd()) base = nullptr;
    if (is_odd()) base = reinterpret_cast<const std::byte*>(UINTPTR_MAX - 95);
    if (is_odd()) size_bytes = std::size_t{1} << (random() % 64);
    offset_bytes = is_odd() ? random() % 128 : random() % 4 * 8;
    dtype = kDtypes[random() % std::size(kDtypes)];
    rank = static_cast<std::uint32_t>(is_odd() ? random() % 12 : random() % 4);
    for (std::int64_t& extent : shape) {
      extent =
          is_odd() ? kOdd[random() % std::size(kOdd)] : static_cast<std::int64_t>(1 + random() % 4);
    }
  }

  [[nodiscard]] tnr_view make() const {
    return make_view(base, size_bytes, offset_bytes, dtype, rank, shape, nullptr);
  }
  void lend(tnr_view& out, const std::int64_t* extents) const {
    lend_view(out, base, size_bytes, offset_bytes, dtype, rank, extents, nullptr);
  }
};

// Empty where `body` has not failed.
std::string failure_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return std::string(status_name(error.status())) + ": " + error.message();
  }
  return {};
}

TEST(LendView, GivesWhatIsMadeStepByStep) {
  std::mt19937_64 random(3);
  int lent_count = 0;
  for (int i = 0; i < 20000; ++i) {
    const Lending lending(random);
    const tnr_view before = make(0, {1});
    tnr_view made = before;
    tnr_view lent = before;
    const std::string failure = failure_of([&] { made = lending.make(); });
    ASSERT_EQ(failure_of([&] { lending.lend(lent, lending.shape); }), failure);
    ASSERT_EQ(std::memcmp(&lent, &made, sizeof made), 0);
    lent_count += failure.empty();
    if (lending.rank > TNR_MAX_RANK) continue;
    // The shape of the view itself.
    tnr_view own = before;
    std::copy_n(lending.shape, lending.rank, own.shape);
    if (!failure.empty()) made = own;
    static_cast<void>(failure_of([&] { lending.lend(own, own.shape); }));
    ASSERT_EQ(std::memcmp(&own, &made, sizeof made), 0);
  }
  EXPECT_GT(lent_count, 2000);
}

}  // namespace
}  // namespace tenure::test
