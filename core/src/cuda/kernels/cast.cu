// Casts between the real dtypes. One kernel for sources that are widened to one type, which is
// exact: elements are converted from there.
#include "elementwise.cuh"
#include "rules/cast.cuh"

namespace tenure::cuda {

// Four elements as bits, of any width.
struct FourElements {
  uint64_t of[4];
};

template <class Bits>
TENURE_DEVICE void read_elements(const ElementwiseArgument& argument, const ThreadElements<4>& part,
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
TENURE_DEVICE void write_elements(const ElementwiseArgument& argument,
                                  const ThreadElements<4>& part, const int64_t (&places)[4][2],
                                  const FourElements& out) {
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

// widen(bits) gives an element in the type that it is converted from.
template <class V, class Widen>
TENURE_DEVICE void cast_elements(const ElementwiseArgument& argument, const Widen& widen_bits) {
  const ThreadElements<4> part(argument);
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
  convert_elements(argument.out_type, x, elements.of);
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
