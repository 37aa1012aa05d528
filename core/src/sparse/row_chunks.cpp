// The driver of chunks of rows: one pass where there is memory for all that may come, else two.
#include "sparse/row_chunks.hpp"

#include <cstring>
#include <memory>

#include "dense/loops/streamed.hpp"
#include "memory/tickets.hpp"
#include "tenure/dtype.hpp"
#include "threads/lookback_scan.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

class RowChunks {
 public:
  RowChunks(const Context& context, const AnyRowWork& work, SparseBuilder& builder)
      : threads_(&context),
        work_(work),
        builder_(builder),
        index_bytes_(static_cast<std::int64_t>(element_size(builder.shape().index_dtype))),
        value_bytes_(static_cast<std::int64_t>(element_size(builder.shape().value_dtype))) {}

  void run() {
    chunks_ = work_.chunk_count();
    bounds_.reset(new std::int64_t[static_cast<std::size_t>(part_count())]);
    const std::int64_t most = max_entries();
    stores_ = stores_for(most / kProductsOfEntry * (index_bytes_ + value_bytes_));
    if (most < kWorthSharingBytes / (index_bytes_ + value_bytes_)) threads_ = &kDefaultContext;
    if (!builder_.fits_reserved([&] { return run_once(most); })) run_twice();
  }

 private:
  using Byte = kernels::Byte;

  // Entries of a thread's buffer for a chunk: their indices and values stay in its cache.
  static constexpr std::int64_t kBufferEntries = 128 << 10;
  // Up to this many bytes, entries are copied rather than counted.
  static constexpr std::int64_t kHeldBytes = std::int64_t{4} << 20;
  // Chunks whose bound is found, and remembered, as one.
  static constexpr std::int64_t kTogether = 16;
  // The upper bound is about this many times the entries.
  static constexpr std::int64_t kProductsOfEntry = 2;

  [[nodiscard]] std::int64_t part_count() const noexcept {
    return (chunks_ + kTogether - 1) / kTogether;
  }

  // Rows that go to the result, from an entry on.
  [[nodiscard]] kernels::SparseRows result(std::int64_t position) const noexcept {
    return {position, builder_.major(), minor_, values_};
  }
  void use_memory(Byte* minor, Byte* values) noexcept {
    minor_ = minor;
    values_ = values;
  }

  // Calls body(scratch, buffer, chunk, first row, end row) for all chunks, in order on each thread.
  template <class Body>
  void for_each_chunk(std::int64_t buffer_bytes, const Body& body) const {
    Tickets tickets(chunks_);
    const std::int64_t scratch_bytes = whole_lines(work_.scratch_bytes());
    on_each_thread(*threads_, chunks_, scratch_bytes + buffer_bytes, [&](Byte* scratch) noexcept {
      work_.start(scratch);
      for (std::int64_t chunk; (chunk = tickets.take()) >= 0;) {
        const std::int64_t begin = work_.chunk_begin(chunk);
        body(scratch, scratch + scratch_bytes, chunk, begin, work_.chunk_end(chunk, begin));
      }
      order_streamed_stores();
    });
  }

  // The upper bound of all rows; remembers each part's.
  std::int64_t max_entries() {
    const std::int64_t parts = part_count();
    for_each_slice(*threads_, parts, [&](std::int64_t part) noexcept {
      const std::int64_t begin = work_.chunk_begin(part * kTogether);
      const std::int64_t end = work_.chunk_begin(std::min(chunks_, (part + 1) * kTogether));
      bounds_[part] = work_.bound(begin, end, INT64_MAX).entries;
    });
    std::int64_t total = 0;
    for (std::int64_t part = 0; part < parts; ++part) total += bounds_[part];
    return total;
  }
  // End of the rows of a chunk that a buffer has room for.
  [[nodiscard]] std::int64_t held_end(std::int64_t chunk, std::int64_t begin,
                                      std::int64_t end) const noexcept {
    return bounds_[chunk / kTogether] <= kBufferEntries
               ? end
               : work_.bound(begin, end, kBufferEntries).end;
  }

