// From dense to sparse. Where the matrix is large its elements are read from memory once: threads
// take chunks by ticket, count the entries of a chunk, learn from those before it where they go, and
// write them while the chunk is in a cache. A chunk's place is known as soon as the counts before it
// are, or one sum of them and those between: "decoupled look-back" (D. Merrill, M. Garland,
// "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA, 2016). What is written goes
// to memory of which only what is touched is taken, and the rest is given back at the end.
#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstring>
#include <memory>

#include "dense_scan.hpp"
#include "keep.hpp"
#include "operands.hpp"
#include "relax.hpp"
#include "sparse_builder.hpp"
#include "sparse_kernels.hpp"
#include "streamed.hpp"
#include "tenure/sparse.hpp"
#include "tenure/view.hpp"
#include "tickets.hpp"

namespace tenure {
namespace {

// Elements of fewer bytes are in a cache when they are read again, so that they are counted first
// and written then, to memory of the right size.
constexpr std::int64_t kOncePassBytes = std::int64_t{4} << 20;

// Runs body(buffer) on each thread, with what that thread needs for a scan.
template <class Body>
void scan_on_each_thread(const Context& context, const DenseScan& scan, const Body& body) {
  on_each_thread(context, DenseScanner::chunk_count(scan), DenseScanner::buffer_bytes(scan), body);
}

// ---- once ----

// How many entries lie before each chunk, as far as it is known.
class Sums {
 public:
  explicit Sums(std::int64_t chunk_count)
      : words_(new std::atomic<std::uint64_t>[static_cast<std::size_t>(chunk_count)] {}) {}

  // Says how many entries the chunk has, and returns how many lie before it, once the chunks before
  // have been counted: others are at it.
  std::int64_t add(std::int64_t chunk, std::int64_t count) noexcept {
    if (chunk == 0) return publish(0, kSum, count), 0;
    publish(chunk, kCount, count);
    std::int64_t before = 0;
    Backoff backoff;
    for (std::int64_t at = chunk - 1;;) {
      const std::uint64_t word = words_[at].load(std::memory_order_acquire);
      if (word == 0) {
        backoff.pause();
        continue;
      }
      before += static_cast<std::int64_t>(word >> kShift);
      if ((word & kSum) != 0) break;
      --at;
    }
    publish(chunk, kSum, before + count);
    return before;
  }
  // Of all chunks, when each has been added.
  [[nodiscard]] std::int64_t total(std::int64_t chunk_count) const noexcept {
    return static_cast<std::int64_t>(words_[chunk_count - 1].load(std::memory_order_relaxed) >>
                                     kShift);
  }

 private:
  static constexpr std::uint64_t kCount = 1;  // of the chunk alone
  static constexpr std::uint64_t kSum = 2;    // with those before it
  static constexpr unsigned kShift = 2;

  void publish(std::int64_t chunk, std::uint64_t kind, std::int64_t count) noexcept {
    words_[chunk].store(static_cast<std::uint64_t>(count) << kShift | kind,
                        std::memory_order_release);
  }

