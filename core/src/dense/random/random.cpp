// Random numbers of a distribution, as elements of an output of any strides.
#include "tenure/random.hpp"
#include "tenure/blob.hpp"
#include "tenure/counters.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/data_findings.hpp"
#include "cpu/dispatch.hpp"
#include "cpu/random.hpp"
#include "dense/loops/nest.hpp"
#include "dense/loops/streamed.hpp"
#include "dense/loops/strip_runner.hpp"
#include "dense/movement.hpp"
#include "dense/random/places.hpp"
#include "memory/fresh_pages.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::RandomKernel;

// Numbers on their way to elements that are not adjacent, or not of the type that is computed in;
// also those that are streamed. They stay in the first cache.
constexpr std::int64_t kPanelOfNumbers = 4096;  // bytes

// The numbers of one call.
class Numbers {
 public:
  // Kernels write `computed`, which are converted to elements of `dtype`.
  template <class Parameters>
  Numbers(std::uint64_t seed, RandomKernel kernel, const Parameters& parameters, tnr_dtype computed,
          tnr_dtype dtype)
      : seed_(seed),
        kernel_(kernel),
        computed_width_(static_cast<std::int64_t>(element_size(computed))),
        width_(static_cast<std::int64_t>(element_size(dtype))),
        converts_(computed != dtype),
        mover_(computed == dtype ? Operation(kernels::copy_kernels()[width_index(dtype)])
                                 : cast_operation(computed, dtype)) {
    static_assert(sizeof parameters <= sizeof parameters_ &&
                  std::is_trivially_copyable_v<Parameters>);
    std::memcpy(parameters_, &parameters, sizeof parameters);
  }

  [[nodiscard]] std::int64_t width() const noexcept { return width_; }

  // Writes the numbers of `count` positions from `first` on, as elements `step` bytes apart.
  void write(std::uint64_t first, std::int64_t count, Byte* out, std::int64_t step) const noexcept {
    if (!converts_ && (step == width_ || count == 1)) return compute(first, count, out);
    alignas(kLineBytes) Byte panel[kPanelOfNumbers];
    const std::int64_t most = kPanelOfNumbers / computed_width_;
    for (std::int64_t done = 0; done < count; done += most) {
      const std::int64_t part = std::min(most, count - done);
      compute(first + static_cast<std::uint64_t>(done), part, panel);
      const kernels::StripInput numbers = {panel, computed_width_, computed_width_};
      run_strip(mover_, {.count = part,
                         .out = out + done * step,
                         .out_step = step,
                         .width_bytes = width_,
                         .source_count = 1,
                         .in = &numbers,
                         .parameters = nullptr});
    }
  }

  // Writes adjacent elements past the caches.
  void stream(std::uint64_t first, std::int64_t count, Byte* out) const noexcept {
    alignas(kLineBytes) Byte block[kPanelOfNumbers];
    const auto misaligned =
        static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(out) % kLineBytes);
    std::int64_t part = (kPanelOfNumbers - kLineBytes + misaligned) / width_;
    for (std::int64_t done = 0; done < count; done += part, part = kPanelOfNumbers / width_) {
      part = std::min(part, count - done);
      write(first + static_cast<std::uint64_t>(done), part, block, width_);
      copy_lines(out + done * width_, block, part * width_, Stores::kStreamed);
    }
    order_streamed_stores();
  }

 private:
  void compute(std::uint64_t first, std::int64_t count, Byte* out) const noexcept {
    kernel_({seed_, first, count, out, parameters_});
  }

  std::uint64_t seed_;
  RandomKernel kernel_;
  alignas(8) Byte parameters_[sizeof(kernels::UniformParameters)];
  std::int64_t computed_width_;
  std::int64_t width_;
  bool converts_;
  Operation mover_;
};

[[noreturn]] void refuse_attribute(const char* name, double value, const char* why) {
  fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->%s is %g but %s", name, value, why);
}

