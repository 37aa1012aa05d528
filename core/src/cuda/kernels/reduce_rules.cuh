// Rules of reductions: how elements become terms, and how terms meet.
//
// A Rule reads elements as words of 4 or 8 bytes. Its Partial is the result for some elements;
// nothing() is the Partial of no elements, and merge() puts two together. A Block takes the
// elements that a thread reads in a few steps, some at a time, and settles them into a Partial: the
// first `count` of them exist, and place_of(k) gives their places. finish() makes the result.
//
// Along memory a thread has a Block with sums of its own in kLanes, and reads kItems at once;
// across it one of one lane for each of kColumns, and reads kRows. Rules of much code have few.
#pragma once

#include "device.cuh"
#include "elementwise.cuh"
#include "functions/exponential.cuh"
#include "functions/logarithm.cuh"
#include "functions/number.cuh"
#include "functions/power.cuh"
#include "functions/product.cuh"
#include "reduce_arguments.hpp"

namespace tenure::cuda {

// ---- elements of floats ----

TENURE_DEVICE float float_of(const ReduceArgument& argument, uint32_t word) {
  if (argument.type == ElementType::kF16) return widen(F16{static_cast<uint16_t>(word)});
  return bit_copy<float>(argument.type == ElementType::kBF16 ? word << 16 : word);
}
// Of any.
TENURE_DEVICE double double_of(const ReduceArgument& argument, uint64_t word) {
  if (argument.type == ElementType::kF64) return bit_copy<double>(word);
  return static_cast<double>(float_of(argument, static_cast<uint32_t>(word)));
}

TENURE_DEVICE void write_float(const ReduceArgument& argument, unsigned char* out, float value) {
  switch (argument.out_type) {
    case ElementType::kF16: write(out, round_to_f16(value)); break;
    case ElementType::kBF16: write(out, round_to_bf16(value)); break;
    default: write(out, value); break;
  }
}
TENURE_DEVICE void write_float(const ReduceArgument& argument, unsigned char* out, double value) {
  switch (argument.out_type) {
    case ElementType::kF64: write(out, value); break;
    case ElementType::kF32: write(out, static_cast<float>(value)); break;
    case ElementType::kF16: write(out, round_to_f16(rounded_to_odd(value))); break;
    default: write(out, round_to_bf16(rounded_to_odd(value))); break;
  }
}

// Lanes as a tree, into the first.
template <int kLanes, class Merge>
TENURE_DEVICE void fold_lanes(const Merge& merge) {
  TENURE_UNROLL for (int half = kLanes / 2; half > 0; half /= 2) {
    TENURE_UNROLL for (int i = 0; i < half; ++i) merge(i, i + half);
  }
}

// ---- sums and products of floats ----

// Sums in the type of the elements, f16 and bf16 in f32.
struct FloatSum {
  static constexpr int kLeastWidth = 2;
  static constexpr RuleShape kShape = kFloatSumShape;
  static constexpr int kLanes = 8;
  struct Partial {
    float value;
  };
  static TENURE_DEVICE Partial nothing(const ReduceArgument&) { return {0.0f}; }
  static TENURE_DEVICE void merge(const ReduceArgument&, Partial& into, const Partial& from) {
    into.value += from.value;
  }

  template <class Word, int kLanesOf>
  struct Block {
    float lanes[kLanesOf];

    TENURE_DEVICE void start(const ReduceArgument&, Word) {
      TENURE_UNROLL for (float& lane : lanes) lane = 0;
    }
    template <int kCount, class PlaceOf>
    TENURE_DEVICE void add(const ReduceArgument& argument, const Word (&words)[kCount], int count,
                           const PlaceOf&) {
      const bool skips = (argument.mode & kSkipNaN) != 0;
      TENURE_UNROLL for (int k = 0; k < kCount; ++k) {
        float x = float_of(argument, words[k]);
        if (skips && x != x) x = 0;
        if (k < count) lanes[k % kLanesOf] += x;
      }
    }
    TENURE_DEVICE Partial settle(const ReduceArgument&) {
      fold_lanes<kLanesOf>([&](int i, int j) { lanes[i] += lanes[j]; });
      return {lanes[0]};
    }
  };

