// Casts between the real dtypes, as core/src/cpu/kernels/number.hpp converts. One kernel for
// sources that are widened to one type, which is exact: elements are converted from there.
#include "elementwise.cuh"

namespace tenure::cuda {

// Rounds to odd: a second rounding to at least two bits fewer then gives what one rounding would.
TENURE_DEVICE float rounded_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  uint32_t bits = bit_copy<uint32_t>(nearest);
  bits -= magnitude_of(back) > magnitude_of(value) ? 1u : 0u;
  bits |= back != value ? 1u : 0u;
  return bit_copy<float>(bits);
}
TENURE_DEVICE double rounded_to_odd(uint64_t value) {
  const uint64_t odd = (value >> 11) | ((value & 0x7ffu) != 0 ? 1u : 0u);
  const double shifted = static_cast<double>(static_cast<int64_t>(odd)) * 2048.0;
  return value >> 53 != 0 ? shifted : static_cast<double>(static_cast<int64_t>(value));
}

// An integer of any dtype, extended to 64 bits.
struct Integer {
  uint64_t bits;
  bool is_signed;

  [[nodiscard]] TENURE_DEVICE bool is_negative() const { return is_signed && bits >> 63 != 0; }
  [[nodiscard]] TENURE_DEVICE uint64_t magnitude() const { return is_negative() ? 0 - bits : bits; }
  template <class Float>
  [[nodiscard]] TENURE_DEVICE Float rounded() const {
    const auto result = static_cast<Float>(magnitude());
    return is_negative() ? -result : result;
  }
};

// A float that rounds to the same 16 bits.
TENURE_DEVICE float before_halves(float value) { return value; }
TENURE_DEVICE float before_halves(double value) { return rounded_to_odd(value); }
TENURE_DEVICE float before_halves(Integer value) {
  const float result = rounded_to_odd(rounded_to_odd(value.magnitude()));
  return value.is_negative() ? -result : result;
}

// Saturates; NaN gives 0.
template <class To, class From>
TENURE_DEVICE To saturated(From value) {
  constexpr bool kIsSigned = static_cast<To>(-1) < To{0};
  constexpr unsigned kBits = 8 * sizeof(To) - (kIsSigned ? 1 : 0);
  constexpr From kBeyond = static_cast<From>(uint64_t{1} << (kBits - 1)) * From{2};
  constexpr From kLowest = kIsSigned ? -kBeyond : From{0};
  constexpr uint64_t kMost = ~uint64_t{0} >> (64 - kBits);
  const bool is_inside = value >= kLowest && value < kBeyond;
  To result = static_cast<To>(is_inside ? value : From{0});
  result = value >= kBeyond ? static_cast<To>(kMost) : result;
  return value < kLowest ? static_cast<To>(kIsSigned ? ~kMost : 0) : result;
}

template <class Float>
TENURE_DEVICE Float rounded(float value) {
  return static_cast<Float>(value);
}
template <class Float>
TENURE_DEVICE Float rounded(double value) {
  return static_cast<Float>(value);
}
template <class Float>
TENURE_DEVICE Float rounded(Integer value) {
  return value.rounded<Float>();
}

// Integers keep their low bits, which alone are written.
template <class To, class From>
TENURE_DEVICE uint64_t whole(From value) {
  return static_cast<uint64_t>(saturated<To>(value));
}
template <class To>
TENURE_DEVICE uint64_t whole(Integer value) {
  return value.bits;
}

TENURE_DEVICE bool is_true(float value) { return value != 0; }
TENURE_DEVICE bool is_true(double value) { return value != 0; }
TENURE_DEVICE bool is_true(Integer value) { return value.bits != 0; }

// Four elements as bits, of any width.
struct FourElements {
  uint64_t of[4];
};

template <class Bits>
TENURE_DEVICE void read_elements(const ElementwiseArgument& argument, const Part<4>& part,
                                 const int64_t (&places)[4][2], FourElements& in) {
  Words<4 * sizeof(Bits)> words;
  if (part.is_vector) {
    read_vector<sizeof(Bits), 4>(argument, 0, argument.in[0] + places[0][1], words);
    TENURE_UNROLL for (int i = 0; i < 4; ++i) in.of[i] = get<Bits>(words, i);
  } else {
    TENURE_UNROLL for (int i = 0; i < 4; ++i) {
      in.of[i] = read<Bits>(argument.rest_in[0] + places[i][1]);
    }
  }
}
template <class Bits>
TENURE_DEVICE void write_elements(const ElementwiseArgument& argument, const Part<4>& part,
                                  const int64_t (&places)[4][2], const FourElements& out) {
  if (part.is_vector) {
    Words<4 * sizeof(Bits)> words = {};
    TENURE_UNROLL for (int i = 0; i < 4; ++i) put(words, i, static_cast<Bits>(out.of[i]));
    write(argument.out + places[0][0], words);
  } else {
    TENURE_UNROLL for (int i = 0; i < 4; ++i) {
      if (part.has(argument, i)) {
        write(argument.rest_out + places[i][0], static_cast<Bits>(out.of[i]));
      }
    }
  }
}

