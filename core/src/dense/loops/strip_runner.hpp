// Runs an operation along strips, wherever their elements lie and whatever their dtype.
//
// Kernels have vectors for adjacent elements of the types that earn a loop of their own. Narrow
// floats, and strided elements of operations that are expensive to compute, are copied into panels
// that stay in the first cache, and results are copied back the same way. This is one driver for
// all operations: a loop for each layout and dtype in each kernel would be ten times the code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/kernel.hpp"
#include "dense/loops/nest.hpp"
#include "memory/traffic.hpp"

namespace tenure {

// An operation on the dtypes of one call.
class Operation {
 public:
  // `entry` is one of the kernels' tables.
  explicit Operation(const kernels::Elementwise& entry) noexcept
      : kernel_(entry.kernel), entry_(&entry) {}
  // Moves elements: the kernel takes operands of any steps.
  explicit Operation(kernels::StripKernel mover) noexcept : kernel_(mover), entry_(nullptr) {}

  [[nodiscard]] kernels::StripKernel kernel() const noexcept { return kernel_; }
  [[nodiscard]] const kernels::Conversion* conversion() const noexcept {
    return entry_ == nullptr ? nullptr : entry_->conversion;
  }
  // nullptr: elements are moved, not computed.
  [[nodiscard]] const kernels::Elementwise* entry() const noexcept { return entry_; }
  [[nodiscard]] kernels::Steps steps() const noexcept {
    return entry_ == nullptr ? kernels::Steps::kAny : entry_->steps;
  }
  [[nodiscard]] bool moves() const noexcept { return entry_ == nullptr; }

 private:
  kernels::StripKernel kernel_;
  const kernels::Elementwise* entry_;
};

// Adjacent elements of `width_bytes`, computed from `in`.
template <std::size_t count_of_sources>
kernels::Strip dense_strip(std::int64_t count, kernels::Byte* out, std::int64_t width_bytes,
                           const kernels::StripInput (&in)[count_of_sources]) noexcept {
  return {.count = count,
          .out = out,
          .out_step = width_bytes,
          .width_bytes = width_bytes,
          .source_count = count_of_sources,
          .in = in,
          .parameters = nullptr};
}

// Runs a kernel that moves, converts or compares elements: nothing is found in them.
inline void run_plainly(kernels::StripKernel kernel, const kernels::Strip& strip) noexcept {
  static_cast<void>(kernel(strip));
}

// Rows of elements, as a source is read or an output is written.
struct ElementRows {
  std::int64_t count;
  std::int64_t columns;
  std::int64_t row_step;
  std::int64_t column_step;

  [[nodiscard]] bool are_dense(std::int64_t width_bytes) const noexcept {
    return column_step == width_bytes && row_step == columns * width_bytes;
  }
};

// `rows` steps of one side, and dense elements on the other. Row by row where a row's elements are
// adjacent: down the columns, each line of each row would be met again and again.
void move_rows(const ElementRows& rows, const kernels::Byte* in, kernels::Byte* out,
               std::int64_t width_bytes, bool to_dense) noexcept;

// A strip with sources of its own, whose pointers may move.
class MovingStrip {
 public:
  static constexpr unsigned kMaxSources = Nest::kMaxOperands - 1;

  explicit MovingStrip(const kernels::Strip& strip) noexcept : strip_(strip) {
    for (unsigned i = 0; i < strip.source_count; ++i) sources_[i] = strip.in[i];
    strip_.in = sources_;
  }
  MovingStrip(const MovingStrip&) = delete;
  MovingStrip& operator=(const MovingStrip&) = delete;

  kernels::Strip* operator->() noexcept { return &strip_; }
  const kernels::Strip& operator*() const noexcept { return strip_; }
  kernels::StripInput& source(unsigned i) noexcept { return sources_[i]; }

  // To the element after the next `count`; how many follow is not changed.
  void skip(std::int64_t count) noexcept {
    strip_.out += count * strip_.out_step;
    for (unsigned i = 0; i < strip_.source_count; ++i) sources_[i].data += count * sources_[i].step;
  }

 private:
  kernels::Strip strip_;
  kernels::StripInput sources_[kMaxSources];
};

// For strips of one call, which have the same steps.
class StripRunner {
 public:
  StripRunner(const Operation& operation, const kernels::Strip& like) noexcept
      : operation_(operation), way_(way_of(operation, like)) {}

  kernels::Finding run(const kernels::Strip& strip) const noexcept {
    return way_ == Way::kKernel ? operation_.kernel()(strip) : run_otherwise(strip);
  }
  // `rows` strips like `first`. `row_steps` are the output's and then the sources': bytes from row
  // to row.
  kernels::Finding run_rows(const kernels::Strip& first, std::int64_t rows,
                            const std::int64_t* row_steps) const noexcept;

  // Whether strips of `count` elements are better run as rows, several together.
  [[nodiscard]] bool are_short(std::int64_t count) const noexcept {
    return way_ == Way::kPanels && count < kShortStrip;
  }

 private:
  static constexpr unsigned kMaxSources = MovingStrip::kMaxSources;
  static constexpr std::int64_t kShortStrip = 64;
  static constexpr std::int64_t kPanelBytes = 4096;
  // Panels are not a page apart, where their lines would evict each other.
  static constexpr std::int64_t kPanelPitch = kPanelBytes + kLineBytes;

  enum class Way : std::uint8_t {
    kKernel,  // takes the strip as it is
    kOnce,    // one result, which is repeated
    kPanels,
  };
  static Way way_of(const Operation& operation, const kernels::Strip& like) noexcept;

  kernels::Finding run_otherwise(const kernels::Strip& strip) const noexcept;
  kernels::Finding run_once(const kernels::Strip& strip) const noexcept;
  kernels::Finding run_panels(const kernels::Strip& strip) const noexcept;
  kernels::Finding run_together(const kernels::Strip& first, std::int64_t rows,
                                const std::int64_t* row_steps) const noexcept;

  Operation operation_;
  Way way_;
};

// One strip.
inline kernels::Finding run_strip(const Operation& operation,
                                  const kernels::Strip& strip) noexcept {
  return StripRunner(operation, strip).run(strip);
}

}  // namespace tenure
