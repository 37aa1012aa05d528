// Shared by kernels of element-wise operations: how a thread finds its elements, and words of them
// in registers.
#pragma once

#include "arguments.hpp"
#include "device.cuh"
#include "functions/number.cuh"

namespace tenure::cuda {

// ---- words ----

// Adjacent elements, which are read and written at once: whole registers. get() and put() shift
// elements out of and into them, in a form that compilers recognize.
template <int kBytes>
struct alignas(kBytes > 16 ? 16 : kBytes) Words {
  using Word = uint32_t;
  Word of[kBytes / 4];
};
template <>
struct alignas(2) Words<2> {
  using Word = uint16_t;
  Word of[1];
};
template <>
struct Words<1> {
  using Word = uint8_t;
  Word of[1];
};

template <class T, int kBytes>
TENURE_DEVICE T get(const Words<kBytes>& words, int i) {
  if constexpr (sizeof(T) == 16) {
    return {get<uint64_t>(words, 2 * i), get<uint64_t>(words, 2 * i + 1)};
  } else if constexpr (sizeof(T) == 8) {
    return bit_copy<T>(static_cast<uint64_t>(words.of[2 * i]) |
                       static_cast<uint64_t>(words.of[2 * i + 1]) << 32);
  } else if constexpr (sizeof(T) == 4) {
    return bit_copy<T>(words.of[i]);
  } else if constexpr (sizeof(T) == 2) {
    return bit_copy<T>(static_cast<uint16_t>(words.of[i / 2] >> (i % 2 * 16)));
  } else {
    return bit_copy<T>(static_cast<uint8_t>(words.of[i / 4] >> (i % 4 * 8)));
  }
}

template <class Word>
TENURE_DEVICE void put_bits(Word& word, uint32_t bits, int shift) {
  word = static_cast<Word>(word | bits << shift);
}

// Into words that are 0 there.
template <class T, int kBytes>
TENURE_DEVICE void put(Words<kBytes>& words, int i, T value) {
  if constexpr (sizeof(T) == 16) {
    put(words, 2 * i, value.low);
    put(words, 2 * i + 1, value.high);
  } else if constexpr (sizeof(T) == 8) {
    const auto bits = bit_copy<uint64_t>(value);
    words.of[2 * i] = static_cast<uint32_t>(bits);
    words.of[2 * i + 1] = static_cast<uint32_t>(bits >> 32);
  } else if constexpr (sizeof(T) == 4) {
    words.of[i] = bit_copy<uint32_t>(value);
  } else if constexpr (sizeof(T) == 2) {
    put_bits(words.of[i / 2], bit_copy<uint16_t>(value), i % 2 * 16);
  } else {
    put_bits(words.of[i / 4], bit_copy<uint8_t>(value), i % 4 * 8);
  }
}

template <class Word>
TENURE_DEVICE Word read(const unsigned char* from) {
  return *reinterpret_cast<const Word*>(from);
}
template <class Word>
TENURE_DEVICE void write(unsigned char* to, const Word& value) {
  *reinterpret_cast<Word*>(to) = value;
}

// An element of 1 to 8 bytes by its logarithm: in the low bits, and 0 above them.
TENURE_DEVICE uint64_t read_bits(uint32_t shift, const unsigned char* from) {
  switch (shift) {
    case 0: return read<uint8_t>(from);
    case 1: return read<uint16_t>(from);
    case 2: return read<uint32_t>(from);
    default: return read<uint64_t>(from);
  }
}
TENURE_DEVICE void write_bits(uint32_t shift, unsigned char* to, uint64_t bits) {
  switch (shift) {
    case 0: return write(to, static_cast<uint8_t>(bits));
    case 1: return write(to, static_cast<uint16_t>(bits));
    case 2: return write(to, static_cast<uint32_t>(bits));
    default: return write(to, bits);
  }
}

// The type of an element of kBytes bytes.
template <int kBytes>
struct ElementOf;
template <>
struct ElementOf<1> {
  using type = uint8_t;
};
template <>
struct ElementOf<2> {
  using type = uint16_t;
};
template <>
struct ElementOf<4> {
  using type = uint32_t;
};
template <>
struct ElementOf<8> {
  using type = uint64_t;
};
// Complex numbers may lie at multiples of 8.
struct alignas(8) Wide {
  uint64_t low;
  uint64_t high;
};
template <>
struct ElementOf<16> {
  using type = Wide;
};
template <int kBytes>
using Element = typename ElementOf<kBytes>::type;

// ---- places ----

TENURE_DEVICE uint32_t upper_half_of_product(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>((static_cast<uint64_t>(a) * b) >> 32);
}

TENURE_DEVICE uint32_t quotient_of(const Divider& divider, uint32_t number) {
  return (upper_half_of_product(number, divider.multiplier) + number) >> divider.shift;
}

// Bytes from element 0 to others, of the output and the inputs. The loop over the axes is the outer
// one, so that a thread waits for one constant at a time and not for one element.
template <int kItems, int kOperands, class Argument>
TENURE_DEVICE void find_offsets(const Argument& argument, uint32_t (&index)[kItems],
                                int64_t (&offsets)[kItems][kOperands]) {
  TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
    TENURE_UNROLL for (int k = 0; k < kOperands; ++k) offsets[i][k] = 0;
  }
  TENURE_ROLLED for (uint32_t i = 0; i < argument.rank; ++i) {
    const auto& axis = argument.axes[i];
    TENURE_UNROLL for (int j = 0; j < kItems; ++j) {
      const uint32_t outer = quotient_of(axis.divider, index[j]);
      const int64_t position = static_cast<int64_t>(index[j] - outer * axis.divider.extent);
      TENURE_UNROLL for (int k = 0; k < kOperands; ++k) {
        offsets[j][k] += position * axis.steps[k];
      }
      index[j] = outer;
    }
  }
}

