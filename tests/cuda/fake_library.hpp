// The common part of the emulated libraries, which call the fake driver: failures that the
// environment requests, counts that tests read, the live descriptors, and work on streams.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fake_state.hpp"

namespace fake {

// The code with which the entry point fails where `variable` is its name, or NAME:CODE; else 0.
inline int refusal_of(const char* variable, const char* name, int otherwise) {
  const char* const text = std::getenv(variable);
  const std::size_t length = std::strlen(name);
  if (text == nullptr || std::strncmp(text, name, length) != 0) return 0;
  if (text[length] == '\0') return otherwise;
  return text[length] == ':' ? static_cast<int>(std::strtol(text + length + 1, nullptr, 10)) : 0;
}

// One more, for tests to read.
inline void count_in(const char* variable) {
  setenv(variable, std::to_string(number_of(variable, 0) + 1).c_str(), 1);
}

// The objects of a library's handles. Any other pointer is no handle. `total` counts the objects of
// all libraries that a process must give back.
template <class Object>
class Handles {
 public:
  explicit Handles(std::size_t* total) : total_(total) {}

  Object* add(Object object) {
    live_.push_back(std::make_unique<Object>(std::move(object)));
    if (total_ != nullptr) ++*total_;
    return live_.back().get();
  }
  [[nodiscard]] bool has(const Object* handle) const {
    return std::any_of(live_.begin(), live_.end(),
                       [handle](const auto& known) { return known.get() == handle; });
  }
  bool remove(const Object* handle) {
    const auto found = std::find_if(live_.begin(), live_.end(),
                                    [handle](const auto& known) { return known.get() == handle; });
    if (found == live_.end()) return false;
    live_.erase(found);
    if (total_ != nullptr) --*total_;
    return true;
  }
  [[nodiscard]] const std::vector<std::unique_ptr<Object>>& all() const { return live_; }

 private:
  std::vector<std::unique_ptr<Object>> live_;
  std::size_t* total_;
};

// Elements from an address on, as an operand reaches: what the call does, beyond them the device
// faults.
struct Reach {
  Address begin;
  std::size_t bytes;
};

// `run` at its turn on the stream, while the host can reach memory.
inline Result enqueue_call(Stream stream, std::vector<Reach> operands, std::function<void()> run) {
  Work work = {.step = Step::kCall};
  work.call = [operands = std::move(operands), run = std::move(run)] {
    Memory& memory = state().memory;
    for (const Reach& operand : operands) {
      if (!memory.holds(operand.begin, operand.bytes)) return false;
    }
    const Memory::Open open(memory);
    run();
    return true;
  };
  return enqueue(stream, std::move(work));
}

inline Address address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

// Whether a library may call the driver, for example to allocate memory. Returns false while the
// thread captures, and marks the capture as invalid.
inline bool may_call_driver() {
  Capture* const capture = own_capture();
  if (capture != nullptr) capture->is_invalid = true;
  return capture == nullptr;
}

}  // namespace fake
