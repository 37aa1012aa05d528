// Products of pairs of bf16 and of four bytes in registers that are tiles of sums (AMX: Sapphire
// Rapids and later), which take sixteen lanes of depths at once.
#include "cpu/kernels/matmul/amx.hpp"
#if defined(__AVX512BW__)

#include "cpu/kernels/matmul/tiles.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

constexpr int64_t kSumsStep = kPanelColumns<uint32_t> * kWidth<uint32_t>;
static_assert(kSumsStep == 2 * kAmxRowBytes);

// The instructions are written out, as g++ 12 may move stores of memory past the intrinsics that
// read it. Registers 0 to 3 have the sums, row by row; 4 and 5 rows of the left factor, and 6 and 7
// columns of the right one.
struct alignas(64) Configuration {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {kAmxRowBytes, kAmxRowBytes, kAmxRowBytes, kAmxRowBytes,
                            kAmxRowBytes, kAmxRowBytes, kAmxRowBytes, kAmxRowBytes};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(kAmxTileRows == 16);

// The registers are nobody's between calls: the state of a thread that has none is saved sooner.
class Registers {
 public:
  Registers() {
    static constexpr Configuration kConfiguration;
    asm volatile("ldtilecfg %0" : : "m"(kConfiguration));
  }
  Registers(const Registers&) = delete;
  Registers& operator=(const Registers&) = delete;
  ~Registers() { asm volatile("tilerelease"); }
};

template <int kRegister>
inline void load_tile(const Byte* from, int64_t step) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(step), "i"(kRegister) : "memory");
}
template <int kRegister>
inline void store_tile(Byte* to, int64_t step) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(step), "i"(kRegister) : "memory");
}
template <int kRegister>
inline void clear_tile() {
  asm volatile("tilezero %%tmm%c0" : : "i"(kRegister));
}

struct BF16Tiles {
  static constexpr bool kHasStarts = false;
  // Rounds to nearest, and takes subnormal factors and sums for 0.
  template <int kSums, int kA, int kB>
  static void add() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kA), "i"(kB));
  }
};

struct ByteTiles {
  static constexpr bool kHasStarts = true;
  // Unsigned bytes by signed ones; wraps.
  template <int kSums, int kA, int kB>
  static void add() {
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kA), "i"(kB));
  }
};

// Sixteen lanes of depths of a panel of each factor; of rows that no second register needs to have
// without it.
template <class Adding, bool kHasSecondRows>
inline void add_depths(const Byte* a, const Byte* b) {
  load_tile<6>(b, kSumsStep);
  load_tile<4>(a, kAmxRowBytes);
  Adding::template add<0, 4, 6>();
  load_tile<7>(b + kAmxRowBytes, kSumsStep);
  Adding::template add<1, 4, 7>();
  if constexpr (kHasSecondRows) {
    load_tile<5>(a + kAmxTileRows * kAmxRowBytes, kAmxRowBytes);
    Adding::template add<2, 5, 6>();
    Adding::template add<3, 5, 7>();
  }
}

// The last depths of a panel, fewer than a register has, and zeros.
struct LastDepths {
  alignas(64) Byte a[kAmxPanelRows * kAmxRowBytes];
  alignas(64) Byte b[kAmxLanes * kSumsStep];

  void take_rows(const Byte* from, int64_t lanes) {
    const Part<uint32_t> part(lanes);
    for (int64_t i = 0; i < kAmxPanelRows; ++i) {
      store(a + i * kAmxRowBytes, part.load(from + i * lanes * kWidth<uint32_t>));
    }
  }
  void take_columns(const Byte* from, int64_t lanes) {
    __builtin_memcpy(b, from, static_cast<size_t>(lanes * kSumsStep));
    __builtin_memset(b + lanes * kSumsStep, 0,
                     static_cast<size_t>((kAmxLanes - lanes) * kSumsStep));
  }
};

