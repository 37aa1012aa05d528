// The code of callers' kernels that devices have.
#pragma once

#include <cstddef>
#include <list>
#include <string>

#include "base/mutex.hpp"
#include "cuda/device.hpp"

namespace tenure::cuda {

// Code as the driver loads it, and the kernel in it.
struct Code {
  std::string image;   // ends with a 0
  std::string symbol;  // the kernel's name there
  std::string key;     // what it was compiled from; empty where the caller brought it
};

struct Module {
  const Device* device = nullptr;
  ModuleHandle handle = nullptr;
  std::string symbol;
  std::string key;
  unsigned user_count = 1;
  // The driver's compiler writes its errors here. The log lives as long as the module, since CUDA
  // does not say that a driver which compiles late writes no more.
  char log[400] = {};
};

// CUDA does not say that code may end while the device runs it, and to wait at each end would be a
// wait that no caller requested. So unused code stays until there is much of it; compiled code may
// be used again.
class Modules {
 public:
  // The modules of all devices. Never destroyed.
  static Modules& all();

  // For one more user, who leaves it. `find` gives nullptr where that key is not there.
  [[nodiscard]] Module* find(const Device& device, const std::string& key);
  // `name` is the kernel's in messages. Throws INVALID_ARGUMENT, UNSUPPORTED, DEVICE_ERROR,
  // OUT_OF_MEMORY, std::bad_alloc.
  [[nodiscard]] Module& load(const Device& device, Code code, const char* name);
  void leave(Module& module) noexcept;

 private:
  Modules() = default;

  Mutex mutex_;
  std::list<Module> modules_;  // each that is left goes to the end
};

// Most unused modules of a device.
inline constexpr std::size_t kMostUnused = 32;

}  // namespace tenure::cuda