void require_finite(const char* name, double value) {
  if (!std::isfinite(value)) refuse_attribute(name, value, "must be finite");
}

// Refuses what belongs to other distributions.
void require_taken(tnr_random_distribution distribution, const tnr_random_attributes& attributes) {
  const struct {
    const char* name;
    bool is_given;
    tnr_random_distribution of;
  } fields[] = {
      {"low", attributes.low != 0, TNR_RANDOM_DISTRIBUTION_UNIFORM},
      {"high", attributes.high != 0, TNR_RANDOM_DISTRIBUTION_UNIFORM},
      {"mean", attributes.mean != 0, TNR_RANDOM_DISTRIBUTION_NORMAL},
      {"deviation", attributes.deviation != 0, TNR_RANDOM_DISTRIBUTION_NORMAL},
      {"probability", attributes.probability != 0, TNR_RANDOM_DISTRIBUTION_BERNOULLI},
      {"least", attributes.least != 0, TNR_RANDOM_DISTRIBUTION_INTEGERS},
      {"bound", attributes.bound != 0, TNR_RANDOM_DISTRIBUTION_INTEGERS},
  };
  static constexpr const char* kNames[] = {"UNIFORM", "NORMAL", "INTEGERS", "BERNOULLI"};
  for (const auto& field : fields) {
    if (!field.is_given || field.of == distribution) continue;
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->%s is not 0, but distribution is %" PRId32 " and only %s (%" PRId32
         ") takes it",
         field.name, distribution, kNames[field.of - 1], field.of);
  }
}

// Floats: the type that is computed in, and where the format ends.
struct FloatFormat {
  tnr_dtype computed;
  unsigned row;  // of a kernel's table
  int significand_bits;
  int least_exponent;  // that of the smallest normal number
  double largest;
};

FloatFormat float_format(const char* distribution, tnr_dtype dtype) {
  switch (dtype) {
    case TNR_DTYPE_F64: return {dtype, 0, 53, -1022, std::numeric_limits<double>::max()};
    case TNR_DTYPE_F32: return {dtype, 1, 24, -126, std::numeric_limits<float>::max()};
    case TNR_DTYPE_F16: return {TNR_DTYPE_F32, 1, 11, -14, 65504};
    case TNR_DTYPE_BF16: return {TNR_DTYPE_F32, 1, 8, -126, 0x1.fep127};
    default: refuse_dtype(distribution, dtype);
  }
}

// The distance of numbers of the format from `value` on, away from 0.
double last_place(const FloatFormat& format, double value) {
  const int exponent = value == 0 ? format.least_exponent : std::ilogb(value);
  return std::ldexp(1.0, std::max(exponent, format.least_exponent) + 1 - format.significand_bits);
}

// The number of the format that is nearest, ties to even.
double nearest(const FloatFormat& format, const char* name, double value) {
  require_finite(name, value);
  const double unit = last_place(format, value);
  const double rounded = std::nearbyint(value / unit) * unit;
  if (std::fabs(rounded) > format.largest) {
    refuse_attribute(name, value, "must be finite in the dtype of out");
  }
  return rounded;
}

// The largest number of the format below `value`.
double number_below(const FloatFormat& format, double value) {
  // Below a power of two numbers are half as far apart; above one, and below 0, they are not.
  const double unit = last_place(format, value);
  const double halved = value - unit / 2;
  const bool is_power = value > 0 && std::ilogb(halved) < std::ilogb(value) &&
                        std::ilogb(value) > format.least_exponent;
  return is_power ? halved : value - unit;
}