// A panel of rows by a panel of columns.
template <class Adding, bool kHasSecondRows>
void sum_tile(const DenseProduct& p, const LastDepths& last, AheadLines& ahead, Byte* sums) {
  const int64_t lanes = p.depth - Adding::kHasStarts;
  clear_tile<0>();
  clear_tile<1>();
  clear_tile<2>();
  clear_tile<3>();
  const Byte* a = p.a;
  const Byte* b = p.b;
  for (int64_t k = lanes / kAmxLanes; k != 0; --k) {
    ahead.fetch();
    add_depths<Adding, kHasSecondRows>(a, b);
    a += kAmxPanelRows * kAmxRowBytes;
    b += kAmxLanes * kSumsStep;
  }
  if (lanes % kAmxLanes != 0) add_depths<Adding, kHasSecondRows>(last.a, last.b);
  constexpr int64_t kSecond = kAmxTileRows * kSumsStep;
  store_tile<0>(sums, kSumsStep);
  store_tile<1>(sums + kAmxRowBytes, kSumsStep);
  if constexpr (kHasSecondRows) {
    store_tile<2>(sums + kSecond, kSumsStep);
    store_tile<3>(sums + kSecond + kAmxRowBytes, kSumsStep);
  }
}

template <class T>
void add_starts(const DenseProduct& p, const Byte* a, const Byte* b, Vector<T>* sums) {
  Vector<T> right[kPanelVectors];
  for (int v = 0; v < kPanelVectors; ++v) right[v] = load<Vector<T>>(b + v * kVectorBytes);
  for (int64_t i = 0; i < p.rows; ++i) {
    const Vector<T> left = broadcast<T>(load<T>(a + i * kWidth<T>));
    for (int v = 0; v < kPanelVectors; ++v) sums[i * kPanelVectors + v] += left + right[v];
  }
}

template <class T, class Adding>
void multiply_tiles(const DenseProduct& p) {
  constexpr int64_t kStarts = Adding::kHasStarts;
  const int64_t lanes = p.depth - kStarts;
  const int64_t last_lanes = lanes % kAmxLanes;
  const int64_t whole_lanes = lanes - last_lanes;
  const Registers registers;
  LastDepths last;
  alignas(64) Vector<T> sums[kAmxPanelRows * kPanelVectors];
  DenseProduct tile = p;
  const Byte* b = p.b;
  NextLines next(p, kAmxPanelRows, kPanelColumns<T>, kAmxLanes);
  for (int64_t j = 0; j < p.columns; j += kPanelColumns<T>, b += p.b_panel_step) {
    AheadLines& ahead = next.beside_panel(b);
    tile.columns = smaller(p.columns - j, kPanelColumns<T>);
    tile.b = b + kStarts * kSumsStep;
    if (last_lanes != 0) last.take_columns(tile.b + whole_lanes * kSumsStep, last_lanes);
    for (int64_t i = 0; i < p.rows; i += kAmxPanelRows) {
      const Byte* const a = p.a + i / kAmxPanelRows * p.a_panel_step;
      tile.rows = smaller(p.rows - i, kAmxPanelRows);
      tile.a = a + kStarts * kAmxPanelRows * kWidth<T>;
      tile.out = p.out + i * p.row_step + j * p.column_step;
      if (last_lanes != 0) {
        last.take_rows(tile.a + whole_lanes * kAmxPanelRows * kWidth<T>, last_lanes);
      }
      Byte* const to = reinterpret_cast<Byte*>(sums);
      tile.rows > kAmxTileRows ? sum_tile<Adding, true>(tile, last, ahead, to)
                               : sum_tile<Adding, false>(tile, last, ahead, to);
      if constexpr (Adding::kHasStarts) add_starts<T>(tile, a, b, sums);
      put_rows<T>(tile, sums, kPanelVectors);
    }
  }
}

template <class T, class Adding>
constexpr Gemm kGemmOfTiles = {
    .panel_rows = kAmxPanelRows,
    .panel_columns = kPanelColumns<T>,
    .multiply = multiply_tiles<T, Adding>,
    .multiply_unpacked = nullptr,
    .multiply_streamed = nullptr,
    .multiply_scattered = nullptr,
    .along_rows = 0,
    .multiply_along = nullptr,
    .run_epilogue = run_epilogue<T>,
};

}  // namespace

const LaneGemmTable kLaneGemmOfTiles = {
    kGemmOfTiles<uint32_t, ByteTiles>,
    kGemmOfTiles<float, BF16Tiles>,
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels

#endif