// Repeats one element kItems times.
template <int kElementBytes, int kItems>
TENURE_DEVICE void repeat(Words<kElementBytes * kItems>& words,
                          const Element<kElementBytes>& value) {
  words = {};
  TENURE_UNROLL for (int i = 0; i < kItems; ++i) put(words, i, value);
}

// The element that a call has by value.
template <class Value>
TENURE_DEVICE Value number_of(const ElementwiseArgument& argument) {
  const Words<16> words = {
      {argument.number[0], argument.number[1], argument.number[2], argument.number[3]}};
  return get<Value>(words, 0);
}

template <int kElementBytes, int kItems>
TENURE_DEVICE void read_vector(const ElementwiseArgument& argument, int input,
                               const unsigned char* from, Words<kElementBytes * kItems>& words) {
  if ((argument.numbers >> input & 1) != 0) {
    repeat<kElementBytes, kItems>(words, number_of<Element<kElementBytes>>(argument));
  } else if ((argument.repeated >> input & 1) != 0) {
    repeat<kElementBytes, kItems>(words, read<Element<kElementBytes>>(from));
  } else {
    words = read<Words<kElementBytes * kItems>>(from);
  }
}

// The output's and the inputs' bytes before a vector. Where vectors are adjacent, each has
// `out_bytes` of the output and `in_bytes` of an input.
template <int kOperands>
TENURE_DEVICE void find_places(const ElementwiseArgument& argument, uint64_t vector,
                               uint32_t out_bytes, uint32_t in_bytes,
                               int64_t (&places)[kOperands]) {
  if (argument.nested_vectors != 0) {
    uint32_t index[1] = {static_cast<uint32_t>(vector)};
    int64_t offsets[1][kOperands];
    find_offsets(argument, index, offsets);
    TENURE_UNROLL for (int k = 0; k < kOperands; ++k) places[k] = offsets[0][k];
    return;
  }
  places[0] = static_cast<int64_t>(vector * out_bytes);
  TENURE_UNROLL for (int k = 1; k < kOperands; ++k) {
    const bool is_repeated = (argument.repeated >> (k - 1) & 1) != 0;
    places[k] = is_repeated ? 0 : static_cast<int64_t>(vector * in_bytes);
  }
}

// The part of a call that a thread has.
template <int kItems>
struct ThreadElements {
  static constexpr int kRest =
      kItems < static_cast<int>(kMostRestItems) ? kItems : static_cast<int>(kMostRestItems);
  bool is_vector;
  bool is_empty;
  uint64_t vector;  // its number
  uint32_t first;   // of its elements, which are kThreads apart

