#include "memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "address_sanitizer.hpp"

namespace tenure::sweeps {
namespace {

const std::size_t kEdgeBytes = has_address_sanitizer() ? 0 : 64;
constexpr Byte kEdge = 0x3C;

// The f16 of a number that it represents exactly: up to 11 bits.
std::uint16_t half_of(std::int64_t number) {
  if (number == 0) return 0;
  int exponent;
  const double fraction = std::frexp(static_cast<double>(std::abs(number)), &exponent);
  const auto mantissa = static_cast<unsigned>((fraction * 2 - 1) * 1024);
  return static_cast<std::uint16_t>((number < 0 ? 0x8000u : 0u) |
                                    static_cast<unsigned>(exponent - 1 + 15) << 10 | mantissa);
}

Truths::Kind g_truths = Truths::kOne;

// A byte that reads as true.
Byte truth(std::int64_t number) {
  constexpr Byte kTruths[] = {2, 255, 1, 3, 128};
  return g_truths == Truths::kWild
             ? kTruths[static_cast<std::uint64_t>(number) % std::size(kTruths)]
             : 1;
}

template <class T>
void store(Byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

void put_number(tnr_dtype dtype, std::int64_t number, Byte* to) {
  const auto narrow = static_cast<float>(number);
  std::uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  switch (dtype) {
    case TNR_DTYPE_F64: return store(to, static_cast<double>(number));
    case TNR_DTYPE_F32: return store(to, narrow);
    case TNR_DTYPE_F16: return store(to, half_of(number));
    case TNR_DTYPE_BF16: return store(to, static_cast<std::uint16_t>(bits >> 16));
    case TNR_DTYPE_I64:
    case TNR_DTYPE_U64: return store(to, number);
    case TNR_DTYPE_I32:
    case TNR_DTYPE_U32: return store(to, static_cast<std::int32_t>(number));
    case TNR_DTYPE_I16:
    case TNR_DTYPE_U16: return store(to, static_cast<std::int16_t>(number));
    case TNR_DTYPE_I8:
    case TNR_DTYPE_U8: return store(to, static_cast<std::int8_t>(number));
    case TNR_DTYPE_BOOL8: return store(to, number == 0 ? Byte{0} : truth(number));
    case TNR_DTYPE_C64: return store(to, narrow), store(to + 4, 0.0f);
    case TNR_DTYPE_C128: return store(to, static_cast<double>(number)), store(to + 8, 0.0);
    default: ADD_FAILURE() << "no numbers of dtype " << dtype << " are known to the sweeps";
  }
}

Truths::Truths(Kind kind) : before_(g_truths) { g_truths = kind; }
Truths::~Truths() { g_truths = before_; }

namespace {

tnr_device_kind g_device = TNR_DEVICE_KIND_CPU;
bool g_replaces_strides = false;
std::int64_t g_ignored_stride = 0;
std::int64_t g_repeated_extent = 1;

}  // namespace

IgnoredStrides::IgnoredStrides(std::int64_t stride) {
  g_replaces_strides = true;
  g_ignored_stride = stride;
}
IgnoredStrides::~IgnoredStrides() { g_replaces_strides = false; }

RepeatedElements::RepeatedElements(std::int64_t extent) { g_repeated_extent = extent; }
RepeatedElements::~RepeatedElements() { g_repeated_extent = 1; }

void repeat_elements(tnr_view& view) {
  for (std::uint32_t axis = 0; axis < view.rank && g_repeated_extent != 1; ++axis) {
    if (view.shape[axis] != 1) continue;
    view.shape[axis] = g_repeated_extent;
    view.strides[axis] = 0;
  }
}

OnDevice::OnDevice() { g_device = 2; }  // kDLCUDA of DLPack
OnDevice::~OnDevice() { g_device = TNR_DEVICE_KIND_CPU; }

tnr_view lend(const void* data, std::size_t size_bytes, tnr_dtype dtype,
              const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides) {
  tnr_view view = {};
  view.data = view.base = data;
  view.size_bytes = size_bytes;
  view.dtype = dtype;
  view.rank = static_cast<std::uint32_t>(shape.size());
  view.device = {g_device, 0};
  std::int64_t stride = 1;
  const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    view.shape[axis] = shape[axis];
    view.strides[axis] = strides.empty() ? stride : strides[axis];
    if (g_replaces_strides && (is_empty || shape[axis] == 1)) view.strides[axis] = g_ignored_stride;
    // Strides beyond any address are not used: the view is empty, or has strides of its own.
    if (__builtin_mul_overflow(stride, shape[axis], &stride)) stride = 0;
  }
  return view;
}

Elements::Elements(tnr_dtype dtype, std::int64_t count, Byte fill)
    : dtype_(dtype),
      width_(tnr_dtype_size_bytes(dtype)),
      count_(count),
      bytes_(new Byte[static_cast<std::size_t>(count) * width_]) {
  std::memset(bytes_.get(), fill, size_bytes());
}

void Elements::put_all(std::initializer_list<std::int64_t> numbers) {
  std::int64_t done = 0;
  for (const std::int64_t number : numbers) {
    if (done < count_) put(done++, number);
  }
  while (done < count_) {
    const std::int64_t more = std::min(done, count_ - done);
    std::memcpy(at(done), at(0), static_cast<std::size_t>(more) * width_);
    done += more;
  }
}

// ---- the context ----

struct FilledContext::Counts {
  std::atomic<Byte> fill{kFill};
  std::atomic<std::size_t> limit{SIZE_MAX};
  std::atomic<std::size_t> held{0};
  std::atomic<std::size_t> peak{0};
  std::atomic<std::int64_t> overruns{0};

