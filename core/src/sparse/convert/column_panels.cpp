#include "sparse/convert/column_panels.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "dense/loops/streamed.hpp"
#include "memory/scratch.hpp"
#include "memory/traffic.hpp"
#include "sparse/index_array.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::IndexType;

// The largest result of a panel: three quarters of a second cache of 1 MiB. Measured for 8192^2
// with 6.7 M entries, f32 and i32: 256 KiB take 1.4 times as long, 512 KiB 1.1 times, and 1 MiB is
// like this. Rows have longer pieces in wider panels, and fewer lines are fetched twice.
constexpr std::int64_t kPanelBytes = std::int64_t{768} << 10;
// Keys of a panel at most: their cursors have an eighth of the cache.
constexpr std::int64_t kPanelKeys = std::int64_t{16} << 10;
// Entries of a row in a panel from which on panels are used. Measured, with f32 and i32: at 3 they
// are as fast as buckets, at 1.5 half as fast, at 12 twice as fast.
constexpr std::int64_t kLeastRun = 4;

// Keys up to which entries are counted in 16 bits first: the counts of 16 Ki stay in a first cache
// of 32 KiB. Measured with 8192 keys: 0.32 ns for an entry, where 32 bits take 0.61.
constexpr std::int64_t kNarrowKeys = std::int64_t{16} << 10;

std::int64_t panel_entries(std::int64_t index_bytes, std::int64_t value_bytes) noexcept {
  return kPanelBytes / (index_bytes + value_bytes);
}

// Adds to counts[key].
template <class I>
void count_keys(const I* keys, std::int64_t count, std::int64_t key_count,
                std::int64_t* counts) noexcept {
  if (key_count > kNarrowKeys) {
    for (std::int64_t k = 0; k < count; ++k) ++counts[keys[k]];
    return;
  }
  std::uint16_t narrow[kNarrowKeys];
  for (std::int64_t begin = 0; begin < count; begin += UINT16_MAX) {
    const std::int64_t end = std::min<std::int64_t>(count, begin + UINT16_MAX);
    std::fill_n(narrow, key_count, std::uint16_t{0});
    for (std::int64_t k = begin; k < end; ++k) ++narrow[keys[k]];
    for (std::int64_t key = 0; key < key_count; ++key) counts[key] += narrow[key];
  }
}

// Keys [begin, end), whose entries the rows have from where they stopped.
template <class I>
struct Panel {
  I first_key;
  std::uint64_t key_count;
  std::int64_t row_count;
  const I* offsets;    // row r ends at entry offsets[r + 1] - offsets[0]
  std::int64_t* next;  // of each row, and of kFarRows behind the last
  const I* keys;
  const Byte* values;
  std::int64_t* cursors;  // of each key
  I* others_out;
  Byte* values_out;
};

// Rows whose next lines are brought into the second cache, and then into the first: pieces of rows
// are a line or two long, in an order that hardware prefetchers cannot predict.
constexpr std::int64_t kFarRows = 24;
constexpr std::int64_t kNearRows = 6;

template <class I, std::size_t kBytes>
class Walk {
 public:
  // Puts the entries of a panel where their keys' cursors say, `count` of them at most; returns how
  // many there were.
  static std::int64_t run(const Panel<I>& panel, std::int64_t count) noexcept {
    const auto [first_key, key_count, row_count, offsets, next, keys, values, cursors, others_out,
                values_out] = panel;
    const auto base = static_cast<std::int64_t>(offsets[0]);
    std::int64_t left = count;
    for (std::int64_t row = 0; row < row_count; ++row) {
      fetch<2>(panel, next[row + kFarRows]);
      fetch<3>(panel, next[row + kNearRows]);
      const std::int64_t begin = next[row];
      // No more than there is room for, if keys fall after all and come twice.
      const std::int64_t end =
          std::min(static_cast<std::int64_t>(offsets[row + 1]) - base, begin + left);
      std::int64_t k = begin;
      for (; k < end; ++k) {
        const auto key =
            static_cast<std::uint64_t>(keys[k]) - static_cast<std::uint64_t>(first_key);
        if (key >= key_count) break;
        const std::int64_t at = cursors[key]++;
        others_out[at] = static_cast<I>(row);
        std::memcpy(values_out + at * kWidth, values + k * kWidth, kBytes);
      }
      left -= k - begin;
      next[row] = k;
    }
    return count - left;
  }

 private:
  static constexpr auto kWidth = static_cast<std::int64_t>(kBytes);

