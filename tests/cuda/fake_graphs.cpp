// The fake driver's captures of streams, and the graphs that come of them. A capture is of the mode in
// which the thread that began it may call nothing that is unsafe meanwhile.
#include <thread>
#include <utility>

#include "fake_state.hpp"

namespace fake {

Result capture(Capture& capture, Work work) {
  if (capture.is_invalid) return kCaptureInvalidated;
  if (work.step == Step::kKernel || work.step == Step::kCopy || work.step == Step::kFill ||
      work.step == Step::kCall) {
    capture.work.push_back(std::move(work));
    return Result::kSuccess;
  }
  capture.is_invalid = true;
  // The events of this driver are of work outside, and a graph has no memory of its own.
  return work.step == Step::kWait ? kCaptureIsolation : kCaptureUnsupported;
}

Capture* own_capture() {
  for (const auto& stream : state().streams) {
    if (stream->capture == nullptr || stream->is_destroyed) continue;
    if (stream->capture->thread == std::this_thread::get_id()) return stream->capture.get();
  }
  return nullptr;
}

Result capture_begin(Stream handle, int mode) {
  if (mode != kCaptureThreadLocal) return Result::kInvalidValue;
  StreamOfDriver* const stream = stream_of(handle);
  if (stream == nullptr) return kInvalidHandle;
  if (stream->capture != nullptr) return kIllegalState;
  // The legacy stream is that of all the others.
  if (stream == state().own_streams[current()->device][0]) return kCaptureUnsupported;
  stream->capture = std::make_unique<Capture>(Capture{std::this_thread::get_id(), {}, false});
  return Result::kSuccess;
}

Result capture_end(Stream handle, Graph* graph) {
  *graph = nullptr;
  StreamOfDriver* const stream = stream_of(handle);
  if (stream == nullptr) return kInvalidHandle;
  if (stream->capture == nullptr) return kIllegalState;
  if (stream->capture->thread != std::this_thread::get_id()) return kCaptureWrongThread;
  const std::unique_ptr<Capture> ended = std::move(stream->capture);
  if (ended->is_invalid) return kCaptureInvalidated;
  *graph = new GraphOfDriver{stream->context, std::move(ended->work)};
  ++state().graph_count;
  return Result::kSuccess;
}

Result graph_instantiate(GraphRun* run, Graph graph, unsigned long long flags) {
  if (graph == nullptr || flags != 0) return Result::kInvalidValue;
  *run = new GraphRunOfDriver{graph->context, graph->work, nullptr};
  ++state().graph_count;
  return Result::kSuccess;
}

// A graph runs once at a time: a launch comes after the one before, on whichever stream that is.
Result graph_launch(GraphRun run, Stream handle) {
  StreamOfDriver* const stream = stream_of(handle);
  if (run == nullptr || stream == nullptr) return kInvalidHandle;
  if (run->context != stream->context) return Result::kInvalidContext;
  if (stream->capture != nullptr) return kCaptureUnsupported;
  if (run->last != nullptr) {
    Work after = {.step = Step::kWait};
    after.mark = run->last;
    if (const Result result = enqueue(handle, std::move(after)); result != Result::kSuccess) {
      return result;
    }
  }
  for (const Work& work : run->work) {
    if (const Result result = enqueue(handle, work); result != Result::kSuccess) return result;
  }
  Work end = {.step = Step::kRecord};
  end.mark = run->last = std::make_shared<Mark>(Mark{stream, false});
  return enqueue(handle, std::move(end));
}

// Its launches go on.
Result graph_run_destroy(GraphRun run) {
  if (run == nullptr) return Result::kInvalidValue;
  delete run;
  --state().graph_count;
  return Result::kSuccess;
}

Result graph_destroy(Graph graph) {
  if (graph == nullptr) return Result::kInvalidValue;
  delete graph;
  --state().graph_count;
  return Result::kSuccess;
}

}  // namespace fake
