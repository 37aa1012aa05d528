// The alias decision against brute force: every small pair, and random larger ones.
#include <gtest/gtest.h>

#include <bitset>
#include <random>

#include "layouts.hpp"
#include "tenure/view.hpp"

namespace tenure::test {
namespace {

constexpr std::int64_t kSmallSpan = 24;
alignas(64) const std::byte memory[4096]{};

// A layout with the bytes it reaches, shifted so that the lowest is bit 0.
struct SmallLayout {
  Layout axes;
  std::int64_t below = 0;  // bytes from the lowest one up to `data`
  std::int64_t span = 0;
  std::uint64_t reached = 0;
};

SmallLayout reach_of(const Layout& axes, std::int64_t element_bytes) {
  SmallLayout result{axes};
  std::int64_t highest = element_bytes;
  for (const Axis& axis : axes) {
    const std::int64_t reach = (axis.extent - 1) * axis.stride * element_bytes;
    (reach < 0 ? result.below : highest) += reach < 0 ? -reach : reach;
  }
  result.span = result.below + highest;
  if (result.span > kSmallSpan) return result;
  const tnr_view view = view_of(nullptr, 0, 0, TNR_DTYPE_U8, axes);
  for_each_index(view, [&](const Index& index) {
    const std::int64_t first = byte_of(view, index) * element_bytes + result.below;
    for (std::int64_t i = 0; i < element_bytes; ++i) result.reached |= 1ULL << (first + i);
  });
  return result;
}

bool in_order(const Layout& axes) {
  for (std::size_t i = 1; i < axes.size(); ++i) {
    const auto key = [](const Axis& axis) { return std::pair(axis.extent, axis.stride); };
    if (key(axes[i]) < key(axes[i - 1])) return false;
  }
  return true;
}

// Every layout of rank <= 3, extents 2 and 3 and strides -4..4 within the small span, one order of
// axes each: extents of 1 and another order reach the same bytes.
std::vector<SmallLayout> small_layouts(std::int64_t element_bytes) {
  std::vector<SmallLayout> layouts;
  for (std::size_t rank = 0; rank <= 3; ++rank) {
    for_each_layout(rank, {2, 3}, {-4, -3, -2, -1, 0, 1, 2, 3, 4}, [&](const Layout& axes) {
      if (!in_order(axes)) return;
      const SmallLayout layout = reach_of(axes, element_bytes);
      if (layout.span <= kSmallSpan) layouts.push_back(layout);
    });
  }
  return layouts;
}

bool equal(const Layout& a, const Layout& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Axis& x, const Axis& y) {
    return x.extent == y.extent && x.stride == y.stride;
  });
}

tnr_dtype unsigned_of(std::int64_t bytes) {
  return bytes == 1 ? TNR_DTYPE_U8 : bytes == 2 ? TNR_DTYPE_U16 : TNR_DTYPE_U32;
}

// A view whose lowest byte is `lowest`. Odd places are fine: no byte is read.
tnr_view place(const SmallLayout& layout, std::int64_t element_bytes, std::int64_t lowest) {
  return view_of(memory, sizeof memory, lowest + layout.below, unsigned_of(element_bytes),
                 layout.axes);
}

// Every pair at every relative offset at which the intervals can touch, and one beyond. Returns
// how many pairs shared a byte.
std::int64_t compare_all_pairs(std::int64_t a_bytes, std::int64_t b_bytes) {
  const std::vector<SmallLayout> as = small_layouts(a_bytes);
  const std::vector<SmallLayout> bs = small_layouts(b_bytes);
  std::int64_t shared = 0;
  for (const SmallLayout& a : as) {
    const tnr_view a_view = place(a, a_bytes, 64);
    for (const SmallLayout& b : bs) {
      tnr_view b_view = place(b, b_bytes, 64 - b.span);
      for (std::int64_t offset = -b.span; offset <= a.span; ++offset) {
        const std::uint64_t b_reached = offset < 0 ? b.reached >> -offset : b.reached << offset;
        Alias expected = (a.reached & b_reached) != 0 ? Alias::kPartial : Alias::kNone;
        if (a_bytes == b_bytes && a_view.data == b_view.data && equal(a.axes, b.axes)) {
          expected = Alias::kSame;
        }
        if (alias_of(a_view, b_view) != expected) {
          ADD_FAILURE() << shape_text(a_view.rank, a_view.shape).text << " by "
                        << shape_text(a_view.rank, a_view.strides).text << " and "
                        << shape_text(b_view.rank, b_view.shape).text << " by "
                        << shape_text(b_view.rank, b_view.strides).text << " at " << offset;
          return shared;
        }
        shared += expected != Alias::kNone;
        b_view.data = static_cast<const std::byte*>(b_view.data) + 1;
      }
    }
  }
  return shared;
}

