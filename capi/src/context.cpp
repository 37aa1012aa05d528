#include "tenure/context.hpp"

#include "boundary.hpp"

using tenure::capi::guarded;
using tenure::capi::guarded_pointer;
using tenure::capi::read_sized;
using tenure::capi::use_of;

tnr_status tnr_context_release(tnr_context* context) noexcept {
  return guarded([&] {
    if (context != nullptr) tenure::context_release(reinterpret_cast<std::uintptr_t>(context));
  });
}

tnr_context* tnr_context_create(const tnr_context_options* options) noexcept {
  return guarded_pointer([&] {
    const tenure::ContextToken token = tenure::context_create(read_sized(options, "options"));
    return reinterpret_cast<tnr_context*>(static_cast<std::uintptr_t>(token));
  });
}

uint32_t tnr_context_thread_count(const tnr_context* context) noexcept {
  std::uint32_t thread_count = 0;
  guarded([&] {
    const tenure::ContextUse use = use_of(context);
    thread_count = static_cast<const tenure::Context&>(use).thread_count();
  });
  return thread_count;
}

void tnr_task_run(uint64_t task) noexcept { tenure::task_run(task); }
