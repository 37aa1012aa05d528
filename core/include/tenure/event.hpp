// Events: moments in the work of a context's stream.
#pragma once

#include <cstdint>

#include "tenure/context.hpp"
#include "tenure/status.hpp"

namespace tenure {

// {kind:8, generation:24, index:32}; what a tnr_event* holds.
using EventToken = std::uint64_t;

// An event of the work that the context's queue has got so far. Throws OUT_OF_MEMORY, DEVICE_ERROR.
EventToken event_create(const Context& context);
// All throw STALE_HANDLE for a token that is garbage, of another kind, or released.
void event_release(EventToken token);
// tnr_event_wait() and tnr_event_query(): also throw DEVICE_ERROR.
void event_wait(EventToken token);
bool event_is_done(EventToken token);
// tnr_context_follow_event().
void follow_event(const Context& context, EventToken token);

}  // namespace tenure
