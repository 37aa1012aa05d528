// Normalizations: rows that a block holds from the first reading to the last writing, and elements
// of rows that reductions have measured.
#include "elementwise.cuh"
#include "floats.cuh"
#include "functions/exponential.cuh"
#include "normalize_numbers.cuh"

namespace tenure::cuda {

constexpr uint32_t kRowsShift = 8;
static_assert(1 << kRowsShift == TENURE_MOST_THREADS, "rows are shared out for whole blocks");

// ---- rows that are held ----

// The parts of all threads of a row, put together: each gets the same bits. All threads of the
// block call it.
template <class Value, class Merge>
TENURE_DEVICE Value met_by_lanes(uint32_t lanes_shift, Value value, const Merge& merge) {
  constexpr unsigned kWarps = TENURE_MOST_THREADS / 32;
  __shared__ Value of_warps[kWarps];
  const bool is_of_block = lanes_shift > 5;
  const int width = is_of_block ? 32 : 1 << lanes_shift;
  TENURE_ROLLED for (int distance = width / 2; distance > 0; distance /= 2) {
    value = merge(value, __shfl_xor_sync(~0u, value, distance));
  }
  if (!is_of_block) return value;
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = of_warps[0];
  TENURE_UNROLL for (unsigned i = 1; i < kWarps; ++i) value = merge(value, of_warps[i]);
  return value;
}
template <class T>
TENURE_DEVICE T greatest_of_lanes(uint32_t lanes_shift, T value) {
  return met_by_lanes(lanes_shift, value, [](T a, T b) { return b > a ? b : a; });
}
// Each call of a kernel by itself, so that no thread overwrites what another still reads.
enum class RowSum { kFirst, kSecond };
template <RowSum kSum>
TENURE_DEVICE double sum_of_lanes(uint32_t lanes_shift, double value) {
  return met_by_lanes(lanes_shift, value, [](double a, double b) { return a + b; });
}

// The part of a row that a thread has.
template <class T>
struct HeldPart {
  static constexpr int kItems = kGroupItems<T>;
  using Group = Words<16>;

  Group (*held)[TENURE_MOST_THREADS];
  const NormalizeArgument& argument;
  int64_t in;  // bytes from the first row to this one
  int64_t out;
  uint32_t count;  // of the row; 0 where there is none
  uint32_t groups;
  uint32_t first;  // of the thread's elements
  uint32_t item_step;
  uint32_t group_step;

  TENURE_DEVICE HeldPart(const NormalizeArgument& of, Group (*memory)[TENURE_MOST_THREADS])
      : held(memory), argument(of) {
    const uint32_t lanes = 1u << of.lanes_shift;
    const uint32_t lane = threadIdx.x & (lanes - 1);
    const uint32_t row =
        (blockIdx.x << (kRowsShift - of.lanes_shift)) + (threadIdx.x >> of.lanes_shift);
    const bool is_there = row < of.rows;
    uint32_t index[1] = {is_there ? row : 0};
    int64_t places[1][2];
    find_offsets(of.row_axes, index, places);
    in = places[0][0];
    out = places[0][1];
    count = is_there ? of.count : 0;
    first = of.is_adjacent != 0 ? lane * kItems : lane;
    item_step = of.is_adjacent != 0 ? 1 : lanes;
    group_step = lanes * kItems;
    groups = (count + group_step - 1) / group_step;
  }

  [[nodiscard]] TENURE_DEVICE uint32_t place(uint32_t group, int item = 0) const {
    return group * group_step + first + static_cast<uint32_t>(item) * item_step;
  }
  // Where rows have vectors.
  [[nodiscard]] TENURE_DEVICE int64_t offset_of(uint32_t group) const {
    return bytes_of<T>(argument.type, place(group));
  }
  [[nodiscard]] TENURE_DEVICE Group& memory(uint32_t group) const {
    return held[group][threadIdx.x];
  }
  // Offsets of a group's elements; elements that do not exist get those of the row's first one.
  TENURE_DEVICE void find(uint32_t group, int64_t (&offsets)[kItems][4]) const {
    uint32_t index[kItems];
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
      index[i] = place(group, i) < count ? place(group, i) : 0;
    }
    find_offsets(argument.element_axes, index, offsets);
  }

