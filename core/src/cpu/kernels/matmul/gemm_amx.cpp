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
template <class T>
constexpr bool kNarrows = kSame<T, float>;

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

  // For tiles of the result and of the left factor that have `first_rows` rows.
  constexpr explicit Configuration(int64_t first_rows = kAmxTileRows) {
    rows[0] = rows[1] = rows[4] = static_cast<uint8_t>(first_rows);
  }
};
static_assert(kAmxTileRows == 16);

// The tile registers of a product, released between calls: the state of a thread without them is
// saved faster.
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
// Bytes of both factors, each signed or unsigned; the sums wrap.
TENURE_TILE_PRODUCT(SignedBySigned, "tdpbssd");
TENURE_TILE_PRODUCT(SignedByUnsigned, "tdpbsud");
TENURE_TILE_PRODUCT(UnsignedBySigned, "tdpbusd");
TENURE_TILE_PRODUCT(UnsignedByUnsigned, "tdpbuud");
#undef TENURE_TILE_PRODUCT

// Rows of a left factor that are multiplied by a panel of columns: sixteen, and sixteen more, which
// may repeat some of the first.
struct PanelRows {
  const Byte* first;
  int64_t step;        // from row to row
  int64_t chunk_step;  // from sixteen lanes of depths to the next
  int64_t second_row;  // where the second sixteen begin
  int64_t skipped;     // first rows that are those of the panel before
};

// The left factor, packed or in place. No row outside an unpacked factor is read: the last rows of
// a result begin with some that are computed again, and registers have fewer than sixteen rows
// where the product has fewer.
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
struct LastRows {
  alignas(64) Byte lines[kAmxPanelRows * kAmxRowBytes];

  void take(const Byte* from, int64_t step, int64_t rows, int64_t bytes) {
    const __mmask64 there = (uint64_t{1} << bytes) - 1;
    for (int64_t i = 0; i < rows; ++i, from += step) {
      _mm512_store_si512(lines + i * kAmxRowBytes, _mm512_maskz_loadu_epi8(there, from));
    }
  }
};
struct LastColumns {
  alignas(64) Byte lanes[kAmxLanes * kSumsStep];

  void take(const Byte* from, int64_t count) {
    __builtin_memcpy(lanes, from, static_cast<uint64_t>(count * kSumsStep));
    __builtin_memset(lanes + count * kSumsStep, 0,
                     static_cast<uint64_t>((kAmxLanes - count) * kSumsStep));
  }
};
struct Last {
  const Byte* rows;  // nullptr: there are none
  const Byte* columns;
};

// Stores the sums of a panel of rows by a panel of columns, over `chunks` registers of depths and
// the last depths.
template <class Adding, bool kHasSecondRows>
void sum_tile(const PanelRows& rows, int64_t chunks, const Byte* b, const Last& last,
              AheadLines* ahead, Byte* sums, int64_t sums_step) {
  clear_tile<0>();
  clear_tile<1>();
  clear_tile<2>();
  clear_tile<3>();
  const Byte* a = rows.first;
  const int64_t second = rows.second_row * rows.step;
  for (; chunks != 0; --chunks) {
    if (ahead != nullptr) ahead->fetch();
    add_depths<Adding, kHasSecondRows>(a, a + second, rows.step, b);
    a += rows.chunk_step;
    b += kAmxLanes * kSumsStep;
  }
  if (last.rows != nullptr) {
    add_depths<Adding, kHasSecondRows>(last.rows, last.rows + rows.second_row * kAmxRowBytes,
                                       kAmxRowBytes, last.columns);
  }
  store_tile<0>(sums, sums_step);
  store_tile<1>(sums + kAmxRowBytes, sums_step);
  if constexpr (kHasSecondRows) {
    Byte* const below = sums + rows.second_row * sums_step;
    store_tile<2>(below, sums_step);
    store_tile<3>(below + kAmxRowBytes, sums_step);
  }
}

// ---- sums as bf16 ----

// No sum that registers made is subnormal, which the instruction would take for 0.
inline __m512i rounded_sums(const Vector<float>* row) {
  __m512i elements;
  asm("vcvtne2ps2bf16 %1, %2, %0" : "=v"(elements) : "v"(row[0]), "v"(row[1]));
  return elements;
}

