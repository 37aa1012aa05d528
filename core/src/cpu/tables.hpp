// The tables that the kernel files define, in the namespace of the instruction set that they are
// compiled for: one of each family, and parts of these that have files of their own.
#pragma once

#include "cpu/families.hpp"

// Parts of a table's row, in the order of Type, for a file whose kernels are kernel<Rule, T>.
#define TENURE_FLOATS(Rule) \
  kernel<Rule, double>, kernel<Rule, float>, kernel<Rule, F16>, kernel<Rule, BF16>
#define TENURE_UNSIGNED(Rule) \
  kernel<Rule, uint8_t>, kernel<Rule, uint16_t>, kernel<Rule, uint32_t>, kernel<Rule, uint64_t>
#define TENURE_SIGNED(Rule) \
  kernel<Rule, int8_t>, kernel<Rule, int16_t>, kernel<Rule, int32_t>, kernel<Rule, int64_t>
// Parts of rows of operations that do not take these.
#define TENURE_NO_FLOATS \
  {}, {}, {}, {}
#define TENURE_NO_INTEGERS \
  {}, {}, {}, {}, {}, {}, {}, {}

namespace tenure::kernels {
inline namespace TENURE_ISA {

TENURE_DECLARE_TABLES

// Parts of kCompression. Functions too: addresses that constants elsewhere hold would be read at
// the start of the program.
extern const MaskKernel kPredicateMask[Predicate::kKindCount][4];
extern const Compressor kCompress[4][2];
extern const RowCounter kCountRows[2];
extern const BlockTaking kBlockTaking;
int64_t list_bit_indices(const uint64_t* bits, int64_t words, uint16_t* places);
int64_t dropout_mask(uint64_t* bits, int64_t words, uint64_t first, const Chance& chance);
#if defined(__AVX512BW__)
int64_t list_bit_indices_by_bytes(const uint64_t* bits, int64_t words, uint16_t* places);
#endif
// Part of kPermuting.
extern const PanelKernel kPanel[kWidthCount];

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