Numbers uniform_numbers(std::uint64_t seed, const tnr_random_attributes& attributes,
                        tnr_dtype dtype) {
  const FloatFormat format = float_format("uniform", dtype);
  const bool is_default = attributes.low == 0 && attributes.high == 0;
  const double low = nearest(format, "low", attributes.low);
  const double high = nearest(format, "high", is_default ? 1 : attributes.high);
  if (!(low < high)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->high is %g but must be above low, which is %g, in the dtype of out",
         attributes.high, attributes.low);
  }
  const FloatFormat computed = float_format("uniform", format.computed);
  if (high - low > computed.largest) {
    refuse_attribute("high", attributes.high, "its distance from low must be finite");
  }
  return {seed, kernels::random_kernels().uniform[format.row],
          kernels::UniformParameters{
              .low = low,
              .scale = nearest(computed, "high", high - low),
              .most = number_below(format, high),
              .unit = std::ldexp(1.0, -format.significand_bits),
              .unused_bits = static_cast<std::uint32_t>(std::max(0, 32 - format.significand_bits))},
          format.computed, dtype};
}

Numbers normal_numbers(std::uint64_t seed, const tnr_random_attributes& attributes,
                       tnr_dtype dtype) {
  const FloatFormat format = float_format("normal", dtype);
  const FloatFormat computed = float_format("normal", format.computed);
  const double given = attributes.deviation;
  const double mean = nearest(computed, "mean", attributes.mean);
  const double deviation = nearest(computed, "deviation", given == 0 ? 1 : given);
  if (given < 0) refuse_attribute("deviation", given, "must not be negative");
  return {seed, kernels::random_kernels().normal[format.row],
          kernels::NormalParameters{mean, deviation}, format.computed, dtype};
}

Numbers integers(std::uint64_t seed, const tnr_random_attributes& attributes, tnr_dtype dtype) {
  const std::uint32_t code = dtype & 0xffu;
  const std::uint32_t bits = bits_of(dtype);
  const bool is_signed = code == (TNR_DTYPE_I64 & 0xffu);
  if (type_index(dtype) == kNoType || (!is_signed && code != (TNR_DTYPE_U64 & 0xffu))) {
    refuse_dtype("integers", dtype);
  }
  std::uint64_t least = is_signed ? std::uint64_t{1} << 63 : 0;
  std::uint64_t count = 0;
  if (bits != 64) {
    count = std::uint64_t{1} << bits;
    least = is_signed ? -(count / 2) : 0;
  }
  if (attributes.least != 0 || attributes.bound != 0) {
    const std::int64_t lowest = static_cast<std::int64_t>(least);
    // `least` and `bound` cannot express a range of u64 or i64 that ends beyond 2^63 - 1.
    const std::int64_t beyond = bits == 64 ? std::numeric_limits<std::int64_t>::max()
                                           : lowest + static_cast<std::int64_t>(count);
    if (attributes.least < lowest || attributes.bound > beyond ||
        attributes.least >= attributes.bound) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "attributes->least is %" PRId64 " and bound is %" PRId64 " but %s has %" PRId64
           " <= least < bound <= %" PRId64,
           attributes.least, attributes.bound, dtype_name(dtype), lowest, beyond);
    }
    least = static_cast<std::uint64_t>(attributes.least);
    count = static_cast<std::uint64_t>(attributes.bound) - least;
  }
  const tnr_dtype computed = dtype == TNR_DTYPE_U64 ? dtype : TNR_DTYPE_I64;
  return {seed, kernels::random_kernels().integers, kernels::IntegersParameters{least, count},
          computed, dtype};
}

