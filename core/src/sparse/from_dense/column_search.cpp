#include "sparse/from_dense/column_search.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "cpu/dispatch.hpp"
#include "sparse/index_array.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::compression_kernels;
using kernels::MaskedElements;

// Bytes of a panel's row, or fewer where columns are long: down to a line. Measured, for all of
// 8192^2 f32 read once: 64 B take 35 ms, 128 B 21, 256 B 15, as do all up to 4 KiB.
constexpr std::int64_t kPanelRowBytes = 256;
// The buffers of a panel's columns if all elements are entries; unused parts are never touched.
// Panels that would need more are made narrower: a tenth of it is 1.2 MiB.
constexpr std::int64_t kPanelBytes = std::int64_t{12} << 20;
// Their size for the narrowest panels.
constexpr std::int64_t kMaxPanelBytes = kPanelBytes * 2;
// Elements that are listed in one step: fewer than others take, as the first cache also has the
// ends of all columns.
constexpr std::int64_t kStepElements = 1024;
static_assert(kStepElements <= kernels::kMostPositions);
constexpr std::int64_t kListBytes = (kStepElements + kernels::kMorePositions) * 2;
// Rows that are on their way to the second cache, one after the other: hardware prefetchers predict
// none.
constexpr std::int64_t kRowsAhead = 16;

// Rows of `bytes` each, to one after the other.
void pack_rows(const DenseElements& elements, std::int64_t row, std::int64_t rows,
               std::int64_t first_byte, std::int64_t bytes, std::int64_t all_rows, Byte* to) {
  const std::int64_t step = elements.row_step();
  const Byte* from = elements.row(row) + first_byte;
  const std::int64_t last_fetched = all_rows - 1 - kRowsAhead;
  for (std::int64_t end = row + rows; row < end; ++row, from += step, to += bytes) {
    const Byte* const ahead = row <= last_fetched ? from + kRowsAhead * step : from;
    std::int64_t at = 0;
    for (; at + kLineBytes <= bytes; at += kLineBytes) {
      __builtin_prefetch(ahead + at, 0, 2);
      std::memcpy(to + at, from + at, static_cast<std::size_t>(kLineBytes));
    }
    __builtin_prefetch(ahead + bytes - 1, 0, 2);
    std::memcpy(to + at, from + at, static_cast<std::size_t>(bytes - at));
  }
}

template <class I, class V>
struct Entry {
  using Row = I;
  using Value = V;
  I row;
  V value;  // its bits
};
// Calls body(Entry<I, V>()): as the entries of the matrix are.
template <class I, class Body>
void with_values(std::int64_t width, const Body& body) {
  switch (width) {
    case 1: return body(Entry<I, std::uint8_t>());
    case 2: return body(Entry<I, std::uint16_t>());
    case 4: return body(Entry<I, std::uint32_t>());
    default: body(Entry<I, std::uint64_t>());
  }
}
template <class Body>
void with_entries(const DenseSearch& dense, const Body& body) {
  const bool is_i32 = dense.index_type == kernels::IndexType::kI32;
  is_i32 ? with_values<std::int32_t>(dense.elements.width(), body)
         : with_values<std::int64_t>(dense.elements.width(), body);
}

std::int64_t entry_bytes(const DenseSearch& dense) noexcept {
  return 2 * std::max(index_width(dense.index_type), dense.elements.width());
}

// Entries from the buffer of a column to the next: an odd number of lines, so that the ends of
// columns that have grown alike are in different sets of a cache.
std::int64_t column_room(const DenseSearch& dense) noexcept {
  const std::int64_t in_line = kLineBytes / entry_bytes(dense);
  return ((dense.rows + in_line - 1) / in_line | 1) * in_line;
}

// Bytes of the columns of a panel.
std::int64_t panel_bytes(const DenseSearch& dense, std::int64_t columns) noexcept {
  return columns * column_room(dense) * entry_bytes(dense);
}

}  // namespace

ColumnSearch::ColumnSearch(const DenseSearch& matrix) noexcept
    : dense(matrix),
      panel_columns(std::max<std::int64_t>(1, kPanelRowBytes / matrix.elements.width())) {
  while (panel_columns * dense.elements.width() > kLineBytes &&
         panel_bytes(dense, panel_columns) > kPanelBytes) {
    panel_columns /= 2;
  }
}

bool ColumnSearch::is_possible() const noexcept {
  return dense.rows > 1 && dense.columns > 1 && dense.elements.has_dense_rows() &&
         (dense.mask == nullptr || dense.mask->has_dense_rows()) &&
         panel_bytes(dense, panel_columns) <= kMaxPanelBytes;
}

std::int64_t ColumnSearcher::buffer_bytes(const ColumnSearch& search) noexcept {
  return kStepElements / 8 + kStepElements * search.dense.elements.width() + kStepElements +
         kListBytes + whole_lines(search.panel_columns * 8) +
         panel_bytes(search.dense, search.panel_columns);
}

ColumnSearcher::ColumnSearcher(const ColumnSearch& search, Byte* buffer) noexcept
    : search_(search), room_(column_room(search.dense)) {
  const auto part = [&buffer](std::int64_t bytes) {
    Byte* const begin = buffer;
    buffer += bytes;
    return begin;
  };
  bits_ = reinterpret_cast<std::uint64_t*>(part(kStepElements / 8));
  elements_ = part(kStepElements * search.dense.elements.width());
  asked_ = part(kStepElements);
  indices_ = reinterpret_cast<std::uint16_t*>(part(kListBytes));
  ends_ = reinterpret_cast<std::int64_t*>(part(whole_lines(search.panel_columns * 8)));
  entries_ = part(panel_bytes(search.dense, search.panel_columns));
}