TEST(AliasSmallWorld, EqualElementSizes) { EXPECT_GT(compare_all_pairs(1, 1), 1'000'000); }
TEST(AliasSmallWorld, ShorterInput) { EXPECT_GT(compare_all_pairs(2, 1), 100'000); }
TEST(AliasSmallWorld, LongerInput) { EXPECT_GT(compare_all_pairs(1, 4), 10'000); }

constexpr std::int64_t kLargeSpan = sizeof memory;

tnr_view random_view(std::mt19937_64& random) {
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
  };
  while (true) {
    Layout axes(static_cast<std::size_t>(below(5)));
    for (Axis& axis : axes) axis = {1 + below(7), below(2) == 0 ? below(17) - 8 : below(401) - 200};
    const tnr_dtype dtype = unsigned_of(std::int64_t{1} << below(3));
    const tnr_view view = view_of(memory, kLargeSpan, below(kLargeSpan), dtype, axes);
    if (is_valid_view(view)) return view;
  }
}

std::bitset<kLargeSpan> reached_by(const tnr_view& view) {
  std::bitset<kLargeSpan> reached;
  for_each_index(view, [&](const Index& index) {
    for (std::size_t i = 0; i < element_size(view.dtype); ++i) {
      reached.set(static_cast<std::size_t>(byte_of(view, index)) + i);
    }
  });
  return reached;
}

TEST(AliasRandom, LargerPairsAgreeWithBruteForce) {
  std::mt19937_64 random(20261121);
  int apart = 0;
  for (int pair = 0; pair < 20'000; ++pair) {
    const tnr_view a = random_view(random);
    const tnr_view b = random_view(random);
    const bool shares = (reached_by(a) & reached_by(b)).any();
    const Alias alias = alias_of(a, b);
    // The budget is never needed at this size; an undecided pair here is a search gone wrong.
    ASSERT_EQ(alias != Alias::kNone, shares) << "pair " << pair;
    ASSERT_NE(alias, Alias::kUndecided) << "pair " << pair;
    ASSERT_EQ(alias_of(a, b), alias_of_stepwise(a, b)) << "pair " << pair;
    ASSERT_EQ(alias_of(b, a), alias) << "pair " << pair;
    apart += !shares;
  }
  EXPECT_GT(apart, 1'000);
  EXPECT_LT(apart, 19'000);
}

void lend_only_what_is_reached(tnr_view& view) {
  const std::bitset<kLargeSpan> reached = reached_by(view);
  if (reached.none()) return;
  std::size_t first = 0;
  std::size_t last = kLargeSpan - 1;
  while (!reached[first]) ++first;
  while (!reached[last]) --last;
  view.base = memory + first;
  view.size_bytes = last + 1 - first;
}

// The shortcuts of the inlined alias_of() against the order of questions in the design.
TEST(AliasRandom, ShortcutsChangeNoAnswer) {
  std::mt19937_64 random(7);
  for (int pair = 0; pair < 20'000; ++pair) {
    tnr_view out = random_view(random);
    tnr_view in = random() % 4 == 0 ? out : random_view(random);
    if (random() % 2 == 0) out.flags = TNR_VIEW_EXCLUSIVE;
    if (random() % 4 == 0 && out.rank != 0) {
      out.shape[0] = 0;
      out.data = out.base;
    }
    // One shortcut compares the lent ranges: now and then these are exactly the bytes reached.
    for (tnr_view* view : {&out, &in}) {
      if (random() % 2 == 0) lend_only_what_is_reached(*view);
      ASSERT_TRUE(is_valid_view(*view)) << "pair " << pair;
    }
    ASSERT_EQ(alias_of(out, in), alias_of_stepwise(out, in)) << "pair " << pair;
  }
}

}  // namespace
}  // namespace tenure::test
