#include "sparse/from_dense/dense_scan.hpp"

#include <algorithm>

#include "cpu/dispatch.hpp"
#include "memory/traffic.hpp"
#include "sparse/index_array.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::compression_kernels;
using kernels::PrefetchCursor;
using kernels::Run;

}  // namespace

bool DenseScanner::fetches_columns(const DenseScan& scan) noexcept {
  return scan.elements.has_dense_columns() && kLineBytes * scan.columns <= kMaxFetchBytes;
}

std::int64_t DenseScanner::chunk_elements(const DenseScan& scan) noexcept {
  const std::int64_t width = scan.elements.width();
  const std::int64_t line = kLineBytes / width * scan.columns;
  if (fetches_columns(scan)) return line * std::max<std::int64_t>(1, kChunkBytes / (line * width));
  return std::min(kChunkElements, kChunkBytes / width);
}

std::int64_t DenseScanner::buffer_bytes(const DenseScan& scan) noexcept {
  const std::int64_t elements = std::min(chunk_elements(scan), scan.entry_count());
  std::int64_t bytes = bits_bytes(scan);
  if (!scan.elements.is_dense()) bytes += elements * scan.elements.width();
  if (scan.mask != nullptr && !scan.mask->is_dense()) bytes += elements * scan.mask->width();
  return bytes;
}

std::int64_t DenseScanner::mark(std::int64_t first, std::int64_t count) noexcept {
  in_ = scan_.elements.at(first, count, buffer_);
  const Byte* asked = in_;
  unsigned width = scan_.elements.width_index();
  if (scan_.mask != nullptr) {
    Byte* const behind =
        scan_.elements.is_dense() ? buffer_ : buffer_ + count * scan_.elements.width();
    asked = scan_.mask->at(first, count, behind);
    width = scan_.mask->width_index();
  }
  const Run run = {count, asked, bits_, 0, 0, 1, nullptr};
  const std::int64_t found =
      compression_kernels().predicate_mask[static_cast<unsigned>(scan_.predicate.kind)][width](
          run, scan_.predicate);
  if (scan_.dropout == nullptr) [[likely]]
    return found;
  return compression_kernels().dropout_mask(
      bits_, (count + kernels::kWordElements - 1) / kernels::kWordElements,
      static_cast<std::uint64_t>(first), scan_.dropout->chance);
}

std::int64_t DenseScanner::count(std::int64_t chunk) noexcept {
  const std::int64_t elements = chunk_elements(scan_);
  first_ = chunk * elements;
  count_ = std::min(elements, scan_.entry_count() - first_);
  return mark(first_, count_);
}

void DenseScanner::start(const EntryArrays& to, std::int64_t before) noexcept {
  const std::int64_t index_bytes = index_width(scan_.index_type);
  has_rows_ = to.rows != nullptr;
  values_.start(to.values + before * scan_.elements.width(), to.stores);
  columns_.start(to.columns + before * index_bytes, to.stores);
  if (has_rows_) rows_.start(to.rows + before * index_bytes, to.stores);
}

// The entries of a piece, at most; and moves the run behind it.
void DenseScanner::take(Run& run) noexcept {
  const std::int64_t width = scan_.elements.width();
  const std::int64_t index_bytes = index_width(scan_.index_type);
  const auto type = static_cast<unsigned>(scan_.index_type);
  const kernels::Compressor compress =
      compression_kernels().compress[scan_.elements.width_index()][type];
  const std::int64_t found =
      compress(run, {values_.end(), columns_.end(), has_rows_ ? rows_.end() : nullptr});
  if (scan_.dropout != nullptr) multiply(values_.end(), found);
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

void DenseScanner::finish() noexcept {
  values_.finish();
  columns_.finish();
  if (has_rows_) rows_.finish();
}

void DenseScanner::write(const EntryArrays& to, std::int64_t before, std::int64_t next) noexcept {
  const std::int64_t width = scan_.elements.width();
  Run run = {count_,        in_,    bits_, first_ / scan_.columns, first_ % scan_.columns,
             scan_.columns, nullptr};
  if (to.offsets != nullptr) {
    compression_kernels().count_rows[static_cast<unsigned>(scan_.index_type)](run, before,
                                                                              to.offsets);
  }
  PrefetchCursor ahead = {nullptr, nullptr};
  if (next >= 0 && scan_.elements.is_dense()) {
    const std::int64_t first = next * chunk_elements(scan_);
    const std::int64_t count = std::min(chunk_elements(scan_), scan_.entry_count() - first);
    ahead.next = scan_.elements.at(first, count, nullptr);
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

std::int64_t DenseScanner::count_and_write(std::int64_t chunk, const EntryArrays& to,
                                           std::int64_t before) noexcept {
  const std::int64_t elements = chunk_elements(scan_);
  std::int64_t first = chunk * elements;
  const std::int64_t end = std::min(first + elements, scan_.entry_count());
  const kernels::RowCounter count_rows =
      compression_kernels().count_rows[static_cast<unsigned>(scan_.index_type)];
  PrefetchCursor ahead = {nullptr, nullptr};
  Run run = {0,
             scan_.elements.at(first, end - first, nullptr),
             bits_,
             first / scan_.columns,
             first % scan_.columns,
             scan_.columns,
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

void DenseScanner::multiply(Byte* values, std::int64_t count) const noexcept {
  const std::int64_t width = scan_.elements.width();
  const Byte* const factor = reinterpret_cast<const Byte*>(scan_.dropout->factor.bytes);
  // Nothing is divided, so that nothing is found.
  const kernels::Source sources[] = {{values, width, width}, {factor, 0, width}};
  static_cast<void>(run_strip(scan_.dropout->multiply, dense_strip(count, values, width, sources)));
}

std::int64_t DenseScanner::expected_count() noexcept {
  // A part in a thousand of a large matrix, from all over it.
  constexpr std::int64_t kSamples = 32;
  constexpr std::int64_t kSampleElements = 1024;
  const std::int64_t step = scan_.entry_count() / kSamples;
  const std::int64_t sample = std::min(kSampleElements, step);
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < kSamples; ++i) found += mark(i * step, sample);
  return sample == 0 ? 0 : step / sample * found;
}

}  // namespace tenure
