// Every manipulation of every small view, element by element, against a plain map of indices.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "layouts.hpp"
#include "tenure/view.hpp"

namespace tenure::test {
namespace {

alignas(64) const std::byte memory[64]{};

using Extents = std::vector<std::int64_t>;

std::string describe(const tnr_view& view) {
  return std::string(shape_text(view.rank, view.shape).text) + " by " +
         shape_text(view.rank, view.strides).text;
}

// Rank 3 with fewer strides: with all of them the world has 46,656 views, and each many slices.
void for_each_view(const std::function<void(const tnr_view&)>& visit) {
  const std::vector<std::int64_t> all_strides = {-4, -3, -2, -1, 0, 1, 2, 3, 4};
  for (std::size_t rank = 0; rank <= 3; ++rank) {
    for_each_layout(rank, {0, 1, 2, 3}, rank < 3 ? all_strides : Extents{-4, 0, 1, 3},
                    [&](const Layout& layout) {
                      tnr_view view = view_of(memory, sizeof memory, 32, TNR_DTYPE_U8, layout);
                      view.flags = TNR_VIEW_EXCLUSIVE;
                      ASSERT_TRUE(is_valid_view(view)) << describe(view);
                      visit(view);
                    });
  }
}

// The result has this shape, and its element at each index is the view's at source(index).
template <class Source>
void expect_map(const tnr_view& view, const tnr_view& result, const Extents& shape,
                const Source& source) {
  ASSERT_EQ(Extents(result.shape, result.shape + result.rank), shape) << describe(view);
  ASSERT_TRUE(is_valid_view(result)) << describe(view) << " gave " << describe(result);
  ASSERT_EQ(result.flags, 0u);
  for_each_index(result, [&](const Index& index) {
    ASSERT_EQ(byte_of(result, index), byte_of(view, source(index)))
        << describe(view) << " gave " << describe(result);
  });
}

Extents shape_of(const tnr_view& view) { return {view.shape, view.shape + view.rank}; }

Extents with_extent(const tnr_view& view, std::uint32_t axis, std::int64_t extent) {
  Extents shape = shape_of(view);
  shape[axis] = extent;
  return shape;
}

Index without_axis(const Index& index, std::uint32_t axis) {
  Index result{};
  std::copy(index.begin(), index.begin() + axis, result.begin());
  std::copy(index.begin() + axis + 1, index.end(), result.begin() + axis);
  return result;
}

Index with_axis(const Index& index, std::uint32_t axis, std::int64_t value) {
  Index result{};
  std::copy(index.begin(), index.begin() + axis, result.begin());
  result[axis] = value;
  std::copy(index.begin() + axis, index.end() - 1, result.begin() + axis + 1);
  return result;
}

// The indices that a loop from start to stop visits.
Extents walk(std::int64_t start, std::int64_t stop, std::int64_t step) {
  Extents met;
  for (std::int64_t i = start; step > 0 ? i < stop : i > stop; i += step) met.push_back(i);
  return met;
}

void expect_picked(const tnr_view& view, const tnr_view& result, std::uint32_t axis,
                   const Extents& picked) {
  expect_map(view, result, with_extent(view, axis, static_cast<std::int64_t>(picked.size())),
             [&](Index index) {
               index[axis] = picked[static_cast<std::size_t>(index[axis])];
               return index;
             });
}

TEST(ViewWorld, Slice) {
  for_each_view([](const tnr_view& view) {
    for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
      for (const std::int64_t step : {-3, -2, -1, 1, 2, 3}) {
        const std::int64_t low = step > 0 ? 0 : -1;
        for (std::int64_t start = low; start <= view.shape[axis] + low; ++start) {
          for (std::int64_t stop = low; stop <= view.shape[axis] + low; ++stop) {
            expect_picked(view, slice(view, axis, start, stop, step), axis,
                          walk(start, stop, step));
          }
        }
      }
    }
  });
}

TEST(ViewWorld, FlipSplitAndChunk) {
  for_each_view([](const tnr_view& view) {
    for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
      const std::int64_t extent = view.shape[axis];
      expect_picked(view, flip(view, axis), axis, walk(extent - 1, -1, -1));
      for (std::int64_t at = 0; at <= extent; ++at) {
        const SplitViews parts = split(view, axis, at);
        expect_picked(view, parts.low, axis, walk(0, at, 1));
        expect_picked(view, parts.high, axis, walk(at, extent, 1));
      }
      for (std::int64_t count = 1; count <= extent + 2; ++count) {
        // Deal the elements out, one to each chunk in turn, to learn how long each is.
        Extents lengths(static_cast<std::size_t>(count), 0);
        for (std::int64_t i = 0; i < extent; ++i) ++lengths[static_cast<std::size_t>(i % count)];
        std::int64_t start = 0;
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t stop = start + lengths[static_cast<std::size_t>(i)];
          expect_picked(view, chunk(view, axis, count, i), axis, walk(start, stop, 1));
          start = stop;
        }
      }
    }
  });
}

