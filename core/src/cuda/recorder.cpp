#include "cuda/recorder.hpp"

#include <algorithm>
#include <mutex>

#include "tenure/counters.hpp"

namespace tenure::cuda {
namespace {

// The alignment of the driver's pools, so that both rounds choose the same kernels.
constexpr std::size_t kAlignment = 256;

void require_graphs() {
  const Driver& table = opened_driver();
#define TENURE_CUDA_NEED(member, name, version, parameters)                                     \
  if (table.member == nullptr) {                                                                \
    fail(TNR_STATUS_UNSUPPORTED, "work cannot be recorded: the driver has no %s of CUDA %d.%d", \
         name, (version) / 1000, (version) % 1000 / 10);                                        \
  }
  TENURE_CUDA_GRAPH_ENTRY_POINTS(TENURE_CUDA_NEED)
#undef TENURE_CUDA_NEED
}

// The reason first: there is no stream then.
Device& with_graphs(Device& device) {
  require_graphs();
  return device;
}

}  // namespace

Recorder::Recorder(Device& device, tnr_engine engine)
    : device_(with_graphs(device)), queue_(device, engine, *this) {}

Recorder::~Recorder() {
  if (!is_capturing_) return;
  try {
    opened_driver().graph_destroy(end_capture());
  } catch (const Error&) {
    return;  // the driver has dropped it
  }
}

char* Recorder::base() const noexcept {
  // In the rehearsal addresses at which nothing lies, and not nullptr.
  return is_rehearsal_ ? reinterpret_cast<char*>(kAlignment) : memory_;
}

void* Recorder::allocate(std::size_t size_bytes) {
  const std::size_t whole = (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
  std::size_t begin = 0;
  auto before = live_.begin();
  for (; before != live_.end() && before->begin - begin < whole; ++before) begin = before->end;
  if (!is_rehearsal() && begin + whole > most_bytes_) {
    fail(TNR_STATUS_INTERNAL, "%zu bytes at %zu are asked for, but %zu were rehearsed", whole,
         begin, most_bytes_);
  }
  live_.insert(before, {begin, begin + whole});
  most_bytes_ = std::max(most_bytes_, begin + whole);
  return base() + begin;
}

void Recorder::free(void* data) noexcept {
  const auto begin = static_cast<std::size_t>(static_cast<char*>(data) - base());
  live_.erase(std::ranges::find(live_, begin, &Piece::begin));
}

void Recorder::begin(void* memory) {
  const Current current(device_);
  require(opened_driver().capture_begin(queue_.handle(), kCaptureThreadLocal),
          "cuStreamBeginCapture");
  is_capturing_ = true;
  memory_ = static_cast<char*>(memory);
  is_rehearsal_ = false;
}

Graph Recorder::end_capture() {
  Graph graph = nullptr;
  is_capturing_ = false;
  const Current current(device_);
  require(opened_driver().capture_end(queue_.handle(), &graph), "cuStreamEndCapture");
  return graph;
}

std::unique_ptr<const DeviceRecording> Recorder::end() {
  Graph const graph = end_capture();
  try {
    auto recording = std::make_unique<const Recording>(device_, graph);
    opened_driver().graph_destroy(graph);
    return recording;
  } catch (...) {
    opened_driver().graph_destroy(graph);
    throw;
  }
}

Recording::Recording(const Device& device, Graph graph) : device_(device) {
  const Current current(device);
  require(opened_driver().graph_instantiate(&run_, graph, 0), "cuGraphInstantiateWithFlags");
}

Recording::~Recording() {
  // One that runs ends when it is done: the driver sees to that.
  if (!is_driver_forgotten()) opened_driver().graph_run_destroy(run_);
}

void Recording::enqueue(const DeviceQueue& queue) const {
  const auto& on = static_cast<const Queue&>(queue);  // CUDA's is the only kind
  const Current current(device_);
  count_launch();
  const std::lock_guard lock(mutex_);
  require(opened_driver().graph_launch(run_, on.handle()), "cuGraphLaunch");
}

}  // namespace tenure::cuda