  static TENURE_DEVICE void finish(const ReduceArgument& argument, const Partial& partial,
                                   unsigned char* out) {
    write_float(argument, out, partial.value);
  }
};

// In f64: means, norms, products, and all of f64. With a sum there is how many went in, with a
// product the exponent that has been split from it.
struct WideSum {
  static constexpr int kLeastWidth = 2;
  static constexpr RuleShape kShape = kWideSumShape;
  static constexpr int kLanes = 4;
  struct Partial {
    double value;
    double count;
  };
  static TENURE_DEVICE bool is_product(const ReduceArgument& argument) {
    return (argument.mode & kProduct) != 0;
  }
  static TENURE_DEVICE Partial nothing(const ReduceArgument& argument) {
    return {is_product(argument) ? 1.0 : 0.0, 0.0};
  }
  static TENURE_DEVICE void merge(const ReduceArgument& argument, Partial& into,
                                  const Partial& from) {
    into.count += from.count;
    if (is_product(argument)) {
      into.value *= from.value;
      into.count += split_exponent(into.value);
    } else {
      into.value += from.value;
    }
  }
  static TENURE_DEVICE double term(const ReduceArgument& argument, double x) {
    const uint64_t sign = (argument.mode & kMagnitude) != 0 ? BitsOf<double>::kSign : 0;
    const double y = bit_copy<double>(bits_of(x) & ~sign);
    return (argument.mode & kSquare) != 0 ? y * y : y;
  }

  template <class Word, int kLanesOf>
  struct Block {
    double lanes[kLanesOf];
    int32_t numbers;

    TENURE_DEVICE void start(const ReduceArgument& argument, Word) {
      TENURE_UNROLL for (double& lane : lanes) lane = nothing(argument).value;
      numbers = 0;
    }
    template <int kCount, class PlaceOf>
    TENURE_DEVICE void add(const ReduceArgument& argument, const Word (&words)[kCount], int count,
                           const PlaceOf&) {
      if (is_product(argument)) return multiply(argument, words, count);
      const bool skips = (argument.mode & kSkipNaN) != 0;
      TENURE_UNROLL for (int k = 0; k < kCount; ++k) {
        double x = term(argument, double_of(argument, words[k]));
        const bool is_left_out = skips && x != x;
        if (is_left_out) x = 0;
        if (k >= count) continue;
        lanes[k % kLanesOf] += x;
        numbers += is_left_out ? 0 : 1;
      }
    }
    template <int kCount>
    TENURE_DEVICE void multiply(const ReduceArgument& argument, const Word (&words)[kCount],
                                int count) {
      TENURE_UNROLL for (int k = 0; k < kCount; ++k) {
        double x = double_of(argument, words[k]);
        if (k >= count) continue;
        numbers += split_exponent(x);
        lanes[k % kLanesOf] *= x;
      }
      TENURE_UNROLL for (double& lane : lanes) numbers += split_exponent(lane);
    }
    TENURE_DEVICE Partial settle(const ReduceArgument& argument) {
      if (is_product(argument)) {
        fold_lanes<kLanesOf>([&](int i, int j) { lanes[i] *= lanes[j]; });
        numbers += split_exponent(lanes[0]);
      } else {
        fold_lanes<kLanesOf>([&](int i, int j) { lanes[i] += lanes[j]; });
      }
      return {lanes[0], static_cast<double>(numbers)};
    }
  };

  static TENURE_DEVICE void finish(const ReduceArgument& argument, const Partial& partial,
                                   unsigned char* out) {
    if (argument.finish == ReduceFinish::kPartial) return write(out, partial);
    double value = partial.value;
    if (is_product(argument)) value = scaled(value, static_cast<int64_t>(partial.count));
    if (argument.finish == ReduceFinish::kAverage) value /= argument.divisor;
    if (argument.finish == ReduceFinish::kOwnAverage) value /= partial.count;
    if (argument.finish == ReduceFinish::kRoot) value = square_root(value);
    write_float(argument, out, value);
  }
};

// The powers of magnitudes, in f64. An element at a time: the function is long.
struct PowerSum : WideSum {
  static constexpr RuleShape kShape = kPowerSumShape;
  static constexpr int kLanes = 1;

  // No product, whose merge needs registers that this rule lacks.
  static TENURE_DEVICE Partial nothing(const ReduceArgument&) { return {0.0, 0.0}; }
  static TENURE_DEVICE void merge(const ReduceArgument&, Partial& into, const Partial& from) {
    into.value += from.value;
  }

  template <class Word, int kLanesOf>
  struct Block {
    double sum;