// Outputs lie in row-major order as their places do; strips of them are shared out.
void write_all(const Context& context, const Numbers& numbers, std::uint64_t offset,
               const tnr_view_mut& out, std::int64_t count) noexcept {
  const tnr_view& view = out.view;
  const std::int64_t width = numbers.width();
  const std::int64_t bytes = count * width;
  Byte* const data = writable(out);
  if (dense_count(view) != 0) {
    touch_fresh_pages(context, data, bytes);
    const Stores stores = stores_for(bytes);
    const std::int64_t slice_count = slice_count_of(context, bytes);
    const std::int64_t grains = ((count - 1) >> 6) + 1;  // of 64 elements: whole lines and blocks
    for_each_slice(context, slice_count, [&](std::int64_t slice) noexcept {
      const std::int64_t first = slice_begin(grains, slice_count, slice) * 64;
      const std::int64_t last = std::min(count, slice_begin(grains, slice_count, slice + 1) * 64);
      const std::uint64_t place = offset + static_cast<std::uint64_t>(first);
      if (stores == Stores::kStreamed) {
        numbers.stream(place, last - first, data + first * width);
      } else {
        numbers.write(place, last - first, data + first * width, width);
      }
    });
    return;
  }
  // The second operand is the place.
  Nest nest(2);
  std::int64_t places = count;
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    if (view.shape[axis] == 1) continue;
    places /= view.shape[axis];
    const std::int64_t steps[] = {view.strides[axis] * width, places};
    nest.add(view.shape[axis], steps);
  }
  nest.order(1);
  const std::int64_t strip_count = nest.strip_count();
  const std::int64_t slice_count = std::min(strip_count, slice_count_of(context, bytes));
  for_each_slice(context, slice_count, [&](std::int64_t slice) noexcept {
    nest.for_each_strip(slice_begin(strip_count, slice_count, slice),
                        slice_begin(strip_count, slice_count, slice + 1),
                        [&](const std::int64_t* offsets) {
                          numbers.write(offset + static_cast<std::uint64_t>(offsets[1]),
                                        nest.inner_extent(), data + offsets[0], nest.inner_step(0));
                        });
  });
}

}  // namespace

bool check_places(std::uint64_t offset, std::int64_t count) {
  if (count == 0 || offset + static_cast<std::uint64_t>(count - 1) >= offset) return true;
  refuse_data(TNR_STATUS_INVALID_ARGUMENT,
              "offset is %" PRIu64 " but %" PRId64 " numbers from there on pass 2^64", offset,
              count);
  return false;
}

void random(const Context& context, tnr_random_distribution distribution, std::uint64_t seed,
            std::uint64_t offset, const tnr_random_attributes& attributes,
            const tnr_view_mut& out) {
  check_view_mut(out, "out");
  require_taken(distribution, attributes);
  const tnr_view& view = out.view;
  Pins pins;
  pins.add_mut(out, "out");
  std::int64_t count = is_empty(view) ? 0 : 1;
  for (std::uint32_t axis = 0; axis < view.rank && count != 0; ++axis) count *= view.shape[axis];
  if (!check_places(offset, count)) return;
  const auto write = [&](const Numbers& numbers) {
    if (count != 0) write_all(context, numbers, offset, out, count);
    count_call(TNR_OPERATION_RANDOM, 0, static_cast<std::uint64_t>(count * numbers.width()));
  };
  switch (distribution) {
    case TNR_RANDOM_DISTRIBUTION_UNIFORM:
      return write(uniform_numbers(seed, attributes, view.dtype));
    case TNR_RANDOM_DISTRIBUTION_NORMAL: return write(normal_numbers(seed, attributes, view.dtype));
    case TNR_RANDOM_DISTRIBUTION_INTEGERS: return write(integers(seed, attributes, view.dtype));
    case TNR_RANDOM_DISTRIBUTION_BERNOULLI: {
      if (view.dtype != TNR_DTYPE_BOOL8) refuse_dtype("bernoulli", view.dtype);
      if (!(attributes.probability >= 0 && attributes.probability <= 1)) {
        refuse_attribute("probability", attributes.probability, "must be at least 0 and at most 1");
      }
      return write({seed, kernels::random_kernels().bernoulli,
                    kernels::BernoulliParameters{bound_of_words(attributes.probability)},
                    TNR_DTYPE_BOOL8, TNR_DTYPE_BOOL8});
    }
    default:
      fail(TNR_STATUS_INVALID_ARGUMENT, "distribution is %" PRId32 ", which names none",
           distribution);
  }
}

}  // namespace tenure
