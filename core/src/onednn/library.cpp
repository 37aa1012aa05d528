#include "onednn/library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "base/fork.hpp"
#include "base/mutex.hpp"
#include "memory/traffic.hpp"
#include "tenure/status.hpp"

namespace tenure::onednn {
namespace {

// ---- OpenMP ----

// The functions of the runtime that oneDNN was linked with, found by name: a library that were
// linked here might be another one, with threads of its own.
struct OpenMP {
  int (*most_threads)();
  void (*set_threads)(int);
};

template <class Function>
Function function_named(const char* name) noexcept {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

const OpenMP& openmp() noexcept {
  static const OpenMP functions = {function_named<int (*)()>("omp_get_max_threads"),
                                   function_named<void (*)(int)>("omp_set_num_threads")};
  return functions;
}

// ---- the version of oneDNN ----

struct Version {
  char text[32] = "";
  const char* refusal = nullptr;

  Version() noexcept {
    const dnnl_version_t& version = *dnnl_version();
    std::snprintf(text, sizeof text, "%d.%d.%d", version.major, version.minor, version.patch);
    if (version.major != DNNL_VERSION_MAJOR) {
      refusal = "is of another major version than its headers were";
    } else if (version.cpu_runtime == DNNL_RUNTIME_OMP) {
      if (openmp().most_threads == nullptr || openmp().set_threads == nullptr) {
        refusal = "has an OpenMP runtime whose number of threads cannot be set";
      }
    } else if (version.cpu_runtime != DNNL_RUNTIME_SEQ) {
      refusal = "has threads of another runtime than OpenMP, whose number cannot be set";
    }
  }
};

const Version& known_version() noexcept {
  static const Version version;
  return version;
}

// Held by the thread that is in oneDNN.
constinit Mutex g_mutex;
// In a child of fork, where the runtime's other threads are missing and it would wait for them.
// Guarded by the mutex.
constinit bool g_has_one_thread = false;
// Guarded by the mutex. Never destroyed: a thread may be in oneDNN when the process ends.
constinit Library* g_library = nullptr;

}  // namespace

// ---- compiled code ----

// Compiled code is some tens of KiB, and compiling it takes a tenth of a millisecond at least.
class Library {
 public:
  Library() {
    require_success(dnnl_engine_create(engine_.to_make(), dnnl_cpu, 0), "dnnl_engine_create");
    require_success(dnnl_stream_create(stream_.to_make(), engine_.get(), dnnl_stream_default_flags),
                    "dnnl_stream_create");
  }

  [[nodiscard]] dnnl_engine_t engine() const noexcept { return engine_.get(); }
  [[nodiscard]] dnnl_stream_t stream() const noexcept { return stream_.get(); }

  [[nodiscard]] engines::ShapeCache<Compiled>& kept() noexcept { return kept_; }
  void count(const Compiled& compiled) noexcept {
    if (compiled.product.is_there()) compiled_count_ += 1;
  }
  [[nodiscard]] ShapeCounts counts() const noexcept { return {compiled_count_, kept_.count()}; }