    TENURE_DEVICE void start(const ReduceArgument&, Word) { sum = 0; }
    template <int kCount, class PlaceOf>
    TENURE_DEVICE void add(const ReduceArgument& argument, const Word (&words)[kCount], int count,
                           const PlaceOf&) {
      static_assert(kCount == 1, "an element at a time");
      const double x = magnitude_of(double_of(argument, words[0]));
      if (count > 0) sum += power(x, argument.exponent);
    }
    TENURE_DEVICE Partial settle(const ReduceArgument&) { return {sum, 0.0}; }
  };

  static TENURE_DEVICE void finish(const ReduceArgument& argument, const Partial& partial,
                                   unsigned char* out) {
    write_float(argument, out, power(partial.value, argument.inverse_exponent));
  }
};

// ---- variances ----

TENURE_DEVICE double divisor_of(const ReduceArgument& argument, double count) {
  const bool has_own = argument.finish == ReduceFinish::kOwnVariance ||
                       argument.finish == ReduceFinish::kOwnDeviation;
  if (!has_own) return argument.divisor;
  return count > argument.ddof ? count - argument.ddof : not_a_number<double>();
}

// The mean is center + rest, and `squares` is the sum of the squared deviations from it. One number
// for a mean would not distinguish two means far from 0 and close to one another. Put together as
// Chan, Golub and LeVeque do (1979).
struct Moments {
  static constexpr int kLeastWidth = 2;
  static constexpr RuleShape kShape = kMomentsShape;
  static constexpr int kLanes = 4;
  struct Partial {
    double center;
    double rest;
    double squares;
    double count;
  };
  static TENURE_DEVICE Partial nothing(const ReduceArgument&) { return {0.0, 0.0, 0.0, 0.0}; }
  static TENURE_DEVICE void merge(const ReduceArgument&, Partial& into, const Partial& from) {
    if (from.count == 0) return;
    if (into.count == 0) {
      into = from;
      return;
    }
    const double count = into.count + from.count;
    const double share = from.count / count;
    const double apart = (from.center - into.center) + (from.rest - into.rest);
    const double moved = into.rest + apart * share;
    const double merged = into.center + moved;
    into.rest = moved - (merged - into.center);
    into.center = merged;
    into.squares = into.squares + from.squares + apart * (apart * (into.count * share));
    into.count = count;
  }

  // Deviations from the first element: none is larger than twice the largest one from the mean, so
  // that the sums of a block lose no digits that count.
  template <class Word, int kLanesOf>
  struct Block {
    double pivot;
    double sums[kLanesOf];
    double squares[kLanesOf];
    uint32_t numbers;

    TENURE_DEVICE void start(const ReduceArgument& argument, Word first) {
      take_pivot(double_of(argument, first));
      TENURE_UNROLL for (int i = 0; i < kLanesOf; ++i) sums[i] = squares[i] = 0;
      numbers = 0;
    }
    // A number from which a deviation neither overflows nor is infinite unless the variance is.
    TENURE_DEVICE void take_pivot(double x) { pivot = magnitude_of(x) < 1e300 ? x : 0.0; }
    template <int kCount, class PlaceOf>
    TENURE_DEVICE void add(const ReduceArgument& argument, const Word (&words)[kCount], int count,
                           const PlaceOf&) {
      const bool skips = (argument.mode & kSkipNaN) != 0;
      TENURE_UNROLL for (int k = 0; k < kCount; ++k) {
        const double element = double_of(argument, words[k]);
        if (k >= count || (skips && element != element)) continue;
        // The first number is the pivot, however many NaN are before it.
        if (skips && numbers == 0) take_pivot(element);
        const double x = element - pivot;
        sums[k % kLanesOf] += x;
        squares[k % kLanesOf] += x * x;
        numbers += 1;
      }
    }
    TENURE_DEVICE Partial settle(const ReduceArgument&) {
      fold_lanes<kLanesOf>([&](int i, int j) {
        sums[i] += sums[j];
        squares[i] += squares[j];
      });
      const auto count = static_cast<double>(numbers);
      const double mean = sums[0] / count;
      const double center = pivot + mean;
      // Squares beyond the range are infinite, as those of an infinite element are not.
      const bool is_infinite =
          squares[0] == infinity<double>() && magnitude_of(sums[0]) < infinity<double>();
      const double around = is_infinite ? squares[0] : squares[0] - sums[0] * mean;
      return {center, mean - (center - pivot), around < 0 ? 0.0 : around, count};
    }
  };