  // False where the memory for it is refused; then nothing has happened.
  bool run_once(std::int64_t most) {
    const std::int64_t capacity =
        index_bytes_ == 4 ? std::min<std::int64_t>(most, INT32_MAX) : most;
    LookbackScan counts(chunks_);
    // The builder recycles memory: some less than the bound is tried too, as much as there is.
    const bool is_reserved = builder_.reserve_entries(capacity, capacity - capacity / 4);
    const std::int64_t values_at = whole_lines(capacity * index_bytes_);
    const std::int64_t held_bytes = values_at + capacity * value_bytes_;
    if (!is_reserved && held_bytes > kHeldBytes) return false;
    const std::unique_ptr<Byte[]> held(
        is_reserved ? nullptr : new Byte[static_cast<std::size_t>(held_bytes)]);
    if (is_reserved) {
      use_memory(builder_.minor(), builder_.values());
    } else {
      use_memory(held.get(), held.get() + values_at);
    }
    if (threads_->thread_count() == 1) {
      write_in_order(capacity, capacity == most, counts);
    } else {
      write_through_buffers(capacity, counts);
    }
    const std::int64_t total = counts.total(chunks_);
    if (is_reserved) {
      builder_.trim_entries(total);
      return true;
    }
    builder_.allocate_entries(total);
    if (total != 0) {
      std::memcpy(builder_.minor(), minor_, static_cast<std::size_t>(total * index_bytes_));
      std::memcpy(builder_.values(), values_, static_cast<std::size_t>(total * value_bytes_));
    }
    return true;
  }

  void write_in_order(std::int64_t capacity, bool all_fit, LookbackScan& counts) {
    std::int64_t position = 0;
    for_each_chunk(0, [&](Byte* scratch, Byte*, std::int64_t chunk, std::int64_t begin,
                          std::int64_t end) noexcept {
      // A surplus is refused when all have been counted.
      const bool fits =
          all_fit || work_.bound(begin, end, INT64_MAX).entries <= capacity - position;
      const std::int64_t count = fits ? work_.fill(scratch, begin, end, result(position))
                                      : work_.count(scratch, begin, end);
      position += count;
      counts.add(chunk, count);
    });
  }

  void write_through_buffers(std::int64_t capacity, LookbackScan& counts) {
    const std::int64_t values_at = whole_lines(kBufferEntries * index_bytes_);
    for_each_chunk(values_at + whole_lines(kBufferEntries * value_bytes_),
                   [&](Byte* scratch, Byte* buffer, std::int64_t chunk, std::int64_t begin,
                       std::int64_t end) noexcept {
                     const kernels::SparseRows held = {0, builder_.major(), buffer,
                                                       buffer + values_at};
                     const std::int64_t middle = held_end(chunk, begin, end);
                     const std::int64_t held_count = work_.fill(scratch, begin, middle, held);
                     const std::int64_t count = held_count + work_.count(scratch, middle, end);
                     const std::int64_t before = counts.add(chunk, count);
                     if (count > capacity - before) return;
                     move(held, begin, middle, held_count, before);
                     work_.fill(scratch, middle, end, result(before + held_count));
                   });
  }

  // Rows from a buffer to their position in the result.
  void move(const kernels::SparseRows& held, std::int64_t begin, std::int64_t end,
            std::int64_t count, std::int64_t before) const noexcept {
    const auto put = [=, this](Byte* to, const Byte* from, std::int64_t width) {
      if (count != 0) copy_lines(to + before * width, from, count * width, stores_);
    };
    put(minor_, held.indices, index_bytes_);
    put(values_, held.values, value_bytes_);
    const auto shift = [&]<class I>(I* offsets) {
      for (std::int64_t row = begin; row < end; ++row) offsets[row + 1] += static_cast<I>(before);
    };
    if (index_bytes_ == 4) {
      shift(reinterpret_cast<std::int32_t*>(held.offsets));
    } else {
      shift(reinterpret_cast<std::int64_t*>(held.offsets));
    }
  }

  void run_twice() {
    const std::unique_ptr<std::int64_t[]> before(
        new std::int64_t[static_cast<std::size_t>(chunks_ + 1)]);
    before[0] = 0;
    for_each_chunk(0, [&](Byte* scratch, Byte*, std::int64_t chunk, std::int64_t begin,
                          std::int64_t end) noexcept {
      before[chunk + 1] = work_.count(scratch, begin, end);
    });
    for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) before[chunk + 1] += before[chunk];
    builder_.allocate_entries(before[chunks_]);
    use_memory(builder_.minor(), builder_.values());
    for_each_chunk(0, [&](Byte* scratch, Byte*, std::int64_t chunk, std::int64_t begin,
                          std::int64_t end) noexcept {
      work_.fill(scratch, begin, end, result(before[chunk]));
    });
  }

  const Context* threads_;
  const AnyRowWork& work_;
  SparseBuilder& builder_;
  std::int64_t index_bytes_;
  std::int64_t value_bytes_;
  std::int64_t chunks_ = 0;
  std::unique_ptr<std::int64_t[]> bounds_;  // of the entries of each part
  Stores stores_ = Stores::kCached;
  Byte* minor_ = nullptr;  // where entries go
  Byte* values_ = nullptr;
};

}  // namespace

void build_rows(const Context& context, const AnyRowWork& work, SparseBuilder& builder) {
  RowChunks(context, work, builder).run();
}

}  // namespace tenure