std::int64_t ColumnSearcher::list(std::int64_t first, std::int64_t count) noexcept {
  const DenseSearch& dense = search_.dense;
  const std::int64_t width = dense.elements.width();
  pack_rows(dense.elements, first, count, first_column_ * width, column_count_ * width, dense.rows,
            elements_);
  const Byte* asked = elements_;
  unsigned asked_width = dense.elements.width_index();
  if (dense.mask != nullptr) {
    pack_rows(*dense.mask, first, count, first_column_ * dense.mask->width(),
              column_count_ * dense.mask->width(), dense.rows, asked_);
    asked = asked_;
    asked_width = dense.mask->width_index();
  }
  const std::int64_t elements = count * column_count_;
  const MaskedElements look = {elements, asked, bits_, 0, 0, 1, nullptr};
  compression_kernels().predicate_mask[static_cast<unsigned>(dense.predicate.kind)][asked_width](
      look, dense.predicate);
  const std::int64_t words = (elements + kernels::kWordElements - 1) / kernels::kWordElements;
  return compression_kernels().list_bit_indices(bits_, words, indices_);
}

template <class E>
void ColumnSearcher::put(std::int64_t first, std::int64_t listed) noexcept {
  const std::uint16_t* const indices = indices_;
  const Byte* const elements = elements_;
  auto* const entries = reinterpret_cast<E*>(entries_);
  std::int64_t* const ends = ends_;
  const auto put_one = [=](unsigned index, unsigned row, unsigned column) {
    typename E::Value value;
    std::memcpy(&value, elements + index * sizeof value, sizeof value);
    entries[ends[column]++] = {static_cast<typename E::Row>(first + row), value};
  };
  const auto columns = static_cast<unsigned>(column_count_);
  if ((columns & (columns - 1)) == 0) {
    const int shift = __builtin_ctz(columns);
    for (std::int64_t k = 0; k < listed; ++k) {
      put_one(indices[k], indices[k] >> shift, indices[k] & (columns - 1));
    }
    return;
  }
  // The last panel, or all of a narrow matrix.
  for (std::int64_t k = 0; k < listed; ++k) {
    put_one(indices[k], indices[k] / columns, indices[k] % columns);
  }
}

std::int64_t ColumnSearcher::count(std::int64_t chunk) noexcept {
  first_column_ = chunk * search_.panel_columns;
  column_count_ = std::min(search_.panel_columns, search_.dense.columns - first_column_);
  for (std::int64_t column = 0; column < column_count_; ++column) ends_[column] = column * room_;
  std::int64_t found = 0;
  const std::int64_t rows = kStepElements / column_count_;
  with_entries(search_.dense, [&](const auto& entry) {
    for (std::int64_t row = 0; row < search_.dense.rows; row += rows) {
      const std::int64_t listed = list(row, std::min(rows, search_.dense.rows - row));
      put<std::decay_t<decltype(entry)>>(row, listed);
      found += listed;
    }
  });
  return found;
}

// Appends entries to both results.
template <class E>
void ColumnSearcher::stage(const E* entries, std::int64_t count) noexcept {
  constexpr auto kValueBytes = static_cast<std::int64_t>(sizeof(typename E::Value));
  constexpr auto kRowBytes = static_cast<std::int64_t>(sizeof(typename E::Row));
  while (count > 0) {
    const std::int64_t piece = std::min(count, kPieceElements);
    Byte* const values = staged_values_.end();
    Byte* const rows = staged_rows_.end();
    for (std::int64_t k = 0; k < piece; ++k) {
      std::memcpy(values + k * kValueBytes, &entries[k].value, kValueBytes);
      std::memcpy(rows + k * kRowBytes, &entries[k].row, kRowBytes);
    }
    staged_values_.append(piece * kValueBytes);
    staged_rows_.append(piece * kRowBytes);
    entries += piece;
    count -= piece;
  }
}

void ColumnSearcher::write(const EntryArrays& to, std::int64_t before, std::int64_t) noexcept {
  staged_values_.start(to.values + before * search_.dense.elements.width(), to.stores);
  staged_rows_.start(to.columns + before * index_width(search_.dense.index_type), to.stores);
  with_entries(search_.dense, [&](const auto& entry) {
    const auto* const entries = reinterpret_cast<const std::decay_t<decltype(entry)>*>(entries_);
    for (std::int64_t column = 0; column < column_count_; ++column) {
      const std::int64_t first = column * room_;
      stage(entries + first, ends_[column] - first);
      before += ends_[column] - first;
      put_index(to.offsets, search_.dense.index_type, first_column_ + column + 1, before);
    }
  });
  staged_values_.finish();
  staged_rows_.finish();
}

std::int64_t ColumnSearcher::expected_count() noexcept {
  // Some rows of some panels, from all over the matrix.
  constexpr std::int64_t kSamples = 32;
  const std::int64_t rows = std::min(search_.dense.rows, kStepElements / search_.panel_columns);
  std::int64_t found = 0;
  std::int64_t looked_at = 0;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    first_column_ = i * chunk_count(search_) / kSamples * search_.panel_columns;
    column_count_ = std::min(search_.panel_columns, search_.dense.columns - first_column_);
    found += list(i * (search_.dense.rows - rows) / kSamples, rows);
    looked_at += rows * column_count_;
  }
  return search_.entry_count() / looked_at * found;
}

}  // namespace tenure
