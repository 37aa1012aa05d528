#include "matrix.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tenure::sweeps {
namespace {

// The numbers of the positions, in the order of their rows or columns where these are compressed.
std::vector<std::int64_t> order_of(const Pattern& pattern, tnr_sparse_format format) {
  std::vector<std::int64_t> order(pattern.positions.size());
  std::iota(order.begin(), order.end(), 0);
  if (format == TNR_SPARSE_FORMAT_COO) return order;
  const auto major = [&](std::int64_t i) {
    const Position& at = pattern.positions[static_cast<std::size_t>(i)];
    return format == TNR_SPARSE_FORMAT_CSC ? at.col : at.row;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t i, std::int64_t j) { return major(i) < major(j); });
  return order;
}

std::int64_t major_count(const Pattern& pattern, tnr_sparse_format format) {
  const auto entries = static_cast<std::int64_t>(pattern.positions.size());
  if (format == TNR_SPARSE_FORMAT_COO) return entries;
  return (format == TNR_SPARSE_FORMAT_CSC ? pattern.cols : pattern.rows) + 1;
}

void put_index(const Elements& indices, std::int64_t at, std::int64_t index) {
  put_number(indices.dtype(), index, indices.at(at));
}

}  // namespace

std::string Storage::name() const {
  const char* const formats[] = {"?", "COO", "CSR", "CSC", "BSR"};
  std::string name = formats[format];
  if (format == TNR_SPARSE_FORMAT_BSR) {
    name += " of " + std::to_string(block_rows) + "x" + std::to_string(block_cols);
  }
  return name + " " + tnr_dtype_name(index_dtype) + " " + tnr_dtype_name(value_dtype);
}

std::int64_t value_of(std::int64_t index) { return index % 9 - 3; }

Matrix::Matrix(const Pattern& pattern, const Storage& storage)
    : storage_(storage),
      rows_(pattern.rows),
      cols_(pattern.cols),
      major_(storage.index_dtype, major_count(pattern, storage.format)),
      minor_(storage.index_dtype, static_cast<std::int64_t>(pattern.positions.size())),
      values_(storage.value_dtype, minor_.count() * storage.block_rows * storage.block_cols) {
  const bool is_csc = storage.format == TNR_SPARSE_FORMAT_CSC;
  const bool is_coo = storage.format == TNR_SPARSE_FORMAT_COO;
  const std::vector<std::int64_t> order = order_of(pattern, storage.format);
  const std::int64_t block = storage.block_rows * storage.block_cols;
  std::int64_t line = 0;
  for (std::int64_t k = 0; k < minor_.count(); ++k) {
    const std::int64_t from = order[static_cast<std::size_t>(k)];
    const Position& at = pattern.positions[static_cast<std::size_t>(from)];
    const std::int64_t major = is_csc ? at.col : at.row;
    if (is_coo) {
      put_index(major_, k, major);
    } else {
      for (; line <= major; ++line) put_index(major_, line, k);
    }
    put_index(minor_, k, is_csc ? at.row : at.col);
    for (std::int64_t i = 0; i < block; ++i) values_.put(k * block + i, value_of(from + i));
  }
  if (is_coo) return;
  for (; line < major_.count(); ++line) put_index(major_, line, minor_.count());
}

Matrix::Matrix(const tnr_sparse_view& view)
    : storage_{view.format, view.minor.dtype, view.values.dtype, view.block_rows, view.block_cols},
      rows_(view.rows / view.block_rows),
      cols_(view.cols / view.block_cols),
      major_(view.major.dtype, view.major.shape[0]),
      minor_(view.minor.dtype, entries_of(view).end - entries_of(view).begin),
      values_(view.values.dtype, minor_.count() * view.block_rows * view.block_cols) {
  const std::int64_t begin = entries_of(view).begin;
  const std::int64_t less = view.format == TNR_SPARSE_FORMAT_COO ? 0 : begin;
  for (std::int64_t i = 0; i < major_.count(); ++i) {
    put_index(major_, i, index_at(view.major, i) - less);
  }
  for (std::int64_t k = 0; k < minor_.count(); ++k) {
    put_index(minor_, k, index_at(view.minor, begin + k));
  }
  if (values_.count() == 0) return;
  const std::size_t entry_bytes = values_.size_bytes() / static_cast<std::size_t>(minor_.count());
  std::memcpy(
      values_.at(0),
      static_cast<const Byte*>(view.values.data) + static_cast<std::size_t>(begin) * entry_bytes,
      values_.size_bytes());
}

tnr_sparse_view Matrix::view(std::uint32_t flags) const {
  tnr_sparse_view view = {};
  view.struct_size = sizeof view;
  view.format = storage_.format;
  view.flags = flags;
  view.rows = rows_ * storage_.block_rows;
  view.cols = cols_ * storage_.block_cols;
  view.block_rows = storage_.block_rows;
  view.block_cols = storage_.block_cols;
  view.major = major_.view({major_.count()});
  view.minor = minor_.view({minor_.count()});
  view.values = storage_.format == TNR_SPARSE_FORMAT_BSR
                    ? values_.view({minor_.count(), storage_.block_rows, storage_.block_cols})
                    : values_.view({minor_.count()});
  return view;
}

tnr_sparse_view Matrix::range(std::int64_t first, std::int64_t end, std::uint32_t flags) const {
  tnr_sparse_view view = this->view(flags);
  if (storage_.format == TNR_SPARSE_FORMAT_CSC) {
    view.cols = end - first;
  } else {
    view.rows = (end - first) * storage_.block_rows;
  }
  const std::size_t width = tnr_dtype_size_bytes(storage_.index_dtype);
  view.major = lend(major_.at(first), static_cast<std::size_t>(end - first + 1) * width,
                    storage_.index_dtype, {end - first + 1});
  return view;
}

std::int64_t index_at(const tnr_view& indices, std::int64_t position) {
  const auto* const bytes = static_cast<const Byte*>(indices.data);
  if (indices.dtype == TNR_DTYPE_I32) return reinterpret_cast<const std::int32_t*>(bytes)[position];
  return reinterpret_cast<const std::int64_t*>(bytes)[position];
}

std::int64_t major_extent(const tnr_sparse_view& view) {
  switch (view.format) {
    case TNR_SPARSE_FORMAT_COO: return 0;
    case TNR_SPARSE_FORMAT_CSC: return view.cols;
    default: return view.rows / view.block_rows;
  }
}

EntryRange entries_of(const tnr_sparse_view& view) {
  if (view.format == TNR_SPARSE_FORMAT_COO || view.major.shape[0] == 0) {
    return {0, view.minor.shape[0]};
  }
  return {index_at(view.major, 0), index_at(view.major, view.major.shape[0] - 1)};
}

}  // namespace tenure::sweeps
