// oneDNN as this library uses it: one thread at a time enters it, and its compiled code is kept by
// shape. Only the sources of this folder include this file: they are compiled where oneDNN's
// headers are.
#pragma once

#include <dnnl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "engine/onednn.hpp"
#include "engine/shape_cache.hpp"

#if DNNL_VERSION_MAJOR < 3
#error "oneDNN is older than version 3"
#endif

namespace tenure::onednn {

// Elements, of 8 bytes at most: what oneDNN computes in 32 bits stays below 2^31 bytes.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 28;

// A handle of oneDNN's, and its end.
template <class Handle, dnnl_status_t (*kDestroy)(Handle)>
class Owned {
 public:
  Owned() noexcept = default;
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ != nullptr) kDestroy(handle_);
  }

  [[nodiscard]] Handle get() const noexcept { return handle_; }
  // For the functions that make one.
  [[nodiscard]] Handle* to_make() noexcept { return &handle_; }

 private:
  Handle handle_ = nullptr;
};
using Layout = Owned<dnnl_memory_desc_t, dnnl_memory_desc_destroy>;
using Attributes = Owned<dnnl_primitive_attr_t, dnnl_primitive_attr_destroy>;
using PostOps = Owned<dnnl_post_ops_t, dnnl_post_ops_destroy>;
using Description = Owned<dnnl_primitive_desc_t, dnnl_primitive_desc_destroy>;

// Throws OUT_OF_MEMORY for that, and INTERNAL for any other failure.
void require_success(dnnl_status_t status, const char* call);
// Returns false where oneDNN has no code for the call. Throws as require_success() does for any
// other failure.
bool is_possible(dnnl_status_t status, const char* call);

// A layout by strides; empty where oneDNN takes none of such steps.
Layout strided_layout(dnnl_data_type_t type, std::span<const std::int64_t> extents,
                      std::span<const std::int64_t> steps);
// Attributes with which products are those of the dtype, whatever the environment allows oneDNN,
// and its scratch memory is the caller's.
Attributes strict_attributes();

// Compiled code, and the objects that its arguments' addresses are set in.
class Primitive {
 public:
  // Whether it is reference code, which takes a hundred times as long as the library's own kernels.
  [[nodiscard]] static bool is_reference(const Description& description);

  Primitive() noexcept = default;
  // Arguments are DNNL_ARG_SRC and others, in the order of run()'s addresses.
  Primitive(const Description& description, std::span<const int> arguments, dnnl_engine_t engine);

  [[nodiscard]] bool is_there() const noexcept { return primitive_.get() != nullptr; }
  // For a whole number of cache lines.
  [[nodiscard]] std::size_t scratch_bytes() const noexcept { return scratch_bytes_; }
  void run(dnnl_stream_t stream, std::span<void* const> addresses, void* scratch) const;

 private:
  static constexpr std::size_t kMostArguments = 5;

  Owned<dnnl_primitive_t, dnnl_primitive_destroy> primitive_;
  std::array<Owned<dnnl_memory_t, dnnl_memory_destroy>, kMostArguments> memory_;
  std::array<int, kMostArguments> names_{};
  std::size_t argument_count_ = 0;  // the scratch memory among them, as the last
  std::size_t scratch_bytes_ = 0;
};

using Key = engines::ShapeKey;

// The entry that is kept for a key: nothing runs where oneDNN has declined.
struct Compiled {
  Primitive product;
  Primitive reorder;  // of a convolution's weights, where it does not take them as they lie
  std::size_t weight_bytes = 0;
};

// All of oneDNN's state that is kept between calls.
class Library;

// While this lives, its thread is the only one in oneDNN, which computes with `thread_count`
// threads of OpenMP's, or with one in a child of fork. The destructor restores the caller's number
// of threads.
class Entry {
 public:
  // Throws OUT_OF_MEMORY.
  explicit Entry(unsigned thread_count);
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry();

  [[nodiscard]] dnnl_engine_t engine() const noexcept;
  [[nodiscard]] dnnl_stream_t stream() const noexcept;
  // The code that compile(engine) gave for this key and number of threads when last asked, or gives now.
  template <class Compile>
  const Compiled& compiled(Key key, const Compile& compile) {
    key.add(thread_count_);
    if (const Compiled* const known = find(key); known != nullptr) return *known;
    return keep(key, compile(engine()));
  }

 private:
  [[nodiscard]] const Compiled* find(const Key& key) noexcept;
  const Compiled& keep(const Key& key, Compiled compiled) noexcept;

  int thread_count_;
  int callers_thread_count_ = 0;
};

}  // namespace tenure::onednn