 private:
  Owned<dnnl_engine_t, dnnl_engine_destroy> engine_;
  Owned<dnnl_stream_t, dnnl_stream_destroy> stream_;
  engines::ShapeCache<Compiled> kept_;
  std::int64_t compiled_count_ = 0;
};

void require_success(dnnl_status_t status, const char* call) {
  if (status == dnnl_success) return;
  if (status == dnnl_out_of_memory) {
    fail(TNR_STATUS_OUT_OF_MEMORY, "oneDNN has no memory for %s", call);
  }
  fail(TNR_STATUS_INTERNAL, "oneDNN: %s gave the status %d", call, static_cast<int>(status));
}

bool is_possible(dnnl_status_t status, const char* call) {
  if (status == dnnl_unimplemented || status == dnnl_invalid_arguments) return false;
  require_success(status, call);
  return true;
}

Layout strided_layout(dnnl_data_type_t type, std::span<const std::int64_t> extents,
                      std::span<const std::int64_t> steps) {
  dnnl_dims_t given_extents = {};
  dnnl_dims_t given_steps = {};
  std::copy(extents.begin(), extents.end(), given_extents);
  std::copy(steps.begin(), steps.end(), given_steps);
  Layout layout;
  const dnnl_status_t status = dnnl_memory_desc_create_with_strides(
      layout.to_make(), static_cast<int>(extents.size()), given_extents, type, given_steps);
  return is_possible(status, "dnnl_memory_desc_create_with_strides") ? std::move(layout) : Layout();
}

Attributes strict_attributes() {
  Attributes attributes;
  require_success(dnnl_primitive_attr_create(attributes.to_make()), "dnnl_primitive_attr_create");
  require_success(dnnl_primitive_attr_set_fpmath_mode(attributes.get(), dnnl_fpmath_mode_strict),
                  "dnnl_primitive_attr_set_fpmath_mode");
  require_success(
      dnnl_primitive_attr_set_scratchpad_mode(attributes.get(), dnnl_scratchpad_mode_user),
      "dnnl_primitive_attr_set_scratchpad_mode");
  return attributes;
}

bool Primitive::is_reference(const Description& description) {
  const char* name = nullptr;
  require_success(dnnl_primitive_desc_query(description.get(), dnnl_query_impl_info_str, 0, &name),
                  "dnnl_primitive_desc_query");
  return std::strstr(name, "ref") != nullptr;
}

Primitive::Primitive(const Description& description, std::span<const int> arguments,
                     dnnl_engine_t engine) {
  require_success(dnnl_primitive_create(primitive_.to_make(), description.get()),
                  "dnnl_primitive_create");
  const auto add = [&](int name, const_dnnl_memory_desc_t layout) {
    names_[argument_count_] = name;
    require_success(
        dnnl_memory_create(memory_[argument_count_].to_make(), layout, engine, DNNL_MEMORY_NONE),
        "dnnl_memory_create");
    argument_count_ += 1;
  };
  for (const int name : arguments) {
    add(name, dnnl_primitive_desc_query_md(description.get(), dnnl_query_exec_arg_md, name));
  }
  const_dnnl_memory_desc_t const scratch =
      dnnl_primitive_desc_query_md(description.get(), dnnl_query_scratchpad_md, 0);
  add(DNNL_ARG_SCRATCHPAD, scratch);
  scratch_bytes_ = static_cast<std::size_t>(
      whole_lines(static_cast<std::int64_t>(dnnl_memory_desc_get_size(scratch))));
}

void Primitive::run(dnnl_stream_t stream, std::span<void* const> addresses, void* scratch) const {
  dnnl_exec_arg_t arguments[kMostArguments];
  for (std::size_t i = 0; i < argument_count_; ++i) {
    void* const address = i < addresses.size() ? addresses[i] : scratch;
    require_success(dnnl_memory_set_data_handle(memory_[i].get(), address),
                    "dnnl_memory_set_data_handle");
    arguments[i] = {names_[i], memory_[i].get()};
  }
  require_success(dnnl_primitive_execute(primitive_.get(), stream,
                                         static_cast<int>(argument_count_), arguments),
                  "dnnl_primitive_execute");
  require_success(dnnl_stream_wait(stream), "dnnl_stream_wait");
}

// ---- one thread at a time ----

Entry::Entry(unsigned thread_count) : thread_count_(static_cast<int>(thread_count)) {
  if (!prepare_for_fork()) {
    fail(TNR_STATUS_OUT_OF_MEMORY, "the handlers for fork could not be registered");
  }
  std::unique_lock lock(g_mutex);
  if (g_has_one_thread) thread_count_ = 1;
  if (g_library == nullptr) g_library = new Library;
  if (openmp().most_threads != nullptr) {
    callers_thread_count_ = openmp().most_threads();
    if (callers_thread_count_ != thread_count_) openmp().set_threads(thread_count_);
  }
  lock.release();
}

Entry::~Entry() {
  if (callers_thread_count_ != 0 && callers_thread_count_ != thread_count_) {
    openmp().set_threads(callers_thread_count_);
  }
  g_mutex.unlock();
}

dnnl_engine_t Entry::engine() const noexcept { return g_library->engine(); }
dnnl_stream_t Entry::stream() const noexcept { return g_library->stream(); }

const Compiled* Entry::find(const Key& key) noexcept { return g_library->kept().find(key); }

const Compiled& Entry::keep(const Key& key, Compiled compiled) noexcept {
  g_library->count(compiled);
  return g_library->kept().keep(key, std::move(compiled));
}

// ---- for all ----

const char* version() noexcept {
  return known_version().refusal == nullptr ? known_version().text : nullptr;
}

void require() {
  if (known_version().refusal != nullptr) {
    fail(TNR_STATUS_UNSUPPORTED, "the engine oneDNN cannot be used: the library, of version %s, %s",
         known_version().text, known_version().refusal);
  }
}

ShapeCounts shape_counts() noexcept {
  const std::lock_guard lock(g_mutex);
  return g_library == nullptr ? ShapeCounts{} : g_library->counts();
}

void lock() noexcept { g_mutex.lock(); }
void unlock() noexcept { g_mutex.unlock(); }
void forget_threads() noexcept { g_has_one_thread = true; }

}  // namespace tenure::onednn