  TENURE_DEVICE void read_row() const {
    if (argument.has_vectors == 0) {
      TENURE_ROLLED for (uint32_t group = 0; group < groups; ++group) {
        int64_t offsets[kItems][4];
        find(group, offsets);
        Group numbers = {};
        TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
          put(numbers, i,
              read_number<T>(argument.type, argument.in + in + offsets[i][kNormalizeIn]));
        }
        memory(group) = numbers;
      }
      return;
    }
    // Several are on their way at once.
    constexpr uint32_t kTogether = 4;
    static_assert(kHeldGroups % kTogether == 0, "no group beyond the last");
    TENURE_ROLLED for (uint32_t group = 0; group < groups; group += kTogether) {
      RawGroup raw[kTogether] = {};
      TENURE_UNROLL for (uint32_t k = 0; k < kTogether; ++k) {
        if (place(group + k) >= count) continue;
        raw[k] = read_group<T>(argument.type, argument.in + in + offset_of(group + k));
      }
      TENURE_UNROLL for (uint32_t k = 0; k < kTogether; ++k) {
        memory(group + k) = numbers_of<T>(argument.type, raw[k]);
      }
    }
  }

  template <class Visit>
  TENURE_DEVICE void for_each_group(const Visit& visit) const {
    TENURE_ROLLED for (uint32_t group = 0; group < groups; ++group) {
      T x[kItems];
      bool is_there[kItems];
      const Group numbers = memory(group);
      TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
        x[i] = get<T>(numbers, i);
        is_there[i] = place(group, i) < count;
      }
      visit(group, x, is_there);
    }
  }

  // Powers come into the place of the elements of softmax.
  TENURE_DEVICE RowNumbers<T> measure_powers() const {
    T greatest = -infinity<T>();
    for_each_group([&](uint32_t, const T(&x)[kItems], const bool(&is_there)[kItems]) {
      TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
        if (is_there[i] && x[i] > greatest) greatest = x[i];
      }
    });
    greatest = greatest_of_lanes(argument.lanes_shift, greatest);
    // From minus infinity no element has a distance.
    const T shift = greatest == -infinity<T>() ? T{0} : greatest;
    const bool keeps = argument.op == Normalize::kSoftmax;
    // Powers of 1 by themselves, so that small ones next to them lose nothing.
    double ones = 0;
    double others = 0;
    for_each_group([&](uint32_t group, const T(&x)[kItems], const bool(&is_there)[kItems]) {
      T terms = 0;
      Group powers = {};
      TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
        const T power = is_there[i] ? exponential(x[i] - shift) : T{0};
        if (power == T{1}) {
          ones += 1;
        } else {
          terms += power;
        }
        put(powers, i, power);
      }
      others += static_cast<double>(terms);
      if (keeps) memory(group) = powers;
    });
    ones = sum_of_lanes<RowSum::kFirst>(argument.lanes_shift, ones);
    others = sum_of_lanes<RowSum::kSecond>(argument.lanes_shift, others);
    const double rest = (ones - 1) + others;
    if (keeps) return softmax_numbers<T>(static_cast<double>(greatest), rest);
    return log_softmax_numbers<T>(static_cast<double>(greatest), rest);
  }

  struct Moments {
    double center;
    double rest;
    double squares;
  };

  // The mean is the first element plus the mean difference from it: close numbers far from 0 lose
  // nothing. Then the squares of the distances from the mean are added.
  TENURE_DEVICE Moments moments_of(double inverse) const {
    const auto divisor = static_cast<double>(argument.count);
    double center = 0;
    double rest = 0;
    if (argument.op == Normalize::kLayerNorm) {
      double pivot = 0;
      if (count != 0) {
        pivot = static_cast<double>(read_number<T>(argument.type, argument.in + in)) * inverse;
      }
      // A number from which a distance neither overflows nor is infinite unless the variance is.
      if (!(magnitude_of(pivot) < 1e300)) pivot = 0;
      double sum = 0;
      for_each_group([&](uint32_t, const T(&x)[kItems], const bool(&is_there)[kItems]) {
        TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
          if (is_there[i]) sum += static_cast<double>(x[i]) * inverse - pivot;
        }
      });
      sum = sum_of_lanes<RowSum::kFirst>(argument.lanes_shift, sum);
      const double more = quotient_of_row(sum, divisor);
      center = pivot + more;
      rest = more - (center - pivot);
    }
    double squares = 0;
    for_each_group([&](uint32_t, const T(&x)[kItems], const bool(&is_there)[kItems]) {
      TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
        const double distance = (static_cast<double>(x[i]) * inverse - center) - rest;
        if (is_there[i]) squares += distance * distance;
      }
    });
    return {center, rest, sum_of_lanes<RowSum::kSecond>(argument.lanes_shift, squares)};
  }

  // Squares of f64 that left the range are measured again, in another unit, as on the CPU
  // (core/src/dense/normalize/row.hpp). All threads of the block do, since they meet.
  TENURE_DEVICE RowNumbers<T> measure_moments() const {
    Moments row = {};
    double unit = 1;
    double inverse = 1;
    bool is_second = false;
    TENURE_ROLLED while (true) {
      row = moments_of(inverse);
      if (sizeof(T) != 8 || is_second) break;
      const bool is_small = row.squares < 0x1p-900 && argument.eps <= 0x1p-800 &&
                            magnitude_of(row.center) <= 0x1p-400;
      const bool is_large = !(row.squares < infinity<double>());
      if (__syncthreads_or(is_small || is_large ? 1 : 0) == 0) break;
      if (is_small) unit = 0x1p-600;
      if (is_large) unit = 0x1p600;
      inverse = 1 / unit;
      is_second = true;
    }
    const double mean_square = quotient_of_row(row.squares, static_cast<double>(argument.count));
    return standard_numbers<T>(row.center, row.rest, mean_square, argument.eps, unit);
  }

  TENURE_DEVICE T result(const RowNumbers<T>& by, T x) const {
    if (argument.op == Normalize::kSoftmax) return x * by.factor;
    return ((x * by.inverse - by.shift) - by.rest) * by.factor;
  }

  TENURE_DEVICE void write_row(const RowNumbers<T>& by) const {
    const bool has_weight = argument.weight != nullptr;
    const bool has_bias = argument.bias != nullptr;
    const bool has_vectors = argument.has_vectors != 0;
    TENURE_ROLLED for (uint32_t group = 0; group < groups; ++group) {
      if (place(group) >= count) return;
      const Group numbers = memory(group);
      Group weights = {};
      Group biases = {};
      int64_t offsets[kItems][4] = {};
      if (has_vectors) {
        const int64_t offset = offset_of(group);
        if (has_weight) weights = factors(argument.weight + offset);
        if (has_bias) biases = factors(argument.bias + offset);
      } else {
        find(group, offsets);
        TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
          if (has_weight) put(weights, i, factor(argument.weight + offsets[i][kNormalizeWeight]));
          if (has_bias) put(biases, i, factor(argument.bias + offsets[i][kNormalizeBias]));
        }
      }
      Group results = {};
      TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
        T y = result(by, get<T>(numbers, i));
        if (has_weight) y = y * get<T>(weights, i);
        if (has_bias) y = y + get<T>(biases, i);
        put(results, i, y);
      }
      if (has_vectors) {
        write_group<T>(argument.type, argument.out + out + offset_of(group), results);
        continue;
      }
      TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
        if (place(group, i) >= count) continue;
        write_number(argument.type, argument.out + out + offsets[i][kNormalizeOut],
                     get<T>(results, i));
      }
    }
  }

 private:
  TENURE_DEVICE Group factors(const unsigned char* from) const {
    return numbers_of<T>(argument.type, read_group<T>(argument.type, from));
  }
  TENURE_DEVICE T factor(const unsigned char* from) const {
    return read_number<T>(argument.type, from);
  }
};

