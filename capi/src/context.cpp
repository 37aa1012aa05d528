#include "tenure/context.hpp"

#include "boundary.hpp"
#include "tenure/device_queue.hpp"

using tenure::Refusal;
using tenure::capi::answered;
using tenure::capi::deref;
using tenure::capi::guarded;
using tenure::capi::handle_of;
using tenure::capi::read_sized;
using tenure::capi::use_of;
using tenure::capi::write_report;

tnr_status tnr_context_release(tnr_context* context) noexcept {
  return guarded([&] {
    if (context != nullptr) tenure::context_release(reinterpret_cast<std::uintptr_t>(context));
  });
}

tnr_context* tnr_context_create(const tnr_context_options* options) noexcept {
  tenure::ContextToken token = 0;
  answered([&]() -> Refusal {
    const tnr_context_options given = read_sized(options, "options");
    if (Refusal refusal = tenure::context_refusal(given)) return refusal;
    token = tenure::context_create(given);
    return std::nullopt;
  });
  return handle_of<tnr_context>(token);
}

uint32_t tnr_context_thread_count(const tnr_context* context) noexcept {
  std::uint32_t thread_count = 0;
  guarded([&] {
    const tenure::ContextUse use = use_of(context);
    thread_count = static_cast<const tenure::Context&>(use).thread_count();
  });
  return thread_count;
}

tnr_status tnr_context_wait(tnr_context* context) noexcept {
  return guarded([&] { tenure::wait_for(use_of(context)); });
}

tnr_status tnr_context_follow(tnr_context* context, tnr_context* other) noexcept {
  return guarded([&] {
    const tenure::ContextUse use = use_of(context);
    tenure::follow(use, use_of(other));
  });
}

tnr_status tnr_device_count(tnr_device_kind kind, uint32_t* count) noexcept {
  return answered([&]() -> Refusal {
    if (Refusal refusal = tenure::devices_refusal(kind)) return refusal;
    deref(count, "count") = tenure::device_count(kind);
    return std::nullopt;
  });
}

tnr_status tnr_device_describe(tnr_device device, tnr_device_info* info) noexcept {
  return answered([&]() -> Refusal {
    if (Refusal refusal = tenure::devices_refusal(device.kind)) return refusal;
    write_report(info, "info", tenure::describe_device(device));
    return std::nullopt;
  });
}

void tnr_task_run(uint64_t task) noexcept { tenure::task_run(task); }
