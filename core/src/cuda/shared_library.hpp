// Libraries other than the driver that are opened while the program runs, where a call needs them.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <span>

#include "base/mutex.hpp"
#include "tenure/status.hpp"

namespace tenure::cuda {

// A library and where it is looked for: by the name that the environment variable has, or by each
// of the names, first among what the process has opened already (a framework's copy), then by the
// system.
struct SharedLibrary {
  const char* need;  // "a source needs NVRTC, CUDA's compiler", for messages
  const char* title;
  const char* variable;
  std::span<const char* const> names;
};

// Stays open: closing it would gain nothing. Throws UNSUPPORTED, with all that was tried.
[[gnu::cold]] void* open_shared(const SharedLibrary& library);
// Throws UNSUPPORTED for an entry point that the library has not.
[[gnu::cold]] void* find_symbol(const SharedLibrary& library, void* opened, const char* name);

// For the macros that list entry points.
template <class Entry>
void find_entry(const SharedLibrary& library, void* opened, Entry& entry, const char* name) {
  entry = reinterpret_cast<Entry>(find_symbol(library, opened, name));
}

// A table of entry points, which the first call that asks for it has opened. Where that throws, a
// later call tries again.
template <class Table>
class OpenedOnce {
 public:
  constexpr OpenedOnce() noexcept = default;

  // open() gives the table.
  template <class Open>
  const Table& get(const Open& open) {
    require_none(try_get([&](Table& table) -> Refusal {
      table = open();
      return std::nullopt;
    }));
    return *opened();
  }
  // open(table) says why there is none, where it does not throw that.
  template <class Open>
  Refusal try_get(const Open& open) {
    if (opened() != nullptr) return std::nullopt;
    const std::lock_guard lock(mutex_);
    if (opened_.load(std::memory_order_relaxed) != nullptr) return std::nullopt;
    if (Refusal refusal = open(table_)) return refusal;
    // Release: a thread that sees the pointer sees the table.
    opened_.store(&table_, std::memory_order_release);
    return std::nullopt;
  }
  // nullptr where it was not opened.
  [[nodiscard]] const Table* opened() const noexcept {
    return opened_.load(std::memory_order_acquire);
  }

 private:
  Mutex mutex_;  // guards table_ until it is opened
  Table table_;
  std::atomic<const Table*> opened_{nullptr};
};

}  // namespace tenure::cuda
