// How a thread finds its floats: four of f32, f16 or bf16 at a time, as f32, so that the three
// share the code of a family; or two of f64.
#pragma once

#include "elementwise.cuh"

namespace tenure::cuda {

// Four floats: words of f32, or the first two of halves.
TENURE_DEVICE void widen_words(ElementType type, const uint32_t (&words)[4], float (&x)[4]) {
  if (type == ElementType::kF32) {
    TENURE_UNROLL for (int i = 0; i < 4; ++i) x[i] = bit_copy<float>(words[i]);
  } else {
    TENURE_UNROLL for (int i = 0; i < 4; ++i) {
      const auto bits = static_cast<uint16_t>(words[i / 2] >> (i % 2 * 16));
      x[i] = type == ElementType::kF16 ? widen(F16{bits}) : widen(BF16{bits});
    }
  }
}
TENURE_DEVICE void round_to_words(ElementType type, const float (&x)[4], uint32_t (&words)[4]) {
  if (type == ElementType::kF32) {
    TENURE_UNROLL for (int i = 0; i < 4; ++i) words[i] = bit_copy<uint32_t>(x[i]);
  } else {
    TENURE_UNROLL for (int i = 0; i < 2; ++i) {
      const uint32_t low =
          type == ElementType::kF16 ? round_to_f16(x[2 * i]).bits : round_to_bf16(x[2 * i]).bits;
      const uint32_t high = type == ElementType::kF16 ? round_to_f16(x[2 * i + 1]).bits
                                                      : round_to_bf16(x[2 * i + 1]).bits;
      words[i] = low | high << 16;
    }
  }
}

// Four elements, as they lie there.
TENURE_DEVICE void read_four(bool is_half, const unsigned char* from, uint32_t (&words)[4]) {
  if (is_half) {
    const auto two = read<Words<8>>(from);
    words[0] = two.of[0];
    words[1] = two.of[1];
  } else {
    const auto four = read<Words<16>>(from);
    TENURE_UNROLL for (int i = 0; i < 4; ++i) words[i] = four.of[i];
  }
}
TENURE_DEVICE uint32_t read_one(bool is_half, const unsigned char* from) {
  return is_half ? static_cast<uint32_t>(read<uint16_t>(from)) : read<uint32_t>(from);
}

// ---- groups ----

// Adjacent elements that make 16 bytes in the type of the computation: two of f64, or four of f32,
// f16 or bf16, which share the code of a kernel.
template <class T>
inline constexpr int kGroupItems = static_cast<int>(kGroupBytes / sizeof(T));

struct RawGroup {
  uint32_t words[4];  // as they lie there
};

TENURE_DEVICE bool is_half(ElementType type) {
  return type == ElementType::kF16 || type == ElementType::kBF16;
}
// Bytes of `count` elements.
template <class T>
TENURE_DEVICE int64_t bytes_of(ElementType type, int64_t count) {
  return count * static_cast<int64_t>(sizeof(T)) >> (sizeof(T) == 4 && is_half(type) ? 1 : 0);
}

template <class T>
TENURE_DEVICE RawGroup read_group(ElementType type, const unsigned char* from) {
  RawGroup raw = {};
  read_four(sizeof(T) == 4 && is_half(type), from, raw.words);
  return raw;
}
template <class T>
TENURE_DEVICE Words<16> numbers_of(ElementType type, const RawGroup& raw) {
  Words<16> numbers = {};
  if constexpr (sizeof(T) == 4) {
    float x[4];
    widen_words(type, raw.words, x);
    TENURE_UNROLL for (int i = 0; i < 4; ++i) put(numbers, i, x[i]);
  } else {
    TENURE_UNROLL for (int i = 0; i < 4; ++i) numbers.of[i] = raw.words[i];
  }
  return numbers;
}
template <class T>
TENURE_DEVICE void write_group(ElementType type, unsigned char* to, const Words<16>& numbers) {
  if constexpr (sizeof(T) == 4) {
    float x[4];
    uint32_t words[4] = {};
    TENURE_UNROLL for (int i = 0; i < 4; ++i) x[i] = get<float>(numbers, i);
    round_to_words(type, x, words);
    if (is_half(type)) return write(to, Words<8>{{words[0], words[1]}});
  }
  write(to, numbers);
}

template <class T>
TENURE_DEVICE T read_number(ElementType type, const unsigned char* from) {
  if constexpr (sizeof(T) == 8) {
    return read<double>(from);
  } else {
    if (type == ElementType::kF32) return read<float>(from);
    const auto bits = read<uint16_t>(from);
    return type == ElementType::kF16 ? widen(F16{bits}) : widen(BF16{bits});
  }
}
template <class T>
TENURE_DEVICE void write_number(ElementType type, unsigned char* to, T number) {
  if constexpr (sizeof(T) == 4) {
    if (type == ElementType::kF16) return write(to, round_to_f16(number));
    if (type == ElementType::kBF16) return write(to, round_to_bf16(number));
  }
  write(to, number);
}

// ---- products ----

// Rounded once.
TENURE_DEVICE float multiply_add(float a, float b, float sum) { return __fmaf_rn(a, b, sum); }
TENURE_DEVICE double multiply_add(double a, double b, double sum) { return __fma_rn(a, b, sum); }

// A number in the low bits of an argument's word.
template <class T>
TENURE_DEVICE T scalar_of(uint64_t bits) {
  if constexpr (sizeof(T) == 8) {
    return bit_copy<T>(bits);
  } else {
    return bit_copy<T>(static_cast<uint32_t>(bits));
  }
}

// ---- element-wise ----

// Does the work of map() of elementwise.cuh for four floats.
template <int kInputs, class Compute>
TENURE_DEVICE void map_floats(const ElementwiseArgument& argument, const Compute& compute_four) {
  const ThreadElements<4> part(argument);
  if (part.is_empty) return;
  constexpr int kRest = ThreadElements<4>::kRest;
  const ElementType type = argument.type;
  const bool is_half = type != ElementType::kF32;
  float x[kInputs][4];
  int64_t places[kRest][1 + kInputs];
  if (part.is_vector) {
    const uint32_t bytes = is_half ? 8 : 16;
    find_places(argument, part.vector, bytes, bytes, places[0]);
    TENURE_UNROLL for (int k = 0; k < kInputs; ++k) {
      uint32_t words[4] = {};
      const bool is_number = (argument.numbers >> k & 1) != 0;
      const unsigned char* const from = argument.in[k] + places[0][1 + k];
      if (is_number || (argument.repeated >> k & 1) != 0) {
        const uint32_t one = is_number ? number_of<uint32_t>(argument) : read_one(is_half, from);
        TENURE_UNROLL for (int i = 0; i < 4; ++i) {
          words[i] = is_half ? (one & 0xffffu) | one << 16 : one;
        }
      } else {
        read_four(is_half, from, words);
      }
      widen_words(type, words, x[k]);
    }
  } else {
    uint32_t elements[kRest];
    TENURE_UNROLL for (int i = 0; i < kRest; ++i) elements[i] = part.element_there(argument, i);
    find_offsets(argument, elements, places);
    TENURE_UNROLL for (int k = 0; k < kInputs; ++k) {
      const bool is_number = (argument.numbers >> k & 1) != 0;
      uint32_t values[kRest];
      TENURE_UNROLL for (int i = 0; i < kRest; ++i) {
        values[i] = is_number ? number_of<uint32_t>(argument) & (is_half ? 0xffffu : ~0u)
                              : read_one(is_half, argument.rest_in[k] + places[i][1 + k]);
      }
      const uint32_t words[4] = {is_half ? values[0] | values[1] << 16 : values[0],
                                 is_half ? values[2] | values[3] << 16 : values[1], values[2],
                                 values[3]};
      widen_words(type, words, x[k]);
    }
  }
  compute_four(x);
  uint32_t words[4] = {};
  round_to_words(type, x[0], words);
  if (part.is_vector) {
    unsigned char* const to = argument.out + places[0][0];
    if (is_half) {
      write(to, Words<8>{{words[0], words[1]}});
    } else {
      write(to, Words<16>{{words[0], words[1], words[2], words[3]}});
    }
    return;
  }
  TENURE_UNROLL for (int i = 0; i < kRest; ++i) {
    if (!part.has(argument, i)) continue;
    unsigned char* const to = argument.rest_out + places[i][0];
    if (is_half) {
      write(to, static_cast<uint16_t>(words[i / 2] >> (i % 2 * 16)));
    } else {
      write(to, words[i]);
    }
  }
}

// Two elements of f64.
template <int kInputs, class Compute>
TENURE_DEVICE void map_doubles(const ElementwiseArgument& argument, const Compute& compute_two) {
  map<kInputs, 8, 8, 2>(argument, [&](const auto& in, auto& out) {
    double x[kInputs][2];
    TENURE_UNROLL for (int k = 0; k < kInputs; ++k) {
      TENURE_UNROLL for (int i = 0; i < 2; ++i) x[k][i] = get<double>(in[k], i);
    }
    compute_two(x);
    TENURE_UNROLL for (int i = 0; i < 2; ++i) put(out, i, x[0][i]);
  });
}

}  // namespace tenure::cuda
