#include "memory/region/remnants.hpp"

#if !defined(_WIN32)

#include <atomic>
#include <new>

#include "base/system_calls.hpp"
#include "memory/region/region.hpp"

namespace tenure {

namespace {

// Stored at the beginning of the mapping that it describes.
struct Remnant {
  Remnant* next;
  std::size_t size_bytes;
};

// Only pushed to, and taken as a whole: no thread follows a link that another thread may change,
// and a fork finds it whole without a lock.
constinit std::atomic<Remnant*> g_remnants{nullptr};

void push(Remnant* remnant) noexcept {
  remnant->next = g_remnants.load(std::memory_order_relaxed);
  // Release: the thread that takes it reads its fields.
  while (!g_remnants.compare_exchange_weak(remnant->next, remnant, std::memory_order_release,
                                           std::memory_order_relaxed)) {
  }
}

enum class After { kRefusalGoOn, kRefusalStop };

void unmap_remnants(After after) noexcept {
  Remnant* remnant = g_remnants.exchange(nullptr, std::memory_order_acquire);
  bool tries = true;
  while (remnant != nullptr) {
    Remnant* const next = remnant->next;
    const bool is_refused = !tries || system_calls::unmap(remnant, remnant->size_bytes) != 0;
    if (is_refused) push(remnant);
    if (is_refused && after == After::kRefusalStop) tries = false;
    remnant = next;
  }
}

}  // namespace

void unmap_own(char* data, std::size_t size_bytes) noexcept {
  if (size_bytes == 0) return;
  if (system_calls::unmap(data, size_bytes) == 0) {
    if (g_remnants.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      unmap_remnants(After::kRefusalStop);
    return;
  }
  if (size_bytes > kPieceBytes) {
    // Refused for memory that a program has locked, which then stays as the program requested.
    system_calls::advise(data + kPieceBytes, size_bytes - kPieceBytes,
                         system_calls::Advice::kForget);
  }
  push(new (data) Remnant{nullptr, size_bytes});
}

void unmap_remnants() noexcept { unmap_remnants(After::kRefusalGoOn); }

}  // namespace tenure

#endif