  static std::size_t edge_bytes(std::size_t alignment) {
    return kEdgeBytes == 0 ? 0 : std::max(kEdgeBytes, alignment);
  }

  static void* allocate(void* self, std::size_t size_bytes, std::size_t alignment) {
    auto& counts = *static_cast<Counts*>(self);
    const std::size_t held = counts.held.fetch_add(size_bytes) + size_bytes;
    if (size_bytes > counts.limit || held > counts.limit) {
      counts.held -= size_bytes;
      return nullptr;
    }
    std::size_t peak = counts.peak;
    while (peak < held && !counts.peak.compare_exchange_weak(peak, held)) {
    }
    const std::size_t edge = edge_bytes(alignment);
    void* block = nullptr;
    if (posix_memalign(&block, std::max(alignment, sizeof(void*)), size_bytes + 2 * edge) != 0) {
      return counts.held -= size_bytes, nullptr;
    }
    auto* const bytes = static_cast<Byte*>(block);
    std::memset(bytes, kEdge, edge);
    std::memset(bytes + edge, counts.fill, size_bytes);
    std::memset(bytes + edge + size_bytes, kEdge, edge);
    return bytes + edge;
  }

  static void deallocate(void* self, void* data, std::size_t size_bytes, std::size_t alignment) {
    auto& counts = *static_cast<Counts*>(self);
    counts.held -= size_bytes;
    const std::size_t edge = edge_bytes(alignment);
    Byte* const bytes = static_cast<Byte*>(data) - edge;
    for (std::size_t i = 0; i < edge; ++i) {
      if (bytes[i] == kEdge && bytes[edge + size_bytes + i] == kEdge) continue;
      counts.overruns += 1;
      break;
    }
    std::free(bytes);
  }
};

FilledContext::FilledContext(std::uint32_t threads) : counts_(new Counts) {
  tnr_context_options options = {};
  options.struct_size = sizeof options;
  options.thread_count = threads;
  options.allocate = Counts::allocate;
  options.deallocate = Counts::deallocate;
  options.user_context = counts_.get();
  context_ = tnr_context_create(&options);
  EXPECT_NE(context_, nullptr) << tnr_last_error()->message;
}

FilledContext::~FilledContext() {
  EXPECT_EQ(tnr_context_release(context_), TNR_STATUS_OK);
  EXPECT_EQ(counts_->held, 0u) << "bytes of the context that were not given back";
}

void FilledContext::set_fill(Byte fill) { counts_->fill = fill; }
void FilledContext::set_limit(std::size_t bytes) { counts_->limit = bytes; }
std::size_t FilledContext::take_peak() { return counts_->peak.exchange(counts_->held); }
std::size_t FilledContext::held_bytes() const { return counts_->held; }
std::int64_t FilledContext::overrun_count() const { return counts_->overruns; }

}  // namespace tenure::sweeps
