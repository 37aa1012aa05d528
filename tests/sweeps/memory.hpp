// Memory of operands and results: as long as its elements to the byte, so that AddressSanitizer
// sees accesses past it, and filled before it is used, so that unwritten bytes show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "tenure/tenure.h"

namespace tenure::sweeps {

using Byte = unsigned char;
using Bytes = std::vector<Byte>;

// The content of memory before it is written, unless a sweep says otherwise.
inline constexpr Byte kFill = 0xA5;

// A number, 0 to 255 of either sign, as an element of any dtype that has a name: of bool8 whether
// it is 0, of complex numbers the real part.
void put_number(tnr_dtype dtype, std::int64_t number, Byte* to);

// While it lives, true values of bool8 are written as 1, or as other bytes too.
class Truths {
 public:
  enum Kind { kOne, kWild };

  explicit Truths(Kind kind);
  ~Truths();
  Truths(const Truths&) = delete;
  Truths& operator=(const Truths&) = delete;

 private:
  Kind before_;
};

// While it lives, views have this stride where strides are ignored: on each axis of one element,
// and on every axis of an empty view.
class IgnoredStrides {
 public:
  explicit IgnoredStrides(std::int64_t stride);
  ~IgnoredStrides();
  IgnoredStrides(const IgnoredStrides&) = delete;
  IgnoredStrides& operator=(const IgnoredStrides&) = delete;
};

// While it lives, each axis of one element of a dense input has this extent and a stride of 0.
class RepeatedElements {
 public:
  explicit RepeatedElements(std::int64_t extent);
  ~RepeatedElements();
  RepeatedElements(const RepeatedElements&) = delete;
  RepeatedElements& operator=(const RepeatedElements&) = delete;
};
void repeat_elements(tnr_view& view);

// While it lives, views say that their memory is a GPU's.
class OnDevice {
 public:
  OnDevice();
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
};

// A view of memory without an owner, row-major where no strides are given.
tnr_view lend(const void* data, std::size_t size_bytes, tnr_dtype dtype,
              const std::vector<std::int64_t>& shape,
              const std::vector<std::int64_t>& strides = {});

// `count` adjacent elements.
class Elements {
 public:
  Elements(tnr_dtype dtype, std::int64_t count, Byte fill = kFill);

  [[nodiscard]] Byte* at(std::int64_t index) const {
    return bytes_.get() + static_cast<std::size_t>(index) * width_;
  }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::size_t size_bytes() const { return static_cast<std::size_t>(count_) * width_; }
  [[nodiscard]] tnr_dtype dtype() const { return dtype_; }
  void put(std::int64_t index, std::int64_t number) { put_number(dtype_, number, at(index)); }
  // `numbers` over and over, in each element.
  void put_all(std::initializer_list<std::int64_t> numbers);
  [[nodiscard]] tnr_view view(const std::vector<std::int64_t>& shape,
                              const std::vector<std::int64_t>& strides = {}) const {
    return lend(bytes_.get(), size_bytes(), dtype_, shape, strides);
  }

 private:
  tnr_dtype dtype_;
  std::size_t width_;
  std::int64_t count_;
  std::unique_ptr<Byte[]> bytes_;
};

// A context whose memory comes from malloc at its exact size, filled. Where no sanitizer looks, the
// bytes around a block are looked at when it is given back.
class FilledContext {
 public:
  // A context of `threads` threads.
  explicit FilledContext(std::uint32_t threads);
  FilledContext(const FilledContext&) = delete;
  FilledContext& operator=(const FilledContext&) = delete;
  ~FilledContext();

  operator tnr_context*() const { return context_; }
  void set_fill(Byte fill);
  // Blocks of more bytes are refused, and more at the same time too.
  void set_limit(std::size_t bytes);
  // Most bytes at the same time since the last call.
  std::size_t take_peak();
  // Bytes that are given at the moment.
  [[nodiscard]] std::size_t held_bytes() const;
  // Blocks around which something was written.
  [[nodiscard]] std::int64_t overrun_count() const;

 private:
  struct Counts;
  std::unique_ptr<Counts> counts_;
  tnr_context* context_;
};

}  // namespace tenure::sweeps
