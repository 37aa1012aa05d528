#include "sparse/builder.hpp"

#include <algorithm>
#include <cinttypes>
#include <initializer_list>

#include "dense/bool8.hpp"
#include "memory/fresh_pages.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {

namespace {

std::int64_t offset_count(const SparseShape& shape) {
  const std::int64_t matrices = shape.is_batch() ? shape.batches : 1;
  std::int64_t count;
  if (__builtin_add_overflow(shape.row_count(), 1, &count) ||
      __builtin_mul_overflow(matrices, count, &count)) {
    fail(TNR_STATUS_OUT_OF_MEMORY, "offsets of %" PRId64 " matrices fit no memory", matrices);
  }
  return count;
}

}  // namespace

void refuse_blocks(const SparseOptions& options) {
  const bool are_rows = options.block_rows != 0;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "attributes->%s is %" PRId64 " but must be 0: only BSR has blocks",
       are_rows ? "block_rows" : "block_cols", are_rows ? options.block_rows : options.block_cols);
}

void require_index_fit(tnr_dtype index_dtype, const char* what, std::int64_t number) {
  if (index_dtype != TNR_DTYPE_I32 || number <= INT32_MAX) return;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "%s of the result reach %" PRId64 " but i32 ends at %" PRId32 ": use i64 indices", what,
       number, INT32_MAX);
}

SparseBuilder::SparseBuilder(const Context& context, const SparseShape& shape)
    : context_(context), shape_(shape) {
  // The highest index is one less than the extent.
  require_index_fit(shape.index_dtype, "rows", shape.rows / shape.block_rows - 1);
  require_index_fit(shape.index_dtype, "cols", shape.cols / shape.block_cols - 1);
  if (shape.destination != nullptr) {
    major_.data = shape.destination->major;
    minor_.data = shape.destination->minor;
    values_.data = shape.destination->values;
    return;
  }
  if (shape.is_batch()) {
    std::int64_t offsets;
    if (__builtin_add_overflow(shape.batches, 1, &offsets)) {
      fail(TNR_STATUS_OUT_OF_MEMORY, "the offsets of %" PRId64 " matrices fit no memory",
           shape.batches);
    }
    batch_offsets_ = allocate(offsets, TNR_DTYPE_I64, 1);
  }
  if (shape.has_offsets()) major_ = allocate(offset_count(shape), shape.index_dtype, 1);
}

void SparseBuilder::allocate_entries(std::int64_t count) {
  entry_count_ = count;
  if (!is_coo() && !shape_.is_batch()) require_index_fit(shape_.index_dtype, "offsets", count);
  if (shape_.destination != nullptr) return;
  if (is_coo()) major_ = allocate(count, shape_.index_dtype, 1);
  minor_ = allocate(count, shape_.index_dtype, 1);
  values_ = allocate(count, shape_.value_dtype, shape_.block_rows * shape_.block_cols);
}

bool SparseBuilder::reserve_entries(std::int64_t max_count, std::int64_t expected_count) noexcept {
  if (context_.has_allocator() || shape_.destination != nullptr) return false;
  const auto reserve = [=](ReservedMemory& memory, std::int64_t width) {
    std::int64_t bytes;
    return !__builtin_mul_overflow(max_count, width, &bytes) &&
           memory.reserve(static_cast<std::size_t>(bytes),
                          static_cast<std::size_t>(std::min(expected_count, max_count) * width));
  };
  if (!reserve(reserved_values_, value_bytes()) || !reserve(reserved_minor_, index_bytes()) ||
      (is_coo() && !reserve(reserved_major_, index_bytes()))) {
    give_back_reserved();
    return false;
  }
  values_.data = static_cast<kernels::Byte*>(reserved_values_.data());
  minor_.data = static_cast<kernels::Byte*>(reserved_minor_.data());
  if (is_coo()) major_.data = static_cast<kernels::Byte*>(reserved_major_.data());
  return true;
}

void SparseBuilder::give_back_reserved() noexcept {
  reserved_values_.give_back();
  reserved_minor_.give_back();
  reserved_major_.give_back();
}

void SparseBuilder::touch_entries(std::int64_t count) noexcept {
  if (reserved_values_.data() == nullptr) return;
  const auto touch = [count](ReservedMemory& memory, std::int64_t width) {
    memory.touch(static_cast<std::size_t>(count * width));
  };
  touch(reserved_values_, value_bytes());
  touch(reserved_minor_, index_bytes());
  if (is_coo()) touch(reserved_major_, index_bytes());
}

