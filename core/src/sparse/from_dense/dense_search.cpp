#include "sparse/from_dense/dense_search.hpp"

#include <algorithm>

#include "cpu/dispatch.hpp"
#include "memory/traffic.hpp"
#include "sparse/index_array.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::compression_kernels;
using kernels::MaskedElements;
using kernels::PrefetchCursor;

}  // namespace

bool DenseSearcher::fetches_columns(const DenseSearch& search) noexcept {
  return search.elements.has_dense_columns() && kLineBytes * search.columns <= kMaxFetchBytes;
}

std::int64_t DenseSearcher::chunk_elements(const DenseSearch& search) noexcept {
  const std::int64_t width = search.elements.width();
  const std::int64_t line = kLineBytes / width * search.columns;
  if (fetches_columns(search))
    return line * std::max<std::int64_t>(1, kChunkBytes / (line * width));
  return std::min(kChunkElements, kChunkBytes / width);
}

std::int64_t DenseSearcher::buffer_bytes(const DenseSearch& search) noexcept {
  const std::int64_t elements = std::min(chunk_elements(search), search.entry_count());
  std::int64_t bytes = bits_bytes(search);
  if (!search.elements.is_dense()) bytes += elements * search.elements.width();
  if (search.mask != nullptr && !search.mask->is_dense()) bytes += elements * search.mask->width();
  return bytes;
}

std::int64_t DenseSearcher::mark(std::int64_t first, std::int64_t count) noexcept {
  in_ = search_.elements.at(first, count, buffer_);
  const Byte* asked = in_;
  unsigned width = search_.elements.width_index();
  if (search_.mask != nullptr) {
    Byte* const behind =
        search_.elements.is_dense() ? buffer_ : buffer_ + count * search_.elements.width();
    asked = search_.mask->at(first, count, behind);
    width = search_.mask->width_index();
  }
  const MaskedElements run = {count, asked, bits_, 0, 0, 1, nullptr};
  const std::int64_t found =
      compression_kernels().predicate_mask[static_cast<unsigned>(search_.predicate.kind)][width](
          run, search_.predicate);
  if (search_.dropout == nullptr) [[likely]]
    return found;
  return compression_kernels().dropout_mask(
      bits_, (count + kernels::kWordElements - 1) / kernels::kWordElements,
      static_cast<std::uint64_t>(first), search_.dropout->chance);
}

std::int64_t DenseSearcher::count(std::int64_t chunk) noexcept {
  const std::int64_t elements = chunk_elements(search_);
  first_ = chunk * elements;
  count_ = std::min(elements, search_.entry_count() - first_);
  return mark(first_, count_);
}

void DenseSearcher::start(const EntryArrays& to, std::int64_t before) noexcept {
  const std::int64_t index_bytes = index_width(search_.index_type);
  has_rows_ = to.rows != nullptr;
  values_.start(to.values + before * search_.elements.width(), to.stores);
  columns_.start(to.columns + before * index_bytes, to.stores);
  if (has_rows_) rows_.start(to.rows + before * index_bytes, to.stores);
}

// The entries of a piece, at most; and moves the run behind it.
void DenseSearcher::take(MaskedElements& run) noexcept {
  const std::int64_t width = search_.elements.width();
  const std::int64_t index_bytes = index_width(search_.index_type);
  const auto type = static_cast<unsigned>(search_.index_type);
  const kernels::Compressor compress =
      compression_kernels().compress[search_.elements.width_index()][type];
  const std::int64_t found =
      compress(run, {values_.end(), columns_.end(), has_rows_ ? rows_.end() : nullptr});
  if (search_.dropout != nullptr) multiply(values_.end(), found);
  values_.append(found * width);
  columns_.append(found * index_bytes);
  if (has_rows_) rows_.append(found * index_bytes);
  run.in += run.count * width;
  run.column += run.count;
  if (run.column >= run.columns) {
    run.row += run.column / run.columns;
    run.column %= run.columns;
  }
}

void DenseSearcher::finish() noexcept {
  values_.finish();
  columns_.finish();
  if (has_rows_) rows_.finish();
}

void DenseSearcher::write(const EntryArrays& to, std::int64_t before, std::int64_t next) noexcept {
  const std::int64_t width = search_.elements.width();
  MaskedElements run = {
      count_,          in_,    bits_, first_ / search_.columns, first_ % search_.columns,
      search_.columns, nullptr};
  if (to.offsets != nullptr) {
    compression_kernels().count_rows[static_cast<unsigned>(search_.index_type)](run, before,
                                                                                to.offsets);
  }
  PrefetchCursor ahead = {nullptr, nullptr};
  if (next >= 0 && search_.elements.is_dense()) {
    const std::int64_t first = next * chunk_elements(search_);
    const std::int64_t count = std::min(chunk_elements(search_), search_.entry_count() - first);
    ahead.next = search_.elements.at(first, count, nullptr);
    ahead.end = ahead.next + count * width;
  }
  run.ahead = &ahead;
  start(to, before);
  for (std::int64_t left = count_; left > 0; left -= run.count) {
    run.count = std::min(left, kPieceElements);
    take(run);
    run.bits += run.count / kernels::kWordElements;
  }
  finish();
}

std::int64_t DenseSearcher::count_and_write(std::int64_t chunk, const EntryArrays& to,
                                            std::int64_t before) noexcept {
  const std::int64_t elements = chunk_elements(search_);
  std::int64_t first = chunk * elements;
  const std::int64_t end = std::min(first + elements, search_.entry_count());
  const kernels::RowCounter count_rows =
      compression_kernels().count_rows[static_cast<unsigned>(search_.index_type)];
  PrefetchCursor ahead = {nullptr, nullptr};
  MaskedElements run = {0,
                        search_.elements.at(first, end - first, nullptr),
                        bits_,
                        first / search_.columns,
                        first % search_.columns,
                        search_.columns,
                        &ahead};
  const std::int64_t all_before = before;
  start(to, before);
  for (; first < end; first += run.count) {
    run.count = std::min(end - first, kPieceElements);
    const std::int64_t found = mark(first, run.count);
    if (to.offsets != nullptr && run.column + run.count >= run.columns) {
      count_rows(run, before, to.offsets);
    }
    take(run);
    before += found;
  }
  finish();
  return before - all_before;
}

void DenseSearcher::multiply(Byte* values, std::int64_t count) const noexcept {
  const std::int64_t width = search_.elements.width();
  const Byte* const factor = reinterpret_cast<const Byte*>(search_.dropout->factor.bytes);
  // Nothing is divided, so that nothing is found.
  const kernels::StripInput sources[] = {{values, width, width}, {factor, 0, width}};
  static_cast<void>(
      run_strip(search_.dropout->multiply, dense_strip(count, values, width, sources)));
}

std::int64_t DenseSearcher::expected_count() noexcept {
  // A part in a thousand of a large matrix, from all over it.
  constexpr std::int64_t kSamples = 32;
  constexpr std::int64_t kSampleElements = 1024;
  const std::int64_t step = search_.entry_count() / kSamples;
  const std::int64_t sample = std::min(kSampleElements, step);
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < kSamples; ++i) found += mark(i * step, sample);
  return sample == 0 ? 0 : step / sample * found;
}

}  // namespace tenure
