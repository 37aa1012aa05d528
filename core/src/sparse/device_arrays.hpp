// Matrices that a device makes: their arrays, and handles over them.
#pragma once

#include <cstdint>

#include "tenure/blob.hpp"
#include "tenure/context.hpp"
#include "tenure/counters.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/sparse.hpp"

namespace tenure {

// An array of a matrix to be: memory of the queue, and then a blob over it.
class DeviceArray {
 public:
  // Throws OUT_OF_MEMORY.
  DeviceArray(const DeviceQueue& queue, std::int64_t room, tnr_dtype dtype);
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray();

  [[nodiscard]] void* data() const noexcept { return data_; }

  // A blob of the first elements.
  void keep(const Context& context, std::int64_t count);
  [[nodiscard]] tnr_view view(std::int64_t count) const;
  // Leaves the reference to another owner.
  void give_up() noexcept { token_ = 0, data_ = nullptr; }

 private:
  [[nodiscard]] std::size_t bytes_of(std::int64_t count) const;
  void shrink(std::int64_t count);

  const DeviceQueue& queue_;
  std::int64_t room_;
  tnr_dtype dtype_;
  void* data_;
  BlobToken token_ = 0;
};

// A matrix that a call has made.
struct MadeOnDevice {
  tnr_sparse_format format;
  std::uint32_t flags;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t major_count;  // offsets, or of COO entries
  std::int64_t entry_count;
  tnr_operation operation;  // which is counted
  std::uint64_t read_bytes;
};

// A handle over the arrays. Throws OUT_OF_MEMORY, std::bad_alloc.
SparseToken open_on(const Context& context, const MadeOnDevice& made, DeviceArray& major,
                    DeviceArray& minor, DeviceArray& values);

}  // namespace tenure