bool SparseBuilder::has_touched(std::int64_t count) const noexcept {
  const auto has = [count](const ReservedMemory& memory, std::int64_t width) {
    return memory.has_touched(static_cast<std::size_t>(count * width));
  };
  return has(reserved_values_, value_bytes()) && has(reserved_minor_, index_bytes()) &&
         (!is_coo() || has(reserved_major_, index_bytes()));
}

void SparseBuilder::trim_entries(std::int64_t count) {
  if (!is_coo() && !shape_.is_batch()) require_index_fit(shape_.index_dtype, "offsets", count);
  entry_count_ = count;
  const auto trim = [count](OwnedArray& part, ReservedMemory& memory, std::int64_t width) {
    part.size_bytes = static_cast<std::size_t>(count * width);
    part.token = memory.open(part.size_bytes);
    part.data = static_cast<kernels::Byte*>(blob_memory_mut(part.token).data);
  };
  trim(values_, reserved_values_, value_bytes());
  trim(minor_, reserved_minor_, index_bytes());
  if (is_coo()) trim(major_, reserved_major_, index_bytes());
}

std::int64_t SparseBuilder::value_bytes() const noexcept {
  return static_cast<std::int64_t>(element_size(shape_.value_dtype)) * shape_.block_rows *
         shape_.block_cols;
}

std::int64_t SparseBuilder::index_bytes() const noexcept {
  return static_cast<std::int64_t>(element_size(shape_.index_dtype));
}

tnr_sparse_view SparseBuilder::view(EntryOrder order) const noexcept {
  const auto part_view = [](const OwnedArray& part, tnr_dtype dtype,
                            std::initializer_list<std::int64_t> shape) {
    tnr_view view = make_view(part.data, part.size_bytes, 0, dtype,
                              static_cast<std::uint32_t>(shape.size()), shape.begin(), nullptr);
    view.owner = part.token;
    return view;
  };
  tnr_sparse_view view{};
  view.struct_size = sizeof view;
  view.format = shape_.format;
  view.flags = order.flags();
  view.rows = shape_.rows;
  view.cols = shape_.cols;
  view.block_rows = shape_.block_rows;
  view.block_cols = shape_.block_cols;
  view.major =
      part_view(major_, shape_.index_dtype, {is_coo() ? entry_count_ : offset_count(shape_)});
  view.minor = part_view(minor_, shape_.index_dtype, {entry_count_});
  view.values = shape_.format == TNR_SPARSE_FORMAT_BSR
                    ? part_view(values_, shape_.value_dtype,
                                {entry_count_, shape_.block_rows, shape_.block_cols})
                    : part_view(values_, shape_.value_dtype, {entry_count_});
  if (shape_.is_batch()) {
    view.batch_offsets = part_view(batch_offsets_, TNR_DTYPE_I64, {shape_.batches + 1});
  }
  return view;
}

EntryOrder SparseBuilder::looked_at(EntryOrder known) const noexcept {
  return known.is_sorted() || has_sorted_entries(view(known)) ? known.sorted() : known;
}

SparseToken SparseBuilder::finish(EntryOrder order) {
  if (shape_.destination != nullptr) {
    shape_.destination->order = order;
    return 0;
  }
  if (shape_.value_dtype == TNR_DTYPE_BOOL8) {
    write_as_bools(values_.data, entry_count_ * value_bytes());
  }
  const tnr_sparse_view made = view(order);
  // From here on the references are the handle's, or given up.
  major_.token = minor_.token = values_.token = batch_offsets_.token = 0;
  return sparse_open(made);
}

SparseBuilder::OwnedArray SparseBuilder::allocate(std::int64_t count, tnr_dtype dtype,
                                                  std::int64_t per_entry) {
  const std::int64_t width = static_cast<std::int64_t>(element_size(dtype)) * per_entry;
  std::int64_t bytes;
  if (__builtin_mul_overflow(count, width, &bytes)) {
    fail(TNR_STATUS_OUT_OF_MEMORY, "%" PRId64 " entries of %" PRId64 " bytes fit no memory", count,
         width);
  }
  OwnedArray part;
  part.size_bytes = static_cast<std::size_t>(bytes);
  part.token = blob_allocate(context_, part.size_bytes);
  part.data = static_cast<kernels::Byte*>(blob_memory_mut(part.token).data);
  touch_fresh_pages(context_, part.data, bytes);
  return part;
}

void SparseBuilder::require_matrix_fit(std::int64_t matrix, std::int64_t count) const {
  if (is_coo() || shape_.index_dtype != TNR_DTYPE_I32 || count <= INT32_MAX) return;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "matrix %" PRId64 ": offsets of the result reach %" PRId64 " but i32 ends at %" PRId32
       ": use i64 indices",
       matrix, count, INT32_MAX);
}

}  // namespace tenure
