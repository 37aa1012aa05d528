// Searches of a dense matrix that give entries, in one pass over the memory or in two.
//
// A large matrix is read from memory once: threads take chunks by ticket, count the entries of a
// chunk, learn from the chunks before it where they go (look-back), and write them while the chunk
// is in a cache. The output is lazily committed memory, whose unused end is given back.
//
// A Searcher is one thread's work: Searcher::Search, chunk_count(search), buffer_bytes(search),
// Searcher(search, buffer), count(chunk), write(arrays, before, next), expected_count(), as
// DenseSearcher has them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "dense/loops/streamed.hpp"
#include "memory/tickets.hpp"
#include "sparse/builder.hpp"
#include "sparse/from_dense/dense_search.hpp"
#include "threads/lookback_scan.hpp"

namespace tenure {

// Elements of fewer bytes are in a cache when they are read again, so that they are counted first
// and written then, to memory of the right size.
inline constexpr std::int64_t kOncePassBytes = std::int64_t{4} << 20;

// Output of a search: entries go to the builder, and the offsets of the searched rows to `offsets`,
// which are not the builder's if it makes a batch; nullptr: nowhere.
inline EntryArrays arrays_of(const SparseBuilder& builder, kernels::Byte* offsets,
                             Stores stores) noexcept {
  const bool is_coo = builder.shape().format == TNR_SPARSE_FORMAT_COO;
  return {builder.values(), builder.minor(), is_coo ? builder.major() : nullptr, offsets, stores};
}

// Runs body(buffer) on each thread, with what that thread needs for a search.
template <class Searcher, class Body>
void search_on_each_thread(const Context& context, const typename Searcher::Search& search,
                           const Body& body) {
  on_each_thread(context, Searcher::chunk_count(search), Searcher::buffer_bytes(search), body);
}

// Most entries that there can be room for.
inline std::int64_t max_count(std::int64_t entry_count, const SparseBuilder& builder) noexcept {
  const bool is_bounded = builder.shape().has_offsets() && !builder.shape().is_batch() &&
                          builder.shape().index_dtype == TNR_DTYPE_I32;
  return is_bounded ? std::min<std::int64_t>(entry_count, INT32_MAX) : entry_count;
}

// An estimate; it decides which memory is recycled.
template <class Searcher>
std::int64_t expected_count(const typename Searcher::Search& search) {
  const std::unique_ptr<unsigned char[]> buffer(
      new unsigned char[static_cast<std::size_t>(Searcher::buffer_bytes(search))]);
  return Searcher(search, buffer.get()).expected_count();
}

// Searchers that can do without counting first: counts_as_it_writes(search), chunk_elements(search)
// and count_and_write(chunk, arrays, before), as DenseSearcher has them.
template <class Searcher>
concept CountsAsItWrites = requires { &Searcher::counts_as_it_writes; };

// A single thread knows where the entries of a chunk go before it has counted them: it inspects and
// takes each while it is in the first cache. Returns the number of entries, with the `before`
// earlier ones.
template <CountsAsItWrites Searcher>
std::int64_t search_in_order(const typename Searcher::Search& search, const EntryArrays& arrays,
                             SparseBuilder& builder, std::int64_t before) {
  const std::unique_ptr<unsigned char[]> buffer(
      new unsigned char[static_cast<std::size_t>(Searcher::buffer_bytes(search))]);
  Searcher searcher(search, buffer.get());
  const std::int64_t most = Searcher::chunk_elements(search);
  const std::int64_t chunks = Searcher::chunk_count(search);
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    // No more is touched than is needed: where more might be, the chunk is counted.
    if (builder.has_touched(before + most)) {
      before += searcher.count_and_write(chunk, arrays, before);
    } else {
      const std::int64_t count = searcher.count(chunk);
      builder.touch_entries(before + count);
      searcher.write(arrays, before, -1);
      before += count;
    }
  }
  order_streamed_stores();
  return before;
}

