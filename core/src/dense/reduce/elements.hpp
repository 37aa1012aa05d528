// Elements on their way into a reduction's loops, and accumulators on their way out. Both by the
// kernels of element-wise operations and movement, so that no loop of a reduction exists once more
// for each layout or narrow type.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "cpu/reduce.hpp"

namespace tenure {

// Elements that are computed when they are read, of a tensor that is nowhere.
class ElementSource {
 public:
  // Computes `count` elements into adjacent memory at `out`: the one at `first` in row-major order,
  // and those `step` apart behind it. Any number of threads may read.
  virtual void read(std::int64_t first, std::int64_t step, std::int64_t count,
                    kernels::Byte* out) const noexcept = 0;

 protected:
  ~ElementSource() = default;
};

// Bytes of an element.
std::int64_t bytes_of(kernels::Type type) noexcept;

// Elements are divided by a unit, and then the distance from a number is taken. The unit is a power
// of two whose inverse is a normal number, unless it is that of a p-norm.
struct ElementUnit {
  double unit = 1;
  double from = 0;
};

struct DriverFetch : kernels::ElementFetch {
  bool converts;  // to f64, in a unit
  ElementUnit unit;
  double power;                 // of p-norms, else 1
  const ElementSource* source;  // nullptr: elements are read from memory
};

// For elements of `width_bytes`, as `reduction` reads them.
DriverFetch element_fetch(const kernels::Reduction& reduction, std::int64_t width_bytes,
                          double power, const ElementSource* source) noexcept;
// Fetches elements in f64 and a unit.
DriverFetch in_unit(const DriverFetch& fetch, const ElementUnit& unit) noexcept;

// Address of the first element of a tensor that is nowhere. No byte is read there: distances from
// it are places.
inline const kernels::Byte* origin_of_computed() noexcept {
  return reinterpret_cast<const kernels::Byte*>(std::uintptr_t{1} << 32);
}

// An element of 1, 2, 4 or 8 bytes.
inline void copy_element(const void* from, kernels::Byte* to, std::int64_t bytes) noexcept {
  switch (bytes) {
    case 1: std::memcpy(to, from, 1); break;
    case 2: std::memcpy(to, from, 2); break;
    case 4: std::memcpy(to, from, 4); break;
    default: std::memcpy(to, from, 8); break;
  }
}

// Accumulators that nothing has met.
inline void start_accumulator(const kernels::Reduction& reduction,
                              kernels::Byte* accumulator) noexcept {
  copy_element(&reduction.start, accumulator, reduction.accumulator_bytes);
}
void start_accumulators(const kernels::Reduction& reduction, kernels::Byte* accumulators,
                        std::int64_t columns) noexcept;

// Results of one reduction that are finished together.
struct Results {
  std::int64_t columns;
  kernels::Byte* finished;      // the part of their accumulators that is finished; may be changed
  const kernels::Byte* counts;  // the first part, of counts or exponents
  kernels::Byte* out;
  std::int64_t out_step;  // bytes
};

class Finisher {
 public:
  // `count` elements went into each result, which becomes an element of `out_type`.
  Finisher(const kernels::Reduction& reduction, kernels::Type out_type, std::int64_t count,
           std::int64_t ddof, double power) noexcept;

  // A finisher of as many elements, for other accumulators and outputs.
  [[nodiscard]] Finisher of(const kernels::Reduction& reduction,
                            kernels::Type out_type) const noexcept {
    return {reduction, out_type, count_, ddof_, power_};
  }
  // Bytes of the part of a result's accumulator that is finished.
  [[nodiscard]] std::int64_t finished_bytes() const noexcept { return finished_bytes_; }
  void finish(const Results& results) const noexcept;

 private:
  void divide(const Results& results) const noexcept;
  void divide_by_own_counts(const Results& results) const noexcept;
  static void take_root(const kernels::StripInput& squares, kernels::Strip strip) noexcept;
  void take_power(const Results& results) const noexcept;
  void scale(const Results& results) const noexcept;
  // f64 where they are, or in an output of f64.
  [[nodiscard]] kernels::Strip strip_of(const Results& results,
                                        std::span<const kernels::StripInput> in) const noexcept;

  const kernels::Reduction* reduction_;
  kernels::Type out_type_;
  std::int64_t finished_bytes_;
  std::int64_t out_bytes_;
  std::int64_t count_;
  std::int64_t ddof_;
  double power_;
  bool copies_;  // to an out of the same type
};

}  // namespace tenure
