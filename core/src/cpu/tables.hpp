// The tables that the kernel files define, one family each; set.cpp joins them.
#pragma once

#include "cpu/compress.hpp"
#include "cpu/fold.hpp"
#include "cpu/group_by_key.hpp"
#include "cpu/kernel.hpp"
#include "cpu/packed.hpp"
#include "cpu/reduce.hpp"
#include "cpu/sddmm.hpp"
#include "cpu/spmm.hpp"

// Parts of a table's row, in the order of Type, for a file whose kernels are kernel<Rule, T>.
#define TENURE_FLOATS(Rule) \
  kernel<Rule, double>, kernel<Rule, float>, kernel<Rule, F16>, kernel<Rule, BF16>
#define TENURE_UNSIGNED(Rule) \
  kernel<Rule, uint8_t>, kernel<Rule, uint16_t>, kernel<Rule, uint32_t>, kernel<Rule, uint64_t>
#define TENURE_SIGNED(Rule) \
  kernel<Rule, int8_t>, kernel<Rule, int16_t>, kernel<Rule, int32_t>, kernel<Rule, int64_t>

namespace tenure::kernels {
inline namespace TENURE_ISA {

extern const StripKernel kCopy[kWidthCount];
extern const StripKernel kSelect[kWidthCount + 1];
extern const Elementwise kCast[kTypeCount][kTypeCount];
extern const StripKernel kCastComplex[2];
extern const Elementwise kUnary[][kTypeCount];
extern const Elementwise kBinary[][kTypeCount];
extern const Elementwise kCompare[][kTypeCount];
extern const Reductions kReduce[];
// Functions, as the table copies their addresses: those of constants elsewhere would be read at the
// start of the program.
void stream_lines(Byte* out, const Byte* from, uint64_t size_bytes);
void stream_and_clear_lines(Byte* out, Byte* from, uint64_t size_bytes);
void stream_lines_and_fetch(Byte* out, const Byte* from, uint64_t size_bytes, const Byte* next,
                            const Byte* other_next);
int64_t list_bit_indices(const uint64_t* bits, int64_t words, uint16_t* places);
#if defined(__AVX512BW__)
int64_t list_bit_indices_by_bytes(const uint64_t* bits, int64_t words, uint16_t* places);
#endif
int64_t dropout_mask(uint64_t* bits, int64_t words, uint64_t first, const Chance& chance);
extern const Permuting kPermuting;
extern const IndexChecks kIndexChecks[kIndexTypeCount];
extern const RowProducts kRowProducts[kIndexTypeCount][kProductTypeCount];
extern const MaskKernel kPredicateMask[Predicate::kKindCount][4];
extern const Compressor kCompress[4][2];
#if defined(__AVX512BW__)
extern const Compressor kCompressBytes[4][2];  // where the processor compresses bytes
#endif
extern const RowCounter kCountRows[2];
extern const BlockTaking kBlockTaking;
extern const Scattering kScattering[kIndexTypeCount];
extern const MatmulKernel kMatmulRows[2][kIndexTypeCount];
extern const CheckedKernel kCheckedColumn[2][kIndexTypeCount];
extern const MatmulKernel kMatmulBlockRows[kTypeCount][kIndexTypeCount];
extern const BlockColumn kBlockColumn[4][kIndexTypeCount];
extern const ScatterAddKernels kScatterAdds[kTypeCount];
extern const Samplers kSamplers[kTypeCount];
extern const PackedKernels kPacked[kPackedFloatCount];
extern const Grouping kGrouping;
extern const Folding kFolding;
extern const PanelKernel kPanel[kWidthCount];

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
