// Scans of a dense matrix that give entries, in one pass over the memory or in two.
//
// A large matrix is read from memory once: threads take chunks by ticket, count the entries of a
// chunk, learn from the chunks before it where they go (look-back), and write them while the chunk
// is in a cache. The output is lazily committed memory, whose unused end is given back.
//
// A Scanner is one thread's work: Scanner::Scan, chunk_count(scan), buffer_bytes(scan),
// Scanner(scan, buffer), count(chunk), write(arrays, before, next), expected_count(), as
// DenseScanner has them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "dense/loops/streamed.hpp"
#include "memory/tickets.hpp"
#include "sparse/builder.hpp"
#include "sparse/from_dense/dense_scan.hpp"
#include "threads/lookback_scan.hpp"

namespace tenure {

// Elements of fewer bytes are in a cache when they are read again, so that they are counted first
// and written then, to memory of the right size.
inline constexpr std::int64_t kOncePassBytes = std::int64_t{4} << 20;

// Output of a scan: entries go to the builder, and the offsets of the scanned rows to `offsets`,
// which are not the builder's if it makes a batch; nullptr: nowhere.
inline EntryArrays arrays_of(const SparseBuilder& builder, kernels::Byte* offsets,
                             Stores stores) noexcept {
  const bool is_coo = builder.shape().format == TNR_SPARSE_FORMAT_COO;
  return {builder.values(), builder.minor(), is_coo ? builder.major() : nullptr, offsets, stores};
}

// Runs body(buffer) on each thread, with what that thread needs for a scan.
template <class Scanner, class Body>
void scan_on_each_thread(const Context& context, const typename Scanner::Scan& scan,
                         const Body& body) {
  on_each_thread(context, Scanner::chunk_count(scan), Scanner::buffer_bytes(scan), body);
}

// Most entries that there can be room for.
inline std::int64_t max_count(std::int64_t entry_count, const SparseBuilder& builder) noexcept {
  const bool is_bounded = builder.shape().has_offsets() && !builder.shape().is_batch() &&
                          builder.shape().index_dtype == TNR_DTYPE_I32;
  return is_bounded ? std::min<std::int64_t>(entry_count, INT32_MAX) : entry_count;
}

// An estimate; it decides which memory is recycled.
template <class Scanner>
std::int64_t expected_count(const typename Scanner::Scan& scan) {
  const std::unique_ptr<unsigned char[]> buffer(
      new unsigned char[static_cast<std::size_t>(Scanner::buffer_bytes(scan))]);
  return Scanner(scan, buffer.get()).expected_count();
}

// Scanners that can do without counting first: counts_as_it_writes(scan), chunk_elements(scan) and
// count_and_write(chunk, arrays, before), as DenseScanner has them.
template <class Scanner>
concept CountsAsItWrites = requires { &Scanner::counts_as_it_writes; };

// A single thread knows where the entries of a chunk go before it has counted them: it inspects and
// takes each while it is in the first cache. Returns the number of entries, with the `before`
// earlier ones.
template <CountsAsItWrites Scanner>
std::int64_t scan_in_order(const typename Scanner::Scan& scan, const EntryArrays& arrays,
                           SparseBuilder& builder, std::int64_t before) {
  const std::unique_ptr<unsigned char[]> buffer(
      new unsigned char[static_cast<std::size_t>(Scanner::buffer_bytes(scan))]);
  Scanner scanner(scan, buffer.get());
  const std::int64_t most = Scanner::chunk_elements(scan);
  const std::int64_t chunks = Scanner::chunk_count(scan);
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    // No more is touched than is needed: where more might be, the chunk is counted.
    if (builder.has_touched(before + most)) {
      before += scanner.count_and_write(chunk, arrays, before);
    } else {
      const std::int64_t count = scanner.count(chunk);
      builder.touch_entries(before + count);
      scanner.write(arrays, before, -1);
      before += count;
    }
  }
  order_streamed_stores();
  return before;
}

