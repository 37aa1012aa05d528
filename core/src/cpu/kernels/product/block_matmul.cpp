// Blocks times dense columns: a row of b that has been read meets up to four rows of a block, whose
// sums are all in registers.
#include "cpu/kernels/sums.hpp"
#include "cpu/spmm.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Sums of four rows take half of the registers.
constexpr int kWidestBytes = kVectorBytes == 64 ? 256 : static_cast<int>(2 * kVectorBytes);
constexpr int64_t kRowsAtOnce = 4;

// Rows [first_row, first_row + kRows) of the blocks of one row, kBytes of out from column `first`
// on.
template <class T, class I, int kBytes, int kRows>
void block_span(const Matmul& m, int64_t row, int64_t first_row, int64_t first) {
  using Span = SpanOf<T, kBytes>;
  using SpanVector = typename Span::SpanVector;
  SpanVector sums[kRows][Span::kParts] = {};
  const int64_t row_end = index_of<I>(m.a.offsets, row + 1);
  for (int64_t k = index_of<I>(m.a.offsets, row); k < row_end; ++k) {
    const Byte* b = m.b + index_of<I>(m.a.indices, k) * m.block_cols * m.b_step + first * kStep<T>;
    const Byte* values = m.a.values + (k * m.block_rows + first_row) * m.block_cols * kStep<T>;
    for (int64_t j = 0; j < m.block_cols; ++j, b += m.b_step, values += kStep<T>) {
      SpanVector parts[Span::kParts];
      for (int p = 0; p < Span::kParts; ++p) parts[p] = load<SpanVector>(b + p * Span::kPartBytes);
      for (int r = 0; r < kRows; ++r) {
        const T value = load<T>(values + r * m.block_cols * kStep<T>);
        for (int p = 0; p < Span::kParts; ++p) sums[r][p] += value * parts[p];
      }
    }
  }
  const Scaling<T> scaling(m.alpha, m.beta);
  for (int r = 0; r < kRows; ++r) {
    write_span<T, kBytes>(
        scaling,
        m.out + (row * m.block_rows + first_row + r) * m.out_step + first * m.out_column_step,
        m.out_column_step, sums[r]);
  }
}

template <class T, class I, int kBytes>
int64_t block_spans(const Matmul& m, int64_t first, int64_t row) {
  constexpr int64_t kColumns = kBytes / kStep<T>;
  for (; m.columns - first >= kColumns; first += kColumns) {
    int64_t r = 0;
    for (; m.block_rows - r >= kRowsAtOnce; r += kRowsAtOnce) {
      block_span<T, I, kBytes, kRowsAtOnce>(m, row, r, first);
    }
    for (; r < m.block_rows; ++r) block_span<T, I, kBytes, 1>(m, row, r, first);
  }
  return first;
}

// f32 and f64.
template <class T, class I>
void float_rows(const Matmul& m, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    int64_t first = block_spans<T, I, kWidestBytes>(m, 0, row);
    if constexpr (kWidestBytes > 64) first = block_spans<T, I, 64>(m, first, row);
    first = block_spans<T, I, 16>(m, first, row);
    block_spans<T, I, static_cast<int>(sizeof(T))>(m, first, row);
  }
}

// Sums that are kept at once; they stay in the first cache.
constexpr int64_t kSumsAtOnce = 64;

template <class T, class I>
void plain_row(const Matmul& m, const Scaling<T>& scaling, int64_t row, int64_t first_row,
               int64_t first) {
  const int64_t count = m.columns - first < kSumsAtOnce ? m.columns - first : kSumsAtOnce;
  Sum<T> sums[kSumsAtOnce] = {};
  const int64_t row_end = index_of<I>(m.a.offsets, row + 1);
  for (int64_t k = index_of<I>(m.a.offsets, row); k < row_end; ++k) {
    const Byte* const b =
        m.b + index_of<I>(m.a.indices, k) * m.block_cols * m.b_step + first * kStep<T>;
    const Byte* const values =
        m.a.values + (k * m.block_rows + first_row) * m.block_cols * kStep<T>;
    for (int64_t j = 0; j < m.block_cols; ++j) {
      const Sum<T> value = widened<T>(values + j * kStep<T>);
      const Byte* const from = b + j * m.b_step;
      TENURE_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) sums[i] += value * widened<T>(from + i * kStep<T>);
    }
  }
  Byte* const out =
      m.out + (row * m.block_rows + first_row) * m.out_step + first * m.out_column_step;
  for (int64_t i = 0; i < count; ++i) scaling.write(out + i * m.out_column_step, sums[i]);
}

template <class T, class I>
void plain_rows(const Matmul& m, int64_t begin, int64_t end) {
  const Scaling<T> scaling(m.alpha, m.beta);
  for (int64_t row = begin; row < end; ++row) {
    for (int64_t r = 0; r < m.block_rows; ++r) {
      for (int64_t first = 0; first < m.columns; first += kSumsAtOnce) {
        plain_row<T, I>(m, scaling, row, r, first);
      }
    }
  }
}

}  // namespace

// Products of BSR, and of CSR for every type but f32 and f64, as blocks of one element.
const MatmulKernel kMatmulBlockRows[kTypeCount][kIndexTypeCount] = {
    TENURE_BY_INDEX(float_rows, double),
    TENURE_BY_INDEX(float_rows, float),
    TENURE_BY_INDEX(plain_rows, F16),
    TENURE_BY_INDEX(plain_rows, BF16),
    TENURE_BY_INDEX(plain_rows, uint8_t),
    TENURE_BY_INDEX(plain_rows, uint16_t),
    TENURE_BY_INDEX(plain_rows, uint32_t),
    TENURE_BY_INDEX(plain_rows, uint64_t),
    TENURE_BY_INDEX(plain_rows, uint8_t),
    TENURE_BY_INDEX(plain_rows, uint16_t),
    TENURE_BY_INDEX(plain_rows, uint32_t),
    TENURE_BY_INDEX(plain_rows, uint64_t),
    {nullptr, nullptr},
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