template <class V>
TENURE_DEVICE void convert_elements(ElementType type, const V (&x)[4], FourElements& out) {
  const auto each_element = [&](const auto& convert) {
    TENURE_UNROLL for (int i = 0; i < 4; ++i) out.of[i] = static_cast<uint64_t>(convert(x[i]));
  };
  switch (type) {
    case ElementType::kF64: return each_element([](V a) { return bits_of(rounded<double>(a)); });
    case ElementType::kF32: return each_element([](V a) { return bits_of(rounded<float>(a)); });
    case ElementType::kF16:
      return each_element([](V a) { return round_to_f16(before_halves(a)).bits; });
    case ElementType::kBF16:
      return each_element([](V a) { return round_to_bf16(before_halves(a)).bits; });
    case ElementType::kI8: return each_element([](V a) { return whole<int8_t>(a); });
    case ElementType::kI16: return each_element([](V a) { return whole<int16_t>(a); });
    case ElementType::kI32: return each_element([](V a) { return whole<int32_t>(a); });
    case ElementType::kI64: return each_element([](V a) { return whole<int64_t>(a); });
    case ElementType::kU8: return each_element([](V a) { return whole<uint8_t>(a); });
    case ElementType::kU16: return each_element([](V a) { return whole<uint16_t>(a); });
    case ElementType::kU32: return each_element([](V a) { return whole<uint32_t>(a); });
    case ElementType::kU64: return each_element([](V a) { return whole<uint64_t>(a); });
    case ElementType::kBool8: return each_element([](V a) { return is_true(a) ? 1 : 0; });
  }
}

// widen(bits) gives an element in the type that it is converted from.
template <class V, class Widen>
TENURE_DEVICE void cast_elements(const ElementwiseArgument& argument, const Widen& widen_bits) {
  const Part<4> part(argument);
  if (part.is_empty) return;
  int64_t places[4][2];
  if (part.is_vector) {
    find_places(argument, part.vector, argument.out_vector_bytes, argument.in_vector_bytes,
                places[0]);
  } else {
    uint32_t elements[4];
    TENURE_UNROLL for (int i = 0; i < 4; ++i) elements[i] = part.element_there(argument, i);
    find_offsets(argument, elements, places);
  }
  FourElements elements;
  switch (argument.in_vector_bytes) {
    case 4: read_elements<uint8_t>(argument, part, places, elements); break;
    case 8: read_elements<uint16_t>(argument, part, places, elements); break;
    case 16: read_elements<uint32_t>(argument, part, places, elements); break;
    default: read_elements<uint64_t>(argument, part, places, elements); break;
  }
  V x[4];
  TENURE_UNROLL for (int i = 0; i < 4; ++i) x[i] = widen_bits(elements.of[i]);
  convert_elements(argument.out_type, x, elements);
  switch (argument.out_vector_bytes) {
    case 4: return write_elements<uint8_t>(argument, part, places, elements);
    case 8: return write_elements<uint16_t>(argument, part, places, elements);
    case 16: return write_elements<uint32_t>(argument, part, places, elements);
    default: return write_elements<uint64_t>(argument, part, places, elements);
  }
}

}  // namespace tenure::cuda

using namespace tenure::cuda;  // NOLINT: a kernel stands outside of every namespace

TENURE_KERNEL(cast_f64, ElementwiseArgument) {
  cast_elements<double>(argument, [](uint64_t bits) { return bit_copy<double>(bits); });
}
// f32, f16, bf16.
TENURE_KERNEL(cast_f32, ElementwiseArgument) {
  const ElementType type = argument.type;
  cast_elements<float>(argument, [type](uint64_t bits) {
    const auto half = static_cast<uint16_t>(bits);
    return type == ElementType::kF16    ? widen(F16{half})
           : type == ElementType::kBF16 ? widen(BF16{half})
                                        : bit_copy<float>(static_cast<uint32_t>(bits));
  });
}
// All integers, and bool8.
TENURE_KERNEL(cast_i64, ElementwiseArgument) {
  const ElementType type = argument.type;
  const bool is_signed = type < ElementType::kU8;
  const unsigned unused = 64 - 2 * argument.in_vector_bytes;  // bits: a vector has four elements
  cast_elements<Integer>(argument, [=](uint64_t bits) {
    const uint64_t highest = bits << unused;
    const uint64_t extended = is_signed
                                  ? static_cast<uint64_t>(static_cast<int64_t>(highest) >> unused)
                                  : highest >> unused;
    const bool is_one = type == ElementType::kBool8 && extended != 0;
    return Integer{is_one ? uint64_t{1} : extended, is_signed};
  });
}