  static TENURE_DEVICE void finish(const ReduceArgument& argument, const Partial& partial,
                                   unsigned char* out) {
    if (argument.finish == ReduceFinish::kPartial) return write(out, partial);
    const double variance = partial.squares / divisor_of(argument, partial.count);
    const bool is_root = argument.finish == ReduceFinish::kDeviation ||
                         argument.finish == ReduceFinish::kOwnDeviation;
    write_float(argument, out, is_root ? square_root(variance) : variance);
  }
};

// ---- logarithms of sums of powers ----

// e^(x - greatest) are added, powers in the type that is computed in and sums in f64; NaN in the
// sum stays. A partial's rest is the sum less 1, the power of a greatest element. Powers of 1 are
// counted, so that small ones next to them lose nothing.
template <class T>
struct LogSumExp {
  static constexpr int kLeastWidth = sizeof(T) == 8 ? 8 : 2;
  static constexpr RuleShape kShape = sizeof(T) == 8 ? wide(kLogSumExpShape) : kLogSumExpShape;
  static constexpr int kLanes = 1;
  struct Partial {
    double greatest;
    double rest;
  };
  static TENURE_DEVICE Partial nothing(const ReduceArgument&) {
    return {-infinity<double>(), -1.0};
  }
  static TENURE_DEVICE float number_of(const ReduceArgument& argument, uint32_t word) {
    return float_of(argument, word);
  }
  static TENURE_DEVICE double number_of(const ReduceArgument&, uint64_t word) {
    return bit_copy<double>(word);
  }
  // To another greatest. Where both are infinite, there is no distance.
  template <class F>
  static TENURE_DEVICE double moved(double sum, F from, F to) {
    return from == to ? sum : sum * static_cast<double>(exponential(from - to));
  }
  static TENURE_DEVICE void merge(const ReduceArgument&, Partial& into, const Partial& from) {
    const bool is_above = from.greatest > into.greatest;
    const Partial high = is_above ? from : into;
    const Partial low = is_above ? into : from;
    into = {high.greatest, high.rest + moved(1 + low.rest, low.greatest, high.greatest)};
  }

  template <class Word, int kLanesOf>
  struct Block {
    T greatest;
    double rest;

    TENURE_DEVICE void start(const ReduceArgument&, Word) {
      greatest = -infinity<T>();
      rest = -1;
    }
    template <int kCount, class PlaceOf>
    TENURE_DEVICE void add(const ReduceArgument& argument, const Word (&words)[kCount], int count,
                           const PlaceOf&) {
      T top = greatest;
      TENURE_UNROLL for (int k = 0; k < kCount; ++k) {
        const T x = number_of(argument, words[k]);
        if (k < count && x > top) top = x;
      }
      double ones = 0;
      if (top > greatest) {
        rest = moved(1 + rest, greatest, top);
        ones = -1;
        greatest = top;
      }
      // x - greatest is NaN where both are infinite, and then counts as 0: of minus infinity each
      // power is 0, and plus infinity is its own logarithm.
      const bool is_infinite = magnitude_of(top) == infinity<T>();
      double terms = 0;
      TENURE_UNROLL for (int k = 0; k < kCount; ++k) {
        const T x = number_of(argument, words[k]);
        const T distance = is_infinite && x == x ? -infinity<T>() : x - top;
        if (k >= count) continue;
        if (distance == 0) {
          ones += 1;
        } else {
          terms += static_cast<double>(exponential(distance));
        }
      }
      rest += ones + terms;
    }
    TENURE_DEVICE Partial settle(const ReduceArgument&) {
      return {static_cast<double>(greatest), rest};
    }
  };

  static TENURE_DEVICE void finish(const ReduceArgument& argument, const Partial& partial,
                                   unsigned char* out) {
    if (argument.finish == ReduceFinish::kPartial) return write(out, partial);
    const bool is_infinite = magnitude_of(partial.greatest) == infinity<double>();
    double value = partial.greatest + called_logarithm_of_one_more(partial.rest);
    if (is_infinite) value = partial.rest != partial.rest ? partial.rest : partial.greatest;
    write_float(argument, out, value);
  }
};

// ---- integers and counts ----

// In 64 bits, where they wrap; of words of 4 bytes or 8. `bias` makes the integers of a sum
// unsigned, and `bias_sum` is subtracted from the sum at the end.
template <class WordOf>
struct IntegerSum {
  static constexpr int kLeastWidth = sizeof(WordOf) == 8 ? 8 : 1;
  static constexpr RuleShape kShape =
      sizeof(WordOf) == 8 ? wide(kIntegerSumShape) : kIntegerSumShape;
  static constexpr int kLanes = 1;
  struct Partial {
    uint64_t value;
  };
  static TENURE_DEVICE Partial nothing(const ReduceArgument& argument) {
    return {argument.mode == kIntegerProduct ? 1u : 0u};
  }
  static TENURE_DEVICE void merge(const ReduceArgument& argument, Partial& into,
                                  const Partial& from) {
    if (argument.mode == kIntegerProduct) {
      into.value *= from.value;
    } else {
      into.value += from.value;
    }
  }

