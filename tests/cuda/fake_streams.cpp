// The fake driver's streams and events: work waits in its stream until the host waits for it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "fake_state.hpp"

namespace fake {

Result fail_device(const char* what) {
  std::fprintf(stderr, "fake CUDA: %s\n", what);
  return state().failure = Result::kIllegalAddress;
}

namespace {

// Logs the work in the order in which it runs, for tests of that order.
void log_run(const Work& work) {
  const char* const path = std::getenv("TENURE_FAKE_CUDA_LOG");
  if (path == nullptr) return;
  static std::FILE* const log = std::fopen(path, "w");
  if (log == nullptr) std::abort();
  switch (work.step) {
    case Step::kKernel: std::fprintf(log, "kernel %s\n", work.kernel->name); break;
    case Step::kCopyIn: std::fprintf(log, "copy_in %llu %zu\n", work.out, work.bytes); break;
    case Step::kCopyOut: std::fprintf(log, "copy_out %llu %zu\n", work.in, work.bytes); break;
    default: return;
  }
  std::fflush(log);
}

Result run(StreamOfDriver& stream, Work& work) {
  log_run(work);
  Memory& memory = state().memory;
  const auto out = reinterpret_cast<void*>(work.out);
  const auto in = reinterpret_cast<const void*>(work.in);
  const bool writes_device =
      work.step == Step::kCopyIn || work.step == Step::kCopy || work.step == Step::kFill;
  const bool reads_device = work.step == Step::kCopyOut || work.step == Step::kCopy;
  if ((writes_device && !memory.holds(work.out, work.bytes)) ||
      (reads_device && !memory.holds(work.in, work.bytes))) {
    return fail_device("a copy or fill beyond memory of the device");
  }
  switch (work.step) {
    case Step::kKernel: {
      const Memory::Open open(memory);
      simt::launch(*work.kernel, work.blocks, work.threads, work.argument.data());
      break;
    }
    case Step::kCopyIn:
    case Step::kCopyOut:
    case Step::kCopy: {
      const Memory::Open open(memory);
      std::memmove(out, in, work.bytes);
      break;
    }
    case Step::kFill: {
      const Memory::Open open(memory);
      std::memset(out, work.value, work.bytes);
      break;
    }
    case Step::kFree:
      if (!memory.free(work.out)) return fail_device("memory freed twice, or written beyond");
      break;
    case Step::kCall:
      if (!work.call()) return fail_device("a library's call beyond memory of the device");
      break;
    case Step::kRecord: work.mark->is_done = true; break;
    case Step::kWait:
      if (!work.mark->is_done) return run_to(*work.mark->stream, work.mark.get());
      break;
  }
  static_cast<void>(stream);
  return state().failure;
}

}  // namespace

Result run_to(StreamOfDriver& stream, const Mark* mark) {
  while (!stream.work.empty() && (mark == nullptr || !mark->is_done)) {
    Work work = std::move(stream.work.front());
    stream.work.pop_front();
    const Result result = run(stream, work);
    if (result != Result::kSuccess) return result;
  }
  return state().failure;
}

// The work of other streams may run at any time.
void run_others() {
  State& all = state();
  for (const auto& stream : all.streams) {
    if (all.random() % 2 != 0) continue;
    for (auto left = all.random() % 4; left > 0 && !stream->work.empty(); --left) {
      Work work = std::move(stream->work.front());
      stream->work.pop_front();
      if (run(*stream, work) != Result::kSuccess) return;
    }
  }
}

// nullptr: no stream of the current context.
StreamOfDriver* stream_of(Stream handle) {
  State& all = state();
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (current() == nullptr) return nullptr;
  if (number == 1 || number == 2) {
    StreamOfDriver*& own = all.own_streams[current()->device][number - 1];
    if (own == nullptr) {
      all.streams.push_back(std::make_unique<StreamOfDriver>());
      own = all.streams.back().get();
      own->context = current();
    }
    return own;
  }
  for (const auto& stream : all.streams) {
    if (stream.get() == handle && !stream->is_destroyed && stream->context == current()) {
      return stream.get();
    }
  }
  return nullptr;
}

Result enqueue(Stream handle, Work work) {
  if (state().failure != Result::kSuccess) return state().failure;
  StreamOfDriver* const stream = stream_of(handle);
  if (stream == nullptr) return kInvalidHandle;
  if (stream->capture != nullptr) return capture(*stream->capture, std::move(work));
  stream->work.push_back(std::move(work));
  return Result::kSuccess;
}

Result stream_create(Stream* stream, unsigned flags) {
  if (flags > kStreamNonBlocking) return Result::kInvalidValue;
  if (current() == nullptr) return Result::kInvalidContext;
  state().streams.push_back(std::make_unique<StreamOfDriver>());
  *stream = state().streams.back().get();
  (*stream)->context = current();
  return Result::kSuccess;
}

// Its work goes on.
Result stream_destroy(Stream handle) {
  for (const auto& stream : state().streams) {
    if (stream.get() != handle || stream->is_destroyed) continue;
    stream->is_destroyed = true;
    stream->capture = nullptr;
    return run_to(*stream, nullptr);
  }
  return kInvalidHandle;
}

Result stream_context(Stream handle, PrimaryContext* context) {
  for (const auto& stream : state().streams) {
    if (stream.get() != handle || stream->is_destroyed) continue;
    *context = stream->context;
    return Result::kSuccess;
  }
  return kInvalidHandle;
}

Result stream_synchronize(Stream handle) {
  StreamOfDriver* const stream = stream_of(handle);
  if (stream == nullptr) return kInvalidHandle;
  if (stream->capture != nullptr) {
    stream->capture->is_invalid = true;
    return kCaptureUnsupported;
  }
  run_others();
  return run_to(*stream, nullptr);
}

Result stream_wait_event(Stream handle, Event event, unsigned flags) {
  if (flags != 0 || event == nullptr) return Result::kInvalidValue;
  // An event without a record is complete.
  if (event->mark == nullptr) return Result::kSuccess;
  Work work = {.step = Step::kWait};
  work.mark = event->mark;
  return enqueue(handle, std::move(work));
}

Result event_create(Event* event, unsigned flags) {
  if (flags != kEventDisableTiming) return Result::kInvalidValue;
  if (current() == nullptr) return Result::kInvalidContext;
  *event = new EventOfDriver{current(), nullptr};
  return Result::kSuccess;
}

Result event_record(Event event, Stream handle) {
  StreamOfDriver* const stream = stream_of(handle);
  if (stream == nullptr || event->context != current()) return kInvalidHandle;
  Work work = {.step = Step::kRecord};
  work.mark = event->mark = std::make_shared<Mark>(Mark{stream, false});
  return enqueue(handle, std::move(work));
}

Result event_query(Event event) {
  if (event == nullptr) return kInvalidHandle;
  if (state().failure != Result::kSuccess) return state().failure;
  // Time goes by, in which streams may have run.
  run_others();
  return event->mark == nullptr || event->mark->is_done ? Result::kSuccess : Result::kNotReady;
}

Result event_synchronize(Event event) {
  if (event == nullptr) return kInvalidHandle;
  run_others();
  if (event->mark == nullptr) return state().failure;
  return run_to(*event->mark->stream, event->mark.get());
}

Result event_destroy(Event event) {
  delete event;
  return Result::kSuccess;
}

}  // namespace fake
