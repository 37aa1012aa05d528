#include "column_scan.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "index_array.hpp"
#include "streamed.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Run;

// Bytes of a panel's row, or fewer where columns are long: down to a line. Measured, for all of
// 8192^2 f32 read once: 64 B take 35 ms, 128 B 21, 256 B 16, as do all up to 4 KiB.
constexpr std::int64_t kPanelRowBytes = 256;
// What the list and the result of a panel may need, if all elements are entries. Of what they do not
// need nothing is touched.
constexpr std::int64_t kMaxPanelBytes = std::int64_t{24} << 20;
// Elements that are looked at in one step: those of f32 take half of a first cache.
constexpr std::int64_t kStepElements = 4096;
// Rows that are on their way to the second cache, one after the other: the processor foresees none.
constexpr std::int64_t kRowsAhead = 16;

const kernels::Compaction& compaction() { return *kernels::table().compaction; }

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

std::int64_t list_bytes(std::int64_t entries, std::int64_t width) noexcept {
  return whole_lines(entries * width + kernels::kSlackBytes);
}

std::int64_t entries_of_panel(const ColumnScan& scan) noexcept {
  return scan.dense.rows * scan.panel_columns;
}

// Bytes of a panel's entries in list and result.
std::int64_t panel_bytes(const DenseScan& dense, std::int64_t columns,
                         std::int64_t index_bytes) noexcept {
  return dense.rows * columns * 2 * (dense.elements.width() + index_bytes);
}

}  // namespace

ColumnScan::ColumnScan(const DenseScan& matrix) noexcept
    : dense(matrix),
      panel_columns(std::max<std::int64_t>(1, kPanelRowBytes / matrix.elements.width())) {
  while (panel_columns * dense.elements.width() > kLineBytes &&
         panel_bytes(dense, panel_columns, index_bytes()) > kMaxPanelBytes) {
    panel_columns /= 2;
  }
}

bool ColumnScan::is_possible() const noexcept {
  return dense.rows > 1 && dense.columns > 1 && dense.elements.has_dense_rows() &&
         (dense.mask == nullptr || dense.mask->has_dense_rows()) &&
         panel_bytes(dense, panel_columns, index_bytes()) <= kMaxPanelBytes;
}

std::int64_t ColumnScanner::buffer_bytes(const ColumnScan& scan) noexcept {
  const std::int64_t width = scan.dense.elements.width();
  const std::int64_t index = scan.index_bytes();
  const std::int64_t entries = entries_of_panel(scan);
  return kStepElements / 8 + kStepElements * width + kStepElements +
         2 * list_bytes(entries, width) + 2 * list_bytes(entries, index) +
         whole_lines((scan.panel_columns + 1) * 8);
}

ColumnScanner::ColumnScanner(const ColumnScan& scan, Byte* buffer) noexcept : scan_(scan) {
  const std::int64_t width = scan.dense.elements.width();
  const std::int64_t index = scan.index_bytes();
  const std::int64_t entries = entries_of_panel(scan);
  const auto part = [&buffer](std::int64_t bytes) {
    Byte* const begin = buffer;
    buffer += bytes;
    return begin;
  };
  bits_ = reinterpret_cast<std::uint64_t*>(part(kStepElements / 8));
  elements_ = part(kStepElements * width);
  asked_ = part(kStepElements);
  values_ = part(list_bytes(entries, width));
  staged_values_ = part(list_bytes(entries, width));
  places_ = part(list_bytes(entries, index));
  staged_others_ = part(list_bytes(entries, index));
  cursors_ = reinterpret_cast<std::int64_t*>(part(whole_lines((scan.panel_columns + 1) * 8)));
}

void ColumnScanner::take(std::int64_t first, std::int64_t count) noexcept {
  const DenseScan& dense = scan_.dense;
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
  const Run look = {elements, asked, bits_, 0, 0, 1, nullptr};
  compaction().mark[static_cast<unsigned>(dense.keep.kind)][asked_width](look, dense.keep);
  kernels::Ahead ahead = {nullptr, nullptr};
  // As if the panel were one row.
  const std::int64_t all = dense.rows * column_count_;
  const Run run = {elements, elements_, bits_, 0, first * column_count_, all, &ahead};
  const auto compact =
      compaction().compact[dense.elements.width_index()][static_cast<unsigned>(dense.index_type)];
  listed_ +=
      compact(run, {values_ + listed_ * width, places_ + listed_ * scan_.index_bytes(), nullptr});
}

