// Movement by width: copies of any strides and fills, selections, triangles, and transposed copies.
#include "elementwise.cuh"

namespace tenure::cuda {

template <int kBytes>
TENURE_DEVICE void copy_elements(const ElementwiseArgument& argument) {
  map<1, kBytes, kBytes, kItemsOf<kBytes>>(argument, [&](const auto& in, auto& out) {
    out = in[0];
    if constexpr (kBytes == 1) {
      if (argument.out_type != ElementType::kBool8) return;
      TENURE_UNROLL for (int i = 0; i < 4; ++i) out.of[i] = as_bools(in[0].of[i]);
    }
  });
}

// The condition, a and b.
template <int kBytes>
TENURE_DEVICE void select_elements(const ElementwiseArgument& argument) {
  constexpr int kItems = kItemsOf<kBytes>;
  constexpr int kRest = ThreadElements<kItems>::kRest;
  using Value = Element<kBytes>;
  const ThreadElements<kItems> part(argument);
  if (part.is_empty) return;
  const bool is_truth = argument.out_type == ElementType::kBool8;
  int64_t places[kRest][4];
  if (part.is_vector) {
    find_places(argument, part.vector, kItems * kBytes, kItems * kBytes, places[0]);
    if (argument.nested_vectors == 0 && (argument.repeated & 1) == 0) {
      places[0][1] = static_cast<int64_t>(part.vector) * kItems;
    }
    Words<kItems> condition;
    Words<kItems * kBytes> a;
    Words<kItems * kBytes> b;
    read_vector<1, kItems>(argument, 0, argument.in[0] + places[0][1], condition);
    read_vector<kBytes, kItems>(argument, 1, argument.in[1] + places[0][2], a);
    read_vector<kBytes, kItems>(argument, 2, argument.in[2] + places[0][3], b);
    Words<kItems * kBytes> out = {};
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
      const bool is_first = get<uint8_t>(condition, i) != 0;
      put(out, i, is_first ? get<Value>(a, i) : get<Value>(b, i));
    }
    if constexpr (kBytes == 1) {
      TENURE_UNROLL for (int i = 0; i < 4; ++i) {
        out.of[i] = is_truth ? as_bools(out.of[i]) : out.of[i];
      }
    }
    return write(argument.out + places[0][0], out);
  }
  uint32_t elements[kRest];
  TENURE_UNROLL for (int i = 0; i < kRest; ++i) elements[i] = part.element_there(argument, i);
  find_offsets(argument, elements, places);
  Value values[kRest];
  TENURE_UNROLL for (int i = 0; i < kRest; ++i) {
    const bool is_first = read<uint8_t>(argument.rest_in[0] + places[i][1]) != 0;
    values[i] = read<Value>(is_first ? argument.rest_in[1] + places[i][2]
                                     : argument.rest_in[2] + places[i][3]);
    if constexpr (kBytes == 1) {
      if (is_truth) values[i] = values[i] != 0 ? 1 : 0;
    }
  }
  TENURE_UNROLL for (int i = 0; i < kRest; ++i) {
    if (part.has(argument, i)) write(argument.rest_out + places[i][0], values[i]);
  }
}

// The elements whose key is at most 0, and 0 in place of the others, which are not read. A key is an
// offset as those of the operands are, the third one: `number` has that of the first element, and
// `op` its step between adjacent elements of a vector, -1, 0 or 1.
template <int kBytes>
TENURE_DEVICE void keep_triangle(const ElementwiseArgument& argument) {
  constexpr int kItems = kItemsOf<kBytes>;
  constexpr int kRest = ThreadElements<kItems>::kRest;
  using Value = Element<kBytes>;
  const ThreadElements<kItems> part(argument);
  if (part.is_empty) return;
  const bool is_truth = argument.out_type == ElementType::kBool8;
  const bool is_in_place = argument.in[0] == argument.out && !is_truth;
  const int64_t step = static_cast<int32_t>(argument.op);
  const auto first_key = static_cast<int64_t>(number_of<uint64_t>(argument));
  int64_t places[kRest][3];
  if (part.is_vector) {
    find_places(argument, part.vector, kItems * kBytes, kItems * kBytes, places[0]);
    const bool is_nested = argument.nested_vectors != 0;
    const int64_t key =
        first_key + (is_nested ? places[0][2] : static_cast<int64_t>(part.vector) * kItems * step);
    const int64_t last_key = key + (kItems - 1) * step;
    const bool has_kept = key <= 0 || last_key <= 0;
    const bool has_others = key > 0 || last_key > 0;
    if (is_in_place && !has_others) return;
    Words<kItems * kBytes> out = {};
    if (has_kept) {
      read_vector<kBytes, kItems>(argument, 0, argument.in[0] + places[0][1], out);
    }
    if (has_kept && has_others) {
      const Words<kItems * kBytes> in = out;
      out = {};
      TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
        put(out, i, key + i * step <= 0 ? get<Value>(in, i) : Value{0});
      }
    }
    if constexpr (kBytes == 1) {
      TENURE_UNROLL for (int i = 0; i < 4; ++i) {
        out.of[i] = is_truth ? as_bools(out.of[i]) : out.of[i];
      }
    }
    return write(argument.out + places[0][0], out);
  }
  // Behind vectors that are adjacent; others leave no rest.
  const int64_t rest_key = first_key + static_cast<int64_t>(argument.vector_count) * kItems * step;
  uint32_t elements[kRest];
  TENURE_UNROLL for (int i = 0; i < kRest; ++i) elements[i] = part.element_there(argument, i);
  find_offsets(argument, elements, places);
  Value values[kRest];
  bool is_kept[kRest];
  TENURE_UNROLL for (int i = 0; i < kRest; ++i) {
    is_kept[i] = rest_key + places[i][2] <= 0;
    values[i] = is_kept[i] ? read<Value>(argument.rest_in[0] + places[i][1]) : Value{0};
    if constexpr (kBytes == 1) {
      if (is_truth) values[i] = values[i] != 0 ? 1 : 0;
    }
  }
  TENURE_UNROLL for (int i = 0; i < kRest; ++i) {
    if (!part.has(argument, i) || (is_in_place && is_kept[i])) continue;
    write(argument.rest_out + places[i][0], values[i]);
  }
}

