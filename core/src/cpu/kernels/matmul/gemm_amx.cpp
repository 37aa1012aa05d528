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

  // For tiles of the result and of the left factor that have so many rows.
  constexpr explicit Configuration(int64_t first_rows = kAmxTileRows) {
    rows[0] = rows[1] = rows[4] = static_cast<uint8_t>(first_rows);
  }
};
static_assert(kAmxTileRows == 16);

// The registers are nobody's between calls: the state of a thread that has none is saved sooner.
class Registers {
 public:
  explicit Registers(int64_t first_rows) {
    const Configuration configuration(first_rows);
    asm volatile("ldtilecfg %0" : : "m"(configuration));
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

#define TENURE_TILE_PRODUCT(name, instruction)                                                    \
  struct name {                                                                                   \
    template <int kSums, int kA, int kB>                                                          \
    static void add() {                                                                           \
      asm volatile(instruction " %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kA), "i"(kB)); \
    }                                                                                             \
  }
// Rounds to nearest, and takes subnormal factors and sums for 0.
TENURE_TILE_PRODUCT(BF16Tiles, "tdpbf16ps");
// Bytes, of which the left factor's are signed or not, and the right one's; wrap.
TENURE_TILE_PRODUCT(SignedBySigned, "tdpbssd");
TENURE_TILE_PRODUCT(SignedByUnsigned, "tdpbsud");
TENURE_TILE_PRODUCT(UnsignedBySigned, "tdpbusd");
TENURE_TILE_PRODUCT(UnsignedByUnsigned, "tdpbuud");
#undef TENURE_TILE_PRODUCT

// Rows of a left factor that meet a panel of columns: sixteen, and sixteen more, of which some may
// be the first ones again.
struct PanelRows {
  const Byte* first;
  int64_t step;        // from row to row
  int64_t chunk_step;  // from sixteen lanes of depths to the next
  int64_t second_row;  // where the second sixteen begin
  int64_t skipped;     // first rows that are those of the panel before
};

// The left factor, packed or as it lies. Of rows as they lie no more are read than there are: the
// last ones of a result begin with some that are computed again, and fewer than sixteen are the
// registers' rows.
class LeftRows {
 public:
  explicit LeftRows(const DenseProduct& p)
      : p_(p),
        is_packed_(p.a_row_bytes == 0),
        row_bytes_(is_packed_ ? p.depth * kWidth<uint32_t> : p.a_row_bytes) {}

  // Bytes of the depths of a row.
  [[nodiscard]] int64_t row_bytes() const { return row_bytes_; }
  // Rows of a register.
  [[nodiscard]] int64_t first_rows() const {
    return is_packed_ ? kAmxTileRows : smaller(p_.rows, kAmxTileRows);
  }
  [[nodiscard]] PanelRows panel(int64_t row, int64_t rows) const {
    const Byte* const first = p_.a + row / kAmxPanelRows * p_.a_panel_step;
    if (is_packed_) {
      return {first, kAmxRowBytes, kAmxPanelRows * kAmxRowBytes, kAmxTileRows, 0};
    }
    if (rows > kAmxTileRows) return {first, p_.a_step, kAmxRowBytes, rows - kAmxTileRows, 0};
    const int64_t skipped = smaller(row, kAmxTileRows - rows);
    return {first - skipped * p_.a_step, p_.a_step, kAmxRowBytes, 0, skipped};
  }
  // Where the depths behind whole registers of them begin, and how far rows of these are apart.
  [[nodiscard]] const Byte* last_depths(const PanelRows& rows) const {
    return rows.first + row_bytes_ / kAmxRowBytes * rows.chunk_step;
  }
  [[nodiscard]] int64_t last_step() const {
    return is_packed_ ? row_bytes_ % kAmxRowBytes : p_.a_step;
  }

 private:
  const DenseProduct& p_;
  bool is_packed_;
  int64_t row_bytes_;
};

// Sixteen lanes of depths of a panel of each factor; of rows that no second register needs to have
// without it.
template <class Adding, bool kHasSecondRows>
inline void add_depths(const Byte* a, const Byte* second, int64_t a_step, const Byte* b) {
  load_tile<6>(b, kSumsStep);
  load_tile<4>(a, a_step);
  Adding::template add<0, 4, 6>();
  load_tile<7>(b + kAmxRowBytes, kSumsStep);
  Adding::template add<1, 4, 7>();
  if constexpr (kHasSecondRows) {
    load_tile<5>(second, a_step);
    Adding::template add<2, 5, 6>();
    Adding::template add<3, 5, 7>();
  }
}

// The last depths of a panel, fewer than a register has, and zeros.
struct LastDepths {
  alignas(64) Byte a[kAmxPanelRows * kAmxRowBytes];
  alignas(64) Byte b[kAmxLanes * kSumsStep];

  void take_rows(const Byte* from, int64_t step, int64_t rows, int64_t bytes) {
    const __mmask64 there = (uint64_t{1} << bytes) - 1;
    for (int64_t i = 0; i < rows; ++i, from += step) {
      _mm512_store_si512(a + i * kAmxRowBytes, _mm512_maskz_loadu_epi8(there, from));
    }
  }
  void take_columns(const Byte* from, int64_t lanes) {
    __builtin_memcpy(b, from, static_cast<size_t>(lanes * kSumsStep));
    __builtin_memset(b + lanes * kSumsStep, 0,
                     static_cast<size_t>((kAmxLanes - lanes) * kSumsStep));
  }
};

// Sums of a panel of rows by a panel of columns, of so many chunks of depths and those that are left.
template <class Adding, bool kHasSecondRows>
void sum_tile(const PanelRows& rows, int64_t chunks, const Byte* b, const LastDepths* last,
              AheadLines& ahead, Byte* sums, int64_t sums_step) {
  clear_tile<0>();
  clear_tile<1>();
  clear_tile<2>();
  clear_tile<3>();
  const Byte* a = rows.first;
  const int64_t second = rows.second_row * rows.step;
  for (; chunks != 0; --chunks) {
    ahead.fetch();
    add_depths<Adding, kHasSecondRows>(a, a + second, rows.step, b);
    a += rows.chunk_step;
    b += kAmxLanes * kSumsStep;
  }
  if (last != nullptr) {
    add_depths<Adding, kHasSecondRows>(last->a, last->a + rows.second_row * kAmxRowBytes,
                                       kAmxRowBytes, last->b);
  }
  store_tile<0>(sums, sums_step);
  store_tile<1>(sums + kAmxRowBytes, sums_step);
  if constexpr (kHasSecondRows) {
    Byte* const below = sums + rows.second_row * sums_step;
    store_tile<2>(below, sums_step);
    store_tile<3>(below + kAmxRowBytes, sums_step);
  }
}

template <class T, class Adding>
void multiply_tiles(const DenseProduct& p) {
  const LeftRows left(p);
  const int64_t chunks = left.row_bytes() / kAmxRowBytes;
  const int64_t last_bytes = left.row_bytes() % kAmxRowBytes;
  const int64_t whole_lanes = chunks * kAmxLanes;
  const Registers registers(left.first_rows());
  LastDepths last_depths;
  const LastDepths* const last = last_bytes == 0 ? nullptr : &last_depths;
  alignas(64) Vector<T> sums[kAmxPanelRows * kPanelVectors];
  // Whether sums are the elements, which registers store by themselves.
  const bool are_elements =
      p.beta == nullptr && p.column_step == kWidth<T> && load<T>(p.alpha) == T{1};
  DenseProduct tile = p;
  const Byte* b = p.b;
  NextLines next(p, kAmxPanelRows, kPanelColumns<T>, kAmxLanes);
  for (int64_t j = 0; j < p.columns; j += kPanelColumns<T>, b += p.b_panel_step) {
    AheadLines& ahead = next.beside_panel(b);
    tile.columns = smaller(p.columns - j, kPanelColumns<T>);
    if (last != nullptr) {
      last_depths.take_columns(b + whole_lanes * kSumsStep, p.depth - whole_lanes);
    }
    for (int64_t i = 0; i < p.rows; i += kAmxPanelRows) {
      tile.rows = smaller(p.rows - i, kAmxPanelRows);
      tile.out = p.out + i * p.row_step + j * p.column_step;
      const PanelRows rows = left.panel(i, tile.rows);
      const int64_t end = rows.skipped + tile.rows;
      if (last != nullptr) {
        last_depths.take_rows(left.last_depths(rows), left.last_step(), end, last_bytes);
      }
      const bool is_direct = are_elements && tile.columns == kPanelColumns<T> &&
                             (tile.rows == kAmxPanelRows || p.a_row_bytes != 0);
      Byte* const to =
          is_direct ? tile.out - rows.skipped * p.row_step : reinterpret_cast<Byte*>(sums);
      const int64_t step = is_direct ? p.row_step : kSumsStep;
      tile.rows > kAmxTileRows ? sum_tile<Adding, true>(rows, chunks, b, last, ahead, to, step)
                               : sum_tile<Adding, false>(rows, chunks, b, last, ahead, to, step);
      if (!is_direct) put_rows<T>(tile, sums + rows.skipped * kPanelVectors, kPanelVectors);
    }
  }
}

template <class T, class Adding>
constexpr Gemm kGemmOfTiles = {
    .panel_rows = kAmxPanelRows,
    .panel_columns = kPanelColumns<T>,
    .multiply = multiply_tiles<T, Adding>,
    .reads_rows = true,
    .multiply_unpacked = nullptr,
    .multiply_streamed = nullptr,
    .multiply_scattered = nullptr,
    .along_rows = 0,
    .multiply_along = nullptr,
    .run_epilogue = run_epilogue<T>,
};

}  // namespace

const LaneGemms kLaneGemmOfTiles = {
    {{kGemmOfTiles<uint32_t, SignedBySigned>, kGemmOfTiles<uint32_t, SignedByUnsigned>},
     {kGemmOfTiles<uint32_t, UnsignedBySigned>, kGemmOfTiles<uint32_t, UnsignedByUnsigned>}},
    kGemmOfTiles<float, BF16Tiles>,
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels

#endif