std::int64_t ColumnScanner::count(std::int64_t chunk) noexcept {
  first_column_ = chunk * scan_.panel_columns;
  column_count_ = std::min(scan_.panel_columns, scan_.dense.columns - first_column_);
  listed_ = 0;
  const std::int64_t rows = std::max<std::int64_t>(1, kStepElements / column_count_);
  for (std::int64_t row = 0; row < scan_.dense.rows; row += rows) {
    take(row, std::min(rows, scan_.dense.rows - row));
  }
  return listed_;
}

// Calls body(split), where split(place) is {row, column}: a place in a panel is row * columns + column.
template <class Body>
void ColumnScanner::with_split(const Body& body) const noexcept {
  const std::int64_t columns = column_count_;
  if ((columns & (columns - 1)) == 0) {
    const int shift = __builtin_ctzll(static_cast<unsigned long long>(columns));
    return body([=](std::int64_t place) {
      return std::pair<std::int64_t, std::int64_t>(place >> shift, place & (columns - 1));
    });
  }
  // The last panel, or all of a narrow matrix.
  const auto divisor = static_cast<std::uint32_t>(columns);
  body([=](std::int64_t place) {
    const auto number = static_cast<std::uint32_t>(place);
    return std::pair<std::int64_t, std::int64_t>(number / divisor, number % divisor);
  });
}

template <class I>
void ColumnScanner::count_columns() noexcept {
  std::fill_n(cursors_, column_count_, 0);
  with_split([&](const auto& split) {
    const auto* const places = reinterpret_cast<const I*>(places_);
    for (std::int64_t k = 0; k < listed_; ++k) ++cursors_[split(places[k]).second];
  });
  std::int64_t next = 0;
  for (std::int64_t column = 0; column < column_count_; ++column) {
    const std::int64_t count = cursors_[column];
    cursors_[column] = next;
    next += count;
  }
}

template <class I, std::size_t kBytes>
void ColumnScanner::place(Byte* others, Byte* values) noexcept {
  with_split([&](const auto& split) {
    constexpr auto kWidth = static_cast<std::int64_t>(kBytes);
    const auto* const places = reinterpret_cast<const I*>(places_);
    const Byte* const from = values_;
    auto* const to = reinterpret_cast<I*>(others);
    std::int64_t* const cursors = cursors_;
    for (std::int64_t k = 0; k < listed_; ++k) {
      const auto [row, column] = split(places[k]);
      const std::int64_t at = cursors[column]++;
      to[at] = static_cast<I>(row);
      std::memcpy(values + at * kWidth, from + k * kWidth, kBytes);
    }
  });
}

template <class I>
void ColumnScanner::place(Byte* others, Byte* values) noexcept {
  switch (scan_.dense.elements.width()) {
    case 1: return place<I, 1>(others, values);
    case 2: return place<I, 2>(others, values);
    case 4: return place<I, 4>(others, values);
    default: place<I, 8>(others, values);
  }
}

void ColumnScanner::write(const EntryArrays& to, std::int64_t before, std::int64_t) noexcept {
  const bool is_i32 = scan_.dense.index_type == kernels::IndexType::kI32;
  const std::int64_t width = scan_.dense.elements.width();
  const std::int64_t index = scan_.index_bytes();
  is_i32 ? count_columns<std::int32_t>() : count_columns<std::int64_t>();
  for (std::int64_t column = 0; column < column_count_; ++column) {
    const std::int64_t end = column + 1 < column_count_ ? cursors_[column + 1] : listed_;
    put_index(to.offsets, scan_.dense.index_type, first_column_ + column + 1, before + end);
  }
  const bool is_staged = to.stores == Stores::kStreamed;
  Byte* const others = to.columns + before * index;
  Byte* const values = to.values + before * width;
  Byte* const others_to = is_staged ? staged_others_ : others;
  Byte* const values_to = is_staged ? staged_values_ : values;
  is_i32 ? place<std::int32_t>(others_to, values_to) : place<std::int64_t>(others_to, values_to);
  if (!is_staged) return;
  copy_lines(others, others_to, listed_ * index, to.stores);
  copy_lines(values, values_to, listed_ * width, to.stores);
}

std::int64_t ColumnScanner::expected_count() noexcept {
  // Some rows of some panels, from all over the matrix.
  constexpr std::int64_t kSamples = 32;
  const std::int64_t rows = std::min(scan_.dense.rows, kStepElements / scan_.panel_columns);
  std::int64_t found = 0;
  std::int64_t looked_at = 0;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    first_column_ = i * chunk_count(scan_) / kSamples * scan_.panel_columns;
    column_count_ = std::min(scan_.panel_columns, scan_.dense.columns - first_column_);
    listed_ = 0;
    take(i * (scan_.dense.rows - rows) / kSamples, rows);
    found += listed_;
    looked_at += rows * column_count_;
  }
  return scan_.entry_count() / looked_at * found;
}

}  // namespace tenure
