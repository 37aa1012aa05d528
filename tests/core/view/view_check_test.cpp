// The checker: each refusal with its message, and the whole small world against explicit sets.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "expect_error.hpp"
#include "layouts.hpp"
#include "tenure/view.hpp"

namespace tenure::test {
namespace {

constexpr tnr_dtype kU8x3 = 0x00030801;  // three lanes of u8
alignas(64) const std::byte memory[128]{};

// A good view to be spoiled: [2, 3] f32 over 24 of 96 bytes.
tnr_view good() { return view_of(memory, 96, 0, TNR_DTYPE_F32, {{2, 3}, {3, 1}}); }

void expect_refused(const tnr_view& view, tnr_status status, const char* message) {
  EXPECT_FALSE(is_valid_view(view));
  expect_error(status, {message}, [&] { check_view(view, "out"); });
  expect_error(status, {message}, [&] { check_view_mut(tnr_view_mut{view}, "out"); });
}

void expect_accepted(const tnr_view& view) {
  EXPECT_TRUE(is_valid_view(view));
  EXPECT_NO_THROW(check_view(view, "out"));
  EXPECT_NO_THROW(check_view_stepwise(view, "out"));
}

bool stepwise_accepts(const tnr_view& view) {
  try {
    check_view_stepwise(view, "v");
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(CheckView, AcceptsWhatLiesInside) {
  expect_accepted(good());
  expect_accepted(view_of(memory, 4, 0, TNR_DTYPE_F32, {}));
  expect_accepted(view_of(memory, 24, 20, TNR_DTYPE_F32, {{2, -3}, {3, -1}}));
  expect_accepted(view_of(memory, 4, 0, TNR_DTYPE_F32, {{1000, 0}}));
  expect_accepted(view_of(memory, 1, 0, TNR_DTYPE_U8,
                          {{1, 9}, {1, 9}, {1, 9}, {1, 9}, {1, 9}, {1, 9}, {1, 9}, {1, 9}}));
}

TEST(CheckView, AcceptsTheExclusiveFlag) {
  tnr_view view = good();
  view.flags = TNR_VIEW_EXCLUSIVE;
  expect_accepted(view);
}

TEST(CheckView, IgnoresStridesOfExtentsUpToOneAndEntriesBeyondTheRank) {
  tnr_view view = view_of(memory, 4, 0, TNR_DTYPE_F32, {{1, INT64_MAX}, {1, INT64_MIN}});
  view.shape[2] = -5;
  view.strides[2] = INT64_MIN;
  expect_accepted(view);
}

TEST(CheckView, AsksNothingOfAnEmptyViewButItsData) {
  expect_accepted(view_of(nullptr, 0, 0, TNR_DTYPE_F32, {{0, 1}}));
  expect_accepted(view_of(memory + 1, 0, 0, TNR_DTYPE_F64, {{0, 1}}));  // misaligned
  expect_accepted(view_of(memory, 8, 0, TNR_DTYPE_F32,
                          {{INT64_MAX, INT64_MAX}, {INT64_MAX, INT64_MIN}, {0, INT64_MIN}}));
  tnr_view view = good();
  view.shape[0] = 0;
  view.data = memory + 4;
  expect_refused(view, TNR_STATUS_INVALID_ARGUMENT,
                 "out.data must equal base, because the shape [0, 3] is empty");
}

TEST(CheckView, RefusesDtypesWithoutWholeBytes) {
  tnr_view view = good();
  view.dtype = 0x00010401;  // u4
  expect_refused(view, TNR_STATUS_UNSUPPORTED,
                 "out.dtype is 0x00010401 (4 bits, 1 lanes) but must have whole bytes");
  view.dtype = 0x00002002;  // no lanes
  expect_refused(view, TNR_STATUS_UNSUPPORTED, "(32 bits, 0 lanes)");
  view.dtype = 0x00010002;  // no bits
  expect_refused(view, TNR_STATUS_UNSUPPORTED, "(0 bits, 1 lanes)");
  view.dtype = 0x00010101;  // a bitmap, even empty and with a bit_offset
  view.bit_offset = 3;
  expect_refused(view, TNR_STATUS_UNSUPPORTED, "(1 bits, 1 lanes)");
}

TEST(CheckView, CarriesDtypesThatNoOperationTakes) {
  expect_accepted(view_of(memory + 1, 95, 0, kU8x3, {{5, 1}}));
  expect_accepted(view_of(memory, 96, 1, 0x0001080a, {{5, 1}}));      // an 8-bit float
  expect_accepted(view_of(memory, 96, 4, 0x00042002, {{5, 1}}));      // f32 x 4: aligned as f32
  expect_accepted(view_of(memory, 96, 8, TNR_DTYPE_C128, {{5, 1}}));  // aligned as f64
}

TEST(CheckView, RefusesOtherDevices) {
  tnr_view view = good();
  view.device = {2, 0};
  expect_refused(view, TNR_STATUS_UNSUPPORTED, "out.device is cuda:0 but must be the CPU");
  view.device = {TNR_DEVICE_KIND_CPU, 1};
  expect_refused(view, TNR_STATUS_UNSUPPORTED, "out.device is device 1 of kind 1");
}

TEST(CheckView, RefusesWhatIsKeptForLater) {
  tnr_view view = good();
  view.flags = 6;
  expect_refused(view, TNR_STATUS_INVALID_ARGUMENT, "out.flags is 0x6 but only 0x1 is known");
  view = good();
  view.bit_offset = 1;
  expect_refused(view, TNR_STATUS_INVALID_ARGUMENT, "out.bit_offset is 1 but must be 0");
  view = good();
  view.reserved = 7;
  expect_refused(view, TNR_STATUS_INVALID_ARGUMENT, "out.reserved is 7 but must be 0");
}

TEST(CheckView, RefusesRanksAndExtents) {
  tnr_view view = good();
  view.rank = 9;
  expect_refused(view, TNR_STATUS_INVALID_ARGUMENT, "out.rank is 9 but must be at most 8");
  view.rank = UINT32_MAX;
  expect_refused(view, TNR_STATUS_INVALID_ARGUMENT, "out.rank is 4294967295");
  view = good();
  view.shape[1] = -3;
  expect_refused(view, TNR_STATUS_INVALID_ARGUMENT, "out.shape[1] is -3 but must not be negative");
  view.shape[0] = 0;
  view.shape[1] = INT64_MIN;
  expect_refused(view, TNR_STATUS_INVALID_ARGUMENT, "out.shape[1] is -9223372036854775808");
}

TEST(CheckView, RefusesMoreElementsThanFit) {
  expect_refused(view_of(memory, 96, 0, TNR_DTYPE_F32, {{1LL << 32, 0}, {1LL << 31, 0}}),
                 TNR_STATUS_INVALID_ARGUMENT,
                 "out.shape is [4294967296, 2147483648], more than 576460752303423487 elements");
  const auto repeated = [](tnr_dtype dtype, std::int64_t count) {
    return view_of(memory, 96, 0, dtype, {{count, 0}});
  };
  EXPECT_TRUE(is_valid_view(repeated(TNR_DTYPE_C128, TNR_MAX_ELEMENTS)));
  expect_refused(repeated(TNR_DTYPE_U8, TNR_MAX_ELEMENTS + 1), TNR_STATUS_INVALID_ARGUMENT,
                 "out.shape is [576460752303423488], more than 576460752303423487 elements");
  constexpr tnr_dtype kU64x3 = 0x00034001;
  expect_refused(repeated(kU64x3, TNR_MAX_ELEMENTS), TNR_STATUS_INVALID_ARGUMENT,
                 "out.shape is [576460752303423487], whose elements have more than "
                 "9223372036854775807 bytes");
}

TEST(CheckView, RefusesMemoryThatCannotBe) {
  tnr_view view = good();
  view.size_bytes = 1ULL << 63;
  expect_refused(view, TNR_STATUS_INVALID_ARGUMENT,
                 "out.size_bytes is 9223372036854775808 but must be at most 9223372036854775807");
  view = good();
  view.base = nullptr;
  expect_refused(view, TNR_STATUS_INVALID_ARGUMENT, "out.base is NULL but size_bytes is 96");
  view = good();
  view.data = nullptr;
  expect_refused(view, TNR_STATUS_INVALID_ARGUMENT, "out.data is NULL but size_bytes is 96");
  view = good();
  view.base = view.data = reinterpret_cast<const void*>(UINT64_MAX - 63);
  expect_refused(view, TNR_STATUS_INVALID_ARGUMENT,
                 "out.size_bytes is 96 but only 63 bytes follow base in the address space");
}

TEST(CheckView, RefusesAFirstElementOutside) {
  tnr_view view = good();
  view.base = memory + 8;
  expect_refused(view, TNR_STATUS_INVALID_ARGUMENT, "out.data lies 8 bytes below base");
  expect_refused(view_of(memory, 96, 96, TNR_DTYPE_F32, {}), TNR_STATUS_INVALID_ARGUMENT,
                 "out.data lies at byte 96, where an element of 4 bytes does not fit into 96 lent");
  expect_refused(view_of(memory, 96, 94, TNR_DTYPE_F32, {}), TNR_STATUS_INVALID_ARGUMENT,
                 "out.data lies at byte 94");
  expect_refused(view_of(memory, 0, 0, TNR_DTYPE_U8, {}), TNR_STATUS_INVALID_ARGUMENT,
                 "an element of 1 bytes does not fit into 0 lent");
  expect_refused(view_of(nullptr, 0, 0, TNR_DTYPE_U8, {}), TNR_STATUS_INVALID_ARGUMENT,
                 "an element of 1 bytes does not fit into 0 lent");
}

TEST(CheckView, RefusesMisalignedElements) {
  expect_refused(view_of(memory, 96, 2, TNR_DTYPE_F32, {}), TNR_STATUS_INVALID_ARGUMENT,
                 "2 but must be a multiple of 4");
  expect_refused(view_of(memory, 96, 4, TNR_DTYPE_C128, {}), TNR_STATUS_INVALID_ARGUMENT,
                 "4 but must be a multiple of 8");
  expect_refused(view_of(memory, 96, 1, TNR_DTYPE_BF16, {}), TNR_STATUS_INVALID_ARGUMENT,
                 "1 but must be a multiple of 2");
  expect_accepted(view_of(memory, 96, 4, TNR_DTYPE_C64, {}));
}

TEST(CheckView, RefusesStridesThatLeaveTheMemory) {
  expect_refused(view_of(memory, 96, 0, TNR_DTYPE_F32, {{4, 1}, {3, 12}}),
                 TNR_STATUS_INVALID_ARGUMENT,
                 "out.strides[1] is 12, which reaches byte 112 of 96 lent");
  expect_refused(view_of(memory, 96, 4, TNR_DTYPE_F32, {{3, -1}}), TNR_STATUS_INVALID_ARGUMENT,
                 "out.strides[0] is -1, which reaches byte -4 of 96 lent");
  const char* beyond = " over an extent of 2 reaches beyond the address space";
  for (const std::int64_t stride : {INT64_MAX, INT64_MIN, INT64_MAX / 4 + 1, INT64_MIN / 4 - 1}) {
    expect_refused(view_of(memory, 96, 48, TNR_DTYPE_F32, {{2, stride}}),
                   TNR_STATUS_INVALID_ARGUMENT, beyond);
  }
  // Each axis fits an integer, both together do not.
  expect_refused(view_of(memory, 96, 0, TNR_DTYPE_U8, {{2, INT64_MIN}, {2, INT64_MIN}}),
                 TNR_STATUS_INVALID_ARGUMENT, "out.strides[0] is -9223372036854775808");
  // Opposite reaches do not cancel.
  expect_refused(view_of(memory, 96, 48, TNR_DTYPE_U8, {{2, 1LL << 40}, {2, -(1LL << 40)}}),
                 TNR_STATUS_INVALID_ARGUMENT, "out.strides[0] is 1099511627776");
}

TEST(CheckView, NamesBareParameters) {
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"strides[0] is -1, which reaches byte -4"},
               [] { check_view(view_of(memory, 96, 4, TNR_DTYPE_F32, {{3, -1}}), ""); });
}

TEST(CheckViewMut, RefusesIndicesThatMayMeet) {
  const auto check = [](const Layout& layout) {
    check_view_mut(tnr_view_mut{view_of(memory, 96, 48, TNR_DTYPE_U8, layout)}, "out");
  };
  expect_error(TNR_STATUS_ALIASED,
               {"out.strides[0] is 0, which does not exceed the 0 elements that smaller strides "
                "reach: two indices may meet in one byte"},
               [&] { check({{2, 0}}); });
  expect_error(TNR_STATUS_ALIASED, {"out.strides[1] is 2, which does not exceed the 3 elements"},
               [&] { check({{4, 1}, {3, 2}}); });
  expect_error(TNR_STATUS_ALIASED, {"out.strides[1] is -3, which does not exceed the 3 elements"},
               [&] { check({{2, 3}, {2, -3}}); });
  // One-to-one, but refused all the same: the test is conservative.
  expect_error(TNR_STATUS_ALIASED, {"out.strides[0] is 3, which does not exceed the 4 elements"},
               [&] { check({{2, 3}, {3, 2}}); });
  EXPECT_NO_THROW(check({}));
  EXPECT_NO_THROW(check({{3, 1}, {4, 3}}));
  EXPECT_NO_THROW(check({{2, 5}, {3, -2}}));
  EXPECT_NO_THROW(check({{1, 0}, {4, 1}}));
}

TEST(CheckViewMut, LetsEmptyViewsOverlapThemselves) {
  const tnr_view view = view_of(memory, 96, 0, TNR_DTYPE_U8, {{2, 0}, {INT64_MAX, 1}, {0, 0}});
  EXPECT_NO_THROW(check_view_mut(tnr_view_mut{view}, "out"));
}

constexpr std::int64_t kSmallSpan = 24;
constexpr tnr_dtype kSmallWorldDtypes[] = {TNR_DTYPE_U8, TNR_DTYPE_I16, kU8x3, TNR_DTYPE_F32};

void for_the_small_world(const std::function<void(const Layout&)>& visit) {
  for (std::size_t rank = 0; rank <= 3; ++rank) {
    for_each_layout(rank, {0, 1, 2, 3}, {-4, -3, -2, -1, 0, 1, 2, 3, 4}, visit);
  }
}

std::string describe(const tnr_view& view) {
  return std::string(shape_text(view.rank, view.shape).text) + " by " +
         shape_text(view.rank, view.strides).text;
}

// Every offset for u8, whose alignment allows them all; for the others some, misaligned ones too.
TEST(CheckViewSmallWorld, IsExactlyReachability) {
  std::int64_t accepted = 0;
  for_the_small_world([&](const Layout& layout) {
    for (const tnr_dtype dtype : kSmallWorldDtypes) {
      const auto size = static_cast<std::int64_t>(element_size(dtype));
      const auto alignment = static_cast<std::int64_t>(element_alignment(dtype));
      const std::int64_t stride_of_offsets = dtype == TNR_DTYPE_U8 ? 1 : 5;
      tnr_view view = view_of(memory, kSmallSpan, 0, dtype, layout);
      std::int64_t lowest = 0;
      std::int64_t end = size;
      for_each_index(view, [&](const Index& index) {
        lowest = std::min(lowest, byte_of(view, index));
        end = std::max(end, byte_of(view, index) + size);
      });
      for (std::int64_t offset = 0; offset <= kSmallSpan; offset += stride_of_offsets) {
        view = view_of(memory, kSmallSpan, offset, dtype, layout);
        const bool inside = offset + lowest >= 0 && offset + end <= kSmallSpan;
        const bool expected = is_empty(view) || (inside && offset % alignment == 0);
        ASSERT_EQ(is_valid_view(view), expected) << describe(view) << " at " << offset;
        accepted += expected;
      }
    }
  });
  EXPECT_GT(accepted, 100'000);
}

// The fast path against its reference implementation. Fewer offsets, since a refusal throws.
TEST(CheckViewSmallWorld, FastAndStepwiseAgree) {
  for_the_small_world([&](const Layout& layout) {
    for (const std::int64_t offset : {7, 12}) {
      const tnr_view view = view_of(memory, kSmallSpan, offset, TNR_DTYPE_U8, layout);
      ASSERT_EQ(is_valid_view(view), stepwise_accepts(view)) << describe(view) << " at " << offset;
    }
  });
}

// Numbers at which arithmetic fails, in every word, against the reference implementation.
TEST(CheckViewRandom, FastAndStepwiseAgreeOnExtremes) {
  std::mt19937_64 random(20261121);
  const std::int64_t numbers[] = {0,         0,         1,           1,         2,
                                  3,         -1,        -2,          7,         1LL << 31,
                                  1LL << 32, 1LL << 60, 1LL << 61,   1LL << 62, INT64_MAX - 1,
                                  INT64_MAX, INT64_MIN, -(1LL << 62)};
  const auto any = [&] { return numbers[random() % std::size(numbers)]; };
  const auto rarely = [&] { return random() % 32 == 0 ? static_cast<std::uint64_t>(any()) : 0; };
  int accepted = 0;
  for (int i = 0; i < 200'000; ++i) {
    tnr_view view = view_of(memory, sizeof memory, 0, kSmallWorldDtypes[random() % 4], {});
    view.rank = static_cast<std::uint32_t>(random() % 5 + (rarely() & 0xffff));
    for (int axis = 0; axis < 4; ++axis) {
      view.shape[axis] = random() % 2 == 0 ? 2 : any();
      view.strides[axis] = any();
    }
    const std::uint64_t base = random() % 4 == 0 ? static_cast<std::uint64_t>(any()) : 1 << 12;
    view.base = reinterpret_cast<const void*>(base);
    view.data = reinterpret_cast<const void*>(
        base + (random() % 2 == 0 ? 0 : static_cast<std::uint64_t>(any())));
    view.size_bytes = static_cast<std::uint64_t>(random() % 2 == 0 ? INT64_MAX : any());
    view.flags = static_cast<std::uint32_t>(rarely());
    view.bit_offset = static_cast<std::uint32_t>(rarely());
    view.reserved = rarely();
    view.device.index = static_cast<std::int32_t>(rarely());
    const bool valid = is_valid_view(view);
    ASSERT_EQ(valid, stepwise_accepts(view)) << describe(view) << " in round " << i;
    if (!valid) continue;
    ++accepted;
    EXPECT_GE(element_count(view), 0);
    bool fine = true;
    try {
      require_none(self_overlap_refusal(view, "v"));
    } catch (const Error&) {
      fine = false;
    }
    // The order of the axes proves what the sorted rule would say as well.
    ASSERT_TRUE(fine || !strides_nest_in_order(view)) << describe(view);
  }
  EXPECT_GT(accepted, 10'000);
}

// The rule said once more, axis by axis and without sorting.
bool rule_accepts(const Layout& layout) {
  for (const Axis& axis : layout) {
    if (axis.extent == 0) return true;
  }
  for (const Axis& axis : layout) {
    if (axis.extent == 1) continue;
    std::int64_t reach_of_others = 0;
    for (const Axis& other : layout) {
      if (&other != &axis && other.extent > 1 && std::abs(other.stride) <= std::abs(axis.stride)) {
        reach_of_others += (other.extent - 1) * std::abs(other.stride);
      }
    }
    if (std::abs(axis.stride) <= reach_of_others) return false;
  }
  return true;
}

TEST(CheckViewMutSmallWorld, IsExactlyTheRuleAndNeverWronglyFine) {
  int accepted = 0;
  int refused_though_one_to_one = 0;
  for_the_small_world([&](const Layout& layout) {
    const tnr_view view = view_of(memory, 64, 32, TNR_DTYPE_U8, layout);
    std::set<std::int64_t> bytes;
    std::size_t indices = 0;
    for_each_index(view, [&](const Index& index) {
      bytes.insert(byte_of(view, index));
      ++indices;
    });
    const bool one_to_one = bytes.size() == indices;
    bool fine = true;
    try {
      check_view_mut(tnr_view_mut{view}, "out");
    } catch (const Error& error) {
      ASSERT_EQ(error.status(), TNR_STATUS_ALIASED) << describe(view) << error.message();
      fine = false;
    }
    ASSERT_EQ(fine, rule_accepts(layout)) << describe(view);
    ASSERT_TRUE(one_to_one || !fine) << describe(view);
    accepted += fine;
    refused_though_one_to_one += one_to_one && !fine;
  });
  EXPECT_GT(accepted, 1'000);
  EXPECT_GT(refused_though_one_to_one, 0);
}

}  // namespace
}  // namespace tenure::test
