// Events in C: unwrap, call, wrap.
#include "tenure/event.hpp"

#include "boundary.hpp"

using tenure::capi::deref;
using tenure::capi::guarded;
using tenure::capi::guarded_pointer;
using tenure::capi::handle_of;
using tenure::capi::release_handle;
using tenure::capi::token_of;
using tenure::capi::use_of;

tnr_status tnr_event_release(tnr_event* event) noexcept {
  return release_handle(event, tenure::event_release);
}

tnr_event* tnr_event_create(tnr_context* context) noexcept {
  return guarded_pointer([&] {
    const tenure::EventToken token = tenure::event_create(use_of(context));
    return handle_of<tnr_event>(token);
  });
}

tnr_status tnr_event_wait(tnr_event* event) noexcept {
  return guarded([&] { tenure::event_wait(token_of(event)); });
}

tnr_status tnr_event_query(tnr_event* event, uint32_t* is_done) noexcept {
  return guarded([&] {
    std::uint32_t& written = deref(is_done, "is_done");
    written = tenure::event_is_done(token_of(event)) ? 1 : 0;
  });
}

tnr_status tnr_context_follow_event(tnr_context* context, tnr_event* event) noexcept {
  return guarded([&] { tenure::follow_event(use_of(context), token_of(event)); });
}