  explicit TENURE_DEVICE ThreadElements(const ElementwiseArgument& argument) {
    is_vector = blockIdx.x < argument.vector_blocks;
    vector = static_cast<uint64_t>(blockIdx.x) * kThreads + threadIdx.x;
    first = (blockIdx.x - argument.vector_blocks) * (kThreads * kRest) + threadIdx.x;
    is_empty = is_vector ? vector >= argument.vector_count : first >= argument.rest_count;
  }
  [[nodiscard]] TENURE_DEVICE bool has(const ElementwiseArgument& argument, int i) const {
    return first + static_cast<uint32_t>(i) * kThreads < argument.rest_count;
  }
  // Element i of the part; the first one where element i does not exist, so that all are read at
  // once, without a branch.
  [[nodiscard]] TENURE_DEVICE uint32_t element_there(const ElementwiseArgument& argument,
                                                     int i) const {
    return has(argument, i) ? first + static_cast<uint32_t>(i) * kThreads : first;
  }
};

// Reads kItems elements of each input, calls compute(inputs, output) on an output of zeros, and
// writes kItems elements of the output. A thread that takes elements one by one takes
// ThreadElements::kRest; the other elements of the inputs, and those that do not exist, are copies
// of existing ones.
template <int kInputs, int kInBytes, int kOutBytes, int kItems, class Compute>
TENURE_DEVICE void map(const ElementwiseArgument& argument, const Compute& compute) {
  using Out = Element<kOutBytes>;
  const ThreadElements<kItems> part(argument);
  if (part.is_empty) return;
  constexpr int kRest = ThreadElements<kItems>::kRest;
  Words<kItems * kInBytes> in[kInputs];
  Words<kItems * kOutBytes> out = {};
  int64_t places[kRest][1 + kInputs];
  if (part.is_vector) {
    find_places(argument, part.vector, kItems * kOutBytes, kItems * kInBytes, places[0]);
    TENURE_UNROLL for (int k = 0; k < kInputs; ++k) {
      read_vector<kInBytes, kItems>(argument, k, argument.in[k] + places[0][1 + k], in[k]);
    }
  } else {
    uint32_t elements[kRest];
    TENURE_UNROLL for (int i = 0; i < kRest; ++i) elements[i] = part.element_there(argument, i);
    find_offsets(argument, elements, places);
    TENURE_UNROLL for (int k = 0; k < kInputs; ++k) {
      if ((argument.numbers >> k & 1) != 0) {
        repeat<kInBytes, kItems>(in[k], number_of<Element<kInBytes>>(argument));
        continue;
      }
      Element<kInBytes> values[kRest];
      TENURE_UNROLL for (int i = 0; i < kRest; ++i) {
        values[i] = read<Element<kInBytes>>(argument.rest_in[k] + places[i][1 + k]);
      }
      repeat<kInBytes, kItems>(in[k], values[0]);
      TENURE_UNROLL for (int w = 0; w < kRest * kInBytes / 4; ++w) in[k].of[w] = 0;
      TENURE_UNROLL for (int i = 0; i < kRest; ++i) put(in[k], i, values[i]);
    }
  }
  compute(in, out);
  if (part.is_vector) {
    write(argument.out + places[0][0], out);
    return;
  }
  TENURE_UNROLL for (int i = 0; i < kRest; ++i) {
    if (part.has(argument, i)) write(argument.rest_out + places[i][0], get<Out>(out, i));
  }
}

// Elements of kBytes bytes that a thread takes at once: 16 bytes of them.
template <int kBytes>
inline constexpr int kItemsOf = 16 / kBytes;

// ---- loops over the elements of words ----

// Calls rule(inputs, result) for the elements of one word of the output after the other. Words go
// round so that the loop has no index into registers. 8 and 16 elements share the code of 4.
template <int kInputs, int kInBytes, int kOutBytes, class Rule>
TENURE_DEVICE void words_in_turn(Words<kInBytes> (&in)[kInputs], Words<kOutBytes>& out,
                                 const Rule& rule) {
  constexpr int kOutWords = kOutBytes / 4;
  constexpr int kInWords = kInBytes / 4;
  constexpr int kStep = kInWords / kOutWords;
  TENURE_ROLLED for (int turn = 0; turn < kOutWords; ++turn) {
    Words<4> result = {};
    rule(in, result);
    TENURE_UNROLL for (int k = 0; k < kInputs; ++k) {
      TENURE_UNROLL for (int i = 0; i + kStep < kInWords; ++i) in[k].of[i] = in[k].of[i + kStep];
    }
    TENURE_UNROLL for (int i = 0; i + 1 < kOutWords; ++i) out.of[i] = out.of[i + 1];
    out.of[kOutWords - 1] = result.of[0];
  }
}

