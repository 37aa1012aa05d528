#include "tenure/event.hpp"

#include <memory>
#include <utility>

#include "memory/handles.hpp"
#include "tenure/device_queue.hpp"

namespace tenure {
namespace {

// Work of the CPU has no moment: it is done. So is all work in a child of fork, which has no
// device.
class Event {
 public:
  explicit Event(const Context& context) {
    if (context.queue() == nullptr) return;
    moment_ = context.queue()->record();
    context_ = &context;
    context.keep();
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    if (context_ == nullptr) return;
    moment_.reset();
    context_->let_go();
  }

  // nullptr: there is nothing to wait for.
  [[nodiscard]] const DeviceEvent* moment() const noexcept {
    return context_ != nullptr && context_->queue() != nullptr ? moment_.get() : nullptr;
  }
  void end_uses() const noexcept { context_->queue()->end_uses(); }

 private:
  const Context* context_ = nullptr;
  std::unique_ptr<const DeviceEvent> moment_;
};

using EventHandles = Handles<Event, kEventKind>;
constexpr EventHandles kEvents(event_table, "event", "event");

}  // namespace

EventToken event_create(const Context& context) {
  return kEvents.open(std::make_unique<const Event>(context));
}

void event_release(EventToken token) { kEvents.release(token); }

void event_wait(EventToken token) {
  const EventHandles::Use use(kEvents, token);
  const Event& event = use.object();
  if (event.moment() == nullptr) return;
  event.moment()->wait();
  event.end_uses();
}

bool event_is_done(EventToken token) {
  const EventHandles::Use use(kEvents, token);
  const Event& event = use.object();
  if (event.moment() == nullptr) return true;
  if (!event.moment()->is_done()) return false;
  event.end_uses();
  return true;
}

void follow_event(const Context& context, EventToken token) {
  const EventHandles::Use use(kEvents, token);
  const Event& event = use.object();
  if (event.moment() == nullptr) return;
  if (context.queue() != nullptr) return context.queue()->follow(*event.moment());
  event.moment()->wait();
  event.end_uses();
}

}  // namespace tenure
