#include "cuda/modules.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <utility>

#include "tenure/counters.hpp"
#include "tenure/device.hpp"

namespace tenure::cuda {
namespace {

[[noreturn, gnu::cold]] void refuse_image(Result result, const Module& module, const char* name) {
  const tnr_device device = {TNR_DEVICE_KIND_CUDA, module.device->index()};
  switch (result) {
    case Result::kNoBinaryForGpu:
      fail(TNR_STATUS_UNSUPPORTED,
           "kernel %s: the image has no code for %s, whose compute capability is %d.%d", name,
           DeviceName(device).text, module.device->capability() / 10,
           module.device->capability() % 10);
    case Result::kUnsupportedPtx:
      fail(TNR_STATUS_UNSUPPORTED,
           "kernel %s: the image has PTX of a newer CUDA than the driver of %s", name,
           DeviceName(device).text);
    case Result::kInvalidPtx:
      fail(TNR_STATUS_INVALID_ARGUMENT, "kernel %s: the PTX does not compile: %s", name,
           module.log);
    case Result::kInvalidImage:
    case Result::kInvalidSource:
      fail(TNR_STATUS_INVALID_ARGUMENT, "kernel %s: the driver cannot read the image%s%s", name,
           module.log[0] != '\0' ? ": " : "", module.log);
    default: refuse(result, "cuModuleLoadDataEx");
  }
}

void load_into(Module& module, const std::string& image, const char* name) {
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void* values[] = {module.log, reinterpret_cast<void*>(std::uintptr_t{sizeof module.log})};
  const Current current(*module.device);
  const Result loaded =
      opened_driver().module_load(&module.handle, image.data(), 2, options, values);
  module.log[sizeof module.log - 1] = '\0';
  if (loaded != Result::kSuccess) refuse_image(loaded, module, name);
}

// Unloads modules that have no user, but that the device may still run. Returns false, with nothing
// unloaded, where the device cannot be waited for, as while a stream is captured.
bool unload(const std::list<Module>& modules) noexcept {
  try {
    const Current current(*modules.front().device);
    count_wait();
    if (opened_driver().context_synchronize() != Result::kSuccess) return false;
    for (const Module& module : modules) opened_driver().module_unload(module.handle);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

Modules& Modules::all() {
  static Modules* const modules = new Modules;
  return *modules;
}

Module* Modules::find(const Device& device, const std::string& key) {
  const std::lock_guard lock(mutex_);
  for (Module& module : modules_) {
    if (module.device != &device || module.key != key) continue;
    ++module.user_count;
    return &module;
  }
  return nullptr;
}

Module& Modules::load(const Device& device, Code code, const char* name) {
  std::list<Module> loaded(1);
  Module& module = loaded.front();
  module.device = &device;
  module.symbol = std::move(code.symbol);
  module.key = std::move(code.key);
  load_into(module, code.image, name);
  const std::lock_guard lock(mutex_);
  modules_.splice(modules_.begin(), loaded);
  return module;
}

void Modules::leave(Module& module) noexcept {
  std::list<Module> ended;
  {
    const std::lock_guard lock(mutex_);
    if (--module.user_count != 0) return;
    const auto is_it = [&module](const Module& other) { return &other == &module; };
    modules_.splice(modules_.end(), modules_,
                    std::find_if(modules_.begin(), modules_.end(), is_it));
    const auto is_unused = [&module](const Module& other) {
      return other.device == module.device && other.user_count == 0;
    };
    auto unused =
        static_cast<std::size_t>(std::count_if(modules_.begin(), modules_.end(), is_unused));
    if (unused <= kMostUnused) return;
    // Half of them, those that were left first: one wait for many.
    for (auto at = modules_.begin(); unused > kMostUnused / 2;) {
      const auto next = std::next(at);
      if (is_unused(*at)) {
        ended.splice(ended.end(), modules_, at);
        --unused;
      }
      at = next;
    }
  }
  if (unload(ended)) return;
  // Another time.
  const std::lock_guard lock(mutex_);
  modules_.splice(modules_.begin(), ended);
}

}  // namespace tenure::cuda