template <class T, class R, int kItems, int kInBytes, int kOutBytes, class Rule>
TENURE_DEVICE void each(const Words<kInBytes>& in, Words<kOutBytes>& out, const Rule& rule) {
  if constexpr (kItems > 4) {
    Words<kInBytes> left[1] = {in};
    words_in_turn(left, out, [&](const auto& of, Words<4>& result) {
      TENURE_UNROLL for (int i = 0; i < 4 / static_cast<int>(sizeof(R)); ++i) {
        put(result, i, static_cast<R>(rule(get<T>(of[0], i))));
      }
    });
  } else {
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
      put(out, i, static_cast<R>(rule(get<T>(in, i))));
    }
  }
}
template <class T, class R, int kItems, int kInBytes, int kOutBytes, class Rule>
TENURE_DEVICE void each(const Words<kInBytes>& a, const Words<kInBytes>& b, Words<kOutBytes>& out,
                        const Rule& rule) {
  if constexpr (kItems > 4) {
    Words<kInBytes> left[2] = {a, b};
    words_in_turn(left, out, [&](const auto& of, Words<4>& result) {
      TENURE_UNROLL for (int i = 0; i < 4 / static_cast<int>(sizeof(R)); ++i) {
        put(result, i, static_cast<R>(rule(get<T>(of[0], i), get<T>(of[1], i))));
      }
    });
  } else {
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
      put(out, i, static_cast<R>(rule(get<T>(a, i), get<T>(b, i))));
    }
  }
}
template <class T, class R, int kItems, int kInBytes, int kOutBytes, class Rule>
TENURE_DEVICE void each(const Words<kInBytes>& a, const Words<kInBytes>& b,
                        const Words<kInBytes>& c, Words<kOutBytes>& out, const Rule& rule) {
  if constexpr (kItems > 4) {
    Words<kInBytes> left[3] = {a, b, c};
    words_in_turn(left, out, [&](const auto& of, Words<4>& result) {
      TENURE_UNROLL for (int i = 0; i < 4 / static_cast<int>(sizeof(R)); ++i) {
        put(result, i, static_cast<R>(rule(get<T>(of[0], i), get<T>(of[1], i), get<T>(of[2], i))));
      }
    });
  } else {
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
      put(out, i, static_cast<R>(rule(get<T>(a, i), get<T>(b, i), get<T>(c, i))));
    }
  }
}

// ---- several elements of a word at once ----

// Two or four elements, without carries between them: the highest bits apart.
template <class U>
TENURE_DEVICE constexpr uint32_t highest_bits() {
  return sizeof(U) == 1 ? 0x80808080u : sizeof(U) == 2 ? 0x80008000u : 0x80000000u;
}
template <class U>
TENURE_DEVICE uint32_t sum_in_word(uint32_t a, uint32_t b) {
  constexpr uint32_t kHighest = highest_bits<U>();
  return ((a & ~kHighest) + (b & ~kHighest)) ^ ((a ^ b) & kHighest);
}
template <class U>
TENURE_DEVICE uint32_t difference_in_word(uint32_t a, uint32_t b) {
  constexpr uint32_t kHighest = highest_bits<U>();
  return ((a | kHighest) - (b & ~kHighest)) ^ ((a ^ ~b) & kHighest);
}

// Each byte as a truth value: any but 0 is 1.
TENURE_DEVICE uint32_t as_bools(uint32_t word) {
  const uint32_t low = (word & 0x7f7f7f7fu) + 0x7f7f7f7fu;  // its highest bit, of the lower seven
  return ((low | word) >> 7) & 0x01010101u;
}

// Signed integers have the order of unsigned ones where their highest bits are changed.
template <class U, int kBytes>
TENURE_DEVICE void exchange_orders(Words<kBytes>& words) {
  constexpr int kStep = sizeof(U) == 8 ? 2 : 1;
  TENURE_UNROLL for (int i = kStep - 1; i < kBytes / 4; i += kStep) {
    words.of[i] ^= highest_bits<U>();
  }
}

// In which arithmetic wraps: never narrower than int, where C++ would promote to int and overflow.
template <class U>
using Wrapping = Element<sizeof(U) < 4 ? 4 : sizeof(U)>;

}  // namespace tenure::cuda