TEST(ViewWorld, IndexSqueezeAndUnsqueeze) {
  for_each_view([](const tnr_view& view) {
    for (std::uint32_t axis = 0; axis <= view.rank; ++axis) {
      Extents longer = shape_of(view);
      longer.insert(longer.begin() + axis, 1);
      expect_map(view, unsqueeze(view, axis), longer,
                 [&](const Index& index) { return without_axis(index, axis); });
    }
    for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
      Extents shorter = shape_of(view);
      shorter.erase(shorter.begin() + axis);
      for (std::int64_t at = 0; at < view.shape[axis]; ++at) {
        const auto source = [&](const Index& index) { return with_axis(index, axis, at); };
        expect_map(view, tenure::index(view, axis, at), shorter, source);
        if (view.shape[axis] == 1) expect_map(view, squeeze(view, axis), shorter, source);
      }
    }
  });
}

TEST(ViewWorld, PermuteAndTranspose) {
  for_each_view([](const tnr_view& view) {
    std::vector<std::uint32_t> axes(view.rank);
    for (std::uint32_t axis = 0; axis < view.rank; ++axis) axes[axis] = axis;
    do {
      Extents shape;
      for (const std::uint32_t axis : axes) shape.push_back(view.shape[axis]);
      expect_map(view, permute(view, view.rank, axes.data()), shape, [&](const Index& index) {
        Index source{};
        for (std::uint32_t i = 0; i < view.rank; ++i) source[axes[i]] = index[i];
        return source;
      });
    } while (std::next_permutation(axes.begin(), axes.end()));
    for (std::uint32_t a = 0; a < view.rank; ++a) {
      for (std::uint32_t b = 0; b < view.rank; ++b) {
        Extents shape = shape_of(view);
        std::swap(shape[a], shape[b]);
        expect_map(view, transpose(view, a, b), shape, [&](Index index) {
          std::swap(index[a], index[b]);
          return index;
        });
      }
    }
  });
}

TEST(ViewWorld, Windows) {
  for_each_view([](const tnr_view& view) {
    for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
      for (std::int64_t size = 1; size <= view.shape[axis]; ++size) {
        for (std::int64_t step = 1; step <= 4; ++step) {
          const Extents starts = walk(0, view.shape[axis] - size + 1, step);
          Extents shape = with_extent(view, axis, static_cast<std::int64_t>(starts.size()));
          shape.push_back(size);
          expect_map(view, windows(view, axis, size, step), shape, [&](Index index) {
            index[axis] = starts[static_cast<std::size_t>(index[axis])] + index[view.rank];
            index[view.rank] = 0;
            return index;
          });
        }
      }
    }
  });
}

void for_each_shape(std::size_t rank, const std::vector<std::int64_t>& extents,
                    const std::function<void(const Extents&)>& visit) {
  for_each_layout(rank, extents, {0}, [&](const Layout& layout) {
    Extents shape;
    for (const Axis& axis : layout) shape.push_back(axis.extent);
    visit(shape);
  });
}

// Axes are compared from the last one; NumPy's rule as its users know it.
bool broadcasts(const tnr_view& view, const Extents& shape) {
  if (shape.size() < view.rank) return false;
  for (std::uint32_t back = 1; back <= view.rank; ++back) {
    const std::int64_t extent = view.shape[view.rank - back];
    if (extent != 1 && extent != shape[shape.size() - back]) return false;
  }
  return true;
}