  // Three lines of either: what most rows have in a panel, where these begin within a line. With
  // two a fifteenth slower.
  template <int kLevel>
  static void fetch(const Panel<I>& panel, std::int64_t k) noexcept {
    const auto* const key = reinterpret_cast<const Byte*>(panel.keys + k);
    const Byte* const value = panel.values + k * kWidth;
    for (std::int64_t at = 0; at < 3 * kLineBytes; at += kLineBytes) {
      __builtin_prefetch(key + at, 0, kLevel);
      __builtin_prefetch(value + at, 0, kLevel);
    }
  }
};

template <class I>
class Panels {
 public:
  Panels(const Context& context, const Ungrouped& from, const Grouped& to, std::int64_t value_bytes)
      : context_(context),
        from_(from),
        to_(to),
        width_(value_bytes),
        room_(panel_entries(sizeof(I), value_bytes)),
        slices_(from.count <= room_ ? 1 : static_cast<std::int64_t>(context.thread_count())),
        stores_(stores_for(from.count * (static_cast<std::int64_t>(sizeof(I)) + value_bytes))),
        firsts_((from.key_count + 1) * slices_, sizeof(std::int64_t)) {}

  // False where the keys of a row fall.
  bool run() {
    count();
    cut();
    const Scratch scratch(slices_, scratch_bytes());
    std::atomic<bool> is_right{true};
    for_each_slice(context_, slices_, [&](std::int64_t slice) {
      if (!run_slice(slice, scratch.data() + slice * scratch_bytes())) {
        is_right.store(false, std::memory_order_relaxed);
      }
      order_streamed_stores();
    });
    return is_right.load(std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] const I* keys() const noexcept { return reinterpret_cast<const I*>(from_.keys); }
  // Where the entries of a key begin in the result; of the key behind the last, how many there are.
  [[nodiscard]] std::int64_t first_of(std::int64_t key) const noexcept {
    return firsts_.numbers()[key];
  }

  void count() {
    std::int64_t* const firsts = firsts_.numbers();
    const std::int64_t step = from_.key_count + 1;
    for_each_slice(context_, slices_, [&](std::int64_t slice) {
      std::int64_t* const counts = firsts + slice * step;
      std::fill_n(counts, step, 0);
      const std::int64_t begin = slice_begin(from_.count, slices_, slice);
      count_keys(keys() + begin, slice_begin(from_.count, slices_, slice + 1) - begin,
                 from_.key_count, counts);
    });
    auto* const offsets = reinterpret_cast<I*>(to_.offsets);
    std::int64_t first = 0;
    for (std::int64_t key = 0; key <= from_.key_count; ++key) {
      std::int64_t of_key = 0;
      for (std::int64_t slice = 0; slice < slices_; ++slice) of_key += firsts[slice * step + key];
      firsts[key] = first;
      offsets[key] = static_cast<I>(first);
      first += of_key;
    }
  }

  // The keys of each panel: as many as there is room for, but one at least.
  void cut() {
    std::int64_t key = 0;
    while (key < from_.key_count) {
      panel_keys_.push_back(key);
      const std::int64_t limit = std::min(from_.key_count, key + kPanelKeys);
      const std::int64_t* const firsts = firsts_.numbers();
      key = std::upper_bound(firsts + key + 2, firsts + limit + 1, first_of(key) + room_) - firsts -
            1;
    }
    panel_keys_.push_back(from_.key_count);
  }

  // For each slice: where the rows are, cursors, and room for the result of a panel; twice that, as
  // more come to the last key than there are of it if keys fall.
  [[nodiscard]] std::int64_t next_bytes() const noexcept {
    return whole_lines((from_.other_count + kFarRows) * 8);
  }
  [[nodiscard]] std::int64_t others_bytes() const noexcept {
    return whole_lines(2 * room_ * static_cast<std::int64_t>(sizeof(I)));
  }
  [[nodiscard]] std::int64_t scratch_bytes() const noexcept {
    return next_bytes() + kPanelKeys * 8 + others_bytes() + whole_lines(2 * room_ * width_);
  }

  // The first panel that begins with a key of the slice or behind it.
  [[nodiscard]] std::size_t first_panel(std::int64_t slice) const noexcept {
    if (slice == slices_) return panel_keys_.size() - 1;
    const std::int64_t first = slice_begin(from_.count, slices_, slice);
    const auto is_before = [&](std::int64_t key, std::int64_t entry) {
      return first_of(key) < entry;
    };
    return static_cast<std::size_t>(
        std::lower_bound(panel_keys_.begin(), panel_keys_.end() - 1, first, is_before) -
        panel_keys_.begin());
  }

  void start_rows(std::int64_t key, std::int64_t* next) const noexcept {
    const auto* const offsets = reinterpret_cast<const I*>(from_.offsets);
    for (std::int64_t row = 0; row < from_.other_count; ++row) {
      const I* const begin = keys() + (offsets[row] - offsets[0]);
      const I* const end = keys() + (offsets[row + 1] - offsets[0]);
      next[row] = (key == 0 ? begin : std::lower_bound(begin, end, static_cast<I>(key))) - keys();
    }
    std::fill_n(next + from_.other_count, kFarRows, next[from_.other_count - 1]);
  }

  bool run_slice(std::int64_t slice, Byte* scratch) const noexcept {
    const std::size_t end = first_panel(slice + 1);
    std::size_t panel = first_panel(slice);
    if (panel == end) return true;
    start_rows(panel_keys_[panel], reinterpret_cast<std::int64_t*>(scratch));
    for (; panel < end; ++panel) {
      const bool is_right = [&] {
        switch (width_) {
          case 1: return run_panel<1>(panel, scratch);
          case 2: return run_panel<2>(panel, scratch);
          case 4: return run_panel<4>(panel, scratch);
          case 8: return run_panel<8>(panel, scratch);
          default: return run_panel<16>(panel, scratch);
        }
      }();
      if (!is_right) return false;
    }
    return true;
  }

  template <std::size_t kBytes>
  bool run_panel(std::size_t at, Byte* scratch) const noexcept {
    const std::int64_t first_key = panel_keys_[at];
    const std::int64_t key_count = panel_keys_[at + 1] - first_key;
    const std::int64_t first = first_of(first_key);
    const std::int64_t count = first_of(first_key + key_count) - first;
    // Not staged: a single panel, as the result itself is in the second cache, and one key with too
    // many entries for the room, as no other key's lines push its lines out of the first cache.
    const bool is_staged = count <= room_ && count != from_.count;
    auto* const cursors = reinterpret_cast<std::int64_t*>(scratch + next_bytes());
    for (std::int64_t key = 0; key < key_count; ++key) {
      cursors[key] = first_of(first_key + key) - first;
    }
    Byte* const staged = scratch + next_bytes() + kPanelKeys * 8;
    Byte* const others = to_.others + first * static_cast<std::int64_t>(sizeof(I));
    Byte* const values = to_.values + first * width_;
    Byte* const values_out = is_staged ? staged + others_bytes() : values;
    const Panel<I> panel = {.first_key = static_cast<I>(first_key),
                            .key_count = static_cast<std::uint64_t>(key_count),
                            .row_count = from_.other_count,
                            .offsets = reinterpret_cast<const I*>(from_.offsets),
                            .next = reinterpret_cast<std::int64_t*>(scratch),
                            .keys = keys(),
                            .values = from_.values,
                            .cursors = cursors,
                            .others_out = reinterpret_cast<I*>(is_staged ? staged : others),
                            .values_out = values_out};
    if (Walk<I, kBytes>::run(panel, count) != count) return false;
    for (std::int64_t key = 0; key < key_count; ++key) {
      if (cursors[key] != first_of(first_key + key + 1) - first) return false;
    }
    if (!is_staged) return true;
    copy_lines(others, staged, count * static_cast<std::int64_t>(sizeof(I)), stores_);
    copy_lines(values, values_out, count * width_, stores_);
    return true;
  }

  const Context& context_;
  const Ungrouped& from_;
  const Grouped& to_;
  std::int64_t width_;
  std::int64_t room_;
  std::int64_t slices_;
  Stores stores_;
  Scratch firsts_;  // and an array for each other slice to count in
  std::vector<std::int64_t> panel_keys_;
};

}  // namespace

bool suits_panels(const Ungrouped& from, const Grouped& to, std::int64_t value_bytes) noexcept {
  if (from.others != nullptr || from.index_type != to.index_type) return false;
  const std::int64_t room = panel_entries(index_width(to.index_type), value_bytes);
  return from.other_count <= std::min(from.count, room) / kLeastRun && from.key_count <= from.count;
}

bool group_by_panels(const Context& context, const Ungrouped& from, const Grouped& to,
                     std::int64_t value_bytes) {
  if (from.index_type == IndexType::kI32) {
    return Panels<std::int32_t>(context, from, to, value_bytes).run();
  }
  return Panels<std::int64_t>(context, from, to, value_bytes).run();
}

}  // namespace tenure