  std::unique_ptr<std::atomic<std::uint64_t>[]> words_;
};

// A guess, from a part in a thousand of the elements or less; it decides which memory is recycled.
std::int64_t expected_count(const DenseScan& scan) {
  constexpr std::int64_t kSamples = 32;
  constexpr std::int64_t kSampleElements = 1024;
  const std::unique_ptr<kernels::Byte[]> buffer(
      new kernels::Byte[static_cast<std::size_t>(DenseScanner::buffer_bytes(scan))]);
  DenseScanner scanner(scan, buffer.get());
  const std::int64_t found = scanner.count_samples(kSamples, kSampleElements);
  return scan.element_count() / (kSamples * kSampleElements) * found;
}

EntryArrays arrays_of(const SparseBuilder& builder) noexcept {
  const bool is_coo = builder.shape().format == TNR_SPARSE_FORMAT_COO;
  return {builder.values(), builder.minor(), is_coo ? builder.major() : nullptr,
          is_coo ? nullptr : builder.major()};
}

// Most entries that there can be room for.
std::int64_t max_count(const DenseScan& scan, const SparseBuilder& builder) noexcept {
  const bool is_bounded = builder.shape().format != TNR_SPARSE_FORMAT_COO &&
                          builder.shape().index_dtype == TNR_DTYPE_I32;
  return is_bounded ? std::min<std::int64_t>(scan.element_count(), INT32_MAX)
                    : scan.element_count();
}

// False where the memory for it is refused; then nothing has happened.
bool scan_once(const Context& context, const DenseScan& scan, SparseBuilder& builder) {
  const std::int64_t capacity = max_count(scan, builder);
  const std::int64_t chunks = DenseScanner::chunk_count(scan);
  Sums sums(chunks);
  if (!builder.reserve_entries(capacity, expected_count(scan))) return false;
  const EntryArrays arrays = arrays_of(builder);
  Tickets tickets(chunks);
  scan_on_each_thread(context, scan, [&](kernels::Byte* buffer) noexcept {
    DenseScanner scanner(scan, buffer);
    std::int64_t chunk = tickets.take();
    while (chunk >= 0) {
      const std::int64_t count = scanner.count(chunk);
      const std::int64_t before = sums.add(chunk, count);
      // Taken before the writing, so that it can be brought closer. Those who wait for its count
      // wait a little longer at first; then all take turns.
      chunk = tickets.take();
      // What does not fit is refused when all have been counted.
      if (before + count <= capacity) scanner.write(arrays, before, chunk);
    }
    if (scan.stores == Stores::kStreamed) order_streamed_stores();
  });
  builder.trim_entries(sums.total(chunks));
  return true;
}

// ---- twice ----

void scan_chunk(const DenseScan& scan, SparseBuilder& builder) {
  const std::unique_ptr<kernels::Byte[]> buffer(
      new kernels::Byte[static_cast<std::size_t>(DenseScanner::buffer_bytes(scan))]);
  DenseScanner scanner(scan, buffer.get());
  builder.allocate_entries(scanner.count(0));
  scanner.write(arrays_of(builder), 0, -1);
}

void scan_twice(const Context& context, const DenseScan& scan, SparseBuilder& builder) {
  const std::int64_t chunks = DenseScanner::chunk_count(scan);
  const std::unique_ptr<std::int64_t[]> before(
      new std::int64_t[static_cast<std::size_t>(chunks + 1)]);
  before[0] = 0;
  Tickets to_count(chunks);
  scan_on_each_thread(context, scan, [&](kernels::Byte* buffer) noexcept {
    DenseScanner scanner(scan, buffer);
    for (std::int64_t chunk; (chunk = to_count.take()) >= 0;) {
      before[chunk + 1] = scanner.count(chunk);
    }
  });
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) before[chunk + 1] += before[chunk];
  builder.allocate_entries(before[chunks]);
  const EntryArrays arrays = arrays_of(builder);
  Tickets to_write(chunks);
  scan_on_each_thread(context, scan, [&](kernels::Byte* buffer) noexcept {
    DenseScanner scanner(scan, buffer);
    for (std::int64_t chunk; (chunk = to_write.take()) >= 0;) {
      static_cast<void>(scanner.count(chunk));
      scanner.write(arrays, before[chunk], -1);
    }
    if (scan.stores == Stores::kStreamed) order_streamed_stores();
  });
}

// ---- what is asked ----

tnr_dtype index_dtype(const tnr_sparse_options& options) {
  if (options.index_dtype == 0) return TNR_DTYPE_I32;
  if (options.index_dtype != TNR_DTYPE_I32 && options.index_dtype != TNR_DTYPE_I64) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "options->index_dtype is %s but must be i32 or i64",
         dtype_name(options.index_dtype));
  }
  return options.index_dtype;
}

