#include "cuda/mark.hpp"

#include "tenure/counters.hpp"

namespace tenure::cuda {

Mark::Mark(const Device& device, Stream stream) : device_(device) {
  const Driver& table = opened_driver();
  const Current current(device);
  require(table.event_create(&event_, kEventDisableTiming), "cuEventCreate");
  const Result recorded = table.event_record(event_, stream);
  if (recorded == Result::kSuccess) return;
  table.event_destroy(event_);
  refuse(recorded, "cuEventRecord");
}

Mark::~Mark() {
  if (!is_driver_forgotten()) opened_driver().event_destroy(event_);
}

void Mark::wait() const {
  const Current current(device_);
  count_wait();
  require(opened_driver().event_synchronize(event_), "cuEventSynchronize");
}

bool Mark::is_done() const {
  const Current current(device_);
  const Result result = opened_driver().event_query(event_);
  if (result == Result::kNotReady) return false;
  require(result, "cuEventQuery");
  return true;
}

}  // namespace tenure::cuda