// Rounds as round_from<BF16>() does, into the lower halves.
inline __m512i rounded(const Vector<float>& numbers) {
  const auto bits = reinterpret_cast<Vector<uint32_t>>(numbers);
  const auto nan = numbers != numbers;
  const Vector<uint32_t> upper = bits >> 16;
  return reinterpret_cast<__m512i>(nan ? upper | 0x40u : (bits + 0x7fffu + (upper & 1u)) >> 16);
}

// `sums` are those of a tile, in rows of two vectors.
void put_narrow(const DenseProduct& p, const Vector<float>* sums) {
  static_assert(kPanelVectors == 2);
  const auto there = static_cast<__mmask32>((uint64_t{1} << p.columns) - 1);
  const float alpha = load<float>(p.alpha);
  if (p.beta == nullptr && alpha == 1) {
    for (int64_t i = 0; i < p.rows; ++i) {
      _mm512_mask_storeu_epi16(p.out + i * p.row_step, there, rounded_sums(sums + 2 * i));
    }
    return;
  }
  const float beta = p.beta == nullptr ? 0 : load<float>(p.beta);
  for (int64_t i = 0; i < p.rows; ++i) {
    for (int v = 0; v < kPanelVectors; ++v) {
      const auto mask = static_cast<__mmask16>(there >> v * kPerVector<float>);
      Byte* const to = p.out + i * p.row_step + v * kVectorBytes / 2;
      Vector<float> result = alpha * sums[2 * i + v];
      if (p.beta != nullptr) {
        const __m512i old = _mm512_maskz_cvtepu16_epi32(0xffff, _mm256_maskz_loadu_epi16(mask, to));
        result +=
            beta * reinterpret_cast<Vector<float>>(reinterpret_cast<Vector<uint32_t>>(old) << 16);
      }
      _mm512_mask_cvtepi32_storeu_epi16(to, mask, rounded(result));
    }
  }
}

// ---- tiles ----

// Panels of columns that meet a panel of rows before the next one: the first cache holds them with
// it, so that the rows come from the second cache once.
constexpr int64_t kNearBytes = 48 << 10;
constexpr int64_t kMostNearPanels = 4;

inline int64_t near_panels(int64_t lanes) {
  const int64_t panels = lanes == 0 ? kMostNearPanels : kNearBytes / (lanes * kSumsStep) - 1;
  return panels < 1 ? 1 : smaller(panels, kMostNearPanels);
}

// Sums of more than sixteen rows, and of fewer.
using SumTile = void (*)(const PanelRows& rows, int64_t chunks, const Byte* b, const Last& last,
                         AheadLines* ahead, Byte* sums, int64_t sums_step);
struct SumTiles {
  SumTile many;
  SumTile few;
};

template <class T>
class TileProduct {
 public:
  TileProduct(const DenseProduct& p, const SumTiles& sum)
      : p_(p),
        sum_(sum),
        left_(p),
        chunks_(left_.row_bytes() / kAmxRowBytes),
        last_bytes_(left_.row_bytes() % kAmxRowBytes),
        are_elements_(p.beta == nullptr && p.column_step == kWidth<T> && load<T>(p.alpha) == T{1}) {
  }

  void run() {
    const Registers registers(left_.first_rows());
    NextLines next(p_, kAmxPanelRows, kPanelColumns<T>, kAmxLanes);
    const int64_t panels = (p_.columns + kPanelColumns<T> - 1) / kPanelColumns<T>;
    const int64_t most = near_panels(p_.depth);
    // So few were packed just now: a cache has them.
    const bool fetches = p_.next.count != 0 || panels > kMostNearPanels;
    for (int64_t first = 0; first < panels; first += most) {
      const int64_t count = smaller(panels - first, most);
      const Byte* const b = p_.b + first * p_.b_panel_step;
      run_panels(first, count, fetches ? &next.beside_panels(b, count) : nullptr);
    }
  }