// Elements are adjacent along columns in the output and along rows in the input. A tile passes
// through shared memory, so that a warp reads and writes neighbours. A tile's side is 64 elements
// where they are short, so that a line of it is 64 bytes at least.
template <int kBytes>
struct TileOf {
  static constexpr unsigned kSide = kBytes <= 2 ? 64 : 32;
  static constexpr unsigned kLines = kThreads / kSide;  // at once
  static constexpr unsigned kPitch = kSide + 1;         // neighbours are in other banks
};

template <int kBytes>
TENURE_DEVICE void transpose_tile(const TransposeArgument& argument) {
  using Of = TileOf<kBytes>;
  using Value = Element<kBytes>;
  __shared__ Value tile[Of::kSide * Of::kPitch];
  const uint32_t tiles = argument.row_tiles * argument.column_tiles;
  uint32_t outer[1] = {blockIdx.x / tiles};
  const uint32_t inner = blockIdx.x % tiles;
  const uint32_t first_row = inner / argument.column_tiles * Of::kSide;
  const uint32_t first_column = inner % argument.column_tiles * Of::kSide;
  int64_t offsets[1][2] = {};
  if (argument.rank != 0) find_offsets(argument, outer, offsets);
  const unsigned lane = threadIdx.x % Of::kSide;
  const unsigned line = threadIdx.x / Of::kSide;

  const unsigned char* const in = argument.in + offsets[0][1] +
                                  static_cast<int64_t>(first_row + lane) * kBytes +
                                  static_cast<int64_t>(first_column) * argument.in_column_step;
  TENURE_BY_FOUR for (unsigned i = 0; i < Of::kSide; i += Of::kLines) {
    const unsigned column = i + line;
    if (first_row + lane < argument.rows && first_column + column < argument.columns) {
      tile[column * Of::kPitch + lane] =
          read<Value>(in + static_cast<int64_t>(column) * argument.in_column_step);
    }
  }
  __syncthreads();
  unsigned char* const out = argument.out + offsets[0][0] +
                             static_cast<int64_t>(first_column + lane) * kBytes +
                             static_cast<int64_t>(first_row) * argument.out_row_step;
  TENURE_BY_FOUR for (unsigned i = 0; i < Of::kSide; i += Of::kLines) {
    const unsigned row = i + line;
    if (first_row + row < argument.rows && first_column + lane < argument.columns) {
      Value value = tile[lane * Of::kPitch + row];
      if constexpr (kBytes == 1) {
        if (argument.as_bools != 0) value = value != 0 ? 1 : 0;
      }
      write(out + static_cast<int64_t>(row) * argument.out_row_step, value);
    }
  }
}

}  // namespace tenure::cuda

using namespace tenure::cuda;  // NOLINT: a kernel stands outside of every namespace

#define TENURE_MOVEMENT_OF(bytes)                                                      \
  TENURE_KERNEL(copy_##bytes, ElementwiseArgument) { copy_elements<bytes>(argument); } \
  TENURE_KERNEL(transpose_##bytes, TransposeArgument) { transpose_tile<bytes>(argument); }
TENURE_MOVEMENT_OF(1)
TENURE_MOVEMENT_OF(2)
TENURE_MOVEMENT_OF(4)
TENURE_MOVEMENT_OF(8)
TENURE_MOVEMENT_OF(16)
TENURE_KERNEL(triangle_1, ElementwiseArgument) { keep_triangle<1>(argument); }
TENURE_KERNEL(triangle_2, ElementwiseArgument) { keep_triangle<2>(argument); }
TENURE_KERNEL(triangle_4, ElementwiseArgument) { keep_triangle<4>(argument); }
TENURE_KERNEL(triangle_8, ElementwiseArgument) { keep_triangle<8>(argument); }
TENURE_KERNEL(select_1, ElementwiseArgument) { select_elements<1>(argument); }
TENURE_KERNEL(select_2, ElementwiseArgument) { select_elements<2>(argument); }
TENURE_KERNEL(select_4, ElementwiseArgument) { select_elements<4>(argument); }
TENURE_KERNEL(select_8, ElementwiseArgument) { select_elements<8>(argument); }