template <class T>
TENURE_DEVICE void normalize_rows(const NormalizeArgument& argument) {
  __shared__ Words<16> held[kHeldGroups][TENURE_MOST_THREADS];
  const HeldPart<T> part(argument, held);
  part.read_row();
  const bool is_of_powers =
      argument.op == Normalize::kSoftmax || argument.op == Normalize::kLogSoftmax;
  part.write_row(is_of_powers ? part.measure_powers() : part.measure_moments());
}

// ---- rows that have been measured ----

template <class T>
TENURE_DEVICE RowNumbers<T> row_numbers_of(const RowNumbersArgument& argument,
                                           const MeasuredRow& row) {
  if (argument.op == Normalize::kSoftmax) return softmax_numbers<T>(row.first, row.second);
  if (argument.op == Normalize::kLogSoftmax) return log_softmax_numbers<T>(row.first, row.second);
  const bool has_mean = argument.op == Normalize::kLayerNorm;
  const double variance = quotient_of_row(has_mean ? row.third : row.first, argument.divisor);
  const double unit = sizeof(T) == 8 ? row.fourth : 1;
  return standard_numbers<T>(has_mean ? row.first : 0, has_mean ? row.second : 0, variance,
                             argument.eps, unit);
}

TENURE_DEVICE void find_numbers(const RowNumbersArgument& argument) {
  const uint64_t row = static_cast<uint64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= argument.rows) return;
  unsigned char* const at = argument.numbers + row * sizeof(MeasuredRow);
  const auto measured = read<MeasuredRow>(at);
  if (argument.type == ElementType::kF64) {
    write(at, row_numbers_of<double>(argument, measured));
  } else {
    write(at, row_numbers_of<float>(argument, measured));
  }
}

