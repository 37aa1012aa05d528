// Stand-ins for the rest of the library, as far as threads can tell.
#include "base/fork.hpp"
#include "memory/memory.hpp"
#include "scenarios.hpp"
#include "sparse/device_parts.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/engine.hpp"
#include "tenure/sparse.hpp"
#include "tenure/sparse_voucher.hpp"
#include "tenure/status.hpp"

namespace tenure {

bool prepare_for_fork() noexcept { return true; }

void require_object_size(std::size_t) {}

void require_engine(tnr_engine) {}

std::unique_ptr<DeviceQueue> open_queue(tnr_device, std::uint64_t, tnr_engine) { return nullptr; }
Refusal devices_refusal(tnr_device_kind) { return std::nullopt; }
void free_pinned(void*) noexcept {}

// The first bytes of each block are an object that knows who uses it.
Memory take_memory(std::size_t) { return {new explore::Word(explore::kFresh), nullptr}; }
void give_memory(Memory memory, std::size_t) noexcept {
  *static_cast<explore::Word*>(memory.data) = explore::kFreed;
}
std::size_t cached_memory_bytes() noexcept { return 0; }

// ---- of a sparse matrix: whose indices are one word ----

const SparseNames& sparse_names(tnr_sparse_format) noexcept {
  static constexpr SparseNames kNames = {"row_offsets", "col_indices", "cols"};
  return kNames;
}
void check_sparse(const tnr_sparse_view&, const char*, const tnr_device&) {}
bool is_sparse_voucher(SparseToken) noexcept { return false; }
void check_values_apart(const tnr_sparse_view&, const char*) {}
void pin_parts(Pins& pins, const tnr_sparse_view& view, const char* name) {
  pins.add(view.major, name);
  pins.add(view.minor, name);
  pins.add(view.values, name);
}
// Reads the indices, because no thread may write them from here on.
void check_entries(const tnr_sparse_view& view, RowExtent, const char*) {
  if (*static_cast<const explore::Word*>(view.minor.data) == explore::kWrong) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "wrong");
  }
}
void check_device_entries(const tnr_sparse_view&, const Pins&, RowExtent, const char*) {}

}  // namespace tenure