  template <class Word, int kLanesOf>
  struct Block {
    uint64_t value;

    TENURE_DEVICE void start(const ReduceArgument& argument, Word) {
      value = nothing(argument).value;
    }
    template <int kCount, class PlaceOf>
    TENURE_DEVICE void add(const ReduceArgument& argument, const Word (&words)[kCount], int count,
                           const PlaceOf&) {
      const auto bias = static_cast<Word>(argument.bias);
      if (argument.mode == kIntegerProduct) {
        TENURE_UNROLL for (int k = 0; k < kCount; ++k) {
          if (k < count) value *= static_cast<uint64_t>(words[k] ^ bias) - argument.bias;
        }
      } else if (argument.mode == kNonzeroCount) {
        const auto mask = static_cast<Word>(argument.nonzero_mask);
        uint32_t found = 0;
        TENURE_UNROLL for (int k = 0; k < kCount; ++k) {
          found += k < count && (words[k] & mask) != 0 ? 1u : 0u;
        }
        value += found;
      } else if (argument.width <= 2) {
        uint32_t sum = 0;
        TENURE_UNROLL for (int k = 0; k < kCount; ++k) {
          sum += k < count ? static_cast<uint32_t>(words[k] ^ bias) : 0u;
        }
        value += sum;
      } else {
        TENURE_UNROLL for (int k = 0; k < kCount; ++k) value += k < count ? words[k] ^ bias : 0u;
      }
    }
    TENURE_DEVICE Partial settle(const ReduceArgument&) { return {value}; }
  };

  static TENURE_DEVICE void finish(const ReduceArgument& argument, const Partial& partial,
                                   unsigned char* out) {
    switch (argument.finish) {
      case ReduceFinish::kIsNonzero:
        write(out, partial.value != 0 ? uint8_t{1} : uint8_t{0});
        break;
      case ReduceFinish::kIsCount:
        write(out, partial.value == argument.count ? uint8_t{1} : uint8_t{0});
        break;
      default: write(out, partial.value - argument.bias_sum); break;
    }
  }
};

// ---- extremes ----

// Elements as unsigned numbers; an extreme is the least key. Keys of integers have the order of the
// integers, keys of floats the order of sign and magnitude, so that -0 is below 0; all are flipped
// for the largest. NaN is the least, or nothing where it is passed over; neither is the key of a
// number.
template <class Word>
TENURE_DEVICE Word key_of(const ReduceArgument& argument, Word word) {
  const Word bits = static_cast<Word>(word << argument.key_shift);
  constexpr Word kTop = Word{1} << (8 * sizeof(Word) - 1);
  const auto flip = static_cast<Word>(argument.key_flip);
  if (argument.key_is_float == 0) return bits ^ static_cast<Word>(argument.key_sign) ^ flip;
  const Word magnitude = bits & ~kTop;
  const Word sign = (argument.mode & kMagnitude) != 0 ? 0 : bits & kTop;
  const Word key = (sign != 0 ? ~magnitude & ~kTop : magnitude | kTop) ^ flip;
  return magnitude > static_cast<Word>(argument.key_infinity) ? static_cast<Word>(argument.key_nan)
                                                              : key;
}
// An element again.
template <class Word>
TENURE_DEVICE Word element_of(const ReduceArgument& argument, Word key) {
  constexpr Word kTop = Word{1} << (8 * sizeof(Word) - 1);
  const Word met = key ^ static_cast<Word>(argument.key_flip);
  if (argument.key_is_float == 0) {
    return (met ^ static_cast<Word>(argument.key_sign)) >> argument.key_shift;
  }
  const bool is_nan = key == 0 || key == static_cast<Word>(~Word{0});
  const Word bits = (met & kTop) != 0 ? met & ~kTop : ~met;
  return is_nan ? static_cast<Word>(argument.nan) : bits >> argument.key_shift;
}

template <class Key>
struct Extreme {
  static constexpr int kLeastWidth = sizeof(Key) == 8 ? 8 : 1;
  static constexpr RuleShape kShape = sizeof(Key) == 8 ? wide(kExtremeShape) : kExtremeShape;
  static constexpr int kLanes = 1;
  struct Partial {
    Key key;
  };
  static TENURE_DEVICE Partial nothing(const ReduceArgument& argument) {
    return {static_cast<Key>(argument.key_nothing)};
  }
  static TENURE_DEVICE void merge(const ReduceArgument&, Partial& into, const Partial& from) {
    into.key = at_most(into.key, from.key);
  }