// Writes the entries of a search behind `before` others, to memory for `capacity` of them in all.
// Returns how many there are with those; where they are more, some are not written.
template <class Searcher>
std::int64_t search_behind(const Context& context, const typename Searcher::Search& search,
                           const EntryArrays& arrays, SparseBuilder& builder, std::int64_t capacity,
                           std::int64_t before) {
  if constexpr (CountsAsItWrites<Searcher>) {
    if (context.thread_count() == 1 && search.entry_count() <= capacity - before &&
        Searcher::counts_as_it_writes(search)) {
      return search_in_order<Searcher>(search, arrays, builder, before);
    }
  }
  // One thread reads its chunks in order, which hardware prefetchers predict, and explicit
  // prefetching would only delay it. Measured, for blocks of 8192^2 f32: 18.5 ms with it, 12.9
  // without.
  const bool fetches = context.thread_count() > 1;
  const std::int64_t chunks = Searcher::chunk_count(search);
  LookbackScan sums(chunks);
  Tickets tickets(chunks);
  search_on_each_thread<Searcher>(context, search, [&](kernels::Byte* buffer) noexcept {
    Searcher searcher(search, buffer);
    std::int64_t chunk = tickets.take();
    while (chunk >= 0) {
      const std::int64_t count = searcher.count(chunk);
      const std::int64_t first = before + sums.add(chunk, count);
      // Taken before the writing, so that it can be brought closer. Threads that wait for its count
      // wait a little longer at first; then all take turns.
      chunk = tickets.take();
      // A surplus is refused when all have been counted.
      if (first + count > capacity) continue;
      builder.touch_entries(first + count);
      searcher.write(arrays, first, fetches ? chunk : -1);
    }
    order_streamed_stores();
  });
  return before + sums.total(chunks);
}

// False where the memory for it is refused; then nothing has happened.
template <class Searcher>
bool search_once(const Context& context, const typename Searcher::Search& search, Stores stores,
                 SparseBuilder& builder, kernels::Byte* offsets) {
  const std::int64_t capacity = max_count(search.entry_count(), builder);
  if (!builder.reserve_entries(capacity, expected_count<Searcher>(search))) return false;
  const EntryArrays arrays = arrays_of(builder, offsets, stores);
  builder.trim_entries(search_behind<Searcher>(context, search, arrays, builder, capacity, 0));
  return true;
}

template <class Searcher>
void search_chunk(const typename Searcher::Search& search, Stores stores, SparseBuilder& builder,
                  kernels::Byte* offsets) {
  const std::unique_ptr<unsigned char[]> buffer(
      new unsigned char[static_cast<std::size_t>(Searcher::buffer_bytes(search))]);
  Searcher searcher(search, buffer.get());
  builder.allocate_entries(searcher.count(0));
  searcher.write(arrays_of(builder, offsets, stores), 0, -1);
  order_streamed_stores();
}

// The number of entries before each of chunk_count(search) chunks, and behind the last one.
template <class Searcher>
std::unique_ptr<std::int64_t[]> count_chunks(const Context& context,
                                             const typename Searcher::Search& search) {
  const std::int64_t chunks = Searcher::chunk_count(search);
  std::unique_ptr<std::int64_t[]> before(new std::int64_t[static_cast<std::size_t>(chunks + 1)]);
  before[0] = 0;
  Tickets to_count(chunks);
  search_on_each_thread<Searcher>(context, search, [&](kernels::Byte* buffer) noexcept {
    Searcher searcher(search, buffer);
    for (std::int64_t chunk; (chunk = to_count.take()) >= 0;) {
      before[chunk + 1] = searcher.count(chunk);
    }
  });
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) before[chunk + 1] += before[chunk];
  return before;
}

template <class Searcher>
void search_twice(const Context& context, const typename Searcher::Search& search, Stores stores,
                  SparseBuilder& builder, kernels::Byte* offsets) {
  const std::int64_t chunks = Searcher::chunk_count(search);
  const std::unique_ptr<std::int64_t[]> before = count_chunks<Searcher>(context, search);
  builder.allocate_entries(before[chunks]);
  const EntryArrays arrays = arrays_of(builder, offsets, stores);
  Tickets to_write(chunks);
  search_on_each_thread<Searcher>(context, search, [&](kernels::Byte* buffer) noexcept {
    Searcher searcher(search, buffer);
    for (std::int64_t chunk; (chunk = to_write.take()) >= 0;) {
      static_cast<void>(searcher.count(chunk));
      searcher.write(arrays, before[chunk], -1);
    }
    order_streamed_stores();
  });
}

// Fills the builder with the entries of a matrix that has elements, `dense_bytes` of them, and
// `offsets`, if any, with those of its rows.
template <class Searcher>
void search_entries(const Context& context, const typename Searcher::Search& search,
                    std::int64_t dense_bytes, SparseBuilder& builder, kernels::Byte* offsets) {
  const Stores stores = stores_for(dense_bytes);
  if (Searcher::chunk_count(search) == 1)
    return search_chunk<Searcher>(search, stores, builder, offsets);
  if (dense_bytes >= kOncePassBytes && builder.fits_reserved([&] {
        return search_once<Searcher>(context, search, stores, builder, offsets);
      })) {
    return;
  }
  search_twice<Searcher>(context, search, stores, builder, offsets);
}

}  // namespace tenure