TEST(ViewWorld, Broadcast) {
  int refused = 0;
  for_each_view([&](const tnr_view& view) {
    // Strides pass through unread, so a part of them is enough.
    if (view.rank >= 2 && view.strides[0] != 1) return;
    for (std::size_t rank = 0; rank <= 4; ++rank) {
      for_each_shape(rank, {0, 1, 2, 3}, [&](const Extents& shape) {
        try {
          const tnr_view result = broadcast(view, static_cast<std::uint32_t>(rank), shape.data());
          ASSERT_TRUE(broadcasts(view, shape)) << describe(view);
          expect_map(view, result, shape, [&](const Index& index) {
            Index source{};
            for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
              source[axis] = view.shape[axis] == 1 ? 0 : index[rank - view.rank + axis];
            }
            return source;
          });
        } catch (const Error& error) {
          ASSERT_FALSE(broadcasts(view, shape)) << describe(view) << error.message();
          ++refused;
        }
      });
    }
  });
  EXPECT_GT(refused, 1'000);
}

Extents bytes_in_row_major_order(const tnr_view& view) {
  Extents bytes;
  for_each_index(view, [&](const Index& index) { bytes.push_back(byte_of(view, index)); });
  return bytes;
}

// Whether any strides say these bytes under this shape. An axis of extent > 1 leaves no choice: its
// stride is the distance from the first element to its neighbour.
bool some_strides_say(const Extents& bytes, const Extents& shape) {
  tnr_view candidate = view_of(nullptr, 0, 0, TNR_DTYPE_U8, {});
  std::size_t below = 1;
  candidate.rank = static_cast<std::uint32_t>(shape.size());
  for (std::uint32_t axis = candidate.rank; axis-- > 0;) {
    candidate.shape[axis] = shape[axis];
    if (shape[axis] > 1) candidate.strides[axis] = bytes[below] - bytes[0];
    below *= static_cast<std::size_t>(shape[axis]);
  }
  Extents said = bytes_in_row_major_order(candidate);
  for (std::int64_t& byte : said) byte += bytes[0];
  return said == bytes;
}

// Every shape of rank <= 4 that a small view could have instead of its own, by element count.
std::map<std::int64_t, std::vector<Extents>> shapes_by_count() {
  std::map<std::int64_t, std::vector<Extents>> shapes;
  for (std::size_t rank = 0; rank <= 4; ++rank) {
    for_each_shape(rank, {0, 1, 2, 3, 4, 6, 8, 9, 12, 18, 27}, [&](const Extents& shape) {
      std::int64_t count = 1;
      for (const std::int64_t extent : shape) count *= extent;
      if (count <= 27) shapes[count].push_back(shape);
    });
  }
  // The first of the many empty ones are enough.
  shapes[0].resize(30);
  return shapes;
}

TEST(ViewWorld, Reshape) {
  const auto shapes = shapes_by_count();
  int views = 0;
  int copies = 0;
  for_each_view([&](const tnr_view& view) {
    const Extents bytes = bytes_in_row_major_order(view);
    for (const Extents& shape : shapes.at(element_count(view))) {
      const bool sayable = bytes.empty() || some_strides_say(bytes, shape);
      try {
        const tnr_view result =
            reshape(view, static_cast<std::uint32_t>(shape.size()), shape.data());
        ASSERT_TRUE(sayable) << describe(view) << " gave " << describe(result);
        ASSERT_TRUE(is_valid_view(result));
        ASSERT_EQ(Extents(result.shape, result.shape + result.rank), shape);
        ASSERT_EQ(bytes_in_row_major_order(result), bytes) << describe(view);
        ++views;
      } catch (const Error& error) {
        ASSERT_FALSE(sayable) << describe(view) << error.message();
        ++copies;
      }
    }
  });
  EXPECT_GT(views, 1'000);
  EXPECT_GT(copies, 1'000);
}

TEST(ViewWorld, Flatten) {
  for_each_view([&](const tnr_view& view) {
    const Extents bytes = bytes_in_row_major_order(view);
    const Extents shape = {element_count(view)};
    try {
      const tnr_view result = flatten(view);
      ASSERT_EQ(Extents(result.shape, result.shape + result.rank), shape);
      ASSERT_EQ(bytes_in_row_major_order(result), bytes) << describe(view);
    } catch (const Error& error) {
      ASSERT_FALSE(some_strides_say(bytes, shape)) << describe(view) << error.message();
    }
  });
}

}  // namespace
}  // namespace tenure::test