template <class T>
TENURE_DEVICE void normalize_measured(const MeasuredArgument& argument) {
  constexpr int kItems = kGroupItems<T>;
  const ElementType type = argument.type;
  const bool is_vector = argument.has_vectors != 0;
  const uint32_t first =
      blockIdx.x * kThreads * (is_vector ? 1u : static_cast<uint32_t>(kItems)) + threadIdx.x;
  if (first >= argument.units) return;
  int64_t places[kItems][kNormalizeOperands];
  bool is_there[kItems];
  Words<16> in = {};
  if (is_vector) {
    uint32_t index[1] = {first};
    int64_t place[1][kNormalizeOperands];
    find_offsets(argument, index, place);
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
      is_there[i] = true;
      TENURE_UNROLL for (unsigned k = 0; k < kNormalizeOperands; ++k) {
        places[i][k] = place[0][k] + i * argument.item_steps[k];
      }
    }
    in = numbers_of<T>(type, read_group<T>(type, argument.in + place[0][kNormalizeIn]));
  } else {
    uint32_t index[kItems];
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
      index[i] = first + static_cast<uint32_t>(i) * kThreads;
      is_there[i] = index[i] < argument.units;
      if (!is_there[i]) index[i] = first;
    }
    find_offsets(argument, index, places);
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
      put(in, i, read_number<T>(type, argument.in + places[i][kNormalizeIn]));
    }
  }
  RowNumbers<T> by[kItems];
  TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
    by[i] = read<RowNumbers<T>>(argument.numbers + places[i][kNormalizeNumbers]);
  }
  Words<16> out = {};
  TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
    T y = get<T>(in, i) * by[i].inverse - by[i].shift;
    y = argument.op == Normalize::kSoftmax ? exponential(y) : y - by[i].rest;
    y = y * by[i].factor;
    if (argument.weight != nullptr) {
      y = y * read_number<T>(type, argument.weight + places[i][kNormalizeWeight]);
    }
    if (argument.bias != nullptr) {
      y = y + read_number<T>(type, argument.bias + places[i][kNormalizeBias]);
    }
    put(out, i, y);
  }
  if (is_vector) return write_group<T>(type, argument.out + places[0][kNormalizeOut], out);
  TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
    if (is_there[i]) {
      write_number(type, argument.out + places[i][kNormalizeOut], get<T>(out, i));
    }
  }
}

}  // namespace tenure::cuda

using tenure::cuda::MeasuredArgument;
using tenure::cuda::NormalizeArgument;
using tenure::cuda::RowNumbersArgument;

TENURE_KERNEL(row_numbers, RowNumbersArgument) { tenure::cuda::find_numbers(argument); }
TENURE_KERNEL(normalize_f64, NormalizeArgument) { tenure::cuda::normalize_rows<double>(argument); }
TENURE_KERNEL(normalize_f32, NormalizeArgument) { tenure::cuda::normalize_rows<float>(argument); }
TENURE_KERNEL(measured_f64, MeasuredArgument) {
  tenure::cuda::normalize_measured<double>(argument);
}
TENURE_KERNEL(measured_f32, MeasuredArgument) { tenure::cuda::normalize_measured<float>(argument); }