  template <class Word, int kLanesOf>
  struct Block {
    Key key;

    TENURE_DEVICE void start(const ReduceArgument& argument, Word) { key = nothing(argument).key; }
    template <int kCount, class PlaceOf>
    TENURE_DEVICE void add(const ReduceArgument& argument, const Word (&words)[kCount], int count,
                           const PlaceOf&) {
      TENURE_UNROLL for (int k = 0; k < kCount; ++k) {
        const Key other = key_of(argument, words[k]);
        if (k < count) key = at_most(key, other);
      }
    }
    TENURE_DEVICE Partial settle(const ReduceArgument&) { return {key}; }
  };

  static TENURE_DEVICE void finish(const ReduceArgument& argument, const Partial& partial,
                                   unsigned char* out) {
    const Key element = element_of(argument, partial.key);
    switch (argument.width) {
      case 1: write(out, static_cast<uint8_t>(element)); break;
      case 2: write(out, static_cast<uint16_t>(element)); break;
      default: write(out, element); break;
    }
  }
};

// The place of the first of the least keys, in which both zeros of a float are one.
template <class Key>
struct IndexOfLeast {
  static constexpr int kLeastWidth = sizeof(Key) == 8 ? 8 : 1;
  static constexpr RuleShape kShape = sizeof(Key) == 8 ? wide(kPlaceShape) : kPlaceShape;
  static constexpr int kLanes = 1;
  static constexpr int64_t kNowhere = INT64_MAX;
  struct Partial {
    Key key;
    int64_t place;
  };
  static TENURE_DEVICE Partial nothing(const ReduceArgument&) {
    return {static_cast<Key>(~Key{0}), kNowhere};
  }
  static TENURE_DEVICE void merge(const ReduceArgument&, Partial& into, const Partial& from) {
    if (from.key < into.key || (from.key == into.key && from.place < into.place)) into = from;
  }
  static TENURE_DEVICE Key key_of_number(const ReduceArgument& argument, Key word) {
    if (argument.key_is_float == 0) return key_of(argument, word);
    const bool is_zero = static_cast<Key>(word << argument.key_shift << 1) == 0;
    return key_of(argument, is_zero ? Key{0} : word);
  }

  template <class Word, int kLanesOf>
  struct Block {
    Partial best;

    TENURE_DEVICE void start(const ReduceArgument& argument, Word) { best = nothing(argument); }
    // Finds the least key of all first: in most groups it is not below the best, and its place is
    // not needed.
    template <int kCount, class PlaceOf>
    TENURE_DEVICE void add(const ReduceArgument& argument, const Word (&words)[kCount], int count,
                           const PlaceOf& place_of) {
      Key keys[kCount];
      Key least = ~Key{0};
      TENURE_UNROLL for (int k = 0; k < kCount; ++k) {
        keys[k] = key_of_number(argument, words[k]);
        if (k < count) least = at_most(least, keys[k]);
      }
      const bool may_be_earlier = argument.is_unordered != 0 || best.place == kNowhere;
      if (least > best.key || (least == best.key && !may_be_earlier)) return;
      uint32_t equals = 0;
      TENURE_UNROLL for (int k = 0; k < kCount; ++k) {
        equals |= k < count && keys[k] == least ? 1u << k : 0u;
      }
      TENURE_ROLLED for (; equals != 0; equals &= equals - 1) {
        merge(argument, best, {least, place_of(__ffs(static_cast<int>(equals)) - 1)});
        if (argument.is_unordered == 0) return;
      }
    }
    TENURE_DEVICE Partial settle(const ReduceArgument&) { return best; }
  };

  static TENURE_DEVICE void finish(const ReduceArgument&, const Partial& partial,
                                   unsigned char* out) {
    write(out, partial.place);
  }
};

}  // namespace tenure::cuda