 private:
  void run_panels(int64_t first, int64_t count, AheadLines* ahead) {
    const int64_t whole_lanes = chunks_ * kAmxLanes;
    const Byte* const b = p_.b + first * p_.b_panel_step;
    for (int64_t panel = 0; panel < count && last_bytes_ != 0; ++panel) {
      last_columns_[panel].take(b + panel * p_.b_panel_step + whole_lanes * kSumsStep,
                                p_.depth - whole_lanes);
    }
    for (int64_t i = 0; i < p_.rows; i += kAmxPanelRows) {
      const int64_t row_count = smaller(p_.rows - i, kAmxPanelRows);
      const PanelRows rows = left_.panel(i, row_count);
      if (last_bytes_ != 0) {
        last_rows_.take(left_.last_depths(rows), left_.last_step(), rows.skipped + row_count,
                        last_bytes_);
      }
      for (int64_t panel = 0; panel < count; ++panel) {
        const int64_t column = (first + panel) * kPanelColumns<T>;
        DenseProduct tile = p_;
        tile.rows = row_count;
        tile.columns = smaller(p_.columns - column, kPanelColumns<T>);
        tile.out = p_.out + i * p_.row_step + column * p_.column_step;
        run_tile(tile, rows, b + panel * p_.b_panel_step, last_columns_[panel], ahead);
      }
    }
  }

  void run_tile(const DenseProduct& tile, const PanelRows& rows, const Byte* b,
                const LastColumns& last_columns, AheadLines* ahead) {
    const bool is_direct = are_elements_ && !tile.is_narrow && tile.columns == kPanelColumns<T> &&
                           (tile.rows == kAmxPanelRows || tile.a_row_bytes != 0);
    Byte* const to =
        is_direct ? tile.out - rows.skipped * tile.row_step : reinterpret_cast<Byte*>(sums_);
    const int64_t step = is_direct ? tile.row_step : kSumsStep;
    const Last last = last_bytes_ == 0 ? Last{} : Last{last_rows_.lines, last_columns.lanes};
    const SumTile sum = tile.rows > kAmxTileRows ? sum_.many : sum_.few;
    sum(rows, chunks_, b, last, ahead, to, step);
    if (is_direct) return;
    const Vector<T>* const sums = sums_ + rows.skipped * kPanelVectors;
    if constexpr (kNarrows<T>) {
      if (tile.is_narrow) return put_narrow(tile, sums);
    }
    put_rows<T>(tile, sums, kPanelVectors);
  }

  const DenseProduct& p_;
  SumTiles sum_;
  LeftRows left_;
  int64_t chunks_;
  int64_t last_bytes_;
  bool are_elements_;  // sums are, which registers store by themselves
  LastRows last_rows_;
  LastColumns last_columns_[kMostNearPanels];
  alignas(64) Vector<T> sums_[kAmxPanelRows * kPanelVectors];
};

template <class T, class Adding>
void multiply_tiles(const DenseProduct& p) {
  TileProduct<T>(p, {sum_tile<Adding, true>, sum_tile<Adding, false>}).run();
}

template <class T, class Adding>
constexpr Gemm kGemmOfTiles = {
    .panel_rows = kAmxPanelRows,
    .panel_columns = kPanelColumns<T>,
    .multiply = multiply_tiles<T, Adding>,
    .reads_rows = true,
    .narrows = kNarrows<T>,
    .multiply_unpacked = nullptr,
    .multiply_streamed = nullptr,
    .multiply_scattered = nullptr,
    .along_rows = 0,
    .multiply_along = nullptr,
    .run_epilogue = run_epilogue<T>,
};

}  // namespace

const ByteGemmTable kByteGemmOfTiles = {
    {kGemmOfTiles<uint32_t, SignedBySigned>, kGemmOfTiles<uint32_t, SignedByUnsigned>},
    {kGemmOfTiles<uint32_t, UnsignedBySigned>, kGemmOfTiles<uint32_t, UnsignedByUnsigned>},
};
const Gemm kBF16GemmOfTiles = kGemmOfTiles<float, BF16Tiles>;

}  // namespace TENURE_ISA
}  // namespace tenure::kernels

#endif