// Writes the entries of a scan behind `before` others, to memory for `capacity` of them in all.
// Returns how many there are with those; where they are more, some are not written.
template <class Scanner>
std::int64_t scan_behind(const Context& context, const typename Scanner::Scan& scan,
                         const EntryArrays& arrays, SparseBuilder& builder, std::int64_t capacity,
                         std::int64_t before) {
  if constexpr (CountsAsItWrites<Scanner>) {
    if (context.thread_count() == 1 && scan.entry_count() <= capacity - before &&
        Scanner::counts_as_it_writes(scan)) {
      return scan_in_order<Scanner>(scan, arrays, builder, before);
    }
  }
  // One thread reads its chunks in order, which hardware prefetchers predict, and explicit
  // prefetching would only delay it. Measured, for blocks of 8192^2 f32: 18.5 ms with it, 12.9
  // without.
  const bool fetches = context.thread_count() > 1;
  const std::int64_t chunks = Scanner::chunk_count(scan);
  LookbackScan sums(chunks);
  Tickets tickets(chunks);
  scan_on_each_thread<Scanner>(context, scan, [&](kernels::Byte* buffer) noexcept {
    Scanner scanner(scan, buffer);
    std::int64_t chunk = tickets.take();
    while (chunk >= 0) {
      const std::int64_t count = scanner.count(chunk);
      const std::int64_t first = before + sums.add(chunk, count);
      // Taken before the writing, so that it can be brought closer. Threads that wait for its count
      // wait a little longer at first; then all take turns.
      chunk = tickets.take();
      // A surplus is refused when all have been counted.
      if (first + count > capacity) continue;
      builder.touch_entries(first + count);
      scanner.write(arrays, first, fetches ? chunk : -1);
    }
    order_streamed_stores();
  });
  return before + sums.total(chunks);
}

// False where the memory for it is refused; then nothing has happened.
template <class Scanner>
bool scan_once(const Context& context, const typename Scanner::Scan& scan, Stores stores,
               SparseBuilder& builder, kernels::Byte* offsets) {
  const std::int64_t capacity = max_count(scan.entry_count(), builder);
  if (!builder.reserve_entries(capacity, expected_count<Scanner>(scan))) return false;
  const EntryArrays arrays = arrays_of(builder, offsets, stores);
  builder.trim_entries(scan_behind<Scanner>(context, scan, arrays, builder, capacity, 0));
  return true;
}

template <class Scanner>
void scan_chunk(const typename Scanner::Scan& scan, Stores stores, SparseBuilder& builder,
                kernels::Byte* offsets) {
  const std::unique_ptr<unsigned char[]> buffer(
      new unsigned char[static_cast<std::size_t>(Scanner::buffer_bytes(scan))]);
  Scanner scanner(scan, buffer.get());
  builder.allocate_entries(scanner.count(0));
  scanner.write(arrays_of(builder, offsets, stores), 0, -1);
  order_streamed_stores();
}

// The number of entries before each of chunk_count(scan) chunks, and behind the last one.
template <class Scanner>
std::unique_ptr<std::int64_t[]> count_chunks(const Context& context,
                                             const typename Scanner::Scan& scan) {
  const std::int64_t chunks = Scanner::chunk_count(scan);
  std::unique_ptr<std::int64_t[]> before(new std::int64_t[static_cast<std::size_t>(chunks + 1)]);
  before[0] = 0;
  Tickets to_count(chunks);
  scan_on_each_thread<Scanner>(context, scan, [&](kernels::Byte* buffer) noexcept {
    Scanner scanner(scan, buffer);
    for (std::int64_t chunk; (chunk = to_count.take()) >= 0;) {
      before[chunk + 1] = scanner.count(chunk);
    }
  });
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) before[chunk + 1] += before[chunk];
  return before;
}

template <class Scanner>
void scan_twice(const Context& context, const typename Scanner::Scan& scan, Stores stores,
                SparseBuilder& builder, kernels::Byte* offsets) {
  const std::int64_t chunks = Scanner::chunk_count(scan);
  const std::unique_ptr<std::int64_t[]> before = count_chunks<Scanner>(context, scan);
  builder.allocate_entries(before[chunks]);
  const EntryArrays arrays = arrays_of(builder, offsets, stores);
  Tickets to_write(chunks);
  scan_on_each_thread<Scanner>(context, scan, [&](kernels::Byte* buffer) noexcept {
    Scanner scanner(scan, buffer);
    for (std::int64_t chunk; (chunk = to_write.take()) >= 0;) {
      static_cast<void>(scanner.count(chunk));
      scanner.write(arrays, before[chunk], -1);
    }
    order_streamed_stores();
  });
}

// Fills the builder with the entries of a matrix that has elements, `dense_bytes` of them, and
// `offsets`, if any, with those of its rows.
template <class Scanner>
void scan_entries(const Context& context, const typename Scanner::Scan& scan,
                  std::int64_t dense_bytes, SparseBuilder& builder, kernels::Byte* offsets) {
  const Stores stores = stores_for(dense_bytes);
  if (Scanner::chunk_count(scan) == 1) return scan_chunk<Scanner>(scan, stores, builder, offsets);
  if (dense_bytes >= kOncePassBytes && builder.fits_reserved([&] {
        return scan_once<Scanner>(context, scan, stores, builder, offsets);
      })) {
    return;
  }
  scan_twice<Scanner>(context, scan, stores, builder, offsets);
}

}  // namespace tenure
