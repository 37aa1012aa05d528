#include "reserved_memory.hpp"

#include "slot_table.hpp"

namespace tenure {

BlobToken ReservedMemory::open(std::size_t size_bytes) {
  const Memory memory = trim_reserved(memory_, size_bytes);
  memory_ = {};
  try {
    return slot_table.open({memory.data, size_bytes, TNR_TENURE_ALLOCATED, nullptr, memory.origin});
  } catch (...) {
    give_memory(memory, size_bytes);
    throw;
  }
}

}  // namespace tenure
