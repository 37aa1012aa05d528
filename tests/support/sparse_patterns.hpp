// Sparse matrices as lists of entries, of every shape that is hard on an algorithm; and back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sparse/index_array.hpp"
#include "sparse_arrays.hpp"
#include "test_context.hpp"

namespace tenure::test {

struct Entry {
  std::int64_t row;
  std::int64_t col;
  float value;

  bool operator==(const Entry& other) const {
    return row == other.row && col == other.col && value == other.value;
  }
};
inline bool precedes(const Entry& a, const Entry& b) {
  return a.row != b.row ? a.row < b.row : a.col < b.col;
}
inline bool is_left_of(const Entry& a, const Entry& b) {
  return a.col != b.col ? a.col < b.col : a.row < b.row;
}

struct Pattern {
  std::string name;
  std::int64_t rows;
  std::int64_t cols;
  std::vector<Entry> entries;  // in the order of COO
};

// Entries with the values 1, 2, ..., so that each is known wherever it goes.
inline Pattern random_pattern(std::string name, std::int64_t rows, std::int64_t cols,
                              std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Pattern pattern{std::move(name), rows, cols, {}};
  for (std::int64_t k = 0; k < count; ++k) {
    pattern.entries.push_back(
        {static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows)),
         static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(cols)),
         static_cast<float>(k + 1)});
  }
  return pattern;
}

inline bool has_duplicates(const Pattern& pattern) {
  std::vector<Entry> entries = pattern.entries;
  std::sort(entries.begin(), entries.end(), precedes);
  return std::adjacent_find(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
           return a.row == b.row && a.col == b.col;
         }) != entries.end();
}

// Each position at most once, in the order of `by`.
template <class By>
Pattern coalesced(Pattern pattern, By by) {
  auto& entries = pattern.entries;
  std::stable_sort(entries.begin(), entries.end(), by);
  const auto same = [](const Entry& a, const Entry& b) { return a.row == b.row && a.col == b.col; };
  entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  return pattern;
}

inline std::vector<Pattern> small_patterns() {
  std::vector<Pattern> patterns = {
      {"nothing", 0, 0, {}},
      {"no rows", 0, 5, {}},
      {"no columns", 5, 0, {}},
      {"no entries", 4, 6, {}},
      {"one", 1, 1, {{0, 0, 1}}},
      {"one of many", 300, 70, {{299, 69, 1}}},
      random_pattern("unsorted", 40, 56, 700, 1),
      random_pattern("duplicates", 4, 8, 300, 2),
      random_pattern("one dense row", 1, 200, 500, 3),
      random_pattern("one column", 200, 1, 500, 4),
      random_pattern("hypersparse", 100'000, 70'000, 90, 5),
  };
  patterns.push_back(coalesced(random_pattern("by rows", 32, 48, 900, 6), precedes));
  patterns.push_back(coalesced(random_pattern("by columns", 32, 48, 900, 7), is_left_of));
  Pattern last = coalesced(random_pattern("all in the last row", 64, 96, 300, 8), precedes);
  for (Entry& entry : last.entries) entry.row = 63;
  patterns.push_back(last);
  return patterns;
}