void check_format(const tnr_sparse_options& options) {
  switch (options.format) {
    case TNR_SPARSE_FORMAT_COO:
    case TNR_SPARSE_FORMAT_CSR:
    case TNR_SPARSE_FORMAT_CSC: break;
    case TNR_SPARSE_FORMAT_BSR: fail(TNR_STATUS_UNSUPPORTED, "from dense BSR is not made");
    default:
      fail(TNR_STATUS_INVALID_ARGUMENT, "options->format is %" PRId32 ", which has no name",
           options.format);
  }
  if (options.block_rows != 0 || options.block_cols != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "options->block_rows is %" PRId64 " and block_cols %" PRId64
         " but both must be 0: only BSR has blocks",
         options.block_rows, options.block_cols);
  }
}

void check_rank(const tnr_view& view, const char* name) {
  if (view.rank != 2) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.rank is %" PRIu32 " but must be 2", name, view.rank);
  }
}

void check_mask(const tnr_view& mask, const tnr_view& dense) {
  check_view(mask, "options->mask");
  check_rank(mask, "options->mask");
  require_dtype(mask, "options->mask", TNR_DTYPE_BOOL8, "must be");
  for (std::uint32_t axis = 0; axis < 2; ++axis) {
    if (mask.shape[axis] != dense.shape[axis]) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "options->mask.shape[%" PRIu32 "] is %" PRId64 " but dense.shape[%" PRIu32
           "] is %" PRId64,
           axis, mask.shape[axis], axis, dense.shape[axis]);
    }
  }
}

void scan_all(const Context& context, const DenseScan& scan, SparseBuilder& builder) {
  const std::int64_t chunks = DenseScanner::chunk_count(scan);
  const bool is_large = scan.element_count() * scan.elements.width() >= kOncePassBytes;
  if (chunks == 1) return scan_chunk(scan, builder);
  if (is_large && scan_once(context, scan, builder)) return;
  scan_twice(context, scan, builder);
}

}  // namespace

SparseToken sparse_from_dense(const Context& context, const tnr_view& dense,
                              const tnr_sparse_options& options) {
  check_view(dense, "dense");
  check_rank(dense, "dense");
  check_format(options);
  const tnr_dtype index = index_dtype(options);
  const kernels::Keep keep = keep_of(options, dense.dtype);
  const bool has_mask = options.predicate == TNR_SPARSE_PREDICATE_MASK;
  if (has_mask) check_mask(options.mask, dense);
  if (width_index(dense.dtype) > static_cast<unsigned>(kernels::Width::k8)) {
    fail(TNR_STATUS_UNSUPPORTED, "from dense does not take %s", dtype_name(dense.dtype));
  }
  Pins pins;
  pins.add(dense, "dense");
  if (has_mask) pins.add(options.mask, "options->mask");

  SparseBuilder builder(context, {.format = options.format,
                                  .rows = dense.shape[0],
                                  .cols = dense.shape[1],
                                  .index_dtype = index,
                                  .value_dtype = dense.dtype});
  // CSC is the CSR of the transpose.
  const bool is_csc = options.format == TNR_SPARSE_FORMAT_CSC;
  const auto oriented = [is_csc](const tnr_view& view) {
    return is_csc ? transpose(view, 0, 1) : view;
  };
  const tnr_view matrix = oriented(dense);
  const DenseElements mask = has_mask ? DenseElements(oriented(options.mask)) : DenseElements();
  const DenseScan scan = {
      .rows = matrix.shape[0],
      .columns = matrix.shape[1],
      .elements = DenseElements(matrix),
      .mask = has_mask ? &mask : nullptr,
      .keep = keep,
      .index_type = index_type(index),
      .stores = stores_for(static_cast<std::int64_t>(element_bytes(dense))),
  };
  if (options.format != TNR_SPARSE_FORMAT_COO) {
    // The first offset is 0, and where there are no elements all of them are.
    const std::int64_t zeros = scan.element_count() == 0 ? scan.rows + 1 : 1;
    std::memset(builder.major(), 0, static_cast<std::size_t>(zeros) * element_size(index));
  }
  if (scan.element_count() == 0) {
    builder.allocate_entries(0);
  } else {
    scan_all(context, scan, builder);
  }
  return builder.finish(TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE);
}

}  // namespace tenure