// More buckets than one, also for the widest values, and two slices and more.
inline std::vector<Pattern> large_patterns() {
  std::vector<Pattern> patterns = {
      random_pattern("large, unsorted", 300, 517, 70'000, 9),
      random_pattern("large and hypersparse", 1 << 20, 1'000'003, 70'000, 10),
      random_pattern("large, few columns", 5000, 3, 70'000, 11),
  };
  patterns.push_back(coalesced(random_pattern("large, by rows", 400, 700, 90'000, 12), precedes));
  // All but a few in one column: a bucket that is larger than its room.
  Pattern column = random_pattern("large, a dense column", 900, 513, 100'000, 13);
  for (std::size_t k = 0; k < column.entries.size(); ++k) {
    if (k % 50 != 0) column.entries[k].col = 77;
  }
  patterns.push_back(column);
  return patterns;
}

// Flags that hold for a pattern in a format: model_of() keeps the order of entries within a row.
inline std::uint32_t flags_of(const Pattern& pattern, tnr_sparse_format format) {
  std::vector<Entry> entries = pattern.entries;
  const bool by_cols = format == TNR_SPARSE_FORMAT_CSC;
  if (format != TNR_SPARSE_FORMAT_COO) {
    std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
      return by_cols ? a.col < b.col : a.row < b.row;
    });
  }
  return (std::is_sorted(entries.begin(), entries.end(), by_cols ? is_left_of : precedes)
              ? TNR_SPARSE_SORTED
              : 0u) |
         (has_duplicates(pattern) ? 0u : TNR_SPARSE_UNIQUE);
}

// The model of a pattern in COO, CSR or CSC, entries of a row or column in the pattern's order.
inline SparseModel model_of(const Pattern& pattern, tnr_sparse_format format) {
  SparseModel model{.format = format, .rows = pattern.rows, .cols = pattern.cols};
  std::vector<Entry> entries = pattern.entries;
  const bool by_cols = format == TNR_SPARSE_FORMAT_CSC;
  if (format != TNR_SPARSE_FORMAT_COO) {
    std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
      return by_cols ? a.col < b.col : a.row < b.row;
    });
    model.major.assign(static_cast<std::size_t>(by_cols ? pattern.cols : pattern.rows) + 1, 0);
    for (const Entry& entry : entries) {
      ++model.major[static_cast<std::size_t>(by_cols ? entry.col : entry.row) + 1];
    }
    for (std::size_t i = 1; i < model.major.size(); ++i) model.major[i] += model.major[i - 1];
  }
  for (const Entry& entry : entries) {
    if (format == TNR_SPARSE_FORMAT_COO) model.major.push_back(entry.row);
    model.minor.push_back(by_cols ? entry.row : entry.col);
    model.values.push_back(entry.value);
  }
  return model;
}

// The entries of a view, in its order; of BSR all elements of the blocks. Values are f32.
inline std::vector<Entry> entries_of(const tnr_sparse_view& view) {
  std::vector<Entry> entries;
  const auto* const values = static_cast<const float*>(view.values.data);
  if (view.format == TNR_SPARSE_FORMAT_COO) {
    for (std::int64_t k = 0; k < view.minor.shape[0]; ++k) {
      entries.push_back({index_at(view.major, k), index_at(view.minor, k), values[k]});
    }
    return entries;
  }
  const std::int64_t block = view.block_rows * view.block_cols;
  for (std::int64_t major = 0; major < major_count(view); ++major) {
    for (std::int64_t k = index_at(view.major, major); k < index_at(view.major, major + 1); ++k) {
      const std::int64_t minor = index_at(view.minor, k);
      if (view.format == TNR_SPARSE_FORMAT_CSC) {
        entries.push_back({minor, major, values[k]});
        continue;
      }
      for (std::int64_t at = 0; at < block; ++at) {
        entries.push_back({major * view.block_rows + at / view.block_cols,
                           minor * view.block_cols + at % view.block_cols, values[k * block + at]});
      }
    }
  }
  return entries;
}

// A matrix that an operation has made; its flags and invariants have been looked at.
class Result {
 public:
  explicit Result(SparseToken token) : token_(token), view_(sparse_view(token)) {
    check_entries(view_, RowExtent::kWhole, "result");
  }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  ~Result() { sparse_release(token_); }

  [[nodiscard]] const tnr_sparse_view& view() const { return view_; }
  [[nodiscard]] std::vector<Entry> entries() const { return entries_of(view_); }
  [[nodiscard]] bool is(std::uint32_t flags) const { return (view_.flags & flags) == flags; }

 private:
  SparseToken token_;
  tnr_sparse_view view_;
};

}  // namespace tenure::test
